# Models as expressions of R, which dbplyr translates to SQL, for tidypredict and orbital.

#' Predict in a database
#'
#' `tidypredict::tidypredict_fit()` returns the predictions of a model as an expression of R. The
#' model is linear, a network, or boosted trees from a formula. `tidypredict::tidypredict_sql()`
#' translates the expression to SQL, and `orbital::orbital()` does so for a fit or a workflow of
#' tidymodels, with a column for each hidden unit of a network.
#'
#' The expression is a number, the probability of the second of two classes, or a list with an
#' expression for each class or each of several responses.
#'
#' Missing values and factors are treated as in [predict()][predict.tf_estimator], except for levels
#' that are not in the training data: in a linear model, their prediction is missing. Models compute
#' with single precision and databases with double precision, so predictions differ by a relative
#' 1e-6. A number equals a threshold of a tree if it rounds to the same number in single precision.
#'
#' The activation of a network is `NULL` or one of "relu", "relu6", "leaky_relu", "elu", "selu",
#' "sigmoid", "swish", "tanh", "softplus" and "softsign". Feature columns are those of numbers
#' without a `normalizer_fn`, buckets, cycles, identities and vocabularies, and indicators,
#' embeddings and weighted columns of these.
#'
#' @param model,x A trained model.
#' @param ... Not used.
#' @param mode,type,lvl,prefix,.from_parsnip Arguments that `orbital::orbital()` passes to its
#'   methods.
#' @return `tidypredict_fit()`: an expression, or a list of expressions.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: the model has features, an activation or a head without an
#'     expression, such as splines, dates or quantiles; or the network is too large for one
#'     expression.
#' @name model_sql
#' @family estimator methods
#' @examplesIf requireNamespace("tidypredict", quietly = TRUE)
#' cars <- transform(mtcars, cyl = factor(cyl))
#' model <- linear_regressor(mpg ~ wt + cyl, cars) |> generics::fit()
#' tidypredict::tidypredict_fit(model)
NULL

#' @rdname model_sql
#' @exportS3Method tidypredict::tidypredict_fit
tidypredict_fit.tf_estimator <- function(model) {
  parts <- model_expressions(model, "tidypredict_fit")
  values <- nested_values(parts, "tidypredict_fit", environment())
  if (parts$family == "multinomial") return(lapply(seq_along(values), softmax_share, values))
  values <- lapply(values, switch(parts$family,
    binomial = inverse_logit, poisson = function(value) base::call("exp", value), identity
  ))
  if (length(values) == 1) values[[1]] else values
}

#' @rdname model_sql
#' @exportS3Method orbital::orbital
orbital.tf_estimator <- function(x, ..., mode = NULL, type = NULL, lvl = NULL, prefix = ".pred",
                                 .from_parsnip = FALSE) {
  if (!.from_parsnip) {
    abort_runhooks(
      c(
        "{.fn orbital} needs a fit or a workflow of tidymodels, not an estimator.",
        i = "{.fn tidypredict::tidypredict_fit} accepts an estimator."
      )
    )
  }
  parts <- model_expressions(x, "orbital")
  values <- parts$values
  if (mode == "regression") {
    value <- if (parts$family == "poisson") base::call("exp", values[[1]]) else values[[1]]
    return(expression_texts(c(parts$units, setNames(list(value), prefix))))
  }
  # two classes have one logit, that of the second
  logits <- paste0("orbital_tmp_logit", seq_along(values))
  names <- lapply(logits, as.name)
  expression_texts(c(
    parts$units, setNames(values, logits),
    if (is.null(type) || "class" %in% type) list(orbital_tmp_class_name = best_class(names, lvl)),
    if ("prob" %in% type) {
      shares <- if (length(lvl) == 2) {
        list(inverse_logit(base::call("-", names[[1]])), inverse_logit(names[[1]]))
      } else {
        lapply(seq_along(names), softmax_share, names)
      }
      setNames(shares, paste0("orbital_tmp_prob_name", seq_along(lvl)))
    }
  ))
}

expression_texts <- function(expressions) {
  vapply(expressions, deparse1, "", control = "digits17")
}

