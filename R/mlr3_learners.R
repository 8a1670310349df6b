# Learners of the package mlr3, which are registered when mlr3 is loaded.

#' Use runhooks with mlr3
#'
#' runhooks provides these learners for the package mlr3. They are available if both packages are
#' loaded, in any order; `library(runhooks)` does not load mlr3.
#'
#' * `regr.runhooks.linear` and `classif.runhooks.linear`: [linear_regressor()] and
#'   [linear_classifier()].
#' * `regr.runhooks.dnn` and `classif.runhooks.dnn`: [dnn_regressor()] and [dnn_classifier()].
#' * `regr.runhooks.wide_deep` and `classif.runhooks.wide_deep`: [dnn_linear_combined_regressor()]
#'   and [dnn_linear_combined_classifier()].
#' * `regr.runhooks.trees` and `classif.runhooks.trees`: [boosted_trees_regressor()] and
#'   [boosted_trees_classifier()].
#'
#' The field `model` of a trained learner is the estimator, for functions such as [coef()] or
#' [feature_importances()].
#'
#' @section Parameters: The parameters are arguments of the constructors, and:
#'   * `epochs`, `batch_size`: the number of times that training reads the data, and the number of
#'     rows in each step. The defaults are those of the engine in [runhooks-parsnip].
#'   * `penalty`, `mixture` of the linear models: as in [runhooks-parsnip].
#'   * `patience`: training stops if the mean loss of the validation data has not decreased for this
#'     number of epochs or trees, and the model returns to the best one. It needs the field
#'     `validate`.
#'   * `hooks`: a hook or a list of hooks for the training, see [session_run_hook()].
#'   * `seed`: the seed of all random numbers. By default, seeds are drawn from R's generator, so
#'     `set.seed()` makes a training reproducible.
#'
#'   The initial values are 16 hidden units and 100 trees.
#' @section Properties:
#'   * Weights: the role `weights_learner` of a task.
#'   * Missing values and `$importance()`: the tree models. The importance is the gain of
#'     [feature_importances()].
#'   * Validation: the field `validate`. `$internal_valid_scores` has the metrics of [evaluate()].
#'   * Internal tuning: `epochs`, or `n_trees` of the tree models, with `patience`.
#'   * Hotstart: training continues from a learner with fewer `epochs` or `n_trees` and gives the
#'     same model as one training. The first learner does not change.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: a parameter is invalid or not available for the model, or
#'     `patience` is set without `validate`. Nothing has been trained.
#'   * The errors of [train()] and [predict()][predict.tf_estimator].
#' @name runhooks-mlr3
#' @aliases mlr3
#' @family estimators
#' @examplesIf requireNamespace("mlr3", quietly = TRUE)
#' task <- mlr3::tsk("mtcars")
#' learner <- mlr3::lrn("regr.runhooks.trees", n_trees = 50, max_depth = 2)
#' learner$train(task)
#' learner$predict(task)$score()
#' learner$importance()
#'
#' # the number of trees from held-out rows
#' learner <- mlr3::lrn("regr.runhooks.trees", n_trees = 500, patience = 10, validate = 0.3)
#' learner$train(task)
#' learner$internal_tuned_values
NULL

register_mlr3 <- function() {
  for (type in c("regr", "classif")) {
    for (family in names(mlr3_families)) {
      # mlr3 calls the function for each new learner
      local({
        class <- mlr3_class(type, family)
        mlr3::mlr_learners$add(paste(type, "runhooks", family, sep = "."), function() class$new())
      })
    }
  }
}

# The family of a learner: its title, the prefix of its constructors, and the parameter that counts
# iterations.
mlr3_families <- list(
  linear = list(label = "Linear Model", kind = "linear", iteration_param = "epochs"),
  dnn = list(label = "Deep Neural Network", kind = "dnn", iteration_param = "epochs"),
  wide_deep = list(
    label = "Wide and Deep Model", kind = "dnn_linear_combined", iteration_param = "epochs"
  ),
  trees = list(label = "Boosted Trees", kind = "boosted_trees", iteration_param = "n_trees")
)

