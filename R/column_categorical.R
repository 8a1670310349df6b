# Categorical feature columns. The core validates and names them.

#' Create categorical feature columns
#'
#' These functions return columns that convert the values of a feature to bucket ids:
#'
#' * `column_categorical_with_vocabulary_list()`: the position of a string or integer in a list.
#' * `column_categorical_with_vocabulary_file()`: the position of a string in the lines of a file.
#' * `column_categorical_with_identity()`: integers from 0 to `num_buckets - 1`, used as ids.
#' * `column_categorical_with_hash_bucket()`: the hash of a string, or of an integer in decimal
#'   notation, modulo the number of buckets.
#'
#' Linear models accept these columns. For other models, wrap them in [column_indicator()] or
#' [column_embedding()].
#'
#' A row may have several values: use a matrix column padded with `""` or `-1`, or a list column.
#' The values `""`, `-1` and NA are missing and are in no bucket. In a `tf$SparseTensor()`, `""` and
#' `-1` are ordinary values, as in TensorFlow.
#'
#' @eval column_params("VocabularyListCategoricalColumn", "VocabularyFileCategoricalColumn",
#'   "IdentityCategoricalColumn", "HashedCategoricalColumn", without = c("dtype", "default_value"))
#' @param dtype Type of the feature: `tf$string`, `tf$int32` or `tf$int64`, or its name. `NULL` (for
#'   a vocabulary list): the type of the list.
#' @param default_value Bucket of values that are in no other bucket, an integer. `-1` or `NULL`:
#'   such values are missing; for `column_categorical_with_identity()` they are an error.
#' @return A feature column; for several names, an unnamed list of columns.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: the vocabulary has duplicates, the file has fewer than
#'     `vocabulary_size` lines, or the number of buckets is too small. During training: a value is
#'     out of range; the message contains its column and row.
#'   * `runhooks_error_not_found`: the vocabulary file cannot be read.
#' @seealso `tf.feature_column.categorical_column_with_vocabulary_list` and the similar functions of
#'   TensorFlow 1.x.
#' @family feature columns
#' @name categorical_columns
#' @examples
#' color <- column_categorical_with_vocabulary_list("color", vocabulary_list = c("red", "green"))
#' color
#' column_categorical_with_hash_bucket("occupation", hash_bucket_size = 100)
#' column_categorical_with_identity("gear", num_buckets = 6)
#'
#' # "blue" is not in the vocabulary, so its row is zero
#' features <- list(color = tf$constant(c("green", "red", "blue")))
#' layer <- input_layer(features, column_indicator(color))
#' with(tf$Session() %as% sess, sess$run(layer))
#'
#' file <- tempfile()
#' writeLines(c("red", "green", "blue"), file)
#' column_categorical_with_vocabulary_file("color", vocabulary_file = file)
NULL

#' @rdname categorical_columns
#' @export
column_categorical_with_vocabulary_list <- builtin_column("VocabularyListCategoricalColumn")

#' @rdname categorical_columns
#' @export
column_categorical_with_vocabulary_file <- builtin_column("VocabularyFileCategoricalColumn")

#' @rdname categorical_columns
#' @export
column_categorical_with_identity <- builtin_column("IdentityCategoricalColumn")

#' @rdname categorical_columns
#' @export
column_categorical_with_hash_bucket <- builtin_column("HashedCategoricalColumn")

#' Create a weighted categorical column
#'
#' Returns a column with the ids of a categorical column, each weighted by a number from a second
#' feature, such as a count.
#'
#' @eval column_params("WeightedCategoricalColumn")
#' @return A feature column.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid, or `categorical_column` is a
#'     column of another kind.
#' @seealso `tf.feature_column.weighted_categorical_column` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' words <- column_categorical_with_vocabulary_list("words", vocabulary_list = c("cat", "dog"))
#' weighted <- column_categorical_weighted(words, "counts")
#'
#' # two texts: 2 times "cat" and 3 times "dog", and "dog" once
#' features <- list(
#'   words = tf$constant(rbind(c("cat", "dog"), c("dog", ""))),
#'   counts = tf$constant(rbind(c(2, 3), c(1, 0)))
#' )
#' layer <- input_layer(features, column_indicator(weighted))
#' with(tf$Session() %as% sess, sess$run(layer))
column_categorical_weighted <- builtin_column("WeightedCategoricalColumn")

#' Cross features
#'
#' Returns a categorical column with one id for each combination of the values of several features,
#' hashed to a number of buckets. A linear model needs it to learn interactions.
#'
#' @eval column_params("CrossedColumn")
#' @return A feature column. Its name consists of the sorted names of the keys: `"a_X_b"`.
#' @section Missing values: As in TensorFlow, a key that is the name of a feature crosses all
#'   values, including `""` and `-1`. A key that is a categorical column skips values without a
#'   bucket.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid, or a key is a column of another
#'     kind.
#' @seealso `tf.feature_column.crossed_column` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' age <- column_bucketized(column_numeric("age"), boundaries = c(25, 40, 60))
#' crossed <- column_crossed(c(age, "education"), hash_bucket_size = 4)
#' crossed$name
#'
#' features <- list(age = tf$constant(c(20, 50)), education = tf$constant(c("BSc", "MSc")))
#' layer <- input_layer(features, column_indicator(crossed))
#' with(tf$Session() %as% sess, sess$run(layer))
column_crossed <- builtin_column("CrossedColumn")
