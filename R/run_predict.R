# predict() of estimators: the method, and the iterator of predictions.

#' Predict with a model
#'
#' Computes the predictions of a trained model. A data frame gives a tibble with typed columns; an
#' input function gives the predictions by key, as in tfestimators.
#'
#' @inheritParams train
#' @param newdata A data frame with the features of the model. For a model from a formula: with the
#'   variables of the formula; data that are read in chunks are also accepted, such as a dataset. An
#'   [input_fn()] or another function in this place is the `input_fn`. Without data, a model from a
#'   formula uses the data from which it was created.
#' @param checkpoint_path Checkpoint to use. `NULL`: the newest.
#' @param predict_keys Keys of the predictions to return. Regressors have the key `predictions`.
#'   Classifiers return `all_class_ids` and `all_classes` only if they are listed. With `NULL`,
#'   custom models return all keys.
#' @param as_iterable TRUE: an iterator for [iterate()] or [iter_next()], which computes batches on
#'   demand. Call `$close()` to release an iterator early; otherwise it is closed when it is
#'   garbage-collected. Closing calls `end()` of the hooks.
#' @param simplify TRUE: a tibble with one row for each example and a list column for each key.
#'   FALSE: a list of named lists.
#' @param yield_single_examples FALSE: the iterator, and the list of `simplify = FALSE`, contain
#'   whole batches.
#' @param input_fn An [input_fn()], or a function without arguments that returns `list(features,
#'   labels)` or the features as tensors, instead of `newdata`.
#' @param type With `newdata`: `"numeric"` for regressors, `"class"` or `"prob"` for classifiers.
#'   `"response"` is the mean, as in [predict.glm()]: a number, the probability of the second of two
#'   classes, or one probability for each of several classes. `"link"` is the linear predictor (the
#'   logits). `NULL`: all columns of the model.
#' @param interval With `newdata`, for a linear model from a formula: `"confidence"` for an interval
#'   of the mean, `"prediction"` for an interval of a new observation, as in [predict.lm()].
#' @param level Level of the interval.
#' @return With `input_fn`: see `simplify`. Rows are in the order of the data. If the model was
#'   trained on a factor or on logicals, the classes are their labels.
#'
#'   With `newdata`: a tibble with one row for each row, in the same order. Regressors have `.pred`,
#'   or `.pred_1`, `.pred_2`, ... for labels of several numbers. Classifiers have `.pred_class`, a
#'   factor with the levels of the training, and `.pred_<level>`, the probability of each level.
#'   With `interval` the columns are `.pred`, `.pred_lower` and `.pred_upper`. Rows with missing
#'   values in a required feature get `NA`.
#' @section Untrained models: A model without a checkpoint predicts with its initial weights, as in
#'   TensorFlow, and gives a warning of class `runhooks_warning_untrained`. If the model was trained
#'   and its directory or its checkpoints have disappeared, predicting is an error. In a hook of the
#'   model's own training, predictions use the current weights.
#' @section Recipes: A model that was trained with an [input_fn()] of a recipe keeps the recipe and
#'   applies it to `newdata`. If you create the model again for the same directory, it does not have
#'   the recipe; `predict()` then reports this.
#' @section Levels: Factors use the levels of the training, whatever levels the data have. New
#'   levels have no weight. One warning of class `runhooks_warning_new_levels` lists them.
#' @section Warnings:
#'   * `runhooks_warning_infinite`: a prediction is NaN or infinite, because a number is too large
#'     for float32. The class of such a row is `NA` if its logits are NaN.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: the model has none of the `predict_keys`.
#'   * The errors of [train()].
#' @seealso `tf.estimator.Estimator.predict` of TensorFlow 1.x.
#' @family estimator methods
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' model |> train(input_fn(mpg ~ drat, mtcars, num_epochs = 5))
#' predictions <- model |> predict(input_fn(mpg ~ drat, mtcars))
#' unlist(predictions$predictions)
#' predict(model, data.frame(drat = c(3, 4)))
predict.tf_estimator <- function(object, newdata, checkpoint_path = NULL,
                                 predict_keys = c(
                                   "predictions",
                                   "classes",
                                   "class_ids",
                                   "logistic",
                                   "logits",
                                   "probabilities"
                                 ),
                                 hooks = NULL, as_iterable = FALSE, simplify = TRUE,
                                 yield_single_examples = TRUE, type = NULL, interval = NULL,
                                 level = 0.95, input_fn = NULL, ...) {
  if (missing(newdata)) newdata <- NULL
  # the fast path predicts rows of data without a session loop
  is_plain <- is.data.frame(newdata) && is.null(input_fn) && is.null(checkpoint_path) &&
    is.null(hooks) && is.null(interval) && missing(level) && missing(predict_keys) &&
    isFALSE(as_iterable) && isTRUE(simplify) && isTRUE(yield_single_examples) && ...length() == 0L
  if (is_plain) {
    predictions <- predict_from_cache(object, newdata, type)
    if (!is.null(predictions)) return(predictions)
  }
  abort_abbreviated_arguments()
  check_string(checkpoint_path, null = TRUE)
  is_collective <- begin_collective(object, "predict()")
  local_model_dir(object)
  abort_extra_prediction_args(list(...), environment())
  if (!is.null(newdata) && !is.null(input_fn)) {
    abort_runhooks("Give either {.arg newdata} or {.arg input_fn}, not both.")
  }
  if (is.null(newdata) && is.null(input_fn)) newdata <- training_data(object, arg = "newdata")
  # a function is an input function and data are new data, whichever of the two arguments has them
  if (is.function(newdata)) {
    input_fn <- newdata
    newdata <- NULL
  } else if (is_formula_data(input_fn)) {
    newdata <- input_fn
  }
  if (!is.null(newdata)) {
    is_default <- c(
      predict_keys = missing(predict_keys) || is.null(predict_keys),
      as_iterable = isFALSE(as_iterable), simplify = isTRUE(simplify),
      yield_single_examples = isTRUE(yield_single_examples)
    )
    abort_keys_with_data(names(is_default)[!is_default])
  }
  if (is.null(interval) && !missing(level)) {
    abort_runhooks("{.arg level} is {describe(level)}, but there is no {.arg interval}.")
  }
  if (is_streamed(newdata)) {
    call <- environment()
    return(
      predict_stream(object, newdata, type, interval, level, checkpoint_path, hooks, call)
    )
  }
  if (!is.null(newdata) && !is.null(interval)) {
    check_interval_arguments(type, checkpoint_path, hooks)
    return(predict_interval(object, newdata, type, interval, level, environment()))
  }
  if (!is.null(newdata)) {
    return(predict_newdata(object, newdata, type, checkpoint_path, hooks, environment()))
  }
  if (!is.null(type)) abort_runhooks("{.arg type} needs a data frame, not an input function.")
  if (!is.null(interval)) {
    abort_runhooks("{.arg interval} needs a data frame, not an input function.")
  }
  check_flag(as_iterable)
  check_flag(simplify)
  check_flag(yield_single_examples)
  all_keys <- missing(predict_keys) && !has_standard_keys(object)
  keys <- if (all_keys) character() else as_strings(predict_keys)
  is_collective <- is_collective && !as_iterable
  # a wrong checkpoint or key is reported first, as in TensorFlow
  must_end <- !as_iterable && is.null(hooks) && is.null(checkpoint_path) && missing(predict_keys)
  input <- as_model_input(input_fn, object, shards = is_collective, must_end = must_end)
  run <- prediction_runner(
    object, input, keys, checkpoint_path, hooks, is_collective = is_collective
  )
  if (as_iterable) {
    open <- function() run(all = FALSE)
    return(prediction_iterator(open, yield_single_examples, class_label_decoder(object)))
  }
  batches <- run_collective(is_collective, "predict()", gather_batches(run(all = TRUE), input))
  if (!is_custom(object)) warn_not_finite_batches(batches)
  batches <- lapply(batches, class_label_decoder(object))
  if (simplify) return(simplify_predictions(batches))
  if (yield_single_examples) cpp_batch_examples(batches) else batches
}

