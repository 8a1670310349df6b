# Responses as the labels of a model, and the checks of labels, weights and ids that name the
# column, the value and the row of the data before anything is run.

# What a model takes as labels: "number", "class", or NULL where its head decides.
label_kind <- function(spec) {
  if (is.null(spec)) return(NULL)
  type <- spec$type
  if (grepl("_regressor$", type)) return("number")
  if (grepl("_classifier$", type)) return("class")
  head <- unclass(spec$head)$type
  if (is.null(head)) return(NULL)
  if (grepl("regression_head$", head)) return("number")
  if (head %in% c("binary_class_head", "multi_class_head")) "class"
}

# The parts of a specification that say what classes there are are the head's, if it has one.
class_settings <- function(spec) if (is.null(spec$head)) unclass(spec) else unclass(spec$head)

number_of_classes <- function(spec) {
  n <- class_settings(spec)$n_classes
  if (is.null(n)) 2L else as.integer(n)
}

as_labels <- function(x, name, known, estimator) {
  spec <- estimator$spec
  if (identical(the$mode, "infer") || is.null(spec)) return(x)
  kind <- label_kind(spec)
  if (identical(kind, "number")) return(number_labels(x, name, spec))
  if (identical(kind, "class")) return(class_labels_of(x, name, known, spec))
  if (identical(unclass(spec$head)$type, "multi_label_head")) {
    return(several_labels(x, name, class_settings(spec)))
  }
  x
}

# Numbers as the head of a regressor takes them.
number_labels <- function(x, name, spec) {
  settings <- class_settings(spec)
  if (is.character(x) || is.factor(x)) stop_word_label(x, name, spec)
  width <- if (is.null(settings$label_dimension)) 1 else settings$label_dimension
  check_label_width(x, name, width, "label_dimension")
  if (identical(settings$type, "logistic_regression_head")) {
    check_values(x < 0 | x > 1, x, "The response {.val {name}} must be in the range [0, 1].")
  }
  # the full loss has the logarithm of the label
  if (identical(settings$type, "poisson_regression_head") &&
        !identical(settings$compute_full_loss, FALSE)) {
    check_values(x < 0, x, "The response {.val {name}} is a count, which must be 0 or more.")
  }
  check_float32(x, name, "response")
  x
}

# Class numbers, or words of the model's vocabulary.
class_labels_of <- function(x, name, known, spec) {
  settings <- class_settings(spec)
  check_no_missing(x, name)
  check_label_width(x, name, 1, "n_classes")
  words <- settings$label_vocabulary
  if (!is.null(words)) {
    if (is.factor(x)) x <- as.character(x)
    check_label_words(x, name, words)
    return(x)
  }
  n_classes <- number_of_classes(spec)
  if (is.factor(x) || is.character(x)) {
    # a model that was not trained on words takes a factor's codes
    classes <- if (is.null(known$classes)) levels(x) else known$classes
    if (is.null(classes)) stop_words_without_vocabulary(x, name)
    return(as_class_codes(x, name, classes, n_classes))
  }
  check_class_numbers(x, name, n_classes)
  x
}

check_class_numbers <- function(x, name, n_classes) {
  is_whole <- !is.double(x) || n_classes == 2
  if (is_whole && min(x) >= 0 && max(x) <= n_classes - 1) return(invisible())
  bad <- x < 0 | x > n_classes - 1
  # two classes have one logit, whose label may be a probability
  if (is.double(x) && n_classes > 2) bad <- bad | x != trunc(x)
  if (!any(bad)) return(invisible())
  from_one <- min(x) == 1 && max(x) == n_classes && all(x == trunc(x))
  check_values(
    bad, x,
    "The response {.val {name}} must be class numbers from 0 to n_classes - 1,
     which is {n_classes - 1}.",
    advice = if (from_one) {
      "Class numbers begin at 0: take 1 away, or make a factor of the response."
    }
  )
}

