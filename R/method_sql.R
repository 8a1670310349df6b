# Models as expressions of R, which dbplyr translates to SQL, for tidypredict and orbital.

#' Predict in a database
#'
#' `tidypredict::tidypredict_fit()` returns the predictions of a linear model or of boosted trees
#' from a formula as an expression of R. `tidypredict::tidypredict_sql()` translates it to SQL, and
#' `orbital::orbital()` does so for a fit or a workflow of tidymodels. The expression is a number,
#' the probability of the second of two classes, or a list with the probability of each class.
#'
#' Missing values and factors are treated as in [predict()][predict.tf_estimator], except for levels
#' that are not in the training data: in a linear model, their prediction is missing. Models compute
#' with single precision and databases with double precision, so predictions differ by a relative
#' 1e-6. A number equals a threshold of a tree if it rounds to the same number in single precision.
#'
#' @param model,x A trained model from a formula.
#' @param ... Not used.
#' @param mode,type,lvl,.from_parsnip Arguments that `orbital::orbital()` passes to its methods.
#' @return `tidypredict_fit()`: an expression, or a list of expressions for three classes and more.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: the model is a network or has features without an
#'     expression, such as splines or dates.
#' @name model_sql
#' @family estimator methods
#' @examplesIf requireNamespace("tidypredict", quietly = TRUE)
#' cars <- transform(mtcars, cyl = factor(cyl))
#' model <- linear_regressor(mpg ~ wt + cyl, cars) %>% generics::fit()
#' tidypredict::tidypredict_fit(model)
NULL

#' @rdname model_sql
#' @exportS3Method tidypredict::tidypredict_fit
tidypredict_fit.tf_estimator <- function(model) {
  parts <- model_expressions(model, "tidypredict_fit")
  if (length(parts$values) > 1) {
    total <- Reduce(sum_call, lapply(parts$values, function(value) base::call("exp", value)))
    return(lapply(parts$values, function(value) {
      base::call("/", base::call("exp", value), base::call("(", total))
    }))
  }
  switch(parts$family,
    binomial = inverse_logit(parts$values[[1]]),
    poisson = base::call("exp", parts$values[[1]]),
    parts$values[[1]]
  )
}

#' @rdname model_sql
#' @exportS3Method orbital::orbital
orbital.tf_estimator <- function(x, ..., mode = NULL, type = NULL, lvl = NULL,
                                 .from_parsnip = FALSE) {
  if (!.from_parsnip) {
    abort_runhooks(
      c(
        "{.fn orbital} needs a fit or a workflow of tidymodels, not an estimator.",
        i = "{.fn tidypredict::tidypredict_fit} accepts an estimator."
      )
    )
  }
  if (mode == "regression") return(tidypredict_fit.tf_estimator(x))
  if (is.null(type)) type <- "class"
  text <- function(expr) deparse1(expr, control = "digits17")
  quoted <- function(words) vapply(words, function(word) text(word), "")
  if (length(lvl) == 2) {
    p <- text(tidypredict_fit.tf_estimator(x))
    class <- sprintf(
      "dplyr::case_when(%s > 0.5 ~ %s, .default = %s)", p, quoted(lvl[2]), quoted(lvl[1])
    )
    return(c(
      if ("class" %in% type) c(orbital_tmp_class_name = class),
      if ("prob" %in% type) {
        c(orbital_tmp_prob_name1 = sprintf("1 - (%s)", p),
          orbital_tmp_prob_name2 = "1 - `orbital_tmp_prob_name1`")
      }
    ))
  }
  logits <- vapply(model_expressions(x, "orbital")$values, text, "")
  ticked <- paste0("`", lvl, "`")
  result <- setNames(logits, lvl)
  if ("class" %in% type) {
    k <- length(lvl)
    is_best <- vapply(seq_len(k - 1), function(i) {
      paste(sprintf("%s >= %s", ticked[i], ticked[-i]), collapse = " & ")
    }, "")
    cases <- paste(sprintf("%s ~ %s", is_best, quoted(lvl[-k])), collapse = ", ")
    class <- sprintf("dplyr::case_when(%s, .default = %s)", cases, quoted(lvl[k]))
    result <- c(result, orbital_tmp_class_name = class)
  }
  if ("prob" %in% type) {
    powers <- sprintf("exp(%s)", ticked)
    shares <- setNames(paste(powers, "/ norm"), paste0("orbital_tmp_prob_name", seq_along(lvl)))
    result <- c(result, norm = paste(powers, collapse = " + "), shares)
  }
  result
}

sum_call <- function(a, b) if (identical(b, 0)) a else if (identical(a, 0)) b else base::call("+", a, b)

inverse_logit <- function(value) {
  power <- base::call("exp", base::call("-", base::call("(", value)))
  base::call("/", 1, base::call("(", base::call("+", 1, power)))
}

