education <- function(...) {
  column_categorical_with_vocabulary_list(
    "education", vocabulary_list = c("Bachelors", "HS-grad", "Masters"), ...
  )
}

layer_of <- function(features, columns) {
  graph <- tf$Graph()
  with(graph$as_default(), {
    tensors <- lapply(features, function(x) {
      tf$constant(x, dtype = if (is.character(x)) "string" else if (is.integer(x)) "int32")
    })
    layer <- input_layer(tensors, columns)
    session <- tf$Session(graph = graph)
    session$run(tf$global_variables_initializer())
    unname(session$run(layer))
  })
}

test_that("names of columns match TensorFlow's", {
  age <- column_bucketized(column_numeric("age"), boundaries = c(25, 40))
  weighted <- column_categorical_weighted(education(), "w")
  expect_equal(education()$name, "education")
  expect_equal(age$name, "age_bucketized")
  expect_equal(column_crossed(c("b", "a"), hash_bucket_size = 10)$name, "a_X_b")
  expect_equal(column_crossed(c(age, "a"), hash_bucket_size = 10)$name, "a_X_age_bucketized")
  expect_equal(weighted$name, "education_weighted_by_w")
  expect_equal(column_indicator(weighted)$name, "education_weighted_by_w_indicator")
  expect_equal(column_embedding(education(), dimension = 3)$name, "education_embedding")
  shared <- column_shared_embedding(
    list(
      column_categorical_with_identity("b", num_buckets = 4),
      column_categorical_with_identity("a", num_buckets = 4)
    ),
    dimension = 3
  )
  expect_equal(vapply(shared, `[[`, "", "name"), c("b_shared_embedding", "a_shared_embedding"))
  expect_equal(shared[[1]]$shared_embedding_collection_name, "a_b_shared_embedding")
})

test_that("several names give several columns", {
  columns <- column_categorical_with_hash_bucket("a", "b", hash_bucket_size = 5)
  expect_length(columns, 2)
  expect_s3_class(columns[[2]], "HashedCategoricalColumn")
  expect_true(all.equal(education(), education()))
})

test_that("missing values are in no bucket", {
  indicator <- column_indicator(education())
  rows <- layer_of(
    list(education = rbind(c("Masters", "Masters"), c(NA, "HS-grad"), c("", "nobody"))), indicator
  )
  expect_equal(rows, rbind(c(0, 0, 2), c(0, 1, 0), c(0, 0, 0)))
  city <- column_indicator(column_categorical_with_identity("city", num_buckets = 3))
  expect_equal(
    layer_of(list(city = rbind(c(2L, -1L), c(-1L, -1L))), city), rbind(c(0, 0, 1), c(0, 0, 0))
  )
})

test_that("strings outside the vocabulary go to OOV buckets or the default", {
  words <- c("Masters", "nobody", "")
  default <- layer_of(list(education = words), column_indicator(education(default_value = 1)))
  expect_equal(default, rbind(c(0, 0, 1), c(0, 1, 0), c(0, 0, 0)))
  oov <- layer_of(list(education = words), column_indicator(education(num_oov_buckets = 2)))
  expect_equal(rowSums(oov), c(1, 1, 0))
  expect_equal(sum(oov[2, 4:5]), 1)
})

test_that("a vocabulary can be a file", {
  path <- withr::local_tempfile(lines = c("red", "green", "blue"))
  column <- function(...) {
    column_indicator(column_categorical_with_vocabulary_file("x", vocabulary_file = path, ...))
  }
  expect_equal(
    layer_of(list(x = c("blue", "red", "pink")), column()),
    rbind(c(0, 0, 1), c(1, 0, 0), c(0, 0, 0))
  )
  expect_equal(
    layer_of(list(x = c("green", "blue")), column(vocabulary_size = 2)), rbind(c(0, 1), c(0, 0))
  )
})

test_that("weights scale ids, and 0 drops an id", {
  weighted <- column_categorical_weighted(education(), "w")
  rows <- layer_of(
    list(
      education = rbind(c("Masters", "HS-grad"), c("Bachelors", "Bachelors")),
      w = rbind(c(2, 0), c(0.5, 1))
    ),
    column_indicator(weighted)
  )
  expect_equal(rows, rbind(c(0, 0, 2), c(1.5, 0, 0)))
})

