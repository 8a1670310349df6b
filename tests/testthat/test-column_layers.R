words <- function(...) column_categorical_with_identity("a", num_buckets = 4, ...)
constant_rows <- function(shape, dtype) {
  shape <- unlist(shape)
  tf$constant(matrix(seq_len(prod(shape)), shape[[1]], byrow = TRUE), dtype = dtype)
}
embedding <- function(...) {
  column_embedding(words(), dimension = 2, initializer = constant_rows, ...)
}
in_session <- function(graph, tensors) {
  force(tensors)
  session <- tf$Session(graph = graph)
  session$run(tf$global_variables_initializer())
  lapply(session$run(tensors), unname)
}

test_that("columns are concatenated in the order of their names", {
  graph <- tf$Graph()
  with(graph$as_default(), {
    features <- list(x = tf$constant(c(1, 2)), a = tf$constant(rbind(c(0L, 2L), c(3L, -1L))))
    variables <- new.env()
    layer <- input_layer(
      features, list(column_numeric("x"), embedding(), column_indicator(words())),
      cols_to_vars = variables
    )
    expect_equal(dim(layer), c(2L, 7L))
    expect_equal(
      in_session(graph, list(layer))[[1]], rbind(c(3, 4, 1, 0, 1, 0, 1), c(7, 8, 0, 0, 0, 1, 2))
    )
    expect_equal(
      variables$a_embedding[[1]]$name, "input_layer/a_embedding/embedding_weights:0"
    )
    input_layer(features, embedding())
    names <- vapply(tf$global_variables(), function(v) v$name, "")
    expect_equal(names[[2]], "input_layer_1/a_embedding/embedding_weights:0")
  })
})

test_that("ids are combined as requested, and long vectors are clipped", {
  graph <- tf$Graph()
  with(graph$as_default(), {
    features <- list(a = tf$constant(rbind(c(0L, 2L), c(-1L, -1L))))
    get <- function(...) in_session(graph, list(input_layer(features, embedding(...))))[[1]]
    expect_equal(get(combiner = "sum")[1, ], c(6, 8))
    expect_equal(get(combiner = "sqrtn")[1, ], c(6, 8) / sqrt(2), tolerance = 1e-6)
    expect_equal(get(combiner = "mean")[2, ], c(0, 0))
    scaled <- c(1, 2) / sqrt(5) + c(5, 6) / sqrt(61)
    expect_equal(get(combiner = "sum", max_norm = 1)[1, ], scaled, tolerance = 1e-6)
  })
})

test_that("shared embeddings have one table", {
  graph <- tf$Graph()
  with(graph$as_default(), {
    columns <- column_shared_embedding(
      list(words(), column_categorical_with_identity("b", num_buckets = 4)),
      dimension = 2, initializer = constant_rows
    )
    features <- list(a = tf$constant(1L, shape = list(1L)), b = tf$constant(2L, shape = list(1L)))
    layer <- input_layer(features, columns)
    expect_equal(in_session(graph, list(layer))[[1]], rbind(c(3, 4, 5, 6)))
    names <- vapply(tf$global_variables(), function(v) v$name, "")
    expect_equal(names, "input_layer/a_b_shared_embedding/embedding_weights:0")
  })
})

test_that("an embedding table can start from a checkpoint and be frozen", {
  dir <- withr::local_tempdir()
  model <- linear_regressor(words(), model_dir = dir)
  data <- data.frame(a = c(1L, 2L, 1L), y = c(1, 2, 3))
  train(model, input_fn(data, features = a, response = y))
  weights <- variable_value(model)[["linear/linear_model/a/weights"]]
  graph <- tf$Graph()
  with(graph$as_default(), {
    column <- column_embedding(
      words(), dimension = 1, ckpt_to_load_from = latest_checkpoint(dir),
      tensor_name_in_ckpt = "linear/linear_model/a/weights", trainable = FALSE
    )
    layer <- input_layer(list(a = tf$constant(1:2)), column)
    expect_equal(as.vector(in_session(graph, list(layer))[[1]]), weights[2:3])
    expect_length(tf$trainable_variables(), 0)
  })
})

