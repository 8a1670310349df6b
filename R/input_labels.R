# Converts responses to labels, and checks labels, weights and ids before the training starts.

# Converts a response to labels. Models with several heads, and models without a head, get it
# unchanged.
as_labels <- function(x, name, recorded, labels, type, mode) {
  if (identical(mode, "infer")) return(x)
  if (is.null(labels)) return(if (is.factor(x)) recorded_class_codes(x, name, recorded) else x)
  if (labels$is_by_head) return(x)
  if (labels$n_classes == 0) return(number_labels(x, name, labels, type))
  if (labels$has_one_class) return(as_class_labels(x, name, recorded, labels))
  multi_label_matrix(x, name, labels)
}

recorded_class_codes <- function(x, name, recorded) {
  classes <- recorded$classes
  if (is.null(classes) || identical(levels(x), classes)) return(x)
  as_class_codes(x, name, classes, length(classes))
}

number_labels <- function(x, name, labels, type) {
  if (is.character(x) || is.factor(x)) abort_string_label(x, name, type)
  check_label_width(x, name, labels)
  check_label_range(x, name, labels)
  check_float32(x, name, "response")
  x
}

check_label_range <- function(x, name, labels) {
  low <- labels$lowest
  high <- labels$highest
  if (is.finite(high)) {
    check_values(
      x < low | x > high, x, "The response {.val {name}} must be in the range [{low}, {high}]."
    )
  } else if (is.finite(low)) {
    check_values(x < low, x, "The response {.val {name}} must be {low} or more.")
  }
}

as_class_labels <- function(x, name, recorded, labels) {
  check_no_missing(x, name)
  check_label_width(x, name, labels)
  vocabulary <- labels$vocabulary
  if (length(vocabulary)) {
    if (is.factor(x)) x <- as.character(x)
    check_label_strings(x, name, vocabulary)
    return(x)
  }
  n_classes <- labels$n_classes
  if (is.factor(x) || is.character(x)) {
    # a model trained on numbers accepts the codes of a factor
    classes <- if (is.null(recorded$classes)) levels(x) else recorded$classes
    if (is.null(classes)) abort_strings_without_vocabulary(x, name)
    return(as_class_codes(x, name, classes, n_classes))
  }
  check_class_numbers(x, name, n_classes)
  x
}

check_class_numbers <- function(x, name, n_classes) {
  is_whole <- !is.double(x) || n_classes == 2
  if (is_whole && min(x) >= 0 && max(x) <= n_classes - 1) return(invisible())
  is_invalid <- x < 0 | x > n_classes - 1
  # with two classes there is one logit, and the label may be a probability
  if (is.double(x) && n_classes > 2) is_invalid <- is_invalid | x != trunc(x)
  if (!any(is_invalid)) return(invisible())
  starts_at_one <- min(x) == 1 && max(x) == n_classes && all(x == trunc(x))
  check_values(
    is_invalid, x,
    "The response {.val {name}} must be class numbers from 0 to n_classes - 1,
     which is {n_classes - 1}.",
    advice = if (starts_at_one) {
      "Class numbers start at 0: subtract 1, or convert the response to a factor."
    }
  )
}

check_label_strings <- function(x, name, vocabulary) {
  if (!is.character(x)) {
    abort_runhooks(
      c(
        "The response {.val {name}} must be strings of the {.arg label_vocabulary},
         not {kind_descriptions[[column_kind(x)]]}.",
        x = "Got {.val {x[[1]]}} in row 1.",
        i = "The vocabulary is {.val {vocabulary}}."
      ),
      call = user_frame()
    )
  }
  check_values(
    !x %in% vocabulary, x, "The response {.val {name}} must be in the {.arg label_vocabulary}.",
    advice = "The vocabulary is {.val {vocabulary}}."
  )
}

abort_strings_without_vocabulary <- function(x, name) {
  abort_runhooks(
    c(
      "The response {.val {name}} must be class numbers, not
       {kind_descriptions[[column_kind(x)]]}.",
      x = "Got {.val {as.character(x[[1]])}} in row 1.",
      i = "Give a {.arg label_vocabulary}, or convert the response to a factor before training."
    ),
    call = user_frame()
  )
}

