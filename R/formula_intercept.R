# Formulas without an intercept, such as `y ~ 0 + x`: the bias is 0 and numbers are not centered.

# Whether the model has a bias. A factor in the formula implies one.
has_bias <- function(terms, blueprint) {
  if (attr(terms, "intercept") == 1) return(TRUE)
  is_factor_term <- vapply(terms, function(term) {
    parts <- blueprint$terms[[product_name(names(term))]]
    length(parts$words) > 0 && length(parts$numbers) == 0
  }, NA)
  any(is_factor_term)
}

# Aborts if the formula omits the intercept of a deep model, which has a bias in each layer.
check_bias <- function(blueprint, formulas, parts, traits, call) {
  if (blueprint$has_bias) return(invisible())
  if (!is_only_linear_part(parts, traits)) {
    abort_runhooks(
      c(
        "Only a linear model can omit the intercept.",
        x = "{.code {term_name(formulas[[1]])}} omits it with {.code - 1} or {.code 0 +}."
      ),
      call = call
    )
  }
  if (length(blueprint$terms)) return(invisible())
  abort_runhooks("The formula has neither features nor an intercept.", call = call)
}

check_recorded_bias <- function(blueprint, folder, call) {
  recorded <- blueprint$known
  if (is.null(recorded) || blueprint$has_bias == !isFALSE(recorded$has_bias)) return(invisible())
  abort_runhooks(
    c(
      "The model in {.path {folder$path}} was trained
       {if (blueprint$has_bias) 'without' else 'with'} an intercept, but this model is
       {if (blueprint$has_bias) 'with' else 'without'} one.",
      i = "Use another {.arg {folder_arg(folder)}}, or the formula of the training."
    ),
    kind = "failed_precondition", call = call
  )
}

is_only_linear_part <- function(parts, traits) {
  length(parts) == 1 && isTRUE(traits$has_coefficients) && !parts[[1]]$is_deep
}
