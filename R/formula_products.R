# Products with multi-column numbers, such as poly(x, 2):f, become one term per column.

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