multi_label_matrix <- function(x, name, labels) {
  vocabulary <- labels$vocabulary
  if (is.character(x) && length(vocabulary)) {
    is_known <- matrix(x %in% c(vocabulary, "", NA), n_rows(x))
    check_values(
      !is_known, x, "The response {.val {name}} must be in the {.arg label_vocabulary}.",
      advice = "The vocabulary is {.val {vocabulary}}."
    )
    return(multi_hot_rows(x, vocabulary))
  }
  if (is.character(x) || is.factor(x)) abort_strings_without_vocabulary(x, name)
  check_label_width(x, name, labels)
  check_values(
    x < 0 | x > 1, x, "The response {.val {name}} must be 0 or 1 for each class."
  )
  x
}

multi_hot_rows <- function(x, vocabulary) {
  rows <- matrix(match(x, vocabulary), n_rows(x))
  cells <- cbind(as.vector(row(rows)), as.vector(rows))
  labels <- matrix(0L, nrow(rows), length(vocabulary))
  labels[cells[!is.na(cells[, 2]), , drop = FALSE]] <- 1L
  labels
}

check_label_width <- function(x, name, labels) {
  if (length(dim(x)) > 2) return(invisible()) # checked by the core
  width <- labels$width
  actual <- if (length(dim(x)) == 2) ncol(x) else 1L
  if (actual == width) return(invisible())
  width_arg <- labels$width_argument # nolint: used by cli
  abort_runhooks(
    c(
      "The response {.val {name}} must have {width} value{?s} in each row, not {actual}.",
      i = "The number of labels per row must equal the number of outputs; see {.arg {width_arg}}."
    ),
    call = user_frame()
  )
}

abort_string_label <- function(x, name, type) {
  abort_runhooks(
    c(
      "The response {.val {name}} must be numbers for {.fn {type}},
       not {kind_descriptions[[column_kind(x)]]}.",
      x = "The value in row 1 is {.val {as.character(x[[1]])}}.",
      i = "To predict classes, use a classifier such as {.fn linear_classifier}."
    ),
    call = user_frame()
  )
}

check_no_missing <- function(x, name) {
  missing <- which(is.na(x))
  if (length(missing) == 0) return(invisible())
  abort_runhooks(
    c(
      "The response {.val {name}} must not be missing.",
      x = "{length(missing)} value{?s} {?is/are} NA, the first in row {missing[[1]]}."
    ),
    call = user_frame()
  )
}

# Converts a response to a factor with the classes of the training. The result is a factor, so that
# the message about encoded factors includes the response.
as_class_codes <- function(x, name, classes, n_classes) {
  if (length(classes) > n_classes) {
    abort_runhooks(
      c(
        "The response {.val {name}} has {length(classes)} levels, but {.arg n_classes} is
         {n_classes}.",
        x = "The levels are {.val {classes}}.",
        i = "Give {.code n_classes = {length(classes)}}, or drop levels with {.fn droplevels}."
      ),
      call = user_frame()
    )
  }
  strings <- as.character(x)
  unknown <- which(!strings %in% classes)
  if (length(unknown)) {
    abort_runhooks(
      c(
        "The response {.val {name}} has a class that did not occur in training:
         {.val {strings[[unknown[[1]]]]}} in row {unknown[[1]]}.",
        i = "The classes are {.val {classes}}."
      ),
      call = user_frame()
    )
  }
  factor(strings, levels = classes)
}

class_labels <- function(object, labels = model_labels(object)) {
  if (length(labels$vocabulary)) return(labels$vocabulary)
  if (!isTRUE(labels$has_one_class)) return(NULL)
  classes <- training_record(object)$response$classes
  if (is.null(classes)) return(NULL)
  n <- labels$n_classes
  c(classes, if (n > length(classes)) seq(length(classes), n - 1))
}