check_label_words <- function(x, name, words) {
  if (!is.character(x)) {
    stop_runhooks(
      c(
        "The response {.val {name}} must be strings of the {.arg label_vocabulary},
         not {kind_words[[column_kind(x)]]}.",
        x = "Got {.val {x[[1]]}} in row 1.",
        i = "The vocabulary is {.val {words}}."
      ),
      call = user_frame()
    )
  }
  check_values(
    !x %in% words, x, "The response {.val {name}} must be in the {.arg label_vocabulary}.",
    advice = "The vocabulary is {.val {words}}."
  )
}

stop_words_without_vocabulary <- function(x, name) {
  stop_runhooks(
    c(
      "The response {.val {name}} must be class numbers, not {kind_words[[column_kind(x)]]}.",
      x = "Got {.val {as.character(x[[1]])}} in row 1.",
      i = "Give a {.arg label_vocabulary}, or make a factor of the response before training."
    ),
    call = user_frame()
  )
}

# A row of 0 and 1 for each example, also from lists of words.
several_labels <- function(x, name, settings) {
  words <- settings$label_vocabulary
  if (is.character(x) && !is.null(words)) {
    known <- matrix(x %in% c(words, "", NA), n_rows(x))
    check_values(
      !known, x, "The response {.val {name}} must be in the {.arg label_vocabulary}.",
      advice = "The vocabulary is {.val {words}}."
    )
    return(words_as_rows(x, words))
  }
  if (is.character(x) || is.factor(x)) stop_words_without_vocabulary(x, name)
  check_label_width(x, name, settings$n_classes, "n_classes")
  check_values(
    x < 0 | x > 1, x, "The response {.val {name}} must be 0 or 1 for each class."
  )
  x
}

words_as_rows <- function(x, words) {
  rows <- matrix(match(x, words), n_rows(x))
  cells <- cbind(as.vector(row(rows)), as.vector(rows))
  labels <- matrix(0L, nrow(rows), length(words))
  labels[cells[!is.na(cells[, 2]), , drop = FALSE]] <- 1L
  labels
}

check_label_width <- function(x, name, width, arg) {
  if (length(dim(x)) > 2) return(invisible()) # the core knows what to make of it
  given <- if (length(dim(x)) == 2) ncol(x) else 1L
  if (given == width) return(invisible())
  stop_runhooks(
    c(
      "The response {.val {name}} must have {width} value{?s} in each row, not {given}.",
      i = "Each example has as many labels as its model has outputs: see {.arg {arg}}."
    ),
    call = user_frame()
  )
}

stop_word_label <- function(x, name, spec) {
  stop_runhooks(
    c(
      "The response {.val {name}} must be numbers for {.fn {spec$type}},
       not {kind_words[[column_kind(x)]]}.",
      x = "The value in row 1 is {.val {as.character(x[[1]])}}.",
      i = "Words are labels of classifiers, such as {.fn linear_classifier}."
    ),
    call = user_frame()
  )
}

check_no_missing <- function(x, name) {
  missing <- which(is.na(x))
  if (length(missing) == 0) return(invisible())
  stop_runhooks(
    c(
      "The response {.val {name}} must not be missing.",
      x = "{length(missing)} value{?s} {?is/are} NA, the first in row {missing[[1]]}."
    ),
    call = user_frame()
  )
}

# Factors keep their class, so that they are announced as other factors are.
as_class_codes <- function(x, name, classes, n_classes) {
  if (length(classes) > n_classes) {
    stop_runhooks(
      c(
        "The response {.val {name}} has {length(classes)} levels, but {.arg n_classes} is
         {n_classes}.",
        x = "The levels are {.val {classes}}.",
        i = "Give {.code n_classes = {length(classes)}}, or leave levels out with {.fn droplevels}."
      ),
      call = user_frame()
    )
  }
  words <- as.character(x)
  odd <- which(!words %in% classes)
  if (length(odd)) {
    stop_runhooks(
      c(
        "The response {.val {name}} has a class that training has not seen:
         {.val {words[[odd[[1]]]]}} in row {odd[[1]]}.",
        i = "The classes are {.val {classes}}."
      ),
      call = user_frame()
    )
  }
  factor(words, levels = classes)
}

