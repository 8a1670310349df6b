# Heads, which define the loss, the predictions and the metrics of a model.

constructor_factories$head <- function(specs, place) {
  .specs <- specs_as_list(specs)
  f <- function() {
    abort_abbreviated_arguments()
    new_head(.specs, environment())
  }
  formals(f) <- registered_formals(specs)
  f
}

new_head <- function(specs, call) {
  values <- convert_arguments(argument_values(specs$name, call), specs, call)
  head <- rebuild_head(c(list(type = specs$type[[1]]), values[lengths(values) > 0]))
  cpp_head_check(value_for_core(head))
  head
}

rebuild_head <- function(fields) {
  if (!is_string(fields$type)) return(NULL)
  structure(fields, owner = paste0(fields$type, "()"), class = "runhooks_head")
}

argument_converters$head <- function(x, name, call, wanted) check_arg(is_head(x), x, wanted, name, call)

argument_converters$heads <- function(x, name, call, wanted) {
  heads <- if (is_head(x)) list(x) else unsplice(x, "type", rebuild_head)
  is_valid <- is.list(heads) && length(heads) > 0 && all(vapply(heads, is_head, NA))
  check_arg(is_valid, heads, wanted, name, call)
  names <- lapply(heads, function(head) unclass(head)$name)
  if (any(lengths(names) == 0)) abort_runhooks("All given heads must have a name.", call = call)
  if (anyDuplicated(unlist(names))) {
    again <- unlist(names)[duplicated(unlist(names))][[1]]
    abort_runhooks(
      "All heads must have unique names; {.val {again}} occurs twice.", call = call
    )
  }
  unname(heads)
}

argument_converters$`weight column` <- check_weight_column

argument_converters$`class words` <- function(x, name, call, wanted) {
  words <- check_elements(x, is.character, wanted, name, call)
  check_arg(length(words) > 1, x, wanted, name, call)
  unlist_unnamed(words)
}

#' @export
print.runhooks_head <- function(x, ...) {
  cat(describe_head(x), "\n", sep = "") # lint: allow stdout
  invisible(x)
}

describe_head <- function(x) {
  arguments <- unclass(x)[names(x) != "type"]
  values <- vapply(arguments, function(value) {
    is_heads <- is.list(value) && all(vapply(value, inherits, NA, "runhooks_head"))
    paste(if (is_heads) vapply(value, describe_head, "") else format(value), collapse = ", ")
  }, "")
  texts <- paste(names(values), values, sep = " = ", recycle0 = TRUE)
  paste0("<", paste(c(x$type, texts), collapse = " "), ">")
}

#' Create a head for a model
#'
#' A head defines the loss, the predictions and the metrics that a model computes from its logits.
#' Use it as the argument `head` of [linear_estimator()], [dnn_estimator()],
#' [dnn_linear_combined_estimator()] and [baseline_estimator()].
#'
#' * `regression_head()`: numbers, with squared error loss.
#' * `poisson_regression_head()`: counts; the logits are logarithms of the mean.
#' * `quantile_head()`: several quantiles of a number. `predict(newdata = )` has a column for each,
#'   such as `.pred_0.1`.
#' * `logistic_regression_head()`: probabilities; labels are between 0 and 1.
#' * `binary_class_head()`: one of two classes, with the sigmoid of one logit.
#' * `multi_class_head()`: one of several classes, with the softmax of one logit for each class.
#' * `multi_label_head()`: any subset of several classes. Labels are a matrix of 0 and 1, or with a
#'   vocabulary a list column of strings.
#' * `multi_head()`: several named heads. The input function returns a list of labels with the names
#'   of the heads. The logits of the heads are concatenated.
#'
#' @eval head_params("regression_head", "poisson_regression_head", "binary_class_head",
#'   "multi_class_head", "multi_head", "quantile_head")
#' @return A head: an object of class `runhooks_head`.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid. Some are checked only when an
#'     estimator uses the head.
#' @seealso `tf.estimator.BinaryClassHead` and the other heads of TensorFlow.
#' @name heads
#' @family estimators
#' @examples
#' model <- linear_estimator(
#'   head = binary_class_head(thresholds = c(0.3, 0.7)), feature_columns = column_numeric("wt")
#' )
#' cars <- transform(mtcars, am = as.integer(am))
#' model |> train(input_fn(am ~ wt, cars, batch_size = 8, num_epochs = 10))
#' model |> evaluate(input_fn(am ~ wt, cars))
#'
#' # counts: the mean is exp() of the linear predictor
#' counts <- linear_estimator(
#'   head = poisson_regression_head(), feature_columns = column_numeric("wt")
#' )
#' counts |> train(input_fn(carb ~ wt, mtcars, num_epochs = 10))
#'
#' # printing a head shows its arguments
#' regression_head(label_dimension = 2)
#' logistic_regression_head()
#' multi_class_head(n_classes = 3, label_vocabulary = c("a", "b", "c"))
#' multi_label_head(n_classes = 4)
#' quantile_head(c(0.1, 0.5, 0.9))
#' multi_head(list(regression_head(name = "size"), binary_class_head(name = "kind")))
NULL

#' @rdname heads
#' @export
regression_head <- builtin_head("regression_head")

#' @rdname heads
#' @export
poisson_regression_head <- builtin_head("poisson_regression_head")

#' @rdname heads
#' @export
logistic_regression_head <- builtin_head("logistic_regression_head")

#' @rdname heads
#' @export
binary_class_head <- builtin_head("binary_class_head")

#' @rdname heads
#' @export
multi_class_head <- builtin_head("multi_class_head")

#' @rdname heads
#' @export
multi_label_head <- builtin_head("multi_label_head")

#' @rdname heads
#' @export
multi_head <- builtin_head("multi_head")

#' @rdname heads
#' @export
quantile_head <- builtin_head("quantile_head")
