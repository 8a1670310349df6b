# What training says of features that can teach a model nothing: once, when a folder is new.

inform_useless_features <- function(columns, estimator, folder) {
  if (is.null(folder) || folder$has_checkpoint || length(columns) == 0) return(invisible())
  if (n_rows(columns[[1]]) < 2) return(invisible())
  inform_constant(names(columns)[vapply(columns, is_constant_column, NA)], columns)
  inform_no_match(columns, estimator)
}

is_constant_column <- function(x) {
  if (is_sparse_matrix(x) || length(dim(x)) > 1) return(FALSE)
  first <- x[[1]]
  # most columns show it soon
  if (!all(x[seq_len(min(length(x), 20))] == first) %in% TRUE) return(FALSE)
  all(x == first) %in% TRUE
}

inform_constant <- function(names, columns) {
  if (length(names) == 0) return(invisible())
  values <- vapply(columns[names], function(x) format(x[[1]]), "")
  shown <- paste0("\"", names, "\" (", values, ")") # nolint: used by cli
  cli::cli_inform(
    c(
      "{cli::qty(length(names))}{?The feature/The features} {shown} {?is/are} the same in all rows:
       training learns nothing from {?it/them}."
    ),
    class = "runhooks_message_constant"
  )
}

# A vocabulary of other words than the data have makes all of them missing.
inform_no_match <- function(columns, estimator) {
  for (column in vocabulary_columns(estimator$spec)) {
    x <- columns[[column$key]]
    if (is.null(x) || is_sparse_matrix(x) || isTRUE(column$num_oov_buckets > 0)) next
    words <- unique(as.character(x))
    words <- words[!is.na(words) & nzchar(words)]
    if (length(words) == 0 || any(words %in% as.character(unlist(column$vocabulary_list)))) next
    known <- utils::head(as.character(unlist(column$vocabulary_list)), 5) # nolint: used by cli
    seen <- utils::head(words, 5) # nolint: used by cli
    cli::cli_inform(
      c(
        "No value of {.val {column$key}} is in the vocabulary of its column: training learns nothing
         from it.",
        x = "The data have {.val {seen}}, the vocabulary {.val {known}}."
      ),
      class = "runhooks_message_no_match"
    )
  }
}

# Those among columns, at any depth, that are given words.
vocabulary_columns <- function(x) {
  fields <- unclass(x)
  if (is.character(fields[["key"]]) && !is.null(fields[["vocabulary_list"]])) return(list(fields))
  found <- list()
  for (field in fields) if (is.list(field)) found <- c(found, vocabulary_columns(field))
  found
}

# A model with more weights than rows may know these by heart, and nothing says so where it is never
# shown others.
inform_few_rows <- function(object, weights, rows) {
  if (is_custom(object) || !is_number(rows) || weights <= rows) return(invisible())
  count <- function(n) format(n, big.mark = ",", scientific = FALSE) # nolint: used by cli
  cli::cli_inform(
    c(
      "The model has more weights ({count(weights)}) than there are rows ({count(rows)}): it may come to
       know them by heart.",
      i = "How it does on others {.code train(validation = )} shows, and {.code stop = early_stopping()}
           stops in time."
    ),
    class = "runhooks_message_few_rows"
  )
}