# `values`: an expression for each logit, or for the number.
model_expressions <- function(model, what, call = parent.frame()) {
  if (is.null(model$formula)) abort_no_formula(what)
  family <- model_labels(model)$family
  kind <- model_traits(model$spec$type)$family
  values <- if (kind == "trees") {
    tree_expressions(model, call)
  } else if (kind == "linear") {
    linear_expressions(model, call)
  } else {
    abort_runhooks(
      "{.fn {what}} needs a linear model or boosted trees, not this {describe_model(model)}.",
      call = call
    )
  }
  list(values = values, family = family)
}

abort_no_expression <- function(term, call) {
  abort_runhooks(
    "{.code {term}} has no expression that a database can compute.", call = call
  )
}

# --- Linear models

linear_expressions <- function(model, call) {
  weights <- coef(model)
  offset <- model$blueprint$offset
  sums <- if (is.matrix(weights)) {
    lapply(seq_len(nrow(weights)), function(i) linear_sum(weights[i, ], model$blueprint, call))
  } else {
    list(linear_sum(weights, model$blueprint, call))
  }
  if (!is.null(offset)) sums <- lapply(sums, sum_call, offset$expr)
  # the first class has the logit 0
  if (is.matrix(weights)) c(list(0), sums) else sums
}

linear_sum <- function(weights, blueprint, call) {
  terms <- Map(function(name, weight) {
    if (name == "(Intercept)") return(weight)
    base::call("*", term_expression(name, blueprint, call), weight)
  }, names(weights), unname(weights))
  Reduce(sum_call, unname(terms))
}

# The parts of a coefficient's name, such as "x:fb", are numbers, or a variable and its level.
term_expression <- function(name, blueprint, call) {
  parts <- strsplit(name, ":", fixed = TRUE)[[1]]
  factors <- lapply(parts, function(part) {
    for (variable in names(blueprint$variables)) {
      levels <- blueprint$variables[[variable]]$levels
      level <- levels[paste0(variable, levels) == part]
      if (length(level) == 1) return(level_indicator(as.name(variable), level, levels))
      if (part == paste0(variable, "TRUE")) return(base::call("as.numeric", as.name(variable)))
    }
    number_expression(part, blueprint, call)
  })
  Reduce(function(a, b) base::call("*", a, b), factors)
}

# Missing for a missing value.
level_indicator <- function(variable, level, levels) {
  rlang::expr(
    dplyr::case_when(!!variable == !!level ~ 1, !!variable %in% !!rlang::call2("c", !!!levels) ~ 0)
  )
}

translatable_functions <- c(
  "+", "-", "*", "/", "^", "(", "I", "log", "log10", "log2", "exp", "sqrt", "abs"
)

number_expression <- function(text, blueprint, call) {
  expr <- tryCatch(str2lang(text), error = function(error) NULL)
  is_time <- text %in% names(blueprint$variables) && !is.null(blueprint$variables[[text]]$time)
  used <- if (is.call(expr)) setdiff(all.names(expr), all.vars(expr))
  good <- !is.null(expr) && !is_time && all(used %in% translatable_functions) &&
    all(all.vars(expr) %in% blueprint$columns)
  if (!good) abort_no_expression(text, call)
  without_identity(expr)
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
  lapply(columns, function(column) {
    sum <- Reduce(sum_call, lapply(trees, function(tree) {
      tree$value <- tree[[column]] * tree$weight
      node_expression(tree, 0, model$blueprint, call)
    }))
    scale <- model$spec$label_scale
    if (is.null(scale)) return(sum)
    scaled <- base::call("*", base::call("(", sum), scale[[1]])
    base::call("+", scaled, model$spec$label_center[[1]])
  })
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
  number <- number_expression(node$feature, blueprint, call)
  is_missing <- rlang::expr(is.na(!!number))
  if (asks(" is any number") || asks(" is below all") || asks(" is missing")) {
    others <- if (asks(" is any number")) left else right
    missing <- if (node$missing_goes_left) left else right
    if (identical(missing, others)) return(others)
    return(rlang::expr(dplyr::case_when(!!is_missing ~ !!missing, .default = !!others)))
  }
  condition <- rlang::expr(!!number <= !!rounded_threshold(node$threshold))
  if (node$missing_goes_left) condition <- rlang::expr(!!is_missing | !!condition)
  rlang::expr(dplyr::case_when(!!condition ~ !!left, .default = !!right))
}

is_level <- function(node, blueprint, call) {
  levels <- blueprint$variables[[node$feature]]$levels
  if (is.null(levels)) abort_no_expression(node$feature, call)
  level <- substring(node$question, nchar(node$feature) + nchar(" is not ") + 1)
  variable <- as.name(node$feature)
  if (level != "(missing)") return(rlang::expr(!!variable == !!level))
  known <- setdiff(levels, "(missing)")
  rlang::expr(is.na(!!variable) | !(!!variable %in% !!rlang::call2("c", !!!known)))
}

# The largest double that rounds to `x` in single precision.
rounded_threshold <- function(x) {
  if (x == 0) return(0)
  x + 2^(floor(log2(abs(x))) - 24)
}
