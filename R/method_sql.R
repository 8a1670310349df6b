# Predictions of models as R expressions, for tidypredict and orbital, which translate them to SQL.

#' Predict in a database
#'
#' `tidypredict::tidypredict_fit()` returns an R expression that computes the predictions of a
#' model. The model is linear, a network, or boosted trees from a formula.
#' `tidypredict::tidypredict_sql()` translates the expression to SQL. `orbital::orbital()` does the
#' same for a fit or a workflow of tidymodels, with a column for each hidden unit of a network.
#'
#' The expression is a number, the probability of the second of two classes, or a list with an
#' expression for each class or, if there are several responses, for each response.
#'
#' Missing values and factors are treated as in [predict()][predict.tf_estimator]. There is one
#' exception: for a level that is not in the training data, the prediction of a linear model is
#' missing. Models compute in single precision and databases in double precision, so predictions
#' differ by about 1e-6 of their size. A number equals a threshold of a tree if it rounds to the
#' same number in single precision.
#'
#' The activation of a network is `NULL` or one of "relu", "relu6", "leaky_relu", "elu", "selu",
#' "sigmoid", "swish", "tanh", "softplus" and "softsign". The feature columns are numeric columns
#' without a `normalizer_fn`, bucketized and cyclic columns, categorical columns with an identity or
#' a vocabulary list, and indicator, embedding and weighted columns of these.
#'
#' @param model,x A trained model.
#' @param ... Not used.
#' @param mode,type,lvl,prefix,.from_parsnip Arguments that `orbital::orbital()` passes to its
#'   methods.
#' @return `tidypredict_fit()`: an expression, or a list of expressions.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: SQL cannot express a feature, the activation or the head
#'     of the model, such as splines, dates or quantiles; or the network is too large for one
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
  expressions <- model_expressions(model, "tidypredict_fit")
  values <- inline_hidden_units(expressions, "tidypredict_fit", environment())
  family <- expressions$family
  if (family == "multinomial") return(lapply(seq_along(values), softmax_probability, values))
  values <- lapply(values, switch(family,
    binomial = inverse_logit_expression,
    poisson = function(value) base::call("exp", value),
    identity
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
  expressions <- model_expressions(x, "orbital")
  values <- expressions$values
  if (mode == "regression") {
    value <- if (expressions$family == "poisson") base::call("exp", values[[1]]) else values[[1]]
    return(deparse_expressions(c(expressions$units, setNames(list(value), prefix))))
  }
  # two classes have one logit, which belongs to the second class
  logits <- paste0("orbital_tmp_logit", seq_along(values))
  names <- lapply(logits, as.name)
  deparse_expressions(c(
    expressions$units, setNames(values, logits),
    if (is.null(type) || "class" %in% type) {
      list(orbital_tmp_class_name = best_class_expression(names, lvl))
    },
    if ("prob" %in% type) {
      probabilities <- if (length(lvl) == 2) {
        lapply(list(base::call("-", names[[1]]), names[[1]]), inverse_logit_expression)
      } else {
        lapply(seq_along(names), softmax_probability, names)
      }
      setNames(probabilities, paste0("orbital_tmp_prob_name", seq_along(lvl)))
    }
  ))
}

deparse_expressions <- function(expressions) {
  vapply(expressions, deparse1, "", control = "digits17")
}

# Returns an expression for the class with the largest logit. Its value is missing if a logit is
# missing.
best_class_expression <- function(logits, levels) {
  conditions <- if (length(levels) == 2) {
    list(base::call("<=", logits[[1]], 0), base::call(">", logits[[1]], 0))
  } else {
    lapply(seq_along(logits), function(i) {
      comparisons <- lapply(logits[-i], function(other) base::call(">=", logits[[i]], other))
      Reduce(function(a, b) base::call("&", a, b), comparisons)
    })
  }
  arms <- Map(function(condition, level) base::call("~", condition, level), conditions, levels)
  rlang::call2("case_when", !!!unname(arms), .ns = "dplyr")
}

# Returns an expression for the probability of class `i`: 1 / (1 + the sum of exp(other logit - its
# logit)). The differences are limited, because databases fail on exp() of large numbers.
softmax_probability <- function(i, logits) {
  ratios <- lapply(logits[-i], function(other) {
    difference <- base::call("-", base::call("(", other), base::call("(", logits[[i]]))
    rlang::expr(
      dplyr::case_when(
        !!difference > 700 ~ !!exp(700), !!difference < -700 ~ 0, .default = exp(!!difference)
      )
    )
  })
  base::call("/", 1, base::call("(", sum_expressions(c(1, ratios))))
}

add_expressions <- function(a, b) {
  if (identical(b, 0)) a else if (identical(a, 0)) b else base::call("+", a, b)
}

# Groups long sums by parentheses, because SQL parsers limit the depth of an expression.
sum_expressions <- function(terms) {
  if (length(terms) <= 20) return(Reduce(add_expressions, terms))
  groups <- split(terms, (seq_along(terms) - 1) %/% 20)
  sum_expressions(unname(lapply(groups, function(group) base::call("(", sum_expressions(group)))))
}

# Returns the expression 1 / (1 + exp(-value)). The value is limited, because databases fail on
# exp() of large numbers.
inverse_logit_expression <- function(value) {
  value <- base::call("(", value)
  rlang::expr(
    dplyr::case_when(
      !!value > 40 ~ 1, !!value < -700 ~ 0, .default = 1 / (1 + exp(-!!value))
    )
  )
}

# Returns `values`, an expression for each logit or number, and for networks also `units`, the
# expressions of hidden units, as from network_expressions().
model_expressions <- function(model, function_name, call = parent.frame()) {
  model_family <- model_traits(model$spec$type)$family
  if (!model_family %in% c("linear", "deep", "both", "trees")) {
    abort_runhooks(
      "{.fn {function_name}} needs a linear model, a network or boosted trees, not this
       {describe_model(model)}.",
      call = call
    )
  }
  family <- model_labels(model)$family
  if (!family %in% c("gaussian", "binomial", "multinomial", "poisson")) {
    abort_runhooks(
      "{.fn {function_name}} has no expression for the predictions of
       {.fn {model$spec$head$type}}.",
      call = call
    )
  }
  has_formula <- !is.null(model$formula)
  if (model_family == "trees" && !has_formula) abort_no_formula(function_name, call)
  if (model_family == "trees") {
    list(values = tree_expressions(model, call), family = family)
  } else if (model_family == "linear" && has_formula) {
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
  coefficients <- stats::coef(model)
  blueprint <- model$blueprint
  offset <- blueprint$offset
  # coef() has a column for each response, or a row for each class except the first
  if (!is.matrix(coefficients)) coefficients <- cbind(coefficients)
  if (family == "multinomial") coefficients <- t(coefficients)
  sums <- lapply(seq_len(ncol(coefficients)), function(i) {
    linear_sum_expression(coefficients[, i], rownames(coefficients), blueprint, call)
  })
  if (!is.null(offset)) {
    sums <- lapply(sums, add_expressions, numeric_expression(offset$expr, blueprint, call))
  }
  # the first class has the logit 0
  if (family == "multinomial") c(list(0), sums) else sums
}

# Returns an expression for the sum of terms times coefficients. Coefficients that the data do not
# determine are NA and are omitted.
linear_sum_expression <- function(coefficients, names, blueprint, call) {
  is_determined <- !is.na(coefficients)
  terms <- Map(function(name, coefficient) {
    if (name == "(Intercept)") return(coefficient)
    base::call("*", term_expression(name, blueprint, call), coefficient)
  }, names[is_determined], unname(coefficients[is_determined]))
  if (length(terms)) sum_expressions(unname(terms)) else 0
}

# Returns an expression for the product of the parts of a coefficient's name. In "x:fb", the parts
# are the number `x` and the level "b" of the factor `f`.
term_expression <- function(name, blueprint, call) {
  parts <- strsplit(name, ":", fixed = TRUE)[[1]]
  factors <- lapply(parts, function(part) {
    for (variable in names(blueprint$variables)) {
      levels <- labels <- blueprint$variables[[variable]]$levels
      labels[labels %in% blueprint$variables[[variable]]$na_level] <- "NA"
      level <- levels[paste0(variable, labels) == part]
      if (length(level) == 1) return(level_indicator(variable, level, levels, blueprint, call))
      if (part == paste0(variable, "TRUE")) return(variable_expression(variable, blueprint, call))
    }
    numeric_expression(part, blueprint, call)
  })
  Reduce(function(a, b) base::call("*", a, b), factors)
}

# Returns an expression that is 1 for the level and 0 for the other levels. Missing values, and
# levels that training has not seen, give a missing result.
level_indicator <- function(variable, level, levels, blueprint, call) {
  is_level <- level_condition(variable, level, blueprint, call)
  zero_cases <- lapply(setdiff(levels, level), function(other) {
    base::call("~", level_condition(variable, other, blueprint, call), 0)
  })
  rlang::call2("case_when", base::call("~", is_level, 1), !!!zero_cases, .ns = "dplyr")
}

level_condition <- function(variable, level, blueprint, call) {
  if (isTRUE(blueprint$variables[[variable]]$is_logical)) {
    flag <- unconverted_expression(variable, blueprint, call)
    return(if (level == "TRUE") flag else base::call("!", flag))
  }
  column <- category_column(variable, blueprint, call)
  if (identical(level, blueprint$variables[[variable]]$na_level)) {
    # is.na() is FALSE for the level NA of a factor
    return(base::call("is.na", base::call("as.character", column)))
  }
  base::call("==", column, level)
}

# Returns a condition that is TRUE in rows where the variable is not missing.
not_missing_condition <- function(variable, blueprint, call) {
  info <- blueprint$variables[[variable]]
  if (!is.null(info$na_level)) return(TRUE)
  expression_of <- if (isTRUE(info$is_logical)) unconverted_expression else category_column
  base::call("!", base::call("is.na", expression_of(variable, blueprint, call)))
}

# Returns the expression of a categorical variable, which must be a column, or factor() of a column.
category_column <- function(variable, blueprint, call) {
  info <- blueprint$variables[[variable]]
  is_column <- variable %in% blueprint$columns || is.null(info$expr)
  expr <- if (is_column) as.name(variable) else info$expr
  if (is_factor_call(expr)) {
    # databases convert logicals and fractions to other strings than R does
    numbers <- suppressWarnings(as.numeric(info$levels))
    is_fraction <- !is.na(numbers) & !grepl("^-?[0-9]+$", info$levels)
    expr <- if (!any(is_fraction) && !any(info$levels %in% c("TRUE", "FALSE"))) expr[[2]]
  }
  if (!is.symbol(expr) || !as.character(expr) %in% blueprint$columns) {
    abort_no_expression(variable, call)
  }
  fill_missing_columns(expr, blueprint)
}

is_factor_call <- function(expr) {
  is.call(expr) && is.symbol(expr[[1]]) && length(expr) == 2 &&
    as.character(expr[[1]]) %in% c("factor", "as.factor", "ordered", "as.character")
}

# The expression of a numeric or logical variable. Logicals remain logicals.
unconverted_expression <- function(variable, blueprint, call) {
  info <- blueprint$variables[[variable]]
  expr <- if (is.null(info$expr)) variable else info$expr
  expr <- numeric_expression(expr, blueprint, call, variable)
  if (is.call(expr)) base::call("(", expr) else expr
}

# The expression of a numeric or logical variable. Logicals become 0 and 1.
variable_expression <- function(variable, blueprint, call) {
  number <- unconverted_expression(variable, blueprint, call)
  if (!isTRUE(blueprint$variables[[variable]]$is_logical)) return(number)
  rlang::expr(dplyr::case_when(!!number ~ 1, !(!!number) ~ 0))
}

translatable_functions <- c(
  "+", "-", "*", "/", "^", "(", "I", "log", "log10", "log2", "exp", "sqrt", "abs",
  ">", "<", ">=", "<=", "==", "!=", "!", "&", "|"
)

# Checks that SQL can compute `x`, an expression or its text, and fills missing values. The text may
# be the name of a column. `name`: the name of the variable in the blueprint, if it is not the text.
numeric_expression <- function(x, blueprint, call, name = NULL) {
  text <- if (is.null(name)) if (is.character(x)) x else code_text(x) else name
  columns <- blueprint$columns
  info <- blueprint$variables[[text]]
  expr <- x
  if (is.character(x)) {
    expr <- if (x %in% columns) as.name(x) else tryCatch(str2lang(x), error = function(error) NULL)
  }
  functions <- if (is.call(expr)) setdiff(all.names(expr), all.vars(expr))
  constants <- Filter(is_number, blueprint$constants)
  expr <- if (!is.null(expr)) substitute_names(expr, constants[setdiff(names(constants), columns)])
  is_valid <- !is.null(expr) && is.null(info$time) && !isTRUE(info$width > 1) &&
    all(functions %in% translatable_functions) && all(all.vars(expr) %in% columns)
  if (!is_valid) abort_no_expression(text, call)
  fill_missing_columns(replace_identity_calls(expr), blueprint)
}

# Replaces missing values of columns by the constants of `na.action`.
fill_missing_columns <- function(expr, blueprint) {
  constants <- blueprint$na$constants
  constants <- constants[intersect(names(constants), all.vars(expr))]
  substitute_names(expr, Map(function(name, constant) {
    rlang::expr(dplyr::coalesce(!!as.name(name), !!constant))
  }, names(constants), constants))
}

replace_identity_calls <- function(expr) {
  if (!is.call(expr)) return(expr)
  if (identical(expr[[1]], quote(I))) return(base::call("(", replace_identity_calls(expr[[2]])))
  as.call(c(expr[[1]], lapply(as.list(expr)[-1], replace_identity_calls)))
}

# --- Trees

tree_expressions <- function(model, call) {
  nodes <- as.data.frame(model)
  columns <- grep("^value", names(nodes), value = TRUE)
  trees <- split(nodes, nodes$tree)
  sums <- lapply(columns, function(column) {
    sum_expressions(unname(lapply(trees, function(tree) {
      tree$value <- tree[[column]] * tree$weight
      node_expression(tree, 0, model$blueprint, call)
    })))
  })
  to_response_units(sums, model$spec)
}

node_expression <- function(tree, id, blueprint, call) {
  node <- tree[tree$node == id, ]
  if (node$is_leaf) return(node$value)
  left <- node_expression(tree, node$left, blueprint, call)
  right <- node_expression(tree, node$right, blueprint, call)
  if (identical(left, right)) return(left)
  question_is <- function(text) endsWith(node$question, paste0(node$feature, text))
  # a split that did not separate the training data sends all rows to the left
  if (question_is(" is any level")) return(left)
  if (startsWith(node$question, paste0(node$feature, " is not "))) {
    condition <- level_split_condition(node, blueprint, call)
    return(rlang::expr(dplyr::case_when(!!condition ~ !!right, .default = !!left)))
  }
  number <- if (node$feature %in% names(blueprint$variables)) {
    variable_expression(node$feature, blueprint, call)
  } else {
    base::call("(", numeric_expression(node$feature, blueprint, call))
  }
  is_missing <- rlang::expr(is.na(!!number))
  if (question_is(" is any number") || question_is(" is below all") || question_is(" is missing")) {
    present <- if (question_is(" is any number")) left else right
    missing <- if (node$missing_goes_left) left else right
    if (identical(missing, present)) return(present)
    return(rlang::expr(dplyr::case_when(!!is_missing ~ !!missing, .default = !!present)))
  }
  # training subtracts the origin from large numbers before it rounds them to single precision
  origin <- blueprint$terms[[node$feature]]$center
  if (is.null(origin)) origin <- 0
  threshold <- rounded_threshold(node$threshold - origin) + origin
  condition <- rlang::expr(!!number <= !!threshold)
  if (node$missing_goes_left) condition <- rlang::expr(!!is_missing | !!condition)
  rlang::expr(dplyr::case_when(!!condition ~ !!left, .default = !!right))
}

level_split_condition <- function(node, blueprint, call) {
  levels <- blueprint$variables[[node$feature]]$levels
  if (is.null(levels)) abort_no_expression(node$feature, call)
  level <- substring(node$question, nchar(node$feature) + nchar(" is not ") + 1)
  if (level != "(missing)") return(level_condition(node$feature, level, blueprint, call))
  column <- category_column(node$feature, blueprint, call)
  present <- setdiff(levels, "(missing)")
  rlang::expr(is.na(!!column) | !(!!column %in% !!rlang::call2("c", !!!present)))
}

# Returns the largest double that single precision rounds to `x`.
rounded_threshold <- function(x) {
  if (x == 0) return(0)
  x + 2^(floor(log2(abs(x))) - 24)
}
