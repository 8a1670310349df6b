test_that("one name gives a column, several names give a list", {
  column <- column_numeric("drat")
  expect_s3_class(column, "NumericColumn")
  expect_equal(column$key, "drat")
  expect_equal(column$name, "drat")
  expect_equal(column$shape, list(1L))
  expect_identical(column$dtype, tf$float32)
  expect_equal(column$dtype$name, "float32")
  expect_length(column_numeric("drat", "cyl"), 2)
  expect_length(column_numeric(c("drat", "cyl"), "wt"), 3)
  expect_null(names(column_numeric("drat", "cyl")))
  expect_equal(lapply(c("drat", "cyl"), column_numeric), column_numeric("drat", "cyl"))
})

test_that("columns print as the code that creates them, and compare by content", {
  expect_equal(format(column_numeric("a")), "column_numeric(\"a\")")
  expect_output(
    print(column_numeric("a", shape = c(2, 3))), "column_numeric(\"a\", shape = c(2, 3))",
    fixed = TRUE
  )
  columns <- list(
    column_numeric("a b", shape = 3, default_value = c(1, 2, 3), dtype = tf$float64),
    column_bucketized(column_numeric("x"), c(0, 0.5)),
    column_bucketized(column_numeric("x"), 1),
    column_categorical_with_vocabulary_list("t", vocabulary_list = c("a\"b", "c"), num_oov_buckets = 2),
    column_categorical_with_vocabulary_list("t", vocabulary_list = 1:3),
    column_categorical_with_identity("t", num_buckets = 5, default_value = 2),
    column_categorical_with_hash_bucket("t", hash_bucket_size = 10, dtype = tf$int64),
    column_indicator(column_categorical_with_identity("t", num_buckets = 5)),
    column_embedding(column_categorical_with_identity("t", num_buckets = 5), 3, combiner = "sum"),
    column_categorical_weighted(column_categorical_with_identity("t", num_buckets = 5), "w"),
    column_crossed(c("b", "a"), hash_bucket_size = 10, hash_key = 5),
    column_crossed(c(column_bucketized(column_numeric("x"), 1:2), "a"), hash_bucket_size = 10),
    column_cyclic("hour", period = 24)
  )
  for (column in columns) {
    expect_equal(eval(str2lang(format(column))), column, info = format(column))
  }
  expect_match(
    format(column_numeric("a", normalizer_fn = function(x) x / 2)), "normalizer_fn = function"
  )
  shared <- column_shared_embedding(columns[6], 3)
  expect_match(format(shared[[1]]), "^column_shared_embedding\\(column_categorical")
  long <- column_categorical_with_vocabulary_list("t", vocabulary_list = letters)
  expect_match(format(long), "\"j\", ..., \"z\")", fixed = TRUE)
  expect_true(all.equal(column_numeric("a"), column_numeric("a")))
  expect_false(isTRUE(all.equal(column_numeric("a"), column_numeric("b"))))
})

test_that("c() and list() treat a column as one element", {
  a <- column_numeric("a")
  expect_length(c(a, column_numeric("b")), 2)
  expect_length(c(a, "education"), 2)
  expect_s3_class(c(a, "education")[[1]], "NumericColumn")
})

test_that("feature_columns() flattens and drops duplicates", {
  expect_length(
    feature_columns(column_numeric("a"), list(column_numeric("b"), column_numeric("a")), ), 2
  )
  expect_length(feature_columns(column_numeric("a")), 1)
  expect_named(feature_columns(x = column_numeric("a")), "x")
})

test_that("two columns for one variable are an error when the model is built", {
  twice <- linear_regressor(
    list(
      column_numeric("drat"), column_numeric("drat", normalizer_fn = function(x) x)
    ), model_dir = withr::local_tempdir()
  )
  expect_error(
    train(twice, mtcars_input()), "Duplicate feature column name found for columns: 'drat'"
  )
})

test_that("objects that are not columns are errors", {
  expect_snapshot_text({
    feature_columns(column_numeric("a"), "b")
    column_numeric(3)
    column_numeric()
    column_numeric("a", shape = 0)
    column_numeric("a", shape = "wide")
    column_numeric("a", normalizer_fn = 2)
  })
})

