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
#' @param ... Names of features: strings, character vectors, and within [set_columns()] or
#'   [feature_columns()] with `names` selections such as [starts_with()].
#' @param vocabulary_list Strings or integers, each once.
#' @param vocabulary_file A path to a text file of one word a line.
#' @param vocabulary_size How many of its lines are the vocabulary; `NULL`: all.
#' @param dtype The type of the feature: `tf$string`, `tf$int32` or `tf$int64`, or its name. `NULL`
#'   for a list: that of the list.
#' @param default_value The bucket of values that are in none; `-1` or `NULL`: they count as
#'   missing, and for `column_categorical_with_identity()` they are an error.
#' @param num_oov_buckets How many buckets, behind the vocabulary's, are for words that are not in
#'   it, by their hash. Not together with `default_value`.
#' @param num_buckets The number of buckets.
#' @param hash_bucket_size The number of buckets, 2 or more.
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
NULL

#' @rdname categorical_columns
#' @export
column_categorical_with_vocabulary_list <- function(
  ...,
  vocabulary_list,
  dtype = NULL,
  default_value = -1L,
  num_oov_buckets = 0L
) {
  check_named(!missing(vocabulary_list), "vocabulary_list")
  words <- vocabulary_words(vocabulary_list)
  dtype <- if (is.null(dtype)) natural_key_type(words) else as_dtype(dtype)
  columns_for(..., make = function(key) {
    new_checked_column("VocabularyListCategoricalColumn",
      key = key, vocabulary_list = words, dtype = dtype, default_value = default_value,
      num_oov_buckets = num_oov_buckets
    )
  })
}

vocabulary_words <- function(words, call = parent.frame()) {
  if (is.factor(words)) words <- as.character(words)
  wanted <- "strings or integers, and at least one"
  is_word <- function(x) is.character(x) || is.numeric(x)
  check_elements(
    words, is_word, wanted, "vocabulary_list", call,
    na_advice = "NA in the data is a missing value, which is in no bucket."
  )
}

natural_key_type <- function(words) as_dtype(if (is.character(words[[1]])) "string" else "int64")

#' @rdname categorical_columns
#' @export
column_categorical_with_vocabulary_file <- function(
  ...,
  vocabulary_file,
  vocabulary_size = NULL,
  num_oov_buckets = 0L,
  default_value = NULL,
  dtype = tf$string
) {
  check_named(!missing(vocabulary_file), "vocabulary_file")
  check_string(vocabulary_file)
  check_whole(vocabulary_size, null = TRUE)
  path <- absolute_path(vocabulary_file, "vocabulary_file")
  columns_for(..., make = function(key) {
    new_checked_column("VocabularyFileCategoricalColumn",
      key = key, vocabulary_file = path, vocabulary_size = vocabulary_size,
      num_oov_buckets = num_oov_buckets, dtype = as_dtype(dtype),
      default_value = if (is.null(default_value)) -1L else default_value
    )
  })
}

#' @rdname categorical_columns
#' @export
column_categorical_with_identity <- function(..., num_buckets, default_value = NULL) {
  check_named(!missing(num_buckets), "num_buckets")
  check_whole(num_buckets)
  check_whole(default_value, null = TRUE)
  columns_for(..., make = function(key) {
    new_checked_column("IdentityCategoricalColumn",
      key = key, number_buckets = num_buckets, default_value = default_value
    )
  })
}

#' @rdname categorical_columns
#' @export
column_categorical_with_hash_bucket <- function(..., hash_bucket_size, dtype = tf$string) {
  check_named(!missing(hash_bucket_size), "hash_bucket_size")
  check_whole(hash_bucket_size)
  columns_for(..., make = function(key) {
    new_checked_column("HashedCategoricalColumn",
      key = key, hash_bucket_size = hash_bucket_size, dtype = as_dtype(dtype)
    )
  })
}

#' A categorical column with weights
#'
#' The ids of another column, each with a number of a second feature: how often it counts.
#'
#' @param categorical_column A [categorical column][categorical_columns].
#' @param weight_feature_key The name of the feature of weights, which has as many values in each
#'   row as the categorical one. A weight of 0 leaves its id out.
#' @param dtype `tf$float32`; R's doubles are cast.
#' @return The column.
#' @seealso `tf.feature_column.weighted_categorical_column` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' words <- column_categorical_with_hash_bucket("words", hash_bucket_size = 100)
#' column_categorical_weighted(words, "counts")
column_categorical_weighted <- function(
  categorical_column,
  weight_feature_key,
  dtype = tf$float32
) {
  check_is_column(categorical_column)
  check_string(weight_feature_key)
  new_checked_column("WeightedCategoricalColumn",
    categorical_column = categorical_column, weight_feature_key = weight_feature_key,
    dtype = as_dtype(dtype)
  )
}

#' A cross of features
#'
#' Each combination of the values that an example has for the keys, by its hash: a model learns what
#' the features do together.
#'
#' @param keys At least two: names of features, or categorical columns (not hashed or weighted
#'   ones), or `c()` of both.
#' @param hash_bucket_size The number of buckets, 2 or more.
#' @param hash_key The key of the hash function; `NULL` is TensorFlow's own. Beyond 2^53 as text.
#' @return The column. Its name is that of the keys, sorted: `"a_X_b"`.
#' @section Missing values: As in TensorFlow, the name of a feature crosses its values as they are,
#'   `""` and `-1` too; a categorical column leaves out what it has no bucket for.
#' @seealso `tf.feature_column.crossed_column` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' age <- column_bucketized(column_numeric("age"), boundaries = c(25, 40, 60))
#' column_crossed(c(age, "education"), hash_bucket_size = 100)
column_crossed <- function(keys, hash_bucket_size, hash_key = NULL) {
  check_whole(hash_bucket_size)
  new_checked_column("CrossedColumn",
    keys = if (is_column(keys)) list(keys) else unname(as.list(keys)),
    hash_bucket_size = hash_bucket_size, hash_key = hash_key
  )
}
