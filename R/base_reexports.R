# Re-exports of other packages that scripts for tfestimators use.

#' @importFrom magrittr %>%
#' @export
magrittr::`%>%`

#' Selection helpers
#'
#' Re-exports of tidyselect's selection helpers, for [feature_columns()] and [input_fn()], and of
#' tibble's `glimpse()`. They are the same functions as in dplyr and tidyr, so loading those
#' packages as well does not mask anything.
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

# Promises, because tidyselect loads slowly. They are in the imports, because R CMD check would
# check them as our code in the namespace.
promise_reexports <- function(imports) {
  for (name in selection_helpers) promise_function("tidyselect", name, imports)
  promise_function("tibble", "glimpse", imports)
}

promise_function <- function(package, name, imports) {
  force(package)
  force(name)
  delayedAssign(name, getExportedValue(package, name), environment(), imports)
}