test_that("a column of strings, a missing column and a wrong shape are errors before a step", {
  data <- data.frame(y = c(1, 2), s = c("a", "b"))
  model <- function(column) {
    linear_regressor(column, model_dir = withr::local_tempdir(.local_envir = parent.frame(2)))
  }
  input <- input_fn(data, features = s, response = y)
  expect_snapshot_text({
    train(model(column_numeric("s")), input)
    train(model(column_numeric("t")), input)
    train(model(column_numeric("drat", shape = 3)), mtcars_input())
    train(model(column_numeric("drat", normalizer_fn = function(x) "no tensor")), mtcars_input())
  })
})

test_that("normalizers receive the tensor as fed and may use all tensor functions of R", {
  recorded <- NULL
  normalizer <- function(x) {
    recorded <<- x$dtype$name
    sqrt(abs(x - 3) + 1) / 2 + log(x) * 0 + tf$maximum(x, 0) * 0
  }
  model <- linear_regressor(
    column_numeric("drat", normalizer_fn = normalizer), model_dir = withr::local_tempdir()
  )
  values <- NULL
  hook <- session_run_hook(
    before_run = function(context) {
      session_run_args("linear/linear_model/linear_model/linear_model/drat/Cast:0")
    },
    after_run = function(context, values_) values <<- values_$results[[1]]
  )
  train(model, mtcars_input(shuffle = FALSE), steps = 1, hooks = hook)
  expect_equal(recorded, "float64")
  expect_equal(as.vector(values), sqrt(abs(mtcars$drat[1:8] - 3) + 1) / 2, tolerance = 1e-6)
})

test_that("c() adds a column to a list of columns", {
  a <- column_numeric("a")
  cross <- column_crossed(c("x", "y"), 100)
  words <- column_categorical_with_vocabulary_list("w", vocabulary_list = c("u", "v"))
  expect_identical(feature_columns(c(list(a), cross)), list(a, cross))
  expect_identical(feature_columns(c(list(a), cross, words)), list(a, cross, words))
  expect_identical(feature_columns(c(list(), words, list(a))), list(words, a))
  expect_identical(feature_columns(append(list(column_indicator(words)), a)), list(
    column_indicator(words), a
  ))
  expect_snapshot_text(feature_columns(c(list(a), type = "x")))
})

layer_of <- function(features, columns) {
  with(tf$Graph()$as_default(), {
    layer <- input_layer(lapply(features, tf$constant), columns)
    with(tf$Session() %as% session, {
      session$run(tf$global_variables_initializer())
      unname(session$run(layer))
    })
  })
}

test_that("columns with the same name and other arguments do not share transformed features", {
  x <- c(1, 2, 30)
  normalized <- column_numeric("x", normalizer_fn = function(x) x / 10)
  buckets <- column_bucketized(column_numeric("x"), c(1.5, 10))
  # As in TensorFlow 1.15, the buckets are those of x, not of x / 10.
  expected <- cbind(x / 10, diag(3))
  expect_equal(layer_of(list(x = x), list(normalized, buckets)), expected, tolerance = 1e-6)

  fine <- column_bucketized(column_numeric("x"), c(1.5, 10))
  coarse <- column_bucketized(column_numeric("x"), 20)
  embedding <- column_embedding(
    fine, dimension = 1,
    initializer = function(shape, dtype = NULL, ...) tf$constant(c(1, 2, 3), "float32", c(3, 1))
  )
  layer <- layer_of(list(x = x), list(embedding, column_indicator(coarse)))
  expect_equal(layer, cbind(c(1, 2, 3), c(1, 1, 0), c(0, 0, 1)))
})

test_that("equal columns share one transformed feature and call a normalizer once", {
  calls <- 0
  normalizer <- function(x) {
    calls <<- calls + 1
    x
  }
  numeric <- function() column_numeric("x", normalizer_fn = normalizer)
  layer <- layer_of(list(x = c(1, 2)), list(numeric(), column_bucketized(numeric(), 1.5)))
  expect_equal(layer, cbind(c(1, 2), c(1, 0), c(0, 1)))
  expect_equal(calls, 1)
})

