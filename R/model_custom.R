# Custom estimators: estimator(), and estimator_spec(), which creates the return value of a model
# function.

#' Create a custom estimator
#'
#' `estimator()` creates an estimator from a model function, which builds the graph of the model.
#' `estimator_spec()` creates the return value of the model function.
#'
#' The estimator calls the model function while it builds the graph. It passes these arguments by
#' name, if the function has them:
#'
#' * `features` and `labels`: the return values of the input function; `labels` is `NULL` in
#'   prediction;
#' * `mode`: one of [mode_keys()];
#' * `params` and `config`: the arguments of `estimator()`.
#'
#' With [input_fn()], `features` is one tensor `[batch, number of features]`, in the order of the
#' selection. With [numpy_input_fn()] it is a named list of tensors.
#'
#' @param model_fn A function with some of the arguments `features`, `labels`, `mode`, `params`,
#'   `config`.
#' @param model_dir Directory of checkpoints and event files. If it contains a checkpoint, training
#'   resumes from it. `NULL`: the directory of `config`, or a temporary one.
#' @param config A [run_config()], or `NULL`.
#' @param params A list for the model function.
#' @param class Additional classes of the object, before its own.
#' @param warm_start_from A directory, a checkpoint or [warm_start_settings()]: the source of the
#'   initial weights of the first training.
#' @param mode One of [mode_keys()]: the `mode` of the model function.
#' @param predictions A named list of tensors whose first dimension is the batch, or one tensor,
#'   which gets the name `predictions`. Required in prediction.
#' @param loss A tensor with one number. Required in training and evaluation.
#' @param train_op The operation or tensor that performs a step. Required in training.
#' @param eval_metric_ops A named list of pairs `list(value, update)`, as returned by
#'   `tf$metrics$...`.
#' @param training_hooks,evaluation_hooks,prediction_hooks,training_chief_hooks A hook or a list of
#'   hooks for this mode.
#' @param ... `export_outputs`: a named list of `tf$estimator$export$PredictOutput()` or similar
#'   objects, which define the signatures of an exported model. `scaffold`: a `tf$train$Scaffold()`.
#' @return `estimator()`: an object of the classes `class`, `tf_custom_estimator`, `tf_estimator`.
#'   `estimator_spec()`: a list of its fields.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: a field that the mode requires is missing, a value is not
#'     a tensor, the loss has several numbers, or a tensor belongs to another graph.
#' @seealso `tf.estimator.Estimator` and `tf.estimator.EstimatorSpec` of TensorFlow 1.x.
#' @family estimators
#' @export
#' @examples
#' model_fn <- function(features, labels, mode, params) {
#'   output <- tf$layers$dense(features, 1L)
#'   predictions <- list(mpg = tf$squeeze(output, 1L))
#'   if (mode == mode_keys()$PREDICT) return(estimator_spec(mode, predictions = predictions))
#'   loss <- tf$losses$mean_squared_error(labels, predictions$mpg)
#'   optimizer <- tf$train$GradientDescentOptimizer(params$learning_rate)
#'   estimator_spec(
#'     mode = mode, predictions = predictions, loss = loss,
#'     train_op = optimizer$minimize(loss, global_step = tf$train$get_global_step()),
#'     eval_metric_ops = list(
#'       rmse = tf$metrics$root_mean_squared_error(labels, predictions$mpg)
#'     )
#'   )
#' }
#' model <- estimator(model_fn, params = list(learning_rate = 0.01))
#' model |> train(input_fn(mpg ~ drat + cyl, mtcars, batch_size = 8, num_epochs = 10))
#' model |> evaluate(input_fn(mpg ~ drat + cyl, mtcars))
estimator <- function(model_fn, model_dir = NULL, config = NULL, params = NULL, class = NULL,
                      warm_start_from = NULL) {
  abort_abbreviated_arguments()
  check_function(model_fn)
  check_string(model_dir, null = TRUE)
  check_arg(
    is.null(class) || is.character(class), class, "names of classes", "class", environment()
  )
  check_model_fn(model_fn, params)
  config <- as_run_config(config, model_dir)
  warm_start <- as_warm_start(warm_start_from, environment())
  args <- list(
    model_fn = model_fn, model_dir = model_dir, config = config, params = params, class = class,
    warm_start_from = warm_start_from
  )
  structure(
    list(
      estimator = new_estimator_handle("Estimator", config), args = args, model_fn = model_fn,
      warm_start_from = warm_start
    ),
    class = c(class, "tf_custom_estimator", "tf_estimator")
  )
}

model_fn_arguments <- c("features", "labels", "mode", "params", "config")

# Checks the arguments of a model function, with TensorFlow's messages.
check_model_fn <- function(model_fn, params, call = parent.frame()) {
  arguments <- formals(args(model_fn))
  if ("..." %in% names(arguments)) return(invisible())
  if (!"features" %in% names(arguments)) {
    abort_plain("model_fn must include features argument.", call = call)
  }
  if (!is.null(params) && !"params" %in% names(arguments)) {
    abort_plain(
      "model_fn does not include params argument, but params is passed to Estimator.", call = call
    )
  }
  required <- names(arguments)[vapply(arguments, identical, NA, quote(expr = ))]
  unknown <- setdiff(required, model_fn_arguments)
  if (length(unknown)) {
    abort_plain(
      sprintf("model_fn has following not expected args: %s", toString(unknown)), call = call
    )
  }
}

