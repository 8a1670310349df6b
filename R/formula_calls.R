# Calls in formulas, as the rows of the training fix them.

# With what the rows of the training say: makepredictcall() of functions that have one, and the breaks of
# cut(x, 3) and cut(x, quantile(x)), of which a folder of earlier times does not know.
fixed_call <- function(raw, expr, data, blueprint, known) {
  is_cut <- identical(expr[[1]], quote(cut)) || identical(expr[[1]], quote(base::cut))
  if (!is_cut) return(stats::makepredictcall(raw, expr))
  # it may be a column that somebody has called so
  if (basis_text(expr) %in% c(known$basis, names(data))) return(expr)
  call <- match.call(base::cut.default, expr)
  frame <- list2env(blueprint$constants, parent = globalenv())
  x <- eval(call$x, data, frame)
  breaks <- eval(call$breaks, data, frame)
  if (!is.numeric(x) || is.object(x) || !is.numeric(breaks)) return(expr)
  if (is_number(breaks)) {
    call$breaks <- cut_breaks(range(x, na.rm = TRUE), breaks)
  } else if (any(variables_of(call$breaks) %in% names(data))) {
    call$breaks <- as.vector(breaks) # such as quantile(x)
  }
  call
}

# As cut() has them: the outer ones a thousandth further.
cut_breaks <- function(limits, n) {
  width <- diff(limits)
  if (width == 0) {
    width <- if (limits[[1]] == 0) 1 else abs(limits[[1]])
    return(seq.int(limits[[1]] - width / 1000, limits[[2]] + width / 1000, length.out = n + 1))
  }
  breaks <- seq.int(limits[[1]], limits[[2]], length.out = n + 1)
  breaks[c(1, n + 1)] <- limits + c(-width, width) / 1000
  breaks
}

# C(f, sum) are the levels of f: contrasts are for coef() and its like.
without_contrasts <- function(expr) {
  is_c <- is.call(expr) && (identical(expr[[1]], quote(C)) || identical(expr[[1]], quote(stats::C)))
  if (is_c) expr[[2]] else expr
}
