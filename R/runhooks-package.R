#' @keywords internal
"_PACKAGE"

#' @useDynLib runhooks, .registration = TRUE
#' @importFrom Rcpp evalCpp
#' @importFrom magrittr %>%
#' @importFrom stats predict setNames
NULL
