# predict(): what a model says of data.

#' Predictions of a model
#'
#' @inheritParams train
#' @param checkpoint_path The checkpoint to use; `NULL`: the newest.
#' @param predict_keys Which predictions: those of these keys that the model gives. `predictions` is
#'   a regressor's; a classifier also gives `all_class_ids` and `all_classes`, if asked for. Without
#'   this argument, models of the user's own give all they have.
#' @param as_iterable TRUE: an iterator, to be read by [iterate()] or [iter_next()], that computes
#'   batches as they are asked for. One that is not read to its end ends by its function `$close()`,
#'   or when R collects it: then `end()` of the hooks is called.
#' @param simplify TRUE: a tibble with one row for each example and a list column for each key;
#'   FALSE: a list of named lists.
#' @param yield_single_examples FALSE gives whole batches: from the iterator, and in the list of
#'   `simplify = FALSE`.
#' @param newdata In the place of `input_fn`: a data frame with the features that the model reads;
#'   for a model made from a formula, with what the formula reads. Where neither is given, the data
#'   that such a model was made of.
#' @param type With `newdata`: `"numeric"` of regressors, `"class"` or `"prob"` of classifiers;
#'   `NULL`: all that the model has. `"response"` is the mean as [predict.glm()] has it: a number, of
#'   two classes the probability of the second, of more one for each; `"link"` is what it is a
#'   function of, the logits.
#' @param interval With `newdata`, for a linear model of a formula: `"confidence"` gives an interval
#'   for the mean, `"prediction"` one for a new observation of a regressor, as [predict.lm()] does.
#' @param level The level of the interval.
#' @return As `simplify` says. The rows are in the order of the data. The classes of a model that
#'   was trained on a factor or on logicals are their labels.
#'
#'   With `newdata` a tibble of one row for each row, in order: `.pred` (`.pred_1`, `.pred_2`, ...
#'   for labels of several numbers); or `.pred_class`, a factor with the levels of the training, and
#'   the probability of each level as `.pred_<level>`; NA in rows that have NA where the model
#'   cannot do without. With `interval` the columns `.pred`, `.pred_lower` and `.pred_upper`.
#' @section Untrained models: A model without a checkpoint predicts by its initial values, as
#'   TensorFlow's does, with a warning of class `runhooks_warning_untrained` that names the folder.
#'   One that was trained and whose folder is gone, or has no checkpoint any more, is an error. A
#'   hook that asks the model it is training gets predictions by the weights of this moment.
#' @section Recipes: A model that was trained through an [input_fn()] of a recipe keeps the recipe,
#'   and prepares `newdata` by it. A model that is made again on the folder does not have it, and
#'   says so.
#' @section Levels: Factors have the levels that training has seen, whatever levels the data have.
#'   Levels that are new have no weight, with one warning of class `runhooks_warning_new_levels` that
#'   names them.
#' @section Errors: `runhooks_error_invalid_argument` where none of the keys exists; as for
#'   [train()].
#' @seealso `tf.estimator.Estimator.predict` of TensorFlow 1.x.
#' @family estimator methods
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' model %>% train(input_fn(mpg ~ drat, mtcars, num_epochs = 5))
#' predictions <- model %>% predict(input_fn(mpg ~ drat, mtcars))
#' unlist(predictions$predictions)
#' predict(model, newdata = data.frame(drat = c(3, 4)))
predict.tf_estimator <- function(object, input_fn, checkpoint_path = NULL,
                                 predict_keys = c(
                                   "predictions",
                                   "classes",
                                   "class_ids",
                                   "logistic",
                                   "logits",
                                   "probabilities"
                                 ),
                                 hooks = NULL, as_iterable = FALSE, simplify = TRUE,
                                 yield_single_examples = TRUE, newdata = NULL, type = NULL,
                                 interval = NULL, level = 0.95, ...) {
  # data and nothing else, as who serves a model asks for row after row
  if (nargs() == 2L + !missing(type)) {
    data <- if (!missing(input_fn)) input_fn else if (!missing(newdata)) newdata
    if (is.data.frame(data)) {
      known <- predict_from_cache(object, data, type)
      if (!is.null(known)) return(known)
    }
  }
  check_string(checkpoint_path, null = TRUE)
  together <- begin_collective(object, "predict()")
  local_model_dir(object)
  abort_prediction(list(...), environment())
  if (is.null(newdata) && missing(input_fn)) newdata <- kept_data(object)
  if (is.null(newdata) && !missing(input_fn) && is_formula_data(input_fn)) {
    newdata <- input_fn
  } else if (!is.null(newdata) && !missing(input_fn)) {
    abort_runhooks("Give one of {.arg input_fn} and {.arg newdata}.")
  }
  if (is.null(interval) && !missing(level)) {
    abort_runhooks("{.arg level} is {describe(level)}, but goes with {.arg interval}, which is not given.")
  }
  if (is_streamed(newdata)) {
    return(predict_stream(object, newdata, type, interval, level, checkpoint_path, hooks, environment()))
  }
  if (!is.null(newdata) && !is.null(interval)) {
    abort_with_interval(type, checkpoint_path, hooks)
    return(predict_interval(object, newdata, type, interval, level, environment()))
  }
  if (!is.null(newdata)) {
    return(predict_newdata(object, newdata, type, checkpoint_path, hooks, environment()))
  }
  if (!is.null(type)) abort_runhooks("{.arg type} goes with {.arg newdata}.")
  if (!is.null(interval)) abort_runhooks("{.arg interval} goes with {.arg newdata}.")
  check_flag(as_iterable)
  check_flag(simplify)
  check_flag(yield_single_examples)
  all_keys <- missing(predict_keys) && !has_usual_keys(object)
  keys <- if (all_keys) character() else strings_of(predict_keys)
  together <- together && !as_iterable
  input <- as_model_input(input_fn, object, deals = together)
  start <- prediction_start(object, input, keys, checkpoint_path, hooks, together = together)
  if (as_iterable) {
    first <- function() start(all = FALSE)
    return(prediction_iterator(first, yield_single_examples, worded_classes(object)))
  }
  batches <- run_collective(together, "predict()", batches_of_all(start(all = TRUE), input))
  batches <- lapply(batches, worded_classes(object))
  if (simplify) return(simplify_predictions(batches))
  if (yield_single_examples) cpp_batch_examples(batches) else batches
}

