# The argument `class_weights` of classifiers.

argument_converters$`class weights` <- function(x, name, call, wanted) {
  is_valid <- is.numeric(x) && !has_encoded_numbers(x) && length(x) > 1 &&
    all(is.finite(x) & x >= 0) && any(x > 0)
  wanted <- paste0(wanted, ", one of them above 0")
  if (is.numeric(x) && any(x < 0, na.rm = TRUE)) {
    abort_runhooks("{.arg {name}} must be {wanted}; one is {min(x, na.rm = TRUE)}.", call = call)
  }
  check_arg(is_valid, x, wanted, name, call)
  if (!is.null(names(x))) {
    abort_runhooks(
      c(
        "{.arg {name}} has names, but the classes have no labels.",
        i = "Give a {.arg label_vocabulary}, or numbers in the order of the classes."
      ),
      call = call
    )
  }
  unlist_unnamed(as.list(as.numeric(x)))
}

# Returns the class weights in the order of the classes. `response` is NULL without a formula.
resolve_class_weights <- function(x, args, response, call) {
  if (is.null(x)) return(NULL)
  n <- args$n_classes
  classes <- unlist(args$label_vocabulary)
  if (is_string(x)) return(balanced_weights(x, classes, response, call))
  if (!is.numeric(x)) return(x)
  if (length(x) != n) {
    abort_runhooks(
      c(
        "{.arg class_weights} must be {n} numbers, one for each class, not {length(x)}.",
        i = if (length(classes)) "The classes are {.val {classes}}."
      ),
      call = call
    )
  }
  if (is.null(names(x)) || is.null(classes)) return(x)
  invalid <- setdiff(names(x), classes)
  if (length(invalid) || anyDuplicated(names(x))) {
    if (length(invalid) == 0) invalid <- names(x)[duplicated(names(x))]
    abort_runhooks(
      c(
        "{.arg class_weights} must have the name of each class once.",
        x = "Got {.val {invalid[[1]]}}.", i = "The classes are {.val {classes}}."
      ),
      call = call
    )
  }
  unname(x[classes])
}

# Returns balanced weights, n / (k * n_class), for k classes with rows.
balanced_weights <- function(x, classes, response, call) {
  check_arg(x == "balanced", x, "numbers, or \"balanced\"", "class_weights", call)
  if (is.null(response)) {
    abort_runhooks(
      c(
        "{.code class_weights = \"balanced\"} needs a formula, whose data have the class counts.",
        i = "Otherwise give numbers in the order of the classes."
      ),
      call = call
    )
  }
  counts <- table(factor(as.character(response), levels = classes))
  as.numeric(ifelse(counts > 0, sum(counts) / (sum(counts > 0) * counts), 0))
}

# Returns the weights of the rows for the loss: the weights of the data times the class weights.
row_weights <- function(object, frame, n) {
  weights <- if (is.null(frame$weight)) rep(1, n) else as.numeric(frame$weight)
  class_weights <- unlist(object$spec$class_weights)
  if (is.null(class_weights)) return(weights)
  weights * class_weights[match(as.character(frame$response), class_labels(object))]
}
