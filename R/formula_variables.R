# Evaluates the variables and the response of a formula.

# Describes a variable of the formula: its expression, levels, width, unit and kind of time.
new_variable <- function(name, expr, data, blueprint, call) {
  check_no_random_effect(expr, data, call)
  raw_value <- evaluate_variable(name, expr, data, blueprint, call)
  recorded <- blueprint$known$variables[[name]]
  time_class <- time_class(raw_value)
  if (!is.null(recorded)) check_time(raw_value, name, recorded$time, call)
  unit <- if (is.null(recorded)) measurement_unit(raw_value) else recorded$unit
  raw_value <- convert_unit(raw_value, unit, name, call)
  value <- numeric_or_factor(if (is.null(time_class)) raw_value else time_numbers(raw_value))
  na_level <- recorded$na_level
  if (is.null(recorded) && is.factor(value) && anyNA(levels(value))) {
    na_level <- new_level("(NA)", setdiff(levels(value), NA))
  }
  value <- replace_na_level(value, na_level)
  check_column(value, name, FALSE, call, missing = TRUE)
  value_levels <- if (is.factor(value)) {
    levels(value)
  } else if (is.character(value)) {
    sorted_strings(value)
  }
  if (!is.null(value_levels) && !blueprint$is_stream) check_has_levels(value_levels, name, call)
  if (!is.null(value_levels) && !is.null(recorded$levels)) value_levels <- recorded$levels
  fixed <- if (is.call(expr)) expr
  # in a stream, check_row_wise() rejects data-dependent calls
  if (!is.null(fixed) && !blueprint$is_stream) {
    fixed <- fix_data_dependent_call(raw_value, expr, data, blueprint, recorded)
  }
  fixed <- strip_contrasts(fixed)
  check_recorded_basis(name, fixed, recorded, call)
  if (is.null(recorded)) inform_na_like_level(value, name)
  list(
    expr = fixed, levels = value_levels, na_level = na_level, unit = unit,
    width = if (length(dim(value)) > 1) as.integer(prod(dim(value)[-1])) else 1L,
    time = time_class, origin = number_origin(value, name, time_class, blueprint),
    is_logical = is.logical(value)
  )
}

# Rejects random effects such as `(1 | g)` of lme4, which R would evaluate as a logical. `|` of
# logicals, or of numbers that are 0 or 1, is accepted.
check_no_random_effect <- function(expr, data, call) {
  unwrapped <- expr
  while (is.call(unwrapped) && identical(unwrapped[[1]], quote(`(`))) unwrapped <- unwrapped[[2]]
  is_or <- is.call(unwrapped) &&
    (identical(unwrapped[[1]], quote(`|`)) || identical(unwrapped[[1]], quote(`||`)))
  if (!is_or) return(invisible())
  is_flag_like <- vapply(as.list(unwrapped)[-1], function(side) {
    if (is.numeric(side)) return(FALSE)
    value <- tryCatch(eval(side, data, globalenv()), error = function(e) NULL)
    is.logical(value) || is.numeric(value) && all(value %in% c(0, 1, NA))
  }, NA)
  if (all(is_flag_like)) return(invisible())
  abort_runhooks(
    c(
      "Random effects such as {.code {term_name(expr)}} are not supported.",
      i = "Use the group as a factor: {.code factor({term_name(unwrapped[[3]])})}."
    ),
    call = call
  )
}

sorted_strings <- function(x) sort_bytewise(setdiff(x, NA))

check_has_levels <- function(levels, name, call) {
  if (length(levels)) return(invisible())
  abort_runhooks("The feature {.val {name}} has no level: all values are missing.", call = call)
}

# Computes a variable from the data. If a function such as poly() fails because of NA, the value is
# computed from the rows without NA.
evaluate_variable <- function(name, expr, data, blueprint, call) {
  if (name %in% names(data)) return(check_no_list(data[[name]], name, call))
  if (is.null(expr)) expr <- as.name(name)
  frame <- list2env(blueprint$constants, parent = globalenv())
  compute <- function(data) computed_column(expr, data, frame, names(data), call)
  columns <- intersect(variables_of(expr), names(data))
  missing <- Reduce(`|`, lapply(data[columns], is_missing_row))
  if (!any(missing)) return(check_no_list(compute(data), name, call))
  tryCatch(compute(data), runhooks_error = function(error) {
    complete_rows <- compute(lapply(data, select_rows, !missing))
    scatter_rows_to_na(complete_rows, !missing)
  })
}

check_no_list <- function(x, name, call) {
  if (inherits(x, "Surv")) {
    abort_runhooks(
      "{.code {name}} in the formula is a survival time; survival models are not supported.",
      kind = "unimplemented", call = call
    )
  }
  if (inherits(x, "Period")) {
    abort_runhooks(
      c(
        "{.val {name}} in the formula is a Period, whose length is not a fixed number.",
        i = "Convert it first, for example with {.code as.numeric({name}, \"hours\")}."
      ),
      kind = "invalid_argument", call = call
    )
  }
  if (!is.list(x) || is.data.frame(x) || inherits(x, "POSIXlt")) return(x)
  abort_runhooks(
    c(
      "{.val {name}} in the formula must be a vector, a factor or a matrix, not
       {describe_type(x)}.",
      i = "Use {.fn unlist} for single values, or {.code do.call(rbind, x)} for rows of a matrix."
    ),
    call = call
  )
}

numeric_or_factor <- function(value) {
  value <- flat_column(value)
  if (is_sparse_matrix(value)) value <- unname(Matrix::as.matrix(value))
  if (!inherits(value, c("poly", "bs", "ns"))) return(value)
  array(as.vector(value), dim(value))
}

formula_value <- function(name, data, blueprint, call) {
  variable <- blueprint$variables[[name]]
  value <- convert_unit(
    evaluate_variable(name, variable$expr, data, blueprint, call), variable$unit, name, call
  )
  if (is.null(variable$time)) {
    value <- replace_na_level(numeric_or_factor(value), variable$na_level)
    check_width(value, variable, name, call)
    if (is_logical_variable(variable)) return(logical_value(value, variable, name, call))
    return(as_recorded_strings(value, variable))
  }
  check_time(value, name, variable$time, call)
  time_numbers(value)
}

response_value <- function(data, blueprint, call) {
  response <- blueprint$response
  raw_value <- evaluate_variable(response$name, response$expr, data, blueprint, call)
  value <- numeric_or_factor(convert_unit(raw_value, response$unit, response$name, call))
  value <- replace_na_level(value, NULL)
  if (isTRUE(blueprint$response_as_strings) && isTRUE(ncol(value) > 1)) {
    abort_class_counts(response$name, ncol(value), call)
  }
  value
}

# Rejects a matrix of counts of two classes, which glm() accepts.
abort_class_counts <- function(name, n, call) {
  abort_runhooks(
    c(
      "The response {.code {name}} of a classifier must be one class in each row, not {n} columns.",
      i = "Use one row per class, and put the counts into a column that {.arg weight_column} names."
    ),
    call = call
  )
}
