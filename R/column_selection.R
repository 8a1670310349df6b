# Tidyselect selections in constructors of feature columns.

#' Set the names for selections of feature columns
#'
#' These functions set the names from which constructors of feature columns select, so that you can
#' write [starts_with()] or [everything()] instead of names. `set_columns()` sets them for the
#' session, `with_columns()` while `expr` is evaluated, and `scoped_columns()` until the calling
#' function returns.
#'
#' @param columns A character vector, or an object with column names or names, such as a data frame.
#'   `NULL`: no names.
#' @param expr An expression.
#' @return `with_columns()`: the value of `expr`. The other functions: the previous names,
#'   invisibly.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `columns` has no names, or some names are empty or NA.
#'     Constructors raise it for a selection if no names are set.
#'   * `runhooks_error_not_found`: a constructor's selection is empty.
#'
#'   An error in `expr` restores the previous names.
#' @family feature columns
#' @export
#' @examples
#' with_columns(mtcars, feature_columns(column_numeric(starts_with("d"))))
#'
#' # for the session
#' old <- set_columns(names(mtcars))
#' feature_columns(column_numeric(starts_with("d")))
#' set_columns(old)
#'
#' # until a function returns
#' columns_of <- function(data) {
#'   scoped_columns(data)
#'   feature_columns(column_numeric(everything()))
#' }
#' length(columns_of(mtcars))
set_columns <- function(columns) {
  previous <- the$column_names
  the$column_names <- column_names(columns)
  invisible(previous)
}

#' @rdname set_columns
#' @export
with_columns <- function(columns, expr) {
  previous <- set_columns(columns)
  on.exit(the$column_names <- previous)
  expr
}

#' @rdname set_columns
#' @export
scoped_columns <- function(columns) {
  previous <- set_columns(columns)
  # the caller's on.exit() evaluates this call, which restores the names when the caller returns
  restore <- as.call(list(function() the$column_names <- previous))
  do.call("on.exit", list(restore, TRUE), envir = parent.frame())
  invisible(previous)
}

column_names <- function(x, call = parent.frame()) {
  if (is.null(x)) return(NULL)
  names <- if (!is.null(dim(x))) colnames(x) else if (is.character(x)) x else names(x)
  good <- is.character(names) && !anyNA(names) && all(nzchar(names))
  check_arg(good, x, "names, or an object with a name for each column", "columns", call)
  as.character(names)
}

columns_from_keys <- function(..., make_column, call = parent.frame()) {
  keys <- tryCatch(unlist(list(...)), error = function(error) error)
  if (!is.character(keys) && !is.null(the$column_names)) keys <- select_columns(..., call = call)
  if (inherits(keys, "error")) abort_no_column_names(keys, call)
  if (!is.character(keys) || length(keys) == 0 || anyNA(keys) || any(keys == "")) {
    abort_runhooks(
      "A column needs the name of a feature as a string, not {describe_first(list(...))}.",
      call = call
    )
  }
  columns <- lapply(unname(keys), make_column)
  if (length(columns) == 1) columns[[1]] else columns
}

select_columns <- function(..., call) {
  names <- the$column_names
  selection <- rlang::quo(c(!!!rlang::enquos(...)))
  selected <- tryCatch(
    names[tidyselect::eval_select(selection, setNames(as.list(seq_along(names)), names))],
    error = function(error) abort_selection(selection, names, "...", error, call)
  )
  if (length(selected) == 0) {
    labels <- vapply(rlang::enquos(...), rlang::as_label, "")
    abort_runhooks(
      c(
        "The selection {.code {labels}} is empty.",
        did_you_mean(labels[[1]], names),
        i = "The names are {.val {names}}."
      ),
      kind = "not_found", call = call
    )
  }
  selected
}

abort_no_column_names <- function(error, call) {
  cli::cli_abort(
    c(
      "A column needs the name of a feature as a string.",
      i = "Selections need names to select from: {.fn set_columns}, or {.arg names} of
           {.fn feature_columns}."
    ),
    parent = error, class = error_classes("invalid_argument"), call = call
  )
}

# Evaluates a formula such as `selection ~ column_numeric(shape = 2)`: calls the right side with the
# selected names as its first argument.
formula_columns <- function(formula, call) {
  if (length(formula) != 3) {
    abort_runhooks(
      "A formula of columns needs a selection on its left and a constructor on its right side, not
       {.code {deparse(formula)}}.",
      call = call
    )
  }
  frame <- environment(formula)
  names <- names_from_formula(formula[[2]], frame, call)
  right <- formula[[3]]
  if (is.symbol(right)) right <- as.call(list(right))
  constructor <- right[[1]]
  if (is.symbol(constructor) && !exists(constructor, frame, mode = "function")) {
    abort_runhooks(
      "The right side of {.code {deparse(formula)}} must be a function that creates columns, or a
       call of one; there is no function {.code {constructor}}.",
      call = call
    )
  }
  eval(as.call(append(as.list(right), list(names), 1)), frame)
}

names_from_formula <- function(selection, frame, call) {
  value <- tryCatch(eval(selection, frame), error = function(error) NULL)
  if (is.character(value)) return(value)
  if (!is.null(the$column_names)) {
    return(select_columns(!!rlang::new_quosure(selection, frame), call = call))
  }
  functions <- setdiff(all.names(selection), all.vars(selection))
  if (all(functions %in% "c")) return(variables_of(selection))
  code <- paste(deparse(selection), collapse = "")
  abort_no_column_names(simpleError(paste("no names for", code)), call)
}

# Aborts after a failed selection. The message lists the existing columns, which tidyselect's error
# does not contain.
abort_selection <- function(expr, existing, arg, error, call) {
  value <- tryCatch(rlang::eval_tidy(expr), error = function(e) NULL)
  requested <- if (is.character(value)) value else all.names(
    rlang::quo_get_expr(expr), functions = FALSE
  )
  missing <- setdiff(requested, existing)
  if (length(missing) == 0) {
    cli::cli_abort(
      "Cannot select {.arg {arg}}.",
      parent = error,
      class = error_classes("invalid_argument"),
      call = call
    )
  }
  abort_runhooks(
    c(
      "{.arg {arg}} names {cli::qty(length(missing))}{?a column/columns}
       that the data do not have: {.val {missing}}.",
      did_you_mean(missing[[1]], existing),
      i = abbreviated_names(existing)
    ),
    kind = "not_found", call = call
  )
}
