# Dense feature columns made of other columns.

#' Numbers in buckets
#'
#' The interval between boundaries that a number is in: the left end belongs to it, the right one to
#' the next. A linear model has a weight for each; other models see which one it is.
#'
#' @eval column_params("BucketizedColumn")
#' @return The column. It is categorical and dense at once.
#' @section Errors: `runhooks_error_invalid_argument` for boundaries that are not sorted.
#' @seealso `tf.feature_column.bucketized_column` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' column_bucketized(column_numeric("age"), boundaries = c(18, 25, 40, 60))
column_bucketized <- builtin_column("BucketizedColumn")

#' Which buckets an example is in
#'
#' A number for each bucket of a categorical column: how often the example has it, or the sum of its
#' weights.
#'
#' @eval column_params("IndicatorColumn")
#' @return The column.
#' @section Errors: `runhooks_error_invalid_argument` for arguments that do not hold, or a column of a kind that
#'   does not go there.
#' @seealso `tf.feature_column.indicator_column` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' column_indicator(column_categorical_with_identity("gear", num_buckets = 6))
column_indicator <- builtin_column("IndicatorColumn")

#' Trained vectors of categories
#'
#' Each bucket of a categorical column has a row of a table that is trained with the model; an
#' example has the combination of the rows of its ids. `column_shared_embedding()` gives several
#' columns with one table.
#'
#' @eval column_params("EmbeddingColumn", "SharedEmbeddingColumn")
#' @return The column; for `column_shared_embedding()` an unnamed list of columns.
#' @section Errors: `runhooks_error_invalid_argument` for arguments that do not hold, or a column of a kind that
#'   does not go there.
#' @seealso `tf.feature_column.embedding_column` and `shared_embedding_columns` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' words <- column_categorical_with_hash_bucket("words", hash_bucket_size = 100)
#' column_embedding(words, dimension = 8)
#'
#' # one table of vectors for the words of two features
#' home <- column_categorical_with_vocabulary_list("home", vocabulary_list = c("Rome", "Oslo", "Lima"))
#' away <- column_categorical_with_vocabulary_list("away", vocabulary_list = c("Rome", "Oslo", "Lima"))
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
  call <- environment()
  specs <- column_specs(registered("column", "SharedEmbeddingColumn")[[1]])
  own <- spec_columns_of(specs$all, specs$all$kind != "column")
  given <- prepared_arguments(given_arguments(own$name, call), own, call)
  columns <- as_column_list(categorical_columns, "categorical_columns", environment())
  buckets <- vapply(columns, function(column) cpp_column_buckets(core_value(column)), 0)
  if (any(is.na(buckets)) || any(buckets != buckets[[1]])) {
    abort_runhooks(
      "{.arg categorical_columns} must be categorical columns with the same number of buckets,
       not {.val {buckets}}."
    )
  }
  if (is.null(given$shared_embedding_collection_name)) {
    names <- sorted_words(vapply(columns, `[[`, "", "name"))
    given$shared_embedding_collection_name <-
      paste0(paste(names, collapse = "_"), "_shared_embedding")
  }
  lapply(unname(columns), function(column) {
    checked_column(specs, c(list(categorical_columns = column), given)[specs$all$name])
  })
}

#' Numbers of a period
#'
#' Hours of a day, months, angles: numbers that begin anew after a period, as the sine and cosine of
#' their place in it, so that 23 o'clock and 0 o'clock are neighbours.
#'
#' @eval column_params("CyclicColumn")
#' @return For one name the column, which is dense and two numbers wide; for several an unnamed list
#'   of columns.
#' @section Errors: `runhooks_error_invalid_argument` for arguments that do not hold, or a column of a kind that
#'   does not go there.
#' @family feature columns
#' @export
#' @examples
#' column_cyclic("hour", period = 24)
column_cyclic <- builtin_column("CyclicColumn")
