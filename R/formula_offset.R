# offset() in a formula: a number per row that is added to the linear function without a weight.

# Stores the sum of all offsets of the formula. At least one of the model's `parts` must be linear.
add_offset <- function(blueprint, terms, parts, columns, frame, call) {
  offsets <- unlist(lapply(unname(terms), attr, "offsets"), recursive = FALSE)
  offsets <- offsets[!duplicated(names(offsets))]
  if (length(offsets) == 0) return(blueprint)
  if (all(vapply(parts, `[[`, NA, "is_deep"))) {
    abort_runhooks(
      c(
        "{.code {names(offsets)[[1]]}} requires a model with a linear part; this model has none.",
        i = "Subtract it from the response instead, as in {.code y - a ~ b}."
      ),
      call = call
    )
  }
  expr <- Reduce(function(a, b) base::call("+", a, b), lapply(unname(offsets), `[[`, 2))
  constants <- formula_constants(expr, columns, frame)
  blueprint$constants[names(constants)] <- constants
  blueprint$offset <- list(name = paste(names(offsets), collapse = " + "), expr = expr)
  blueprint
}

# Aborts if there are more than two classes: an offset would shift all logits equally, without
# effect.
check_offset <- function(blueprint, n_classes, call) {
  if (is.null(blueprint$offset) || is.null(n_classes) || n_classes <= 2) return(invisible())
  abort_runhooks(
    "{.code {blueprint$offset$name}} requires numbers, counts or two classes; the response has
     {n_classes} classes.",
    call = call
  )
}

offset_value <- function(data, blueprint, call) {
  offset <- blueprint$offset
  if (is.null(offset)) return(NULL)
  value <- unclassed_column(evaluate_variable(offset$name, offset$expr, data, blueprint, call))
  if (is.numeric(value) && is.null(dim(value))) return(as.numeric(value))
  abort_runhooks(
    "{.code {offset$name}} must be one number per row, not {describe_type(value)}.", call = call
  )
}

# Centers the offset, so that large values keep their precision; the bias absorbs the mean.
add_offset_center <- function(blueprint, frame, is_scaled) {
  if (is.null(blueprint$offset)) return(blueprint)
  recorded <- blueprint$known$terms[[blueprint$offset$name]]
  blueprint$offset$center <- if (!is_scaled || !blueprint$has_bias) {
    0
  } else if (!is.null(recorded)) {
    recorded$center
  } else if (is.null(frame$moments)) {
    mean(frame$offset)
  } else {
    frame$moments$.offset$mean
  }
  blueprint
}

offset_columns <- function(blueprint) {
  offset <- blueprint$offset
  if (is.null(offset)) return(list())
  scale <- blueprint$response$scale
  list(rebuild_column(list(
    type = "OffsetColumn", name = offset$name, key = offset$name, center = list(offset$center),
    scale = if (is.null(scale)) list(1) else as.list(scale)
  )))
}
