# The help page of all functions of `tf`, which is generated from their signatures.

#' All functions of `tf`
#'
#' This page lists the functions `tf$<name>()` with their arguments and their return values. Names,
#' positions and defaults are those of TensorFlow 1.15. Most functions return tensors, and `name` is
#' the name of the operation. `tf$raw_ops$...` are the operations of the core. Other pages describe
#' [optimizers], hooks ([session_run_hook()]), sessions ([monitored_session()]) and feature columns
#' ([feature_columns()]).
#'
#' @eval tf_symbols_rd()
#' @name tf_symbols
#' @seealso [tf]
#' @examples
#' args(tf$stack)
NULL

# Generates the tables of the page for roxygen2. lint: allow caller
tf_symbols_rd <- function() {
  core <- cpp_tf_symbols()
  core <- core[!startsWith(core$name, "raw_ops."), ]
  r_functions <- tf_own_symbols()
  r_functions <- Filter(is.function, r_functions)
  r_functions <- r_functions[!grepl("^(errors|feature_column)[.]", names(r_functions))]
  rows <- data.frame(
    name = c(core$name, names(r_functions)),
    arguments = c(core$arguments, vapply(r_functions, arguments_text, "")),
    summary = c(core$summary, rep("", length(r_functions)))
  )
  rows <- rows[!duplicated(rows$name), ]
  rows <- rows[order(rows$name, method = "radix"), ]
  module <- ifelse(grepl(".", rows$name, fixed = TRUE), sub("[.][^.]*$", "", rows$name), "")
  unlist(lapply(split(rows, module), symbols_section), use.names = FALSE)
}

symbols_section <- function(rows) {
  paths <- paste0("tf$", gsub(".", "$", rows$name, fixed = TRUE))
  calls <- gsub("%", "\\%", paste0(paths, "(", rows$arguments, ")"), fixed = TRUE)
  module <- sub("[$][^$]*$", "", paths[[1]])
  # roxygen2 would read brackets as links
  summaries <- gsub("([][])", "\\\\\\1", rows$summary)
  paste0(
    "@section ", module, ":\n\\describe{\n",
    paste0("\\item{\\code{", calls, "}}{", summaries, "}", collapse = "\n"), "\n}"
  )
}

arguments_text <- function(f) {
  defaults <- vapply(formals(f), function(x) paste(deparse(x), collapse = " "), "")
  default_texts <- ifelse(nzchar(defaults), paste0(" = ", defaults), "")
  paste0(names(formals(f)), default_texts, collapse = ", ")
}