# Creates the R6 class at run time, because R6 is available only if mlr3 is installed.
mlr3_class <- function(type, family) {
  info <- c(mlr3_families[[family]], list(type = type, family = family))
  words <- tools::toTitleCase(strsplit(family, "_", fixed = TRUE)[[1]])
  name <- paste0("Learner", tools::toTitleCase(type), "Runhooks", paste(words, collapse = ""))
  base <- if (type == "regr") quote(mlr3::LearnerRegr) else quote(mlr3::LearnerClassif)
  public <- list(
    initialize = rlang::inject(function() mlr3_initialize(super, !!info))
  )
  if (family == "trees") public$importance <- function() mlr3_importance(self)
  private <- list(
    .validate = NULL,
    .train = rlang::inject(function(task) mlr3_train(self, private, task, !!info)),
    .hotstart = rlang::inject(function(task) mlr3_train(self, private, task, !!info, self$model)),
    .predict = function(task) mlr3_predict(self, task),
    .extract_internal_tuned_values = rlang::inject(function() mlr3_tuned_values(self, !!info)),
    .extract_internal_valid_scores = function() mlr3_scores(self),
    # mlr3 calls this for the validation scores; early stopping restores the best weights, so these
    # are the best scores
    .extract_best_valid_scores = function() mlr3_scores(self)
  )
  active <- list(
    internal_valid_scores = function() self$state$internal_valid_scores,
    best_valid_scores = function() self$state$best_valid_scores,
    internal_tuned_values = function() self$state$internal_tuned_values,
    validate = function(rhs) {
      if (!missing(rhs)) private$.validate <- mlr3::assert_validate(rhs)
      private$.validate
    }
  )
  rlang::inject(
    R6::R6Class(name, inherit = !!base, public = public, private = private, active = active)
  )
}

mlr3_initialize <- function(super, info) {
  properties <- c(
    "weights", "validation", "internal_tuning", "hotstart_forward",
    if (info$family == "trees") c("missings", "importance"),
    if (info$type == "classif") c("twoclass", "multiclass")
  )
  super$initialize(
    id = paste(info$type, "runhooks", info$family, sep = "."),
    param_set = mlr3_params(info),
    predict_types = c("response", if (info$type == "classif") "prob"),
    feature_types = c(
      "logical", "integer", "numeric", "character", "factor", "ordered", "POSIXct", "Date"
    ),
    properties = properties, packages = "runhooks", label = info$label,
    man = "runhooks::runhooks-mlr3"
  )
}

# --- parameters

mlr3_params <- function(info) {
  uty <- function() paradox::p_uty(tags = "train")
  dbl <- function(lower = 0, upper = Inf) paradox::p_dbl(lower, upper, tags = "train")
  int <- function(lower = 1L) paradox::p_int(lower, tags = "train")
  common_params <- list(
    learning_rate = dbl(), seed = int(0L), hooks = uty(), patience = int(),
    class_weights = if (info$type == "classif") uty()
  )
  epoch_params <- list(epochs = mlr3_iteration_param("epochs"), batch_size = int())
  family_params <- switch(info$family,
    linear = list(penalty = dbl(), mixture = dbl(0, 1), optimizer = uty()),
    dnn = list(
      hidden_units = uty(), dropout = dbl(0, 1), activation_fn = uty(), optimizer = uty(),
      batch_norm = paradox::p_lgl(tags = "train")
    ),
    wide_deep = list(
      dnn_hidden_units = uty(), dnn_dropout = dbl(0, 1), dnn_activation_fn = uty(),
      dnn_optimizer = uty(), linear_optimizer = uty(), batch_norm = paradox::p_lgl(tags = "train")
    ),
    trees = list(
      n_trees = mlr3_iteration_param("n_trees"),
      max_depth = paradox::p_int(1L, 20L, tags = "train"),
      l1_regularization = dbl(), l2_regularization = dbl(), tree_complexity = dbl(),
      min_node_weight = dbl(),
      pruning_mode = paradox::p_fct(c("none", "pre", "post"), tags = "train"),
      center_bias = paradox::p_lgl(tags = "train"), sample_size = dbl(0, 1), mtry = int()
    )
  )
  all_params <- c(family_params, if (info$family != "trees") epoch_params, common_params)
  params <- rlang::exec(paradox::ps, !!!Filter(Negate(is.null), all_params))
  params$values <- switch(info$family,
    linear = list(), dnn = list(hidden_units = 16), wide_deep = list(dnn_hidden_units = 16),
    trees = list(n_trees = 100L)
  )
  params
}

