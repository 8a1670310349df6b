# Functions of other packages that scripts written for tfestimators use.

#' @importFrom magrittr %>%
#' @export
magrittr::`%>%`

#' Selection helpers
#'
#' The functions of tidyselect of the same name, for [feature_columns()] and [input_fn()]. They are
#' here so that a script needs one `library()` call; tidyselect is loaded when one is called.
#'
#' @param ... As in [tidyselect::starts_with()], [tidyselect::everything()], [tidyselect::one_of()].
#' @return The positions of the selected columns.
#' @examples
#' input <- input_fn(mtcars, features = starts_with("d"), response = "mpg")
#' @name selection_helpers
NULL

#' @rdname selection_helpers
#' @export
contains <- function(...) tidyselect::contains(...)

#' @rdname selection_helpers
#' @export
ends_with <- function(...) tidyselect::ends_with(...)

#' @rdname selection_helpers
#' @export
everything <- function(...) tidyselect::everything(...)

#' @rdname selection_helpers
#' @export
last_col <- function(...) tidyselect::last_col(...)

#' @rdname selection_helpers
#' @export
matches <- function(...) tidyselect::matches(...)

#' @rdname selection_helpers
#' @export
num_range <- function(...) tidyselect::num_range(...)

#' @rdname selection_helpers
#' @export
one_of <- function(...) tidyselect::one_of(...)

#' @rdname selection_helpers
#' @export
starts_with <- function(...) tidyselect::starts_with(...)

#' A glimpse of data
#'
#' @param x A data frame, or what else [tibble::glimpse()] shows.
#' @param width How wide; `NULL`: the width of the terminal.
#' @param ... Further arguments of methods.
#' @return `x`, invisibly.
#' @export
#' @examples
#' glimpse(mtcars)
glimpse <- function(x, width = NULL, ...) tibble::glimpse(x, width = width, ...)
