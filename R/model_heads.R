# Heads: what a model does with its logits, for the estimators that take one.

# `call` is the frame of a constructor: its arguments, checked by their names, are the head's.
new_head <- function(type, call = parent.frame()) {
  given <- mget(names(formals(sys.function(sys.parent()))), envir = call)
  checks <- argument_checks()
  for (name in intersect(names(given), names(checks))) checks[[name]](given[[name]], name, call)
  check_string(given$name, null = TRUE, arg = "name", call = call)
  vectors <- intersect(names(given), c("thresholds", "label_vocabulary", "head_weights"))
  given[vectors] <- lapply(given[vectors], plain_vector)
  rebuild_head(c(list(type = type), given[lengths(given) > 0]))
}

rebuild_head <- function(fields) {
  if (!is_string(fields$type)) return(NULL)
  structure(fields, owner = paste0(fields$type, "()"), class = "runhooks_head")
}

is_head <- function(x) inherits(x, "runhooks_head")

#' @export
print.runhooks_head <- function(x, ...) {
  shown <- unclass(x)[names(x) != "type"]
  values <- vapply(shown, function(value) paste(format(value), collapse = ", "), "")
  # lint: allow stdout
  cat("<", x$type, if (length(values)) paste0(" ", names(values), " = ", values), ">\n", sep = "")
  invisible(x)
}

#' Heads
#'
#' What a model does with its logits: the loss, the predictions, the metrics of evaluations. Heads
#' are the argument `head` of [linear_estimator()], [dnn_estimator()],
#' [dnn_linear_combined_estimator()] and [baseline_estimator()].
#'
#' * `regression_head()`: numbers, by squared error.
#' * `poisson_regression_head()`: counts; the logits are logarithms of the mean.
#' * `logistic_regression_head()`: probabilities; labels are between 0 and 1.
#' * `binary_class_head()`: one of two classes, by the sigmoid of one logit.
#' * `multi_class_head()`: one of several classes, by the softmax of as many logits.
#' * `multi_label_head()`: any number of several classes at once; labels are a matrix of 0 and 1,
#'   or with a vocabulary a list column of words.
#' * `multi_head()`: several heads with names, each with labels of its own: the input function
#'   returns a list of labels by the heads' names. The logits are the heads' side by side.
#'
#' @param label_dimension How many numbers the label of an example is.
#' @param weight_column The name of a feature that weights the examples, or a [column_numeric()] of
#'   it, or `NULL`.
#' @param loss_reduction How the losses of a batch become one number: `"sum_over_batch_size"` (the
#'   default of heads in TensorFlow), `"sum"`, `"mean"`, `"sum_over_nonzero_weights"`.
#' @param compute_full_loss Count Stirling's approximation of the constant part of the loss too?
#' @param thresholds Probabilities between 0 and 1: accuracy, precision and recall at each are
#'   further metrics.
#' @param n_classes How many classes.
#' @param label_vocabulary The words of the classes, where labels are strings.
#' @param name A name, which goes to the keys of metrics: `auc/<name>`.
#' @param heads A list of heads, each with a name.
#' @param head_weights A number for each head that its loss counts with; `NULL`: all the same.
#' @return A head: an object of class `runhooks_head`.
#' @section Errors: `runhooks_error_invalid_argument` for arguments that do not hold, at the latest
#'   when an estimator takes the head.
#' @seealso `tf.estimator.BinaryClassHead` and its relatives of TensorFlow.
#' @name heads
#' @family estimators
#' @examples
#' model <- linear_estimator(
#'   head = binary_class_head(thresholds = c(0.3, 0.7)), feature_columns = column_numeric("wt")
#' )
#' cars <- transform(mtcars, am = as.integer(am))
#' model %>% train(input_fn(am ~ wt, cars, batch_size = 8, num_epochs = 10))
#' model %>% evaluate(input_fn(am ~ wt, cars))
NULL

#' @rdname heads
#' @export
regression_head <- function(label_dimension = 1L, weight_column = NULL,
                            loss_reduction = "sum_over_batch_size", name = NULL) {
  new_head("regression_head")
}

#' @rdname heads
#' @export
poisson_regression_head <- function(label_dimension = 1L, weight_column = NULL,
                                    compute_full_loss = TRUE,
                                    loss_reduction = "sum_over_batch_size", name = NULL) {
  new_head("poisson_regression_head")
}

#' @rdname heads
#' @export
logistic_regression_head <- function(weight_column = NULL, loss_reduction = "sum_over_batch_size",
                                     name = NULL) {
  new_head("logistic_regression_head")
}

#' @rdname heads
#' @export
binary_class_head <- function(thresholds = NULL, weight_column = NULL, label_vocabulary = NULL,
                              loss_reduction = "sum_over_batch_size", name = NULL) {
  new_head("binary_class_head")
}

#' @rdname heads
#' @export
multi_class_head <- function(n_classes, weight_column = NULL, label_vocabulary = NULL,
                             loss_reduction = "sum_over_batch_size", name = NULL) {
  new_head("multi_class_head")
}

#' @rdname heads
#' @export
multi_label_head <- function(n_classes, thresholds = NULL, weight_column = NULL,
                             label_vocabulary = NULL, loss_reduction = "sum_over_batch_size",
                             name = NULL) {
  new_head("multi_label_head")
}

#' @rdname heads
#' @export
multi_head <- function(heads, head_weights = NULL) {
  heads <- if (is_head(heads)) list(heads) else regroup(heads, "type", rebuild_head)
  good <- is.list(heads) && length(heads) > 0 && all(vapply(heads, is_head, NA))
  check_arg(good, heads, "a list of heads", "heads", environment())
  names <- lapply(heads, function(head) unclass(head)$name)
  if (any(lengths(names) == 0)) stop_runhooks("All given heads must have a name.")
  if (anyDuplicated(unlist(names))) {
    again <- unlist(names)[duplicated(unlist(names))][[1]]
    stop_runhooks("All heads must have unique names; {.val {again}} is there twice.")
  }
  fits <- is.numeric(head_weights) && length(head_weights) == length(heads)
  good <- is.null(head_weights) || (fits && all(is.finite(head_weights)))
  check_arg(good, head_weights, "NULL or a number for each head", "head_weights", environment())
  heads <- unname(heads)
  new_head("multi_head")
}
