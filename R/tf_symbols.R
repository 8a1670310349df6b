# The page of all functions below `tf`, made of what is registered when the pages are written.

#' All functions of `tf`
#'
#' `tf$<name>()` with its arguments, and what it gives. Names, positions and defaults are those of
#' TensorFlow 1.15. Most give tensors; `name` is that of the operation. Beside them there are
#' `tf$raw_ops$...`, the operations as the core has them, and what has pages of its own:
#' [optimizers], hooks ([session_run_hook()] and its relatives), sessions ([monitored_session()]),
#' feature columns ([feature_columns()]).
#'
#' @eval tf_symbols_rd()
#' @name tf_symbols
#' @seealso [tf]
#' @examples
#' args(tf$stack)
NULL

# The table of the page, made when roxygen2 writes it. lint: allow caller
tf_symbols_rd <- function() {
  core <- cpp_tf_symbols()
  core <- core[!startsWith(core$name, "raw_ops."), ]
  own <- tf_own_symbols()
  own <- own[vapply(own, is.function, NA) & !grepl("^(errors|feature_column)[.]", names(own))]
  rows <- data.frame(
    name = c(core$name, names(own)),
    arguments = c(core$arguments, vapply(own, arguments_text, "")),
    summary = c(core$summary, rep("", length(own)))
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
  # brackets would be links
  summaries <- gsub("([][])", "\\\\\\1", rows$summary)
  paste0(
    "@section ", module, ":\n\\describe{\n",
    paste0("\\item{\\code{", calls, "}}{", summaries, "}", collapse = "\n"), "\n}"
  )
}

# "x, name = NULL" of a function of R.
arguments_text <- function(f) {
  defaults <- vapply(formals(f), function(x) paste(deparse(x), collapse = " "), "")
  shown <- ifelse(nzchar(defaults), paste0(" = ", defaults), "")
  paste0(names(formals(f)), shown, collapse = ", ")
}
