#' @keywords internal
"_PACKAGE"

#' @useDynLib runhooks, .registration = TRUE
#' @importFrom Rcpp evalCpp
#' @importFrom cli cli_abort cli_inform cli_warn
#' @importFrom magrittr %>%
#' @importFrom rlang abort arg_match caller_env enquo eval_tidy quo_is_null set_names
#' @importFrom stats predict
#' @importFrom tibble tibble as_tibble
NULL
