# Formulas without an intercept, `y ~ 0 + x`: the bias of a linear model stays 0, and numbers are not
# centred.

# Words of which each row has one say what an intercept would.
has_bias <- function(terms, blueprint) {
  if (attr(terms, "intercept") == 1) return(TRUE)
  is_of_words <- vapply(terms, function(term) {
    parts <- blueprint$terms[[product_name(names(term))]]
    length(parts$words) > 0 && length(parts$numbers) == 0
  }, NA)
  any(is_of_words)
}

# The bias of a linear model may stay 0; a deep model has one in each layer.
check_bias <- function(blueprint, formulas, parts, traits, call) {
  if (blueprint$has_bias) return(invisible())
  if (!is_linear_alone(parts, traits)) {
    abort_runhooks(
      c(
        "Only a linear model can do without an intercept, or one that has a factor in its place.",
        x = "{.code {term_name(formulas[[1]])}} leaves it out, by {.code - 1} or {.code 0 +}."
      ),
      call = call
    )
  }
  if (length(blueprint$terms)) return(invisible())
  abort_runhooks("The formula has neither features nor an intercept.", call = call)
}

check_known_bias <- function(blueprint, folder, call) {
  known <- blueprint$known
  if (is.null(known) || blueprint$has_bias == !isFALSE(known$has_bias)) return(invisible())
  abort_runhooks(
    c(
      "The model in {.path {folder$path}} was trained {if (blueprint$has_bias) 'without' else 'with'}
       an intercept, and this one is {if (blueprint$has_bias) 'with' else 'without'}.",
      i = "Give another {.arg model_dir}, or make it as it was trained."
    ),
    kind = "failed_precondition", call = call
  )
}

is_linear_alone <- function(parts, traits) {
  length(parts) == 1 && isTRUE(traits$has_coefficients) && !parts[[1]]$is_deep
}