# Rejects arguments of predict() that only affect predictions of an input function.
abort_keys_with_data <- function(supplied, call = parent.frame()) {
  if (length(supplied) == 0) return(invisible())
  abort_runhooks(
    c(
      "{.arg {supplied[[1]]}} needs an input function; with data, {.fn predict} returns a tibble.",
      i = if (supplied[[1]] == "predict_keys") {
        "Use {.code type = \"prob\"}, {.code \"class\"} or {.code \"link\"}."
      }
    ),
    call = call
  )
}

# Warns if a prediction of the batches is NaN or infinite.
warn_not_finite_batches <- function(batches) {
  if (all(all_finite(unlist(batches, recursive = FALSE)))) return(invisible())
  rows <- lapply(batches, function(batch) {
    batch <- Filter(is.double, batch)
    # the first value in each row that is not finite, or 0 if all are finite
    Reduce(function(a, b) ifelse(is_not_finite(a), a, b), lapply(batch, function(x) {
      apply(matrix(x, n_rows(x)), 1, function(row) c(row[is_not_finite(row)], 0)[[1]])
    }))
  })
  warn_not_finite(unlist(rows))
}

# For distributed prediction: if the package has divided the input among processes, collects the
# batches of all processes in the order of the data.
gather_batches <- function(batches, input) {
  force(batches) # reading the input sets attr(input, "sharding")
  if (!identical(attr(input, "sharding")$sharded_by, "package")) return(batches)
  gathered <- cpp_cluster_gather("the end of predict()", serialize(batches, NULL))
  batches_of <- lapply(gathered, unserialize)
  size <- length(batches_of)
  # process i has every size-th batch, from the i-th one
  positions <- lapply(seq_len(size), function(i) (seq_along(batches_of[[i]]) - 1) * size + i)
  do.call(c, batches_of)[order(unlist(positions))]
}