# Where we have dealt batches to several processes, those of all in their order.
batches_of_all <- function(batches, input) {
  force(batches) # the input is read by then
  if (!identical(attr(input, "dealt")$parts, "us")) return(batches)
  said <- cpp_cluster_gather("the end of predict()", serialize(batches, NULL))
  all <- lapply(said, unserialize)
  place <- unlist(lapply(seq_along(all), function(i) (seq_along(all[[i]]) - 1) * length(all) + i))
  do.call(c, all)[order(place)]
}

# What runs the predictions, once all is looked at that must be there: a function that gives all
# batches, or a handle of them.
prediction_start <- function(object, input, keys, checkpoint_path, hooks, call = parent.frame(),
                             together = FALSE) {
  hooks <- finish_hooks(as_hook_list(hooks, call), "infer")
  check_model_compatible(object, "infer", call)
  if (is.null(checkpoint_path)) check_has_weights(object, "it predicts", call)
  function(all) {
    # an iterator is read later, and the folder is another one by then
    if (!all) local_model_dir(object)
    weights <- current_weights(object, checkpoint_path)
    on.exit(weights$forget(), add = TRUE)
    with_loop_conditions(cpp_estimator_predict(
      core_model(object), core_config(object), input, weights$path, keys, lapply(hooks, core_hook),
      all, together
    ))
  }
}

# A function that puts the words of training's factor in the place of class numbers. With a
# vocabulary the core has done so.
worded_classes <- function(object) {
  labels <- model_labels(object)
  words <- class_labels(object, labels)
  if (is.null(words) || length(labels$vocabulary)) return(identity)
  function(batch) {
    for (key in intersect(c("classes", "all_classes"), names(batch))) {
      batch[[key]][] <- words[as.integer(batch[[key]]) + 1L]
    }
    batch
  }
}

