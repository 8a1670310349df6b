# Categorical feature columns: what gives the ids of buckets. The core checks them and names them.

#' Categorical columns
#'
#' Columns that turn the values of a feature into the numbers of buckets:
#'
#' * `column_categorical_with_vocabulary_list()`: the place of a string or integer in a list;
#' * `column_categorical_with_vocabulary_file()`: the same, of the lines of a file;
#' * `column_categorical_with_identity()`: integers from 0 to `num_buckets - 1` as they are;
#' * `column_categorical_with_hash_bucket()`: the hash of a string, or of the decimal text of an
#'   integer, modulo the number of buckets.
#'
#' A linear model takes them as they are; other models take [column_indicator()] or
#' [column_embedding()] of them. An example may have several values: a matrix column padded with
#' `""` or `-1`, or a list column. `""`, `-1` and NA are missing: they are in no bucket. In a
#' `tf$SparseTensor()` `""` and `-1` are values like others, as in TensorFlow.
#'
#' @eval column_params("VocabularyListCategoricalColumn", "VocabularyFileCategoricalColumn",
#'   "IdentityCategoricalColumn", "HashedCategoricalColumn", without = c("dtype", "default_value"))
#' @param dtype The type of the feature: `tf$string`, `tf$int32` or `tf$int64`, or its name. `NULL`
#'   for a list: that of the list.
#' @param default_value The bucket of values that are in none; `-1` or `NULL`: they count as
#'   missing, and for `column_categorical_with_identity()` they are an error.
#' @return For one name the column, for several an unnamed list of columns.
#' @section Errors: `runhooks_error_invalid_argument` for a vocabulary with duplicates, a file that
#'   is shorter than `vocabulary_size`, numbers of buckets that are too small;
#'   `runhooks_error_not_found` for a file that cannot be read. In training, a value out of range is
#'   named with its column and row.
#' @seealso `tf.feature_column.categorical_column_with_vocabulary_list` and its like in TensorFlow
#'   1.x.
#' @family feature columns
#' @name categorical_columns
#' @examples
#' column_categorical_with_vocabulary_list("color", vocabulary_list = c("red", "green"))
#' column_categorical_with_hash_bucket("occupation", hash_bucket_size = 100)
#' column_categorical_with_identity("gear", num_buckets = 6)
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

#' A categorical column with weights
#'
#' The ids of another column, each with a number of a second feature: how often it counts.
#'
#' @eval column_params("WeightedCategoricalColumn")
#' @return The column.
#' @section Errors: `runhooks_error_invalid_argument` for arguments that do not hold, or a column of a kind that
#'   does not go there.
#' @seealso `tf.feature_column.weighted_categorical_column` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' words <- column_categorical_with_hash_bucket("words", hash_bucket_size = 100)
#' column_categorical_weighted(words, "counts")
column_categorical_weighted <- builtin_column("WeightedCategoricalColumn")

#' A cross of features
#'
#' Each combination of the values that an example has for the keys, by its hash: a model learns what
#' the features do together.
#'
#' @eval column_params("CrossedColumn")
#' @return The column. Its name is that of the keys, sorted: `"a_X_b"`.
#' @section Missing values: As in TensorFlow, the name of a feature crosses its values as they are,
#'   `""` and `-1` too; a categorical column leaves out what it has no bucket for.
#' @section Errors: `runhooks_error_invalid_argument` for arguments that do not hold, or a column of a kind that
#'   does not go there.
#' @seealso `tf.feature_column.crossed_column` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' age <- column_bucketized(column_numeric("age"), boundaries = c(25, 40, 60))
#' column_crossed(c(age, "education"), hash_bucket_size = 100)
column_crossed <- builtin_column("CrossedColumn")