# Checks weights and ids of the model's columns. `reads` is a value of model_reads().
check_feature_values <- function(columns, reads) {
  is_plain <- function(read) read$dtype == "float32" && !read$is_normalized
  plain <- intersect(feature_keys(Filter(is_plain, reads)), names(columns))
  within_float32 <- columns_within_float32(columns[plain])
  for (read in reads) {
    x <- columns[[read$key]]
    if (is.null(x)) next
    if (read$is_weight && is.factor(x)) abort_string_weights(x, read$key)
    if (read$has_shape && read$dtype != "string") check_is_numeric(x, read)
    if (is_plain(read) && !read$key %in% within_float32) check_float32(x, read$key, "feature")
    if (read$num_ids > 0) check_ids(x, read$key, read$num_ids)
  }
}

check_is_numeric <- function(x, read) {
  is_text <- is.factor(x) || (is.character(x) && !read$is_normalized)
  if (!is_text) return(invisible())
  abort_runhooks(
    c(
      "{.fn column_numeric} of {.val {read$key}} needs numbers, not
       {kind_descriptions[[column_kind(x)]]}.",
      x = "Got {.val {as.character(x[[1]])}} in row 1.",
      i = "Use a categorical column, such as {.fn column_categorical_with_vocabulary_list} (in a
           deep model, inside {.fn column_indicator}).",
      i = if (is.factor(x)) "Convert numeric labels with {.code as.numeric(as.character(x))}."
    ),
    call = user_frame()
  )
}

# Aborts if ids of a column without a default value are not in its buckets. The id -1 is a missing
# value.
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

abort_string_weights <- function(x, name) {
  abort_runhooks(
    c(
      "The weights {.val {name}} must be numbers, not {kind_descriptions[[column_kind(x)]]}.",
      x = "Got {.val {as.character(x[[1]])}} in row 1."
    ),
    call = user_frame()
  )
}

# Doubles of at least this size become infinite as float32.
float32_limit <- 2^128 - 2^103

# Returns the names of columns whose numbers fit into float32, according to a fast check of the
# core. The result is empty for small data, for which the check in R is as fast.
columns_within_float32 <- function(columns) {
  numbers <- Filter(is.double, lapply(columns, stored_numbers))
  if (sum(lengths(numbers)) < 1e4) return(character())
  names(numbers)[cpp_all_float32(numbers)]
}

check_float32 <- function(x, name, role) {
  numbers <- stored_numbers(x)
  if (!is.double(numbers) || length(numbers) == 0) return(invisible())
  # the 0 handles columns with only NA; range() would copy the column
  largest <- max(max(numbers, 0, na.rm = TRUE), -min(numbers, 0, na.rm = TRUE))
  if (largest < float32_limit) return(invisible())
  abort_values(
    invalid_positions(x, function(value) abs(value) < float32_limit), x,
    "The {role} {.val {name}} must be below 3.4e38, the largest number of float32.",
    frame = environment()
  )
}

check_weights <- function(columns, reads) {
  for (read in reads) {
    x <- columns[[read$key]]
    # a normalizer may make negative weights valid
    if (is.null(x) || read$is_normalized || is_sparse_matrix(x)) next
    if (is.factor(x) || is.character(x)) abort_string_weights(x, read$key)
    check_values(x < 0, x, "The weights {.val {read$key}} must be 0 or more.")
  }
}

# Aborts if values are invalid. `message` and `advice` are templates whose variables are looked up
# in `frame`.
check_values <- function(is_invalid, x, message, advice = NULL, frame = parent.frame()) {
  if (any(is_invalid)) abort_values(which(is_invalid), x, message, advice, frame)
}

value_at <- function(x, position) {
  if (!is_sparse_matrix(x)) return(x[[position]])
  x[(position - 1) %% nrow(x) + 1, (position - 1) %/% nrow(x) + 1]
}

abort_values <- function(positions, x, message, advice = NULL, frame) {
  n_more <- length(positions) - 1
  env <- list2env(list(
    bad_value = value_at(x, positions[[1]]), bad_row = (positions[[1]] - 1) %% n_rows(x) + 1,
    bad_others = if (n_more > 0) paste0(", and ", n_more, " more") else ""
  ), parent = frame)
  abort_runhooks(
    c(message, x = "Got {.val {bad_value}} in row {bad_row}{bad_others}.", i = advice),
    call = user_frame(), env = env
  )
}

