test_that("specifications match TensorFlow's", {
  expected <- list(
    a = tf$FixedLenFeature(1L, tf$float32), b = tf$FixedLenFeature(1L, tf$int64),
    c = tf$FixedLenFeature(1L, tf$float32)
  )
  expect_equal(
    classifier_parse_example_spec(column_numeric("a"), label_key = "b", weight_column = "c"),
    expected
  )
  expect_equal(
    format(expected$a), "FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)"
  )
  regressor <- regressor_parse_example_spec(
    column_numeric("a"), label_key = "b", label_dimension = 2
  )
  expect_equal(regressor$b, tf$FixedLenFeature(2L, tf$float32))
})

test_that("each kind of column lists its features", {
  words <- column_categorical_with_vocabulary_list("t", vocabulary_list = c("a", "b"))
  columns <- list(
    column_embedding(words, dimension = 2),
    column_indicator(column_categorical_weighted(words, "w")),
    column_bucketized(column_numeric("x", shape = 3), 1),
    column_crossed(c("k", "l"), hash_bucket_size = 5),
    column_categorical_with_hash_bucket("i", hash_bucket_size = 5, dtype = tf$int32),
    column_categorical_with_identity("j", num_buckets = 5)
  )
  spec <- regressor_parse_example_spec(columns, label_key = "y")
  expect_equal(names(spec), c("t", "w", "x", "k", "l", "i", "j", "y"))
  expect_equal(spec$t, tf$VarLenFeature(tf$string))
  expect_equal(spec$w, tf$VarLenFeature(tf$float32))
  expect_equal(spec$x, tf$FixedLenFeature(3L, tf$float32))
  expect_equal(spec$k, tf$VarLenFeature(tf$string))
  expect_equal(spec$i, tf$VarLenFeature(tf$int64))
})

test_that("a label or weight that is also a feature is an error", {
  expect_error(classifier_parse_example_spec(column_numeric("a"), label_key = "a"), "label")
  expect_error(
    classifier_parse_example_spec(column_numeric("a"), label_key = "b", weight_column = "a"),
    "weight"
  )
})