test_that("a cross of a raw feature uses its values unchanged, including \"\"", {
  # The expected buckets are those of TensorFlow 1.15.
  column <- column_indicator(column_crossed(c("t", "e"), hash_bucket_size = 100))
  got <- layer_of(list(t = rbind(c("a", ""), c("", "")), e = c("x", "")), column)
  expect_equal(which(got[1, ] > 0) - 1, c(62, 92))
  expect_equal(which(got[2, ] > 0) - 1, 73)
  expect_equal(got[2, 74], 2)
  vocabulary <- column_categorical_with_vocabulary_list("t", vocabulary_list = c("a", "b"))
  column <- column_indicator(column_crossed(c(vocabulary, "e"), hash_bucket_size = 100))
  got <- layer_of(list(t = rbind(c("a", "z"), c("", "z"), c("", "")), e = rep("x", 3)), column)
  expect_equal(which(got[1, ] > 0) - 1, c(32, 43))
  expect_equal(which(got[2, ] > 0) - 1, 32)
  expect_equal(sum(got[3, ]), 0)
})

test_that("invalid columns are errors when they are constructed", {
  short <- withr::local_tempfile(lines = c("red", "green"))
  expect_snapshot_text(transform = function(x) gsub("'/[^']*'", "'FILE'", x), {
    column_bucketized(column_numeric("x"), boundaries = c(1, 3, 2))
    column_bucketized(column_numeric("x"), boundaries = numeric())
    column_bucketized("x", boundaries = 1)
    column_categorical_with_vocabulary_list("x", vocabulary_list = c("a", "b", "a"))
    column_categorical_with_vocabulary_list("x", vocabulary_list = c("a", NA))
    education(num_oov_buckets = 2, default_value = 1)
    column_categorical_with_vocabulary_file("x", vocabulary_file = "/nowhere/words.txt")
    column_categorical_with_vocabulary_file("x", vocabulary_file = short, vocabulary_size = 3)
    column_categorical_with_hash_bucket("x", hash_bucket_size = 1)
    column_categorical_with_identity("x", num_buckets = 3, default_value = 3)
    column_crossed("x", hash_bucket_size = 10)
    column_crossed(c("x", "y"), hash_bucket_size = 1)
    column_crossed(
      c(column_categorical_with_hash_bucket("x", hash_bucket_size = 5), "y"), hash_bucket_size = 10
    )
    column_embedding(education(), dimension = 0)
    column_embedding(education(), dimension = 2, combiner = "max")
    column_embedding(column_numeric("x"), dimension = 2)
    column_shared_embedding(
      list(education(), column_categorical_with_identity("a", num_buckets = 4)), dimension = 2
    )
  })
})

test_that("values that do not fit a column are errors that name column, value and row", {
  data <- data.frame(city = c(1L, 2L, 7L), word = c("a", "b", "c"), x = c(1.5, 2, 3), y = 1:3)
  try_column <- function(column, feature) {
    model <- linear_regressor(column, model_dir = withr::local_tempdir())
    train(model, input_fn(data, features = tidyselect::all_of(feature), response = y,
      shuffle = FALSE, batch_size = 3
    ))
  }
  expect_snapshot_text({
    try_column(column_categorical_with_identity("city", num_buckets = 5), "city")
    city <- column_categorical_with_identity("city", num_buckets = 5)
    layer_of(list(city = c(1L, 9L)), column_indicator(city))
    try_column(column_categorical_with_identity("word", num_buckets = 5), "word")
    try_column(column_categorical_with_hash_bucket("city", hash_bucket_size = 5), "city")
    try_column(column_categorical_with_hash_bucket("x", hash_bucket_size = 5), "x")
    try_column(column_numeric("word"), "word")
    try_column(column_crossed(c("x", "word"), hash_bucket_size = 5), c("x", "word"))
    try_column(column_numeric("z"), "x")
    try_column(column_indicator("am"), "x")
  })
})

test_that("an argument with a missing name is an error that suggests the name", {
  for (make in list(
    column_categorical_with_vocabulary_list, column_categorical_with_vocabulary_file,
    column_categorical_with_identity, column_categorical_with_hash_bucket
  )) {
    expect_error(make("a", 5), "Name the argument", class = "runhooks_error_invalid_argument")
  }
})