# Missing if a logit is missing.
best_class <- function(logits, levels) {
  conditions <- if (length(levels) == 2) {
    list(base::call("<=", logits[[1]], 0), base::call(">", logits[[1]], 0))
  } else {
    lapply(seq_along(logits), function(i) {
      wins <- lapply(logits[-i], function(other) base::call(">=", logits[[i]], other))
      Reduce(function(a, b) base::call("&", a, b), wins)
    })
  }
  arms <- Map(function(condition, level) base::call("~", condition, level), conditions, levels)
  rlang::call2("case_when", !!!unname(arms), .ns = "dplyr")
}

# 1 / (1 + sum of exp(other - own)). Databases fail on exp() of large numbers.
softmax_share <- function(i, logits) {
  ratios <- lapply(logits[-i], function(other) {
    difference <- base::call("-", base::call("(", other), base::call("(", logits[[i]]))
    rlang::expr(
      dplyr::case_when(
        !!difference > 700 ~ !!exp(700), !!difference < -700 ~ 0, .default = exp(!!difference)
      )
    )
  })
  base::call("/", 1, base::call("(", sum_calls(c(1, ratios))))
}

sum_call <- function(a, b) {
  if (identical(b, 0)) a else if (identical(a, 0)) b else base::call("+", a, b)
}

# SQL parsers limit the depth of an expression, so long sums have brackets.
sum_calls <- function(terms) {
  if (length(terms) <= 20) return(Reduce(sum_call, terms))
  groups <- split(terms, (seq_along(terms) - 1) %/% 20)
  sum_calls(unname(lapply(groups, function(group) base::call("(", sum_calls(group)))))
}

# Databases fail on exp() of large numbers.
inverse_logit <- function(value) {
  value <- base::call("(", value)
  rlang::expr(
    dplyr::case_when(
      !!value > 40 ~ 1, !!value < -700 ~ 0, .default = 1 / (1 + exp(-!!value))
    )
  )
}

# `units`: see network_expressions(). `values`: an expression for each logit or number.
model_expressions <- function(model, what, call = parent.frame()) {
  kind <- model_traits(model$spec$type)$family
  if (!kind %in% c("linear", "deep", "both", "trees")) {
    abort_runhooks(
      "{.fn {what}} needs a linear model, a network or boosted trees, not this
       {describe_model(model)}.",
      call = call
    )
  }
  family <- model_labels(model)$family
  if (!family %in% c("gaussian", "binomial", "multinomial", "poisson")) {
    abort_runhooks(
      "{.fn {what}} has no expression for the predictions of {.fn {model$spec$head$type}}.",
      call = call
    )
  }
  has_formula <- !is.null(model$formula)
  if (kind == "trees" && !has_formula) abort_no_formula(what, call)
  if (kind == "trees") {
    list(values = tree_expressions(model, call), family = family)
  } else if (kind == "linear" && has_formula) {
    list(values = linear_expressions(model, family, call), family = family)
  } else {
    c(network_expressions(model, call), family = family)
  }
}

abort_no_expression <- function(term, call) {
  abort_runhooks(
    "{.code {term}} has no expression that a database can compute.", call = call
  )
}

# --- Linear models

linear_expressions <- function(model, family, call) {
  weights <- coef(model)
  blueprint <- model$blueprint
  offset <- blueprint$offset
  # a column for each response, or a row for each class but the first
  if (!is.matrix(weights)) weights <- cbind(weights)
  if (family == "multinomial") weights <- t(weights)
  sums <- lapply(seq_len(ncol(weights)), function(i) {
    linear_sum(weights[, i], rownames(weights), blueprint, call)
  })
  if (!is.null(offset)) {
    sums <- lapply(sums, sum_call, number_expression(offset$expr, blueprint, call))
  }
  # the first class has the logit 0
  if (family == "multinomial") c(list(0), sums) else sums
}

# Coefficients that the data do not determine are missing.
linear_sum <- function(weights, names, blueprint, call) {
  known <- !is.na(weights)
  terms <- Map(function(name, weight) {
    if (name == "(Intercept)") return(weight)
    base::call("*", term_expression(name, blueprint, call), weight)
  }, names[known], unname(weights[known]))
  if (length(terms)) sum_calls(unname(terms)) else 0
}