test_that("columns ignore the names of vectors", {
  x <- column_numeric("x")
  edges <- quantile(c(1, 2, 3, 4), c(0.25, 0.75))
  expect_identical(column_bucketized(x, edges), column_bucketized(x, c(1.75, 3.25)))
  expect_identical(column_bucketized(x, list(a = 1, b = 2)), column_bucketized(x, c(1, 2)))
  expect_identical(
    column_categorical_with_vocabulary_list("s", vocabulary_list = c(a = "x", b = "y")),
    column_categorical_with_vocabulary_list("s", vocabulary_list = c("x", "y"))
  )
  expect_identical(
    column_categorical_with_vocabulary_list("s", vocabulary_list = list(a = 1L, b = 2L)),
    column_categorical_with_vocabulary_list("s", vocabulary_list = 1:2)
  )
  expect_identical(column_numeric(c(a = "x"), shape = c(k = 2)), column_numeric("x", shape = 2))
  expect_identical(
    column_crossed(c(a = "x", b = "y"), hash_bucket_size = 5),
    column_crossed(c("x", "y"), hash_bucket_size = 5)
  )
  expect_identical(
    feature_columns(sapply(c("x", "y"), column_numeric)), column_numeric("x", "y")
  )
  expect_identical(
    with_columns(c(n = "x", m = "y"), column_numeric(c(a = x, b = y))), column_numeric("x", "y")
  )
})

test_that("arguments other than vectors of single values are errors", {
  x <- column_numeric("x")
  expect_snapshot_text({
    column_bucketized(x, list(c(1, 2), 3))
    column_bucketized(x, list(list(1), 2))
    column_bucketized(x, c(a = "low"))
    column_bucketized(x, c(1, NA))
    column_bucketized(x, numeric())
    column_categorical_with_vocabulary_list("s", vocabulary_list = list(c("a", "b")))
    column_categorical_with_vocabulary_list("s", vocabulary_list = mtcars)
    column_categorical_with_vocabulary_list("s", vocabulary_list = list(list("a")))
    column_categorical_with_identity("s", num_buckets = 1e300)
  })
})

test_that("a list of columns keeps argument names as c(recursive = TRUE) makes them", {
  columns <- feature_columns(
    a = column_numeric("x"), b = list(column_numeric("y"), column_numeric("z")), column_numeric("w")
  )
  expect_named(columns, c("a", "b1", "b2", ""))
  expect_identical(columns$b2, column_numeric("z"))
  expect_null(names(feature_columns(column_numeric("x"), column_numeric("y", "z"))))
  expect_named(feature_columns(a = column_numeric("x"), b = column_numeric("x")), "a")
  model <- linear_regressor(feature_columns(weight = column_numeric("wt")))
  expect_no_error(train(model, input_fn(mpg ~ wt, mtcars), steps = 1))
})

test_that("columns whose names are equal after cleaning get different variables", {
  words <- c("\u5e74\u9f84", "\u6536\u5165", "m\u00e4", "m\u00f6", "m__", "a b")
  set.seed(1)
  d <- stats::setNames(as.data.frame(matrix(rnorm(20 * 6), 20)), words)
  d$y <- rowSums(d * rep(1:6, each = 20))
  input <- input_fn(d, words, "y", num_epochs = 20)
  numbers <- feature_columns(lapply(words, column_numeric))
  model <- linear_regressor(numbers, withr::local_tempdir())
  train(model, input)
  weights <- grep("linear_model/.*weights$", variable_names(model), value = TRUE)
  expect_length(weights, 7)
  expect_true(all(
    paste0("linear/linear_model/", c("m__", "m___1", "m___1_1", "a_b", "______"), "/weights") %in%
      weights
  ))
  deep <- dnn_regressor(3L, feature_columns(lapply(words[1:4], function(word) {
    column_embedding(column_categorical_with_identity(word, num_buckets = 3L), 2L)
  })), withr::local_tempdir())
  ids <- as.data.frame(lapply(d, function(x) rep(0:2, length.out = 20)), check.names = FALSE)
  train(deep, input_fn(ids, words[1:4], "y", num_epochs = 1))
  expect_length(grep("embedding_weights$", variable_names(deep)), 4)
  expect_length(predict(deep, input_fn(ids, words[1:4], num_epochs = 1))$predictions, 20)
})