# Returns the function with which the core calls the user's model function and checks its result.
custom_model <- function(object) {
  model_fn <- object$model_fn
  arguments <- names(formals(args(model_fn)))
  passed <- if ("..." %in% arguments) model_fn_arguments else {
    intersect(model_fn_arguments, arguments)
  }
  params <- object$args$params
  config <- object$args$config
  function(input, mode) {
    if (!is.null(input$labels) && !"labels" %in% passed) {
      abort_plain(
        "model_fn does not take labels, but input_fn returns labels.", call = user_frame()
      )
    }
    values <- list(
      features = input$features, labels = if (mode != "infer") input$labels, mode = mode,
      params = params, config = config
    )
    spec <- call_model_fn(model_fn, values[passed], mode)
    if (!inherits(spec, "runhooks_estimator_spec")) {
      abort_runhooks(
        c(
          "model_fn should return an EstimatorSpec.",
          x = "It returned {describe_type(spec)}.",
          i = "Create the value with {.fn estimator_spec}."
        ),
        call = user_frame()
      )
    }
    if (spec$mode != mode) {
      abort_runhooks(
        "The {.fn estimator_spec} that model_fn returned has mode {.val {spec$mode}}, but
         {.arg mode} is {.val {mode}}.",
        call = user_frame()
      )
    }
    core_estimator_spec(spec)
  }
}

# Calls the user's model function. In prediction, `labels` is a promise that records its use. If the
# model function fails after it has used `labels`, a note in the error message says that they are
# NULL.
call_model_fn <- function(model_fn, values, mode) {
  if (mode != "infer" || !"labels" %in% names(values)) {
    return(eval_user_code(with_tensor_generics(do.call(model_fn, values, quote = TRUE))))
  }
  is_used <- FALSE
  frame <- list2env(values)
  record_use <- function() is_used <<- TRUE
  delayedAssign("labels", if (!record_use()) TRUE, assign.env = frame)
  call <- as.call(c(list(model_fn), lapply(setNames(nm = names(values)), as.name)))
  withCallingHandlers(
    eval_user_code(with_tensor_generics(eval(call, frame))),
    error = function(condition) {
      if (is_used) stop(add_note(condition, "`labels` is NULL in mode \"infer\"."))
    }
  )
}

#' @rdname estimator
#' @export
estimator_spec <- function(mode, predictions = NULL, loss = NULL, train_op = NULL,
                           eval_metric_ops = NULL, training_hooks = NULL, evaluation_hooks = NULL,
                           prediction_hooks = NULL, training_chief_hooks = NULL, ...) {
  extras <- list(...)
  unknown <- setdiff(names(extras), c("export_outputs", "scaffold"))
  if (length(extras) && (is.null(names(extras)) || length(unknown))) {
    abort_runhooks(
      "Unused argument: {.fn estimator_spec} has no {.arg {unknown}}.", kind = "invalid_argument"
    )
  }
  modes <- unlist(unclass(mode_keys()))
  check_arg(is_string(mode) && mode %in% modes, mode, "one of mode_keys()", "mode", environment())
  spec <- structure(
    list(
      mode = mode, predictions = as_predictions(predictions), loss = as_spec_tensor(loss, "loss"),
      train_op = check_train_op(train_op), eval_metric_ops = as_metric_ops(eval_metric_ops),
      export_outputs = check_export_outputs(extras$export_outputs),
      training_chief_hooks = as_hook_list(training_chief_hooks),
      training_hooks = as_hook_list(training_hooks),
      scaffold = check_spec_scaffold(extras$scaffold),
      evaluation_hooks = as_hook_list(evaluation_hooks),
      prediction_hooks = as_hook_list(prediction_hooks)
    ),
    class = c("runhooks_estimator_spec", "tensorflow.python.estimator.model_fn.EstimatorSpec")
  )
  cpp_estimator_spec_check(core_estimator_spec(spec))
  spec
}

#' @export
print.runhooks_estimator_spec <- function(x, ...) {
  fields <- Filter(function(field) length(field) > 0, unclass(x))
  # lint: allow stdout
  cat("<estimator_spec of mode \"", x$mode, "\": ", toString(names(fields)[-1]), ">\n", sep = "")
  invisible(x)
}

# --- fields of a specification; `call` is the frame of estimator_spec()

as_spec_tensor <- function(x, name, call = parent.frame()) {
  if (is.null(x) || is_tensor(x)) return(x)
  if (is_variable(x)) return(cpp_variable_snapshot(x))
  abort_runhooks("{name} must be Tensor, given: {describe_type(x)}.", call = call)
}

