# Fixes the data-dependent arguments of calls in formulas to their values for the training data.

# Like stats::makepredictcall() for a call `expr` with the value `value`. Also replaces the breaks
# of cut(x, 3) and cut(x, quantile(x)) by numbers. `recorded` describes the variable in a trained
# model.
fix_data_dependent_call <- function(value, expr, data, blueprint, recorded) {
  is_cut <- identical(expr[[1]], quote(cut)) || identical(expr[[1]], quote(base::cut))
  if (!is_cut) return(stats::makepredictcall(value, expr))
  # the call may be the name of a column, and an older model may have recorded the unfixed call
  if (call_text(expr) %in% c(recorded$basis, names(data))) return(expr)
  call <- match.call(base::cut.default, expr)
  env <- list2env(blueprint$constants, parent = globalenv())
  x <- eval(call$x, data, env)
  breaks <- eval(call$breaks, data, env)
  if (!is.numeric(x) || is.object(x) || !is.numeric(breaks)) return(expr)
  if (is_number(breaks)) {
    call$breaks <- cut_breaks(range(x, na.rm = TRUE), breaks)
  } else if (any(variables_of(call$breaks) %in% names(data))) {
    call$breaks <- as.vector(breaks)
  }
  call
}

# Returns the breaks that cut() computes: the outer ones are moved outwards by a thousandth of the
# range.
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

# Replaces C(f, sum) by f, because contrasts matter only for coef() and similar functions.
strip_contrasts <- function(expr) {
  is_c <- is.call(expr) && (identical(expr[[1]], quote(C)) || identical(expr[[1]], quote(stats::C)))
  if (is_c) expr[[2]] else expr
}
