# Formulas in input_fn(), which select columns.

# Returns the labels of the terms, the response and the intercept of a formula.
parse_formula <- function(formula) {
  right <- formula[[length(formula)]]
  check_formula_operators(right)
  parsed <- stats::terms(formula, allowDotAsName = TRUE)
  response <- if (length(formula) == 3) code_text(formula[[2]])
  list(
    features = formula_terms(right),
    response = response,
    intercept = attr(parsed, "intercept") == 1
  )
}

check_formula_operators <- function(expr) {
  if (!is.call(expr)) return(invisible())
  operator <- code_text(expr[[1]])
  if (operator %in% c("+", "-", "(", ":", "*")) {
    for (part in as.list(expr)[-1]) check_formula_operators(part)
  } else if (operator %in% c("/", "^", "|", "%in%", "~")) {
    abort_plain(
      c(
        sprintf("unhandled formula operator: expected '+' or '-'; got '%s'", operator),
        i = "`a * b` and `a:b` are interactions. Write arithmetic in I(), as in `I(a^2)`."
      ),
      call = user_frame()
    )
  } else if (operator == "offset" || operator == "stats::offset") {
    abort_plain(
      c(
        sprintf("A formula of input_fn() cannot have an offset such as '%s'.", term_name(expr)),
        i = "Subtract it from the response instead, as in `y - a ~ b`."
      ),
      call = user_frame()
    )
  }
}

# Returns the labels of the terms that an expression adds, without those that it removes by `-`.
# Function calls are terms.
formula_terms <- function(expr) {
  if (is.call(expr)) {
    operator <- code_text(expr[[1]])
    if (operator == "(") return(formula_terms(expr[[2]]))
    if (operator == "+" || operator == ":" || operator == "*") {
      return(unique(unlist(lapply(as.list(expr)[-1], formula_terms))))
    }
    if (operator == "-") {
      if (length(expr) == 2) return(character())
      return(setdiff(formula_terms(expr[[2]]), formula_terms(expr[[3]])))
    }
  }
  if (is.numeric(expr)) return(character()) # the intercept
  code_text(expr, 60L)
}

# Selects the columns of a formula, and adds columns that the formula computes to the data.
expand_formula <- function(formula, data, call = parent.frame()) {
  if (length(formula) < 2) {
    abort_runhooks("{.arg object} must be a formula with a right side.", call = call)
  }
  parsed <- parse_formula(formula)
  features <- parsed$features
  right <- formula[[length(formula)]]
  if ("." %in% formula_terms(right)) {
    removed <- removed_terms(right)
    features <- setdiff(unique(c(setdiff(features, "."), names(data))), c(parsed$response, removed))
  }
  columns <- if (is_dataset(data)) data else as.list(data)
  for (term in c(features, parsed$response)) {
    if (term %in% names(columns)) next
    if (is_dataset(data)) abort_computed(term, names(data), call)
    columns[[term]] <- computed_column(term, columns, environment(formula), names(data), call)
  }
  list(data = columns, features = features, response = parsed$response)
}

# A formula selects components of a dataset and computes none.
abort_computed <- function(term, existing, call) {
  expr <- str2lang(term)
  if (is.symbol(expr)) abort_no_column(as.character(expr), existing, call)
  abort_runhooks(
    c(
      "The formula must select components of the dataset; {.code {term_name(expr)}} is a
       computation.",
      i = "Compute it with {.fn dataset_map}, or create the model from the formula, as in
           {.code linear_regressor(y ~ x, dataset)}."
    ),
    kind = "not_found", call = call
  )
}

removed_terms <- function(expr) {
  if (!is.call(expr)) return(character())
  operator <- code_text(expr[[1]])
  if (operator == "-" && length(expr) == 3) {
    return(c(removed_terms(expr[[2]]), formula_terms(expr[[3]])))
  }
  if (operator %in% c("+", "(")) return(unlist(lapply(as.list(expr)[-1], removed_terms)))
  character()
}

computed_column <- function(term, columns, env, existing, call) {
  expr <- if (is.character(term)) str2lang(term) else term
  value <- tryCatch(eval(expr, columns, env), error = function(error) error)
  is_failed <- inherits(value, "error")
  if (is_failed && is.symbol(expr)) abort_no_column(as.character(expr), existing, call)
  rows <- n_rows(columns[[1]])
  if (is_failed || n_rows(value) != rows) {
    abort_runhooks(
      c(
        "{.code {term_name(expr)}} in the formula is not a column of the data and cannot be computed
         from them.",
        x = if (is_failed) conditionMessage(value) else {
          "It has {n_rows(value)} value{?s}, but the data have {rows} row{?s}."
        },
        i = term_advice(expr, is_failed, existing)
      ),
      kind = "not_found", call = call
    )
  }
  value
}

abort_no_column <- function(name, existing, call) {
  advice <- did_you_mean(name, existing)
  abort_runhooks(
    c(
      "The data have no column {.code {name}}.",
      if (is.null(advice)) c(i = abbreviated_names(existing)) else advice
    ),
    kind = "not_found", call = call
  )
}

# Functions in formulas of other packages, such as survival and mgcv.
special_terms <- c(
  "strata", "cluster", "frailty", "tt", "pspline", "ridge", "Error", "re", "random", "rcs", "lsp",
  "gp", "mo", "fe"
)

# The advice for a term of a formula that is not a column and cannot be computed.
term_advice <- function(expr, is_failed, existing) {
  fun <- if (is.call(expr)) code_text(expr[[1]]) else ""
  if (is_smooth_term(expr)) return(smooth_term_advice(expr))
  if (is_failed && fun %in% special_terms) {
    return(cli::format_inline("Terms such as {.fn {fun}} of other packages are not supported."))
  }
  if (is_failed && fun %in% c("ns", "bs") && !exists(fun, mode = "function")) {
    return(cli::format_inline("Write {.code splines::{term_name(expr)}}."))
  }
  if (fun == "$") return(cli::format_inline("Write {.code {expr[[3]]}}, the name of the column."))
  abbreviated_names(existing)
}

# Whether an expression is a smooth term of the package mgcv.
is_smooth_term <- function(expr) {
  is.call(expr) && length(expr) > 1 && code_text(expr[[1]]) %in% c("s", "te", "ti", "t2", "lo")
}

smooth_term_advice <- function(expr) {
  cli::format_inline(
    "Smooth terms are not supported; {.code splines::ns({term_name(expr[[2]])}, 4)} is."
  )
}

term_name <- function(expr) code_text(expr)