# Creates a parameter that counts iterations. Validation can choose its value, and a hotstart
# (mlr3's continued training) can increase it.
mlr3_iteration_param <- function(name) {
  paradox::p_int(
    1L, tags = c("train", "hotstart", "internal_tuning"),
    aggr = function(x) as.integer(ceiling(mean(unlist(x)))),
    in_tune_fn = rlang::inject(function(domain, param_vals) {
      check_internal_tuning(!!name, domain, param_vals)
    }),
    disable_in_tune = list(patience = NULL)
  )
}

check_internal_tuning <- function(name, domain, values) {
  call <- call("to_tune", internal = TRUE)
  if (is.null(values$patience)) {
    abort_runhooks(
      "To tune {.arg {name}} internally, set {.arg patience}, and {.code validate} of the learner.",
      call = call
    )
  }
  upper <- domain$upper
  check_arg(is_number(upper) && is.finite(upper), upper, "a finite number", "upper", call)
  as.integer(upper)
}

# --- training

mlr3_train <- function(learner, private, task, info, hotstart_model = NULL) {
  # the call that errors show
  call <- quote(learner$train())
  params <- learner$param_set$get_values(tags = "train")
  data <- mlr3_data(task, private$.get_weights(task), info$family == "trees", call)
  validation_task <- task$internal_valid_task
  if (!is.null(validation_task)) {
    data$held_out <- mlr3_data_frame(
      validation_task, task, data$weight, private$.get_weights(validation_task, 1)
    )
  }
  data$stop_iter <- params$patience
  if (!is.null(params$patience) && is.null(validation_task)) {
    abort_runhooks("{.arg patience} needs {.code validate} of the learner.", call = call)
  }
  settings <- mlr3_settings(data, params, info, call)
  data$steps_per_iteration <- ceiling(settings$steps_per_iteration)
  folder <- NULL
  config <- run_config(tf_random_seed = params$seed)
  if (!is.null(hotstart_model)) {
    check_hotstart(learner$state$param_vals, info, call)
    folder <- copy_model_dir(hotstart_model)
    config <- config_with_model_dir(hotstart_model, folder)
  }
  model <- new_fit_estimator(info$kind, data, settings$args, folder, config)
  history <- train_fit_estimator(model, data, settings$training, settings$hooks)
  if (!is.null(validation_task)) {
    attr(model, "mlr3") <- mlr3_validation(model, history, settings, info)
  }
  model
}

check_hotstart <- function(previous_params, info, call) {
  has_iterations <- !is.null(previous_params[[info$iteration_param]])
  if (is.null(previous_params$patience) && has_iterations) return(invisible())
  abort_runhooks(
    "A hotstart needs {.arg {info$iteration_param}}, and no {.arg patience}.", call = call
  )
}

# Returns the data in the form that fit_data() returns for parsnip's models (R/parsnip_fit.R).
mlr3_data <- function(task, weights, is_tree, call) {
  name <- task$target_names
  formula <- formula_of_all_columns(name)
  fit_data(formula, mlr3_data_frame(task, task), weights, NULL, call, is_tree = is_tree)
}

# Returns the columns of `task` that `train_task` uses. `weight_name`: the name of a new column for
# the `weights` of the rows.
mlr3_data_frame <- function(task, train_task, weight_name = NULL, weights = NULL) {
  rows <- as.data.frame(task$data(cols = c(train_task$target_names, train_task$feature_names)))
  if (!is.null(weight_name)) rows[[weight_name]] <- weights
  rows
}

