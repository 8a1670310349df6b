# Functions of other packages that scripts written for tfestimators use.

#' @importFrom magrittr %>%
#' @export
magrittr::`%>%`

#' Selection helpers
#'
#' The functions of tidyselect for [feature_columns()] and [input_fn()], and tibble's `glimpse()`. They
#' are here so that a script needs one `library()` call, and are the very functions that dplyr and
#' tidyr have, so that nothing is masked.
#'
#' @return See [tidyselect::starts_with()], [tidyselect::everything()], [tidyselect::one_of()],
#'   [tibble::glimpse()].
#' @examples
#' input <- input_fn(mtcars, features = starts_with("d"), response = "mpg")
#' glimpse(mtcars)
#' @name selection_helpers
#' @aliases contains ends_with everything last_col matches num_range one_of starts_with glimpse
#' @rawNamespace export(contains, ends_with, everything, last_col, matches, num_range, one_of)
#' @rawNamespace export(starts_with, glimpse)
NULL

selection_helpers <- c(
  "contains", "ends_with", "everything", "last_col", "matches", "num_range", "one_of", "starts_with"
)

# Promises: tidyselect takes as long to load as all the rest, and is loaded when one is used. They stand
# where imports do: in the namespace R CMD check would take their code for ours.
promise_reexports <- function(imports) {
  for (name in selection_helpers) promise_function("tidyselect", name, imports)
  promise_function("tibble", "glimpse", imports)
}

promise_function <- function(package, name, imports) {
  force(package)
  force(name)
  delayedAssign(name, getExportedValue(package, name), environment(), imports)
}
