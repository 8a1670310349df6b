# Re-exported functions of other packages that scripts for tfestimators use.

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

# Defines the re-exported functions as promises, because tidyselect loads slowly. The promises are
# in the imports environment, because R CMD check checks all functions in the namespace as our code.
define_reexports_lazily <- function(imports) {
  for (name in selection_helpers) define_lazily_from_package("tidyselect", name, imports)
  define_lazily_from_package("tibble", "glimpse", imports)
}

define_lazily_from_package <- function(package, name, imports) {
  force(package)
  force(name)
  delayedAssign(name, getExportedValue(package, name), environment(), imports)
}
