# Products with multi-column numbers, such as poly(x, 2):f, become one term per column.

# Adds the variables of terms to the blueprint.
add_variables <- function(blueprint, terms, data, call) {
  for (term in terms) {
    for (name in setdiff(names(term), names(blueprint$variables))) {
      expr <- term[[name]]
      constants <- formula_constants(expr, names(data), attr(term, "frame"))
      blueprint$constants[names(constants)] <- constants
      blueprint$variables[[name]] <- new_variable(name, expr, data, blueprint, call)
    }
    blueprint <- add_matrix_columns(blueprint, term)
  }
  blueprint
}

# Makes factors of some logicals. A logical is the number 0 or 1, unless both of its values need a
# weight, as for `x:flag`, or it is in a product with a factor.
logicals_as_factors <- function(blueprint, terms) {
  if (blueprint$has_trees) return(blueprint)
  logicals <- names(Filter(is_logical_variable, blueprint$variables))
  factors <- names(Filter(function(v) !is.null(v$levels), blueprint$variables))
  for (part in unname(terms)) {
    products <- lapply(Filter(function(term) any(names(term) %in% factors), part), names)
    needed <- c(attr(part, "both_values"), unlist(products))
    for (name in intersect(logicals, needed)) {
      recorded <- blueprint$known$variables[[name]]
      if (is.null(recorded) || !is.null(recorded$levels)) {
        blueprint$variables[[name]]$levels <- c("FALSE", "TRUE")
      }
    }
  }
  blueprint
}

is_logical_variable <- function(variable) isTRUE(variable$is_logical) && variable$width == 1L

# The value of a variable that was a logical in training. Later data may also have 1 and 0, or the
# strings "TRUE" and "FALSE".
logical_value <- function(value, variable, name, call) {
  flag <- if (is.logical(value)) {
    value
  } else if (is.numeric(value)) {
    ifelse(value %in% 0:1, value == 1, NA)
  } else {
    as.logical(as.character(value))
  }
  invalid <- which(is.na(flag) & !is.na(value))
  if (length(invalid)) {
    abort_runhooks(
      c(
        "The feature {.val {name}} was a logical in training.",
        x = "Row {invalid[[1]]} has {.val {first_value(value[invalid])}}.",
        i = "Use TRUE and FALSE, or 1 and 0."
      ),
      call = call
    )
  }
  if (is.null(variable$levels)) flag else factor(flag, levels = c(FALSE, TRUE))
}

# Converts logicals to strings if the variable has the levels "TRUE" and "FALSE". A CSV file has
# these strings, which read.csv() converts to logicals.
as_recorded_strings <- function(value, variable) {
  has_logical_levels <- is.logical(value) && !is.null(variable$levels) &&
    all(variable$levels %in% c("FALSE", "TRUE", variable$na_level))
  if (has_logical_levels) as.character(value) else value
}

check_width <- function(value, variable, name, call) {
  width <- if (length(dim(value)) > 1) prod(dim(value)[-1]) else 1
  if (is.null(variable$width) || width == variable$width) return(invisible())
  abort_runhooks(
    "The feature {.val {name}} has {width} column{?s}, but it had {variable$width} in training.",
    call = call
  )
}

# Adds the columns of multi-column variables as variables, such as `poly(x, 2)[, 1]`.
add_matrix_columns <- function(blueprint, term) {
  if (length(term) < 2) return(blueprint)
  for (name in names(term)) {
    variable <- blueprint$variables[[name]]
    if (variable$width == 1L || !is.null(variable$levels)) next
    expr <- if (is.null(variable$expr)) as.name(name) else variable$expr
    for (i in seq_len(variable$width)) {
      column <- variable
      column$expr <- call("[", expr, quote(expr = ), i)
      column$width <- 1L
      blueprint$variables[[matrix_column_name(name, i)]] <- column
    }
  }
  blueprint
}

matrix_column_name <- function(name, i) paste0(name, "[, ", i, "]")

# Replaces each product that contains a multi-column variable by one product per column.
split_matrix_terms <- function(terms, blueprint) {
  split <- lapply(terms, function(term) {
    widths <- vapply(blueprint$variables[names(term)], function(v) {
      if (is.null(v$levels)) v$width else 1L
    }, 1L)
    if (length(term) < 2 || all(widths == 1L)) return(list(term))
    choices <- expand.grid(lapply(unname(widths), seq_len))
    lapply(seq_len(nrow(choices)), function(row) {
      new_term <- term
      names(new_term) <- ifelse(
        widths > 1L, matrix_column_name(names(term), unlist(choices[row, ])), names(term)
      )
      new_term[widths > 1L] <- lapply(names(new_term)[widths > 1L], function(name) {
        blueprint$variables[[name]]$expr
      })
      new_term
    })
  })
  unlist(split, recursive = FALSE)
}

crossed_levels <- function(values, blueprint, factors) {
  recorded <- blueprint$known$crosses[[product_name(factors)]]
  if (!is.null(recorded)) return(recorded)
  codes <- lapply(factors, function(name) {
    match(as.character(values[[name]]), blueprint$variables[[name]]$levels)
  })
  crossed <- crossed_strings(values[factors])[do.call(order, codes)]
  unique(crossed[!is.na(crossed)])
}

# Combines the levels of several factors in each row to one string, such as "a:b". The result is NA
# if one of the levels is missing.
crossed_strings <- function(values) {
  parts <- lapply(unname(values), function(x) {
    strings <- as.character(x)
    # escape the separator in the levels
    if (any(grepl(":", strings, fixed = TRUE))) gsub("([\\\\:])", "\\\\\\1", strings) else strings
  })
  crossed <- do.call(paste, c(parts, sep = ":"))
  crossed[Reduce(`|`, lapply(parts, is.na))] <- NA
  crossed
}

product_name <- function(names) paste(names, collapse = ":")

# Returns the product of variables as a call, because the text `(x > 3):z` would be parsed
# differently.
product_call <- function(variables) {
  Reduce(function(a, b) call(":", a, b), unname(as.list(variables)))
}

# Returns an interaction that makes terms() keep the order of the variables if it is the first term.
# Returns NULL if terms() keeps the order without it.
leading_term <- function(terms) {
  order <- attr(terms, "order")
  if (identical(unique(unlist(lapply(terms, names))), names(order))) return(NULL)
  product_call(order)
}

# Returns the right side of the formula, with the first `n` terms.
sum_of_terms <- function(blueprint, n = length(blueprint$summands)) {
  add <- function(a, b) call("+", a, b)
  summands <- blueprint$summands[seq_len(n)]
  sum <- Reduce(add, summands)
  if (is.null(sum)) return(1)
  leading_term <- blueprint$leading_term
  if (is.null(leading_term)) return(sum)
  is_summand <- any(vapply(summands, identical, NA, leading_term))
  if (is_summand) add(leading_term, sum) else call("-", add(leading_term, sum), leading_term)
}
