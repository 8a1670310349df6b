# Dense feature columns that transform other columns.

#' Bucketize a numeric column
#'
#' Returns a column that replaces a number by the interval that contains it. Intervals are closed on
#' the left: with the boundary 18, the value 18 is in the upper interval. A linear model has one
#' weight per interval; in other models the column is a one-hot vector.
#'
#' @eval column_params("BucketizedColumn")
#' @return A feature column. It is both categorical and dense.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `boundaries` are not increasing, or `source_column` is not
#'     a numeric column.
#' @seealso `tf.feature_column.bucketized_column` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' age <- column_bucketized(column_numeric("age"), boundaries = c(18, 25, 40, 60))
#' layer <- input_layer(list(age = tf$constant(c(17, 33))), age)
#' with(tf$Session() %as% sess, sess$run(layer))
column_bucketized <- builtin_column("BucketizedColumn")

#' Convert a categorical column to indicators
#'
#' Returns a dense column with one number per bucket of a categorical column: how often the row has
#' this bucket (a multi-hot vector), or the sum of its weights.
#'
#' @eval column_params("IndicatorColumn")
#' @return A feature column.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `categorical_column` is not a categorical column.
#' @seealso `tf.feature_column.indicator_column` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' gear <- column_categorical_with_identity("gear", num_buckets = 6)
#' layer <- input_layer(list(gear = tf$constant(c(3L, 5L))), column_indicator(gear))
#' with(tf$Session() %as% sess, sess$run(layer))
column_indicator <- builtin_column("IndicatorColumn")

#' Create an embedding column
#'
#' Returns a dense column that maps each bucket of a categorical column to a trainable vector. If a
#' row has several ids, their vectors are combined. `column_shared_embedding()` creates several
#' columns that share one table of vectors.
#'
#' @eval column_params("EmbeddingColumn", "SharedEmbeddingColumn")
#' @return A feature column; for `column_shared_embedding()`, an unnamed list of columns.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid, a column is not categorical, or
#'     the columns that share a table have different numbers of buckets.
#' @seealso `tf.feature_column.embedding_column` and `shared_embedding_columns` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' tf$reset_default_graph()
#' words <- column_categorical_with_hash_bucket("words", hash_bucket_size = 100)
#' embedding <- column_embedding(words, dimension = 2)
#' embedding
#'
#' # equal words have equal vectors
#' layer <- input_layer(list(words = tf$constant(c("a", "b", "a"))), embedding)
#' with(tf$Session() %as% sess, {
#'   sess$run(tf$global_variables_initializer())
#'   sess$run(layer)
#' })
#'
#' # one table of vectors for two features
#' cities <- c("Rome", "Oslo", "Lima")
#' home <- column_categorical_with_vocabulary_list("home", vocabulary_list = cities)
#' away <- column_categorical_with_vocabulary_list("away", vocabulary_list = cities)
#' column_shared_embedding(list(home, away), dimension = 2)
column_embedding <- builtin_column("EmbeddingColumn")

#' @rdname column_embedding
#' @export
column_shared_embedding <- function(
  categorical_columns,
  dimension,
  combiner = "mean",
  initializer = NULL,
  shared_embedding_collection_name = NULL,
  ckpt_to_load_from = NULL,
  tensor_name_in_ckpt = NULL,
  max_norm = NULL,
  trainable = TRUE
) {
  abort_abbreviated_arguments()
  call <- environment()
  specs <- column_specs(registered("column", "SharedEmbeddingColumn")[[1]])
  table_args <- specs_as_list(specs$all, specs$all$kind != "column")
  values <- convert_arguments(argument_values(table_args$name, call), table_args, call)
  columns <- as_column_list(categorical_columns, "categorical_columns", environment())
  bucket_counts <- vapply(columns, function(column) cpp_column_buckets(value_for_core(column)), 0)
  if (any(is.na(bucket_counts)) || any(bucket_counts != bucket_counts[[1]])) {
    abort_runhooks(
      "{.arg categorical_columns} must be categorical columns with the same number of buckets,
       not {.val {bucket_counts}}."
    )
  }
  if (is.null(values$shared_embedding_collection_name)) {
    names <- sort_bytewise(vapply(columns, `[[`, "", "name"))
    values$shared_embedding_collection_name <-
      paste0(paste(names, collapse = "_"), "_shared_embedding")
  }
  lapply(unname(columns), function(column) {
    column_from_values(specs, c(list(categorical_columns = column), values)[specs$all$name])
  })
}

#' Create a column for periodic numbers
#'
#' Returns a dense column with the sine and cosine of the phase of a periodic number, such as an
#' hour of the day, a month or an angle. The end and the beginning of a period are therefore close:
#' 23 o'clock is next to 0 o'clock.
#'
#' @eval column_params("CyclicColumn")
#' @return A feature column with two numbers per row; for several names, an unnamed list of columns.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `period` is not a positive number, or a name is not a
#'     string.
#' @family feature columns
#' @export
#' @examples
#' hour <- column_cyclic("hour", period = 24)
#' layer <- input_layer(list(hour = tf$constant(c(0, 6, 23))), hour)
#' with(tf$Session() %as% sess, round(sess$run(layer), 2))
column_cyclic <- builtin_column("CyclicColumn")