mlr3_settings <- function(data, params, info, call) {
  n <- nrow(data$data)
  args <- params[setdiff(
    names(params), c("epochs", "batch_size", "patience", "penalty", "mixture", "hooks", "seed")
  )]
  for (name in intersect(c("dropout", "dnn_dropout"), names(args))) {
    if (args[[name]] == 0) args[[name]] <- NULL
  }
  args["weight_column"] <- list(data$weight)
  hooks <- as_hook_list(params$hooks, call)
  batch_size <- params$batch_size
  epochs <- params$epochs
  steps_per_iteration <- 1
  if (info$family == "linear") {
    settings <- params[intersect(c("optimizer", "batch_size", "epochs"), names(params))]
    settings <- linear_settings(data, params$penalty, params$mixture, settings, hooks, call)
    args$optimizer <- settings$optimizer
    hooks <- settings$hooks
    batch_size <- settings$batch_size
    epochs <- settings$epochs
  } else if (info$family == "trees") {
    steps_per_iteration <- if (is.null(params$max_depth)) 6 else params$max_depth
  } else if (is.null(batch_size)) {
    batch_size <- min(64, n)
  }
  training <- list(num_epochs = epochs)
  if (!is.null(batch_size)) {
    steps_per_iteration <- n / batch_size
    # a limit in steps, unlike one in epochs, allows a hotstart in the middle of the data
    training <- list(batch_size = batch_size)
    if (!is.null(epochs)) training$max_steps <- ceiling(epochs * steps_per_iteration)
  }
  training <- Filter(Negate(is.null), training)
  list(args = args, training = training, hooks = hooks, steps_per_iteration = steps_per_iteration)
}

# Copies the directory of a model, so that training can continue from the copy without changing the
# model.
copy_model_dir <- function(model) {
  folder <- tempfile("runhooks-")
  dir.create(folder)
  # lint: allow file
  file.copy(list.files(model_dir(model), full.names = TRUE), folder, recursive = TRUE)
  folder
}

config_with_model_dir <- function(model, folder) {
  config <- handle_fields(model)$config
  config$model_dir <- folder
  config
}

# --- predictions, importance and validation

mlr3_predict <- function(learner, task) {
  data <- as.data.frame(task$data(cols = learner$state$train_task$feature_names))
  model <- learner$model
  if (learner$task_type == "regr") return(list(response = predict(model, data)$.pred))
  if (learner$predict_type == "response") {
    return(list(response = predict(model, data, type = "class")$.pred_class))
  }
  prob <- as.matrix(predict(model, data, type = "prob"))
  colnames(prob) <- sub("^[.]pred_", "", colnames(prob))
  list(prob = prob)
}

mlr3_importance <- function(learner) {
  if (is.null(learner$model)) {
    abort_runhooks("The learner has no model. Train it first.", call = quote(learner$importance()))
  }
  importances <- suppressMessages(
    feature_importances(learner$model), classes = "runhooks_message_no_splits"
  )
  stats::setNames(importances$importance, importances$feature)
}

mlr3_validation <- function(model, history, settings, info) {
  step <- current_model_dir(model)$step
  last_row <- history$validation[history$validation$step == step, , drop = FALSE]
  scores <- as.list(last_row[nrow(last_row), setdiff(names(last_row), "step")])
  num_iterations <- if (info$iteration_param == "n_trees") {
    nodes <- model_trees(model, "train")$nodes
    length(unique(nodes$tree[nodes$is_finished]))
  } else {
    max(1L, as.integer(floor(step / settings$steps_per_iteration)))
  }
  list(scores = scores, num_iterations = num_iterations)
}

mlr3_scores <- function(learner) {
  scores <- attr(learner$model, "mlr3")$scores
  if (is.null(scores)) stats::setNames(list(), character()) else scores
}

mlr3_tuned_values <- function(learner, info) {
  if (is.null(learner$state$param_vals$patience)) return(stats::setNames(list(), character()))
  stats::setNames(list(attr(learner$model, "mlr3")$num_iterations), info$iteration_param)
}