# Converts columns to the types and levels of the training; a training call records them. `reads`
# are the features that columns read. `order`: the order of features in a matrix, or NULL if
# features are read by name.
coerce_to_training_schema <- function(
  columns,
  features,
  response,
  estimator,
  reads,
  response_name = response,
  order = NULL,
  finite = all_finite(columns)
) {
  is_feature <- seq_along(features)
  blanks <- variables_with_blanks(estimator$blueprint)
  for (name in intersect(features, names(blanks))) {
    columns[[name]] <- replace_na_level(columns[[name]], blanks[[name]]$na_level)
  }
  columns[is_feature] <- fill_or_abort_missing(
    columns[is_feature], reads, finite[is_feature], na_features(estimator, features)
  )
  if (is.null(estimator)) return(columns)
  dir <- current_model_dir(estimator)
  recorded <- if (!is.null(dir)) read_metadata(dir)
  labels <- model_labels(estimator)
  record <- recorded
  mode <- the$reading$mode
  if (identical(mode, "train")) {
    used <- if (is.null(labels)) features else feature_keys(c(reads, labels$reads))
    record <- record_schema(
      recorded, columns, intersect(features, used), if (length(response)) response_name
    )
    record$formula <- formula_record(estimator$blueprint)
    record$order <- order
  }
  check_order_compatible(recorded, order, dir$path)
  if (identical(mode, "train")) {
    inform_useless_features(columns[intersect(features, feature_keys(reads))], estimator, dir)
  }
  keys_with_oov <- feature_keys(Filter(function(read) read$accepts_unknown_strings, reads))
  columns[is_feature] <- coerce_to_schema(
    columns[is_feature], record$features, keys_with_oov, is_tree_model(estimator)
  )
  for (name in intersect(features, names(blanks))) {
    columns[[name]] <- strings_for_graph(columns[[name]], blanks[[name]]$levels)
  }
  check_feature_values(columns[is_feature], reads)
  if (!identical(mode, "infer")) check_weights(columns[is_feature], labels$reads)
  if (length(response)) {
    last <- length(columns) # by position, because a feature may have the same name
    columns[[last]] <- as_labels(
      columns[[last]], response, record$response, labels, estimator$spec$type, mode
    )
  }
  if (!identical(mode, "infer")) check_response_compatible(recorded, response_name, dir$path)
  # recorded only after all checks have passed
  if (!is.null(dir) && !identical(record, recorded)) update_metadata(dir, record)
  columns
}

na_features <- function(model, names) {
  if (is.null(model)) return(character())
  if (identical(model$blueprint$na$kind, "pass")) return(names)
  unlist(model$spec$missing_features)
}

# Replaces NA by the default values of columns. NA in other columns is an error, except in the
# features `na_features`.
fill_or_abort_missing <- function(columns, reads, finite, na_features) {
  columns <- apply_column_defaults(columns, reads)
  for (name in names(columns)) {
    x <- columns[[name]]
    if (!finite[[name]]) {
      check_column(x, name, FALSE, user_frame(), missing = name %in% na_features)
    }
  }
  columns
}

apply_column_defaults <- function(columns, reads) {
  for (read in reads) {
    x <- columns[[read$key]]
    can_fill <- !is.null(read$default_value) && (is.numeric(x) || is.logical(x))
    if (!can_fill || !anyNA(x)) next
    columns[[read$key]] <- fill_column(x, unlist(read$default_value))
  }
  columns
}

fill_column <- function(x, value) {
  missing <- which(is.na(x))
  if (length(missing) == 0) return(x)
  if (is.factor(x)) {
    if (!value %in% levels(x)) levels(x) <- c(levels(x), value)
  }
  x[missing] <- if (length(value) > 1) value[(missing - 1) %/% n_rows(x) + 1] else value
  x
}
