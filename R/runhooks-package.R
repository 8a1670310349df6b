#' @keywords internal
"_PACKAGE"

#' @useDynLib runhooks, .registration = TRUE
#' @importFrom Rcpp evalCpp
#' @importFrom magrittr %>%
#' @importFrom stats predict setNames
NULL

# names that with(x %as% name, ...) gives, and those of functions whose arguments are made
utils::globalVariables(c("current", "key", "name", "opened", "scope"))