# The words of a classifier's classes in order; NULL where they are numbers.
class_labels <- function(object) {
  vocabulary <- class_settings(object$spec)$label_vocabulary
  if (!is.null(vocabulary)) return(vocabulary)
  if (!identical(label_kind(object$spec), "class")) return(NULL)
  classes <- training_record(object)$response$classes
  if (is.null(classes)) return(NULL)
  n <- number_of_classes(object$spec)
  c(classes, if (n > length(classes)) seq(length(classes), n - 1))
}

# --- values of features

# Numbers that weights and ids of the model's columns cannot be. `types` is what feature_types()
# gives.
check_feature_values <- function(columns, types) {
  for (type in types) {
    x <- columns[[type$key]]
    if (is.null(x)) next
    if (isTRUE(type$is_weight) && is.factor(x)) stop_word_weights(x, type$key)
    if (type$type == "float32" && !isTRUE(type$is_normalized)) {
      check_float32(x, type$key, "feature")
    }
    if (!is.null(type$num_buckets)) check_ids(x, type$key, type$num_buckets)
  }
}

# The ids of a column without a default: -1 is a missing value, others are in the buckets.
check_ids <- function(x, name, num_buckets) {
  if (is.factor(x)) x <- as.integer(x) - 1L
  if (!is.integer(x)) return(invisible())
  x[is.na(x)] <- -1L
  if (min(x) >= -1L && max(x) < num_buckets) return(invisible())
  check_values(
    x < -1L | x >= num_buckets, x,
    "The feature {.val {name}} must have ids from 0 to {num_buckets - 1}.",
    advice = "Give column_categorical_with_identity() a larger num_buckets or a default_value."
  )
}

stop_word_weights <- function(x, name) {
  stop_runhooks(
    c(
      "The weights {.val {name}} must be numbers, not {kind_words[[column_kind(x)]]}.",
      x = "Got {.val {as.character(x[[1]])}} in row 1."
    ),
    call = user_frame()
  )
}

# Beyond this a double is infinite in float32.
largest_float32 <- 2^128 - 2^103

check_float32 <- function(x, name, role) {
  numbers <- stored_numbers(x)
  if (!is.double(numbers) || length(numbers) == 0) return(invisible())
  if (min(numbers) > -largest_float32 && max(numbers) < largest_float32) return(invisible())
  stop_values(
    bad_places(x, function(value) abs(value) < largest_float32), x,
    "The {role} {.val {name}} must be below 3.4e38, the largest number of float32.",
    frame = environment()
  )
}

# Weights of examples, which a head checks as the core does.
check_weights <- function(columns, spec) {
  weight <- class_settings(spec)$weight_column
  # a normalizer may make anything of them
  if (is.null(weight) || (is_column(weight) && !is.null(weight$normalizer_fn))) return(invisible())
  name <- weight_key(weight)
  x <- columns[[name]]
  if (is.null(x) || is_sparse_matrix(x)) return(invisible())
  if (is.factor(x) || is.character(x)) stop_word_weights(x, name)
  check_values(x < 0, x, "The weights {.val {name}} must be 0 or more.")
}

# An error where any value is `bad`, with the first of them and its row in the data. `message` and
# `advice` are interpolated where they are written.
check_values <- function(bad, x, message, advice = NULL, frame = parent.frame()) {
  if (any(bad)) stop_values(which(bad), x, message, advice, frame)
}

value_at <- function(x, place) {
  if (!is_sparse_matrix(x)) return(x[[place]])
  x[(place - 1) %% nrow(x) + 1, (place - 1) %/% nrow(x) + 1]
}

stop_values <- function(places, x, message, advice = NULL, frame) {
  others <- length(places) - 1
  env <- list2env(list(
    bad_value = value_at(x, places[[1]]), bad_row = (places[[1]] - 1) %% n_rows(x) + 1,
    bad_others = if (others > 0) paste0(", and ", others, " more") else ""
  ), parent = frame)
  stop_runhooks(
    c(message, x = "Got {.val {bad_value}} in row {bad_row}{bad_others}.", i = advice),
    call = user_frame(), env = env
  )
}