# Models of the user and those with several heads give what they give.
has_usual_keys <- function(object) {
  labels <- model_labels(object)
  !is.null(labels) && !labels$is_by_head
}

# Batches from the core, handed out one by one or example by example. `start` makes the session when
# the first one is asked for. An iterator that is left early ends its hooks when it is closed, or
# collected.
prediction_iterator <- function(start, by_example, finish = identity) {
  pointer <- NULL
  waiting <- list()
  taken <- 0L
  is_closed <- FALSE
  next_item <- function() {
    if (is_closed) return(NULL)
    if (is.null(pointer)) {
      pointer <<- start()
      # runs before the core's own, which is older
      cpp_register_finalizer(pointer, finalize_predictions)
    }
    if (taken == length(waiting)) {
      batch <- with_loop_conditions(cpp_predictions_next(pointer))
      if (is.null(batch)) return(NULL)
      batch <- finish(batch)
      waiting <<- if (by_example) split_batch(batch) else list(batch)
      taken <<- 0L
    }
    taken <<- taken + 1L
    waiting[[taken]]
  }
  close <- function() {
    waiting <<- list()
    taken <<- 0L
    is_closed <<- TRUE
    if (!is.null(pointer)) invisible(with_loop_conditions(cpp_predictions_close(pointer)))
  }
  structure(list(next_item = next_item, close = close), class = "runhooks_iterator")
}

# A finalizer: nobody is there to catch an error.
finalize_predictions <- function(pointer) {
  tryCatch(
    with_loop_conditions(cpp_predictions_close(pointer)),
    error = function(error) {
      text <- paste0("Predictions that were let go ended by an error: ", conditionMessage(error))
      warning(text, call. = FALSE)
    }
  )
}

# One named list for each example; what a key gives for it is an array without the batch's
# dimension.
split_batch <- function(batch) cpp_batch_examples(list(batch))

#' Read an iterator
#'
#' @param iterator An iterator, such as `predict(as_iterable = TRUE)` gives.
#' @param f A function that each item is given to, or `NULL`.
#' @param simplify Not used.
#' @param completed What `iter_next()` returns at the end.
#' @return `iterate()` reads all: a list of the items, or of what `f` made of them. `iter_next()`
#'   reads one.
#' @section Errors: `runhooks_error_invalid_argument` for what is no iterator.
#' @family estimator methods
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' iterator <- predict(model, input_fn(mpg ~ drat, mtcars), as_iterable = TRUE)
#' iter_next(iterator)
#' iterate(iterator, function(row) row$predictions)[1:2]
iterate <- function(iterator, f = NULL, simplify = TRUE) {
  check_examples(iterator)
  items <- list()
  while (!is.null(item <- iterator$next_item())) {
    items[[length(items) + 1]] <- if (is.null(f)) item else f(item)
  }
  items
}

#' @rdname iterate
#' @export
iter_next <- function(iterator, completed = NULL) {
  check_examples(iterator)
  item <- iterator$next_item()
  if (is.null(item)) completed else item
}

check_examples <- function(x, call = parent.frame()) {
  check_arg(
    inherits(x, "runhooks_iterator"), x, "what predict(as_iterable = TRUE) gives", "iterator", call
  )
}

simplify_predictions <- function(batches) {
  columns <- cpp_batch_columns(batches)
  n <- if (length(columns)) length(columns[[1]]) else 0L
  if (n == 0) tibble::tibble() else quick_tibble(columns, n)
}

# The table shows the numbers instead of a type.
#' @rawNamespace S3method(pillar::type_sum, tf_prediction)
type_sum.tf_prediction <- function(x) {
  paste(format(as.vector(unclass(x)), digits = 3), collapse = ", ")
}

#' @rawNamespace S3method(pillar::obj_sum, tf_prediction)
obj_sum.tf_prediction <- function(x) type_sum.tf_prediction(x)