as_predictions <- function(x, call = parent.frame()) {
  if (is.null(x) || is_graph_element(x)) {
    tensor <- as_spec_tensor(x, "predictions", call)
    return(if (!is.null(tensor)) list(predictions = tensor))
  }
  check_named_list(x, "predictions", "a named list of tensors, or one tensor", call)
  lapply(setNames(nm = names(x)), function(key) {
    tensor <- as_spec_tensor(x[[key]], sprintf("predictions[%s]", key), call)
    if (is.null(tensor)) {
      abort_runhooks("predictions[{key}] must be Tensor, given: NULL.", call = call)
    }
    tensor
  })
}

check_named_list <- function(x, name, expected, call) {
  is_named <- is.list(x) && !is.object(x) && !is.null(names(x)) && all(nzchar(names(x))) ||
    identical(x, list())
  check_arg(is_named, x, expected, name, call)
  if (anyDuplicated(names(x))) {
    abort_runhooks(
      "{.arg {name}} has the name {.val {names(x)[duplicated(names(x))][[1]]}} twice.", call = call
    )
  }
}

check_train_op <- function(x, call = parent.frame()) {
  if (is.null(x) || is_tensor(x) || inherits(x, "tensorflow.operation")) return(x)
  if (is_variable(x)) return(cpp_variable_snapshot(x))
  abort_runhooks(
    "train_op must be Operation or Tensor, given: {describe_type(x)}.", call = call
  )
}

as_metric_ops <- function(x, call = parent.frame()) {
  if (is.null(x)) return(NULL)
  check_named_list(x, "eval_metric_ops", "a named list", call)
  lapply(setNames(nm = names(x)), function(key) {
    pair <- x[[key]]
    if (!is.list(pair) || length(pair) != 2 || any(vapply(pair, is.null, NA))) {
      abort_runhooks(
        "Values of eval_metric_ops must be (metric_value, update_op) tuples, given:
         {describe_type(pair)} for key: {key}",
        call = call
      )
    }
    pair <- unname(pair)
    name <- sprintf("eval_metric_ops[%s]", key)
    if (!inherits(pair[[2]], "tensorflow.operation")) {
      pair[[2]] <- as_spec_tensor(pair[[2]], name, call)
    }
    list(as_spec_tensor(pair[[1]], name, call), pair[[2]])
  })
}

check_spec_scaffold <- function(x, call = parent.frame()) {
  is_valid <- is.null(x) || inherits(x, "runhooks_scaffold")
  check_arg(is_valid, x, "a tf$train$Scaffold()", "scaffold", call)
  x
}

check_export_outputs <- function(x, call = parent.frame()) {
  if (is.null(x)) return(NULL)
  check_named_list(x, "export_outputs", "a named list", call)
  for (key in names(x)) {
    if (inherits(x[[key]], "runhooks_export_output")) next
    abort_runhooks(
      "Values in export_outputs must be ExportOutput objects. Given: {describe_type(x[[key]])}
       for key: {key}",
      call = call
    )
  }
  x
}

core_estimator_spec <- function(spec) {
  fields <- unclass(spec)
  for (name in grep("_hooks$", names(fields), value = TRUE)) {
    hooks <- finish_hooks(fields[[name]], fields$mode)
    fields[[name]] <- lapply(hooks, hook_for_core)
  }
  fields["export_outputs"] <- list(lapply(fields$export_outputs, unclass))
  fields
}

export_symbols <- function() {
  output <- function(kind, outputs) {
    structure(list(kind = kind, outputs = outputs), class = c(kind, "runhooks_export_output"))
  }
  symbols <- list(
    PredictOutput = function(outputs) {
      outputs <- if (is_graph_element(outputs)) list(output = outputs) else outputs
      output("PredictOutput", as_predictions(outputs))
    },
    RegressionOutput = function(value) {
      output("RegressionOutput", list(outputs = as_spec_tensor(value, "value")))
    },
    ClassificationOutput = function(scores = NULL, classes = NULL) {
      if (is.null(scores) && is.null(classes)) {
        abort_runhooks("At least one of scores and classes must be set.")
      }
      outputs <- list(
        scores = as_spec_tensor(scores, "scores"), classes = as_spec_tensor(classes, "classes")
      )
      output("ClassificationOutput", Filter(Negate(is.null), outputs))
    }
  )
  c(
    setNames(symbols, paste0("estimator.export.", names(symbols))),
    list(estimator.EstimatorSpec = estimator_spec_with_tf_signature)
  )
}

# estimator_spec() with TensorFlow's order of arguments.
estimator_spec_with_tf_signature <- function(mode, predictions = NULL, loss = NULL, train_op = NULL,
                                 eval_metric_ops = NULL, export_outputs = NULL,
                                 training_chief_hooks = NULL, training_hooks = NULL,
                                 scaffold = NULL, evaluation_hooks = NULL,
                                 prediction_hooks = NULL) {
  estimator_spec(
    mode, predictions, loss, train_op, eval_metric_ops, training_hooks, evaluation_hooks,
    prediction_hooks, training_chief_hooks, export_outputs = export_outputs, scaffold = scaffold
  )
}
