# Messages about uninformative features at the first training of a model.

inform_useless_features <- function(columns, estimator, folder) {
  if (is.null(folder) || folder$has_checkpoint || length(columns) == 0) return(invisible())
  if (n_rows(columns[[1]]) < 2) return(invisible())
  inform_constant(names(columns)[vapply(columns, is_constant_column, NA)], columns)
  inform_no_match(columns, estimator)
}

is_constant_column <- function(x) {
  if (is_sparse_matrix(x) || length(dim(x)) > 1) return(FALSE)
  first <- x[[1]]
  # for most columns, the first rows show cheaply that they are not constant
  if (!all(x[seq_len(min(length(x), 20))] == first) %in% TRUE) return(FALSE)
  all(x == first) %in% TRUE
}

inform_constant <- function(names, columns) {
  if (length(names) == 0) return(invisible())
  values <- vapply(columns[names], function(x) format(x[[1]]), "")
  features <- paste0("\"", names, "\" (", values, ")") # nolint: used by cli
  cli::cli_inform(
    c(
      "{cli::qty(length(names))}{?The feature/The features} {features} {?is/are} constant, so
       training cannot learn from {?it/them}."
    ),
    class = "runhooks_message_constant"
  )
}

# Reports columns whose vocabulary contains no value of the data, so that all values are missing.
inform_no_match <- function(columns, estimator) {
  for (column in vocabulary_columns(estimator$spec)) {
    x <- columns[[column$key]]
    if (is.null(x) || is_sparse_matrix(x) || isTRUE(column$num_oov_buckets > 0)) next
    values <- unique(as.character(x))
    values <- values[!is.na(values) & nzchar(values)]
    if (length(values) == 0 || any(values %in% as.character(unlist(column$vocabulary_list)))) next
    vocabulary <- utils::head(as.character(unlist(column$vocabulary_list)), 5) # nolint: used by cli
    data_values <- utils::head(values, 5) # nolint: used by cli
    cli::cli_inform(
      c(
        "No value of {.val {column$key}} is in the vocabulary of its column, so training cannot
         learn from it.",
        x = "The data have {.val {data_values}}, the vocabulary has {.val {vocabulary}}."
      ),
      class = "runhooks_message_no_match"
    )
  }
}

vocabulary_columns <- function(x) {
  fields <- unclass(x)
  if (is.character(fields[["key"]]) && !is.null(fields[["vocabulary_list"]])) return(list(fields))
  columns <- list()
  for (field in fields) if (is.list(field)) columns <- c(columns, vocabulary_columns(field))
  columns
}

# Reports that a model has more weights than rows and may overfit.
inform_few_rows <- function(object, weights, rows) {
  if (is_custom(object) || !is_number(rows) || weights <= rows) return(invisible())
  count <- function(n) format(n, big.mark = ",", scientific = FALSE) # nolint: used by cli
  cli::cli_inform(
    c(
      "The model has more weights ({count(weights)}) than rows ({count(rows)}) and may overfit.",
      i = "Use {.code train(validation = )} to detect overfitting, and
           {.code stop = early_stopping()} to avoid it."
    ),
    class = "runhooks_message_few_rows"
  )
}