# The parts of a coefficient's name, such as "x:fb", are numbers, or a variable and its level.
term_expression <- function(name, blueprint, call) {
  parts <- strsplit(name, ":", fixed = TRUE)[[1]]
  factors <- lapply(parts, function(part) {
    for (variable in names(blueprint$variables)) {
      levels <- shown <- blueprint$variables[[variable]]$levels
      shown[shown %in% blueprint$variables[[variable]]$na_level] <- "NA"
      level <- levels[paste0(variable, shown) == part]
      if (length(level) == 1) return(level_indicator(variable, level, levels, blueprint, call))
      if (part == paste0(variable, "TRUE")) return(variable_number(variable, blueprint, call))
    }
    number_expression(part, blueprint, call)
  })
  Reduce(function(a, b) base::call("*", a, b), factors)
}

# Missing for a missing value, and for a new level.
level_indicator <- function(variable, level, levels, blueprint, call) {
  is_level <- level_condition(variable, level, blueprint, call)
  others <- lapply(setdiff(levels, level), function(other) {
    base::call("~", level_condition(variable, other, blueprint, call), 0)
  })
  rlang::call2("case_when", base::call("~", is_level, 1), !!!others, .ns = "dplyr")
}

level_condition <- function(variable, level, blueprint, call) {
  if (isTRUE(blueprint$variables[[variable]]$is_logical)) {
    flag <- variable_expression(variable, blueprint, call)
    return(if (level == "TRUE") flag else base::call("!", flag))
  }
  column <- word_column_expression(variable, blueprint, call)
  if (identical(level, blueprint$variables[[variable]]$na_level)) {
    # is.na() is FALSE for the level NA of a factor
    return(base::call("is.na", base::call("as.character", column)))
  }
  base::call("==", column, level)
}

# TRUE in rows that are not missing.
present_condition <- function(variable, blueprint, call) {
  known <- blueprint$variables[[variable]]
  if (!is.null(known$na_level)) return(TRUE)
  expression_of <- if (isTRUE(known$is_logical)) variable_expression else word_column_expression
  base::call("!", base::call("is.na", expression_of(variable, blueprint, call)))
}

# A column of words, or factor() of a column.
word_column_expression <- function(variable, blueprint, call) {
  known <- blueprint$variables[[variable]]
  is_column <- variable %in% blueprint$columns || is.null(known$expr)
  expr <- if (is_column) as.name(variable) else known$expr
  if (is_factor_call(expr)) {
    # databases write logicals and fractions in their own way
    numbers <- suppressWarnings(as.numeric(known$levels))
    is_fraction <- !is.na(numbers) & !grepl("^-?[0-9]+$", known$levels)
    expr <- if (!any(is_fraction) && !any(known$levels %in% c("TRUE", "FALSE"))) expr[[2]]
  }
  if (!is.symbol(expr) || !as.character(expr) %in% blueprint$columns) {
    abort_no_expression(variable, call)
  }
  filled(expr, blueprint)
}

is_factor_call <- function(expr) {
  is.call(expr) && is.symbol(expr[[1]]) && length(expr) == 2 &&
    as.character(expr[[1]]) %in% c("factor", "as.factor", "ordered", "as.character")
}

variable_expression <- function(variable, blueprint, call) {
  known <- blueprint$variables[[variable]]
  expr <- if (is.null(known$expr)) variable else known$expr
  number <- number_expression(expr, blueprint, call, variable)
  if (is.call(number)) base::call("(", number) else number
}

# A number, or the 0 and 1 of a logical.
variable_number <- function(variable, blueprint, call) {
  number <- variable_expression(variable, blueprint, call)
  if (!isTRUE(blueprint$variables[[variable]]$is_logical)) return(number)
  rlang::expr(dplyr::case_when(!!number ~ 1, !(!!number) ~ 0))
}

translatable_functions <- c(
  "+", "-", "*", "/", "^", "(", "I", "log", "log10", "log2", "exp", "sqrt", "abs",
  ">", "<", ">=", "<=", "==", "!=", "!", "&", "|"
)