test_that("linear_model() has a weight for each bucket and number, and a bias", {
  graph <- tf$Graph()
  with(graph$as_default(), {
    features <- list(x = tf$constant(c(1, 2)), a = tf$constant(c(0L, 3L)))
    sums <- linear_model(features, list(words(), column_numeric("x"), embedding()), units = 2)
    expect_equal(dim(sums), c(2L, 2L))
    names <- vapply(tf$global_variables(), function(v) v$name, "")
    expect_setequal(names, c(
      "linear_model/a/weights:0", "linear_model/a_embedding/weights:0",
      "linear_model/a_embedding/embedding_weights:0", "linear_model/x/weights:0",
      "linear_model/bias_weights:0"
    ))
    expect_equal(in_session(graph, list(sums))[[1]], matrix(0, 2, 2))
  })
})

test_that("gradients of look-ups are IndexedSlices and can be densified", {
  graph <- tf$Graph()
  with(graph$as_default(), {
    layer <- input_layer(list(a = tf$constant(rbind(c(0L, 2L), c(2L, -1L)))), embedding())
    table <- tf$global_variables()[[1]]
    slices <- tf$gradients(tf$reduce_sum(layer), list(table))[[1]]
    expect_s3_class(slices, "tensorflow.indexed_slices")
    dense <- tf$convert_to_tensor(slices)
    got <- in_session(graph, list(dense))[[1]]
    expect_equal(got, rbind(c(0.5, 0.5), c(0, 0), c(1.5, 1.5), c(0, 0)))
  })
})

test_that("sparse features equal dense ones that are padded with missing values", {
  graph <- tf$Graph()
  with(graph$as_default(), {
    sparse <- tf$SparseTensor(
      indices = rbind(c(0, 0), c(0, 1), c(2, 0)), values = c("x", "y", "x"),
      dense_shape = c(3, 2)
    )
    column <- column_categorical_with_vocabulary_list("s", vocabulary_list = c("x", "y"))
    layer <- input_layer(list(s = sparse), column_indicator(column))
    expect_equal(in_session(graph, list(layer))[[1]], rbind(c(1, 1), c(0, 0), c(1, 0)))
  })
})

test_that("-1 and \"\" in a sparse feature are values", {
  hashed <- column_categorical_with_hash_bucket
  listed <- column_categorical_with_vocabulary_list
  columns <- list(
    hashed("s", hash_bucket_size = 5),
    hashed("i", hash_bucket_size = 5, dtype = tf$int64),
    listed("s", vocabulary_list = c("", "a")),
    listed("i", vocabulary_list = c(3L, -1L)),
    column_categorical_with_identity("i", num_buckets = 5, default_value = 2),
    column_crossed(c("s", "d"), hash_bucket_size = 5),
    column_crossed(c("i", "s"), hash_bucket_size = 5)
  )
  # The expected values are the output of TensorFlow 1.15.
  expected <- list(
    rbind(c(0, 0, 0, 1, 1), 0, c(0, 0, 0, 1, 0)), rbind(c(1, 1, 0, 0, 0), 0, c(1, 0, 0, 0, 0)),
    rbind(c(1, 1), 0, c(1, 0)), rbind(c(1, 1), 0, c(0, 1)),
    rbind(c(0, 0, 1, 1, 0), 0, c(0, 0, 1, 0, 0)), rbind(c(0, 0, 1, 1, 0), 0, c(0, 0, 0, 1, 0)),
    rbind(c(0, 1, 1, 1, 1), 0, c(0, 0, 0, 0, 1))
  )
  graph <- tf$Graph()
  with(graph$as_default(), {
    sparse <- function(values) {
      tf$SparseTensor(rbind(c(0, 0), c(0, 1), c(2, 0)), values, c(3, 2))
    }
    features <- list(
      s = sparse(c("", "a", "")), i = sparse(c(-1L, 3L, -1L)), d = tf$constant(c("p", "q", "r"))
    )
    layers <- lapply(columns, function(column) input_layer(features, column_indicator(column)))
    expect_equal(lapply(in_session(graph, layers), unname), expected)
    bad <- input_layer(
      features, column_indicator(column_categorical_with_identity("i", num_buckets = 5))
    )
    expect_error(in_session(graph, list(bad)), "value -1")
  })
})

test_that("the input layer rejects unsupported arguments", {
  graph <- tf$Graph()
  with(graph$as_default(), {
    features <- list(a = tf$constant(1:2))
    expect_snapshot_text({
      input_layer(features, words())
      input_layer(features, list())
      input_layer(1, column_indicator(words()))
      input_layer(
        features, list(column_indicator(words()), column_indicator(words(default_value = 1)))
      )
    })
  })
})
