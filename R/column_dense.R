# Dense feature columns made of other columns.

#' Numbers in buckets
#'
#' The interval between boundaries that a number is in: the left end belongs to it, the right one to
#' the next. A linear model has a weight for each; other models see which one it is.
#'
#' @param source_column A [column_numeric()].
#' @param boundaries Numbers, each above the one before. Boundaries are compared as float32.
#' @return The column. It is categorical and dense at once.
#' @section Errors: `runhooks_error_invalid_argument` for boundaries that are not sorted.
#' @seealso `tf.feature_column.bucketized_column` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' column_bucketized(column_numeric("age"), boundaries = c(18, 25, 40, 60))
column_bucketized <- function(source_column, boundaries) {
  check_is_column(source_column)
  boundaries <- check_elements(boundaries, is.numeric, "numbers", "boundaries", environment())
  new_checked_column("BucketizedColumn",
    source_column = source_column, boundaries = boundaries
  )
}

#' Which buckets an example is in
#'
#' A number for each bucket of a categorical column: how often the example has it, or the sum of its
#' weights.
#'
#' @param categorical_column A [categorical column][categorical_columns].
#' @return The column.
#' @seealso `tf.feature_column.indicator_column` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' column_indicator(column_categorical_with_identity("gear", num_buckets = 6))
column_indicator <- function(categorical_column) {
  # a page of tfestimators gives a string, which is refused when the column is used
  if (is.character(categorical_column) && length(categorical_column) == 1) {
    return(new_column("IndicatorColumn",
      name = paste0(categorical_column, "_indicator"), key = NULL,
      categorical_column = categorical_column
    ))
  }
  check_is_column(categorical_column)
  new_checked_column("IndicatorColumn", categorical_column = categorical_column)
}

#' Trained vectors of categories
#'
#' Each bucket of a categorical column has a row of a table that is trained with the model; an
#' example has the combination of the rows of its ids. `column_shared_embedding()` gives several
#' columns with one table.
#'
#' @param categorical_column,categorical_columns A [categorical column][categorical_columns], or a
#'   list of such columns with the same number of buckets.
#' @param dimension The length of a vector.
#' @param combiner How several ids are combined: `"mean"`, `"sqrtn"` or `"sum"`.
#' @param initializer An initializer such as `tf$random_normal_initializer()`, a function of the
#'   shape and the type that returns a tensor, or `NULL`: truncated normal numbers of standard
#'   deviation `1 / sqrt(dimension)`.
#' @param shared_embedding_collection_name The name of the common table; `NULL` makes one of the
#'   columns' names.
#' @param ckpt_to_load_from,tensor_name_in_ckpt A checkpoint and the name of a tensor in it that the
#'   table starts from; both or none.
#' @param max_norm Vectors that are longer are scaled down to this length before they are combined.
#' @param trainable Whether the table is trained.
#' @return The column; for `column_shared_embedding()` an unnamed list of columns.
#' @seealso `tf.feature_column.embedding_column` and `shared_embedding_columns` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' words <- column_categorical_with_hash_bucket("words", hash_bucket_size = 100)
#' column_embedding(words, dimension = 8)
column_embedding <- function(
  categorical_column,
  dimension,
  combiner = "mean",
  initializer = NULL,
  ckpt_to_load_from = NULL,
  tensor_name_in_ckpt = NULL,
  max_norm = NULL,
  trainable = TRUE
) {
  check_is_column(categorical_column)
  check_positive_whole(dimension)
  check_function(initializer, null = TRUE)
  ckpt_to_load_from <- absolute_path(ckpt_to_load_from, "ckpt_to_load_from")
  new_checked_column("EmbeddingColumn",
    categorical_column = categorical_column, dimension = dimension, combiner = combiner,
    initializer = initializer, ckpt_to_load_from = ckpt_to_load_from,
    tensor_name_in_ckpt = tensor_name_in_ckpt, max_norm = max_norm, trainable = trainable
  )
}

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
  check_positive_whole(dimension)
  check_function(initializer, null = TRUE)
  check_string(shared_embedding_collection_name, null = TRUE)
  ckpt_to_load_from <- absolute_path(ckpt_to_load_from, "ckpt_to_load_from")
  columns <- as_column_list(categorical_columns, "categorical_columns", environment())
  buckets <- vapply(columns, function(column) cpp_column_buckets(core_value(column)), 0)
  if (any(is.na(buckets)) || any(buckets != buckets[[1]])) {
    stop_runhooks(
      "{.arg categorical_columns} must be categorical columns with the same number of buckets,
       not {.val {buckets}}."
    )
  }
  shared <- shared_embedding_collection_name
  if (is.null(shared)) {
    names <- sort(vapply(columns, `[[`, "", "name"), method = "radix")
    shared <- paste0(paste(names, collapse = "_"), "_shared_embedding")
  }
  lapply(unname(columns), function(column) {
    new_checked_column("SharedEmbeddingColumn",
      categorical_column = column, dimension = dimension, combiner = combiner,
      initializer = initializer, shared_embedding_collection_name = shared,
      ckpt_to_load_from = ckpt_to_load_from, tensor_name_in_ckpt = tensor_name_in_ckpt,
      max_norm = max_norm, trainable = trainable
    )
  })
}