# `x`: an expression or its text, which may be the name of a column.
number_expression <- function(x, blueprint, call, name = NULL) {
  text <- if (is.null(name)) if (is.character(x)) x else code_text(x) else name
  columns <- blueprint$columns
  known <- blueprint$variables[[text]]
  expr <- x
  if (is.character(x)) {
    expr <- if (x %in% columns) as.name(x) else tryCatch(str2lang(x), error = function(error) NULL)
  }
  used <- if (is.call(expr)) setdiff(all.names(expr), all.vars(expr))
  constants <- Filter(is_number, blueprint$constants)
  expr <- if (!is.null(expr)) substituted(expr, constants[setdiff(names(constants), columns)])
  good <- !is.null(expr) && is.null(known$time) && !isTRUE(known$width > 1) &&
    all(used %in% translatable_functions) && all(all.vars(expr) %in% columns)
  if (!good) abort_no_expression(text, call)
  filled(without_identity(expr), blueprint)
}

# Missing values are replaced by the constants of `na.action`.
filled <- function(expr, blueprint) {
  constants <- blueprint$na$constants
  constants <- constants[intersect(names(constants), all.vars(expr))]
  substituted(expr, Map(function(name, constant) {
    rlang::expr(dplyr::coalesce(!!as.name(name), !!constant))
  }, names(constants), constants))
}

without_identity <- function(expr) {
  if (!is.call(expr)) return(expr)
  if (identical(expr[[1]], quote(I))) return(base::call("(", without_identity(expr[[2]])))
  as.call(c(expr[[1]], lapply(as.list(expr)[-1], without_identity)))
}

# --- Trees

tree_expressions <- function(model, call) {
  nodes <- as.data.frame(model)
  columns <- grep("^value", names(nodes), value = TRUE)
  trees <- split(nodes, nodes$tree)
  sums <- lapply(columns, function(column) {
    sum_calls(unname(lapply(trees, function(tree) {
      tree$value <- tree[[column]] * tree$weight
      node_expression(tree, 0, model$blueprint, call)
    })))
  })
  scaled_values(sums, model$spec)
}

node_expression <- function(tree, id, blueprint, call) {
  node <- tree[tree$node == id, ]
  if (node$is_leaf) return(node$value)
  left <- node_expression(tree, node$left, blueprint, call)
  right <- node_expression(tree, node$right, blueprint, call)
  if (identical(left, right)) return(left)
  asks <- function(words) endsWith(node$question, paste0(node$feature, words))
  # a split that did not separate the training data
  if (asks(" is any level")) return(left)
  if (startsWith(node$question, paste0(node$feature, " is not "))) {
    condition <- is_level(node, blueprint, call)
    return(rlang::expr(dplyr::case_when(!!condition ~ !!right, .default = !!left)))
  }
  number <- if (node$feature %in% names(blueprint$variables)) {
    variable_number(node$feature, blueprint, call)
  } else {
    base::call("(", number_expression(node$feature, blueprint, call))
  }
  is_missing <- rlang::expr(is.na(!!number))
  if (asks(" is any number") || asks(" is below all") || asks(" is missing")) {
    others <- if (asks(" is any number")) left else right
    missing <- if (node$missing_goes_left) left else right
    if (identical(missing, others)) return(others)
    return(rlang::expr(dplyr::case_when(!!is_missing ~ !!missing, .default = !!others)))
  }
  # large numbers are rounded after the origin has been subtracted
  origin <- blueprint$terms[[node$feature]]$center
  if (is.null(origin)) origin <- 0
  threshold <- rounded_threshold(node$threshold - origin) + origin
  condition <- rlang::expr(!!number <= !!threshold)
  if (node$missing_goes_left) condition <- rlang::expr(!!is_missing | !!condition)
  rlang::expr(dplyr::case_when(!!condition ~ !!left, .default = !!right))
}

is_level <- function(node, blueprint, call) {
  levels <- blueprint$variables[[node$feature]]$levels
  if (is.null(levels)) abort_no_expression(node$feature, call)
  level <- substring(node$question, nchar(node$feature) + nchar(" is not ") + 1)
  if (level != "(missing)") return(level_condition(node$feature, level, blueprint, call))
  column <- word_column_expression(node$feature, blueprint, call)
  known <- setdiff(levels, "(missing)")
  rlang::expr(is.na(!!column) | !(!!column %in% !!rlang::call2("c", !!!known)))
}

# The largest double that rounds to `x` in single precision.
rounded_threshold <- function(x) {
  if (x == 0) return(0)
  x + 2^(floor(log2(abs(x))) - 24)
}
