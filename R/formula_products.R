# Products with multi-column numbers, such as poly(x, 2):f, become one term per column.

add_variables <- function(blueprint, terms, data, call) {
  for (term in terms) {
    for (name in setdiff(names(term), names(blueprint$variables))) {
      expr <- term[[name]]
      new <- formula_constants(expr, names(data), attr(term, "frame"))
      blueprint$constants[names(new)] <- new
      blueprint$variables[[name]] <- new_variable(name, expr, data, blueprint, call)
    }
    blueprint <- add_parts_of_terms(blueprint, term)
  }
  blueprint
}

# A logical is the number 0 or 1, unless both of its values need a weight, as for `x:flag`, or it
# is in a product with a factor.
logicals_as_factors <- function(blueprint, terms) {
  if (blueprint$has_trees) return(blueprint)
  logicals <- names(Filter(is_logical_variable, blueprint$variables))
  words <- names(Filter(function(v) !is.null(v$levels), blueprint$variables))
  for (part in unname(terms)) {
    products <- lapply(Filter(function(term) any(names(term) %in% words), part), names)
    needed <- c(attr(part, "both_values"), unlist(products))
    for (name in intersect(logicals, needed)) {
      known <- blueprint$known$variables[[name]]
      if (is.null(known) || !is.null(known$levels)) {
        blueprint$variables[[name]]$levels <- c("FALSE", "TRUE")
      }
    }
  }
  blueprint
}

is_logical_variable <- function(variable) isTRUE(variable$is_logical) && variable$width == 1L

# Later data may also have 1 and 0, or the words "TRUE" and "FALSE".
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

# A CSV file has the words "TRUE" and "FALSE", and read.csv() makes logicals of them.
as_recorded_words <- function(value, variable) {
  is_of_words <- is.logical(value) && !is.null(variable$levels) &&
    all(variable$levels %in% c("FALSE", "TRUE", variable$na_level))
  if (is_of_words) as.character(value) else value
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
add_parts_of_terms <- function(blueprint, term) {
  if (length(term) < 2) return(blueprint)
  for (name in names(term)) {
    whole <- blueprint$variables[[name]]
    if (whole$width == 1L || !is.null(whole$levels)) next
    expr <- if (is.null(whole$expr)) as.name(name) else whole$expr
    for (i in seq_len(whole$width)) {
      part <- whole
      part$expr <- call("[", expr, quote(expr = ), i)
      part$width <- 1L
      blueprint$variables[[part_name(name, i)]] <- part
    }
  }
  # the whole variable is needed if it is also a term
  blueprint
}

part_name <- function(name, i) paste0(name, "[, ", i, "]")

split_matrix_terms <- function(terms, blueprint) {
  narrow <- lapply(terms, function(term) {
    widths <- vapply(blueprint$variables[names(term)], function(v) {
      if (is.null(v$levels)) v$width else 1L
    }, 1L)
    if (length(term) < 2 || all(widths == 1L)) return(list(term))
    choices <- expand.grid(lapply(unname(widths), seq_len))
    lapply(seq_len(nrow(choices)), function(row) {
      part <- term
      names(part) <- ifelse(
        widths > 1L, part_name(names(term), unlist(choices[row, ])), names(term)
      )
      part[widths > 1L] <- lapply(names(part)[widths > 1L], function(name) {
        blueprint$variables[[name]]$expr
      })
      part
    })
  })
  unlist(narrow, recursive = FALSE)
}

crossed_levels <- function(values, blueprint, words) {
  known <- blueprint$known$crosses[[product_name(words)]]
  if (!is.null(known)) return(known)
  codes <- lapply(words, function(name) {
    match(as.character(values[[name]]), blueprint$variables[[name]]$levels)
  })
  crossed <- crossed_strings(values[words])[do.call(order, codes)]
  unique(crossed[!is.na(crossed)])
}

# Combines several levels to one string, "a:b"; NA if one of them is missing.
crossed_strings <- function(values) {
  parts <- lapply(unname(values), function(x) {
    words <- as.character(x)
    # escape the separator in the levels
    if (any(grepl(":", words, fixed = TRUE))) gsub("([\\\\:])", "\\\\\\1", words) else words
  })
  crossed <- do.call(paste, c(parts, sep = ":"))
  crossed[Reduce(`|`, lapply(parts, is.na))] <- NA
  crossed
}

product_name <- function(names) paste(names, collapse = ":")

# --- terms as calls, because the text `(x > 3):z` would be parsed differently

product_call <- function(variables) {
  Reduce(function(a, b) call(":", a, b), unname(as.list(variables)))
}

# An interaction term that makes terms() keep the order of the variables; NULL if terms() keeps it
# anyway.
leading_term <- function(terms) {
  order <- attr(terms, "order")
  if (identical(unique(unlist(lapply(terms, names))), names(order))) return(NULL)
  product_call(order)
}

# The right side of the formula, with the first `n` terms.
sum_of_terms <- function(blueprint, n = length(blueprint$summands)) {
  add <- function(a, b) call("+", a, b)
  summands <- blueprint$summands[seq_len(n)]
  sum <- Reduce(add, summands)
  if (is.null(sum)) return(1)
  leading_term <- blueprint$leading_term
  if (is.null(leading_term)) return(sum)
  is_own <- any(vapply(summands, identical, NA, leading_term))
  if (is_own) add(leading_term, sum) else call("-", add(leading_term, sum), leading_term)
}