# Checks the arguments and returns a function that predicts. With `all = TRUE`, this function
# returns all batches, and otherwise a handle that computes batches on demand.
prediction_runner <- function(object, input, keys, checkpoint_path, hooks, call = parent.frame(),
                             is_collective = FALSE) {
  hooks <- finish_hooks(as_hook_list(hooks, call), "infer")
  check_model_compatible(object, "infer", call)
  check_checkpoint(object, checkpoint_path, call)
  if (is.null(checkpoint_path)) check_has_weights(object, "it predicts", call)
  function(all) {
    # an iterator runs after the call that opened the directory has returned
    if (!all) local_model_dir(object)
    weights <- current_weights(object, checkpoint_path)
    on.exit(weights$forget(), add = TRUE)
    with_loop_conditions(cpp_estimator_predict(
      core_model(object), core_config(object), input, weights$path, keys,
      lapply(hooks, hook_for_core), all, is_collective
    ))
  }
}

# Returns a function that replaces the class numbers of a batch by labels. If the head has a label
# vocabulary, the C++ core has already replaced them.
class_label_decoder <- function(object) {
  labels <- model_labels(object)
  class_names <- class_labels(object, labels)
  if (is.null(class_names) || length(labels$vocabulary)) return(identity)
  function(batch) {
    for (key in intersect(c("classes", "all_classes"), names(batch))) {
      batch[[key]][] <- class_names[as.integer(batch[[key]]) + 1L]
    }
    batch
  }
}

has_standard_keys <- function(object) {
  labels <- model_labels(object)
  !is.null(labels) && !labels$is_by_head
}

# Creates an iterator of predictions. It calls `open` to create the session when the first item is
# read. Closing the iterator, or its garbage collection, calls end() of the hooks.
prediction_iterator <- function(open, by_example, decode) {
  pointer <- NULL
  items <- list()
  num_read <- 0L
  is_closed <- FALSE
  next_item <- function() {
    if (is_closed) return(NULL)
    if (is.null(pointer)) {
      pointer <<- open()
      # this finalizer runs before that of the C++ core, because R runs newer finalizers first
      cpp_register_finalizer(pointer, finalize_predictions)
    }
    if (num_read == length(items)) {
      batch <- with_loop_conditions(cpp_predictions_next(pointer))
      if (is.null(batch)) return(NULL)
      batch <- decode(batch)
      items <<- if (by_example) cpp_batch_examples(list(batch)) else list(batch)
      num_read <<- 0L
    }
    num_read <<- num_read + 1L
    items[[num_read]]
  }
  close <- function() {
    items <<- list()
    num_read <<- 0L
    is_closed <<- TRUE
    if (!is.null(pointer)) invisible(with_loop_conditions(cpp_predictions_close(pointer)))
  }
  structure(list(next_item = next_item, close = close), class = "runhooks_iterator")
}

# Closes the session of an iterator. Catches errors, because a finalizer must not raise one.
finalize_predictions <- function(pointer) {
  tryCatch(
    with_loop_conditions(cpp_predictions_close(pointer)),
    error = function(error) {
      text <- paste0("Closing abandoned predictions failed: ", conditionMessage(error))
      warning(text, call. = FALSE)
    }
  )
}

#' Read a prediction iterator
#'
#' `iterate()` reads all items of an iterator and returns them as a list. `iter_next()` reads one
#' item.
#'
#' @param iterator An iterator, for example from `predict(as_iterable = TRUE)`.
#' @param f A function to apply to each item, or `NULL`.
#' @param simplify Not used.
#' @param completed Value that `iter_next()` returns at the end.
#' @return `iterate()`: a list of the items, or of the results of `f`. `iter_next()`: the next item.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `iterator` is not an iterator.
#' @family estimator methods
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' iterator <- predict(model, input_fn(mpg ~ drat, mtcars), as_iterable = TRUE)
#' iter_next(iterator)
#' iterate(iterator, function(row) row$predictions)[1:2]
iterate <- function(iterator, f = NULL, simplify = TRUE) {
  check_prediction_iterator(iterator)
  items <- list()
  while (!is.null(item <- iterator$next_item())) {
    items[[length(items) + 1]] <- if (is.null(f)) item else f(item)
  }
  items
}

#' @rdname iterate
#' @export
iter_next <- function(iterator, completed = NULL) {
  check_prediction_iterator(iterator)
  item <- iterator$next_item()
  if (is.null(item)) completed else item
}

check_prediction_iterator <- function(x, call = parent.frame()) {
  check_arg(
    inherits(x, "runhooks_iterator"), x, "the value of predict(as_iterable = TRUE)", "iterator",
    call
  )
}

simplify_predictions <- function(batches) {
  columns <- cpp_batch_columns(batches)
  n <- if (length(columns)) length(columns[[1]]) else 0L
  if (n == 0) tibble::tibble() else fast_tibble(columns, n)
}

#' @rawNamespace S3method(pillar::type_sum, tf_prediction)
type_sum.tf_prediction <- function(x) {
  paste(format(as.vector(unclass(x)), digits = 3), collapse = ", ")
}

#' @rawNamespace S3method(pillar::obj_sum, tf_prediction)
obj_sum.tf_prediction <- function(x) type_sum.tf_prediction(x)
