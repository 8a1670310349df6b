# predict(newdata = ): predictions as a tibble.

predict_newdata <- function(object, newdata, type, checkpoint_path, hooks, call = parent.frame()) {
  labels <- model_labels(object)
  output_specs <- labels$predictions
  if (is_custom(object)) {
    return(predict_recorded(object, newdata, type, checkpoint_path, hooks, call))
  }
  if (length(output_specs) == 0) abort_no_single_head(call)
  output_specs <- lapply(output_specs, with_output_names, response_columns(object))
  names(output_specs) <- vapply(output_specs, `[[`, "", "type")
  choices <- c(names(output_specs), "response", "link", if (is_tree_model(object)) "contributions")
  is_valid <- is.null(type) || (is_string(type) && type %in% choices)
  choices_text <- cli::format_inline("{.or {.val {choices}}}")
  check_arg(is_valid, type, paste(choices_text, "for this model"), "type", call)
  if (identical(type, "contributions")) {
    return(predict_contributions(object, newdata, checkpoint_path, hooks, call))
  }
  format <- prediction_format(object, labels, output_specs, type)
  data <- check_new_data(bake_newdata(object, newdata, call), call)
  values <- predict_rows(object, data, format$keys, checkpoint_path, hooks, call)
  if (is.null(checkpoint_path) && length(hooks) == 0) {
    cache_predict_plan(object, newdata, type, format, attr(values, "checkpoint"))
  }
  format$to_tibble(values)
}

# Returns the names of the columns of a response `cbind(a, b)`, or NULL if a column has no name.
response_columns <- function(object) {
  expr <- object$blueprint$response$expr
  if (!is.call(expr) || !identical(expr[[1]], quote(cbind))) return(NULL)
  columns <- as.list(expr)[-1]
  names <- vapply(columns, function(x) if (is.symbol(x)) as.character(x) else "", "")
  argument_names <- rlang::names2(columns)
  names <- ifelse(nzchar(argument_names), argument_names, names)
  if (all(nzchar(names))) unname(names)
}

with_output_names <- function(spec, names) {
  if (!length(spec$names) && spec$columns != "class" && length(names) > 1) spec$names <- names
  spec
}

# Returns the keys of predictions to compute, and a function `to_tibble()`, which converts their
# matrices to a tibble. `output_specs` describe the head's predictions: key, columns and names.
prediction_format <- function(object, labels, output_specs, type) {
  classes <- if (labels$n_classes > 0) tidy_classes(object, labels)
  if (identical(type, "response") || identical(type, "link")) {
    return(mean_format(labels, last_or_na(output_specs), type, classes))
  }
  output_specs <- unname(if (is.null(type)) output_specs else output_specs[type])
  keys <- vapply(output_specs, `[[`, "", "key")
  has_class <- any(vapply(output_specs, function(spec) spec$columns == "class", NA))
  # warn by the logits, because a class does not show an overflow
  is_class <- identical(type, "class")
  to_tibble <- function(values) {
    if (is_class) warn_not_finite(values$logits)
    if (has_class) values <- without_undefined_classes(values, output_specs)
    columns <- lapply(output_specs, function(spec) {
      tidy_prediction(values[[spec$key]], spec, classes)
    })
    fast_tibble(do.call(c, columns), nrow(values[[keys[[1]]]]))
  }
  list(keys = c(keys, if (is_class) "logits"), to_tibble = to_tibble)
}

predict_stream <- function(object, newdata, type, interval, level, checkpoint_path, hooks, call) {
  if (length(hooks)) {
    abort_runhooks("{.arg hooks} are not available for data that are read in chunks.", call = call)
  }
  if (!is.null(interval)) check_interval_arguments(type, checkpoint_path, hooks, call)
  if (is.null(object$blueprint)) abort_streamed_without_formula(newdata, call)
  stream <- as_stream(newdata, object$blueprint$response_variables, call)
  columns <- intersect(stream$names, object$blueprint$columns)
  tables <- list()
  each_chunk(stream, columns, function(chunk) {
    tables[[length(tables) + 1]] <<- if (is.null(interval)) {
      suppressWarnings(
        predict_newdata(object, chunk, type, checkpoint_path, hooks, call),
        classes = if (!identical(type, "class")) "runhooks_warning_infinite" else character()
      )
    } else {
      predict_interval(object, chunk, type, interval, level, call)
    }
  })
  if (length(tables) == 0) abort_runhooks("The data have no rows.", call = call)
  tables <- do.call(rbind, tables)
  warn_not_finite(as.matrix(tables[vapply(tables, is.double, NA)]))
  tables
}

# Replaces the class by NA in rows where a logit or probability is NaN: its maximum is undefined.
without_undefined_classes <- function(values, output_specs) {
  numbers <- Filter(is.double, values)
  undefined <- Reduce(`|`, lapply(numbers, function(x) rowSums(is.nan(x)) > 0), FALSE)
  if (!any(undefined)) return(values)
  for (spec in output_specs) if (spec$columns == "class") values[[spec$key]][undefined, ] <- NA
  values
}

# Returns a matrix for each key, with NA in rows that cannot be predicted. The attribute
# `checkpoint` is the number that the C++ core has given to the checkpoint.
predict_rows <- function(object, data, keys, checkpoint_path, hooks, call) {
  features <- newdata_features(object, data, call)
  values <- predict_matrices(object, features$columns, keys, checkpoint_path, hooks, call)
  structure(
    lapply(values, scatter_rows_to_na, features$rows), checkpoint = attr(values, "checkpoint")
  )
}

# Does the work of prediction_format() for `type = "response"` and `type = "link"`.
mean_format <- function(labels, spec, type, classes) {
  has_classes <- !is.null(classes)
  has_logits <- has_classes || labels$family %in% c("binomial", "poisson")
  key <- if (type == "link" && has_logits) "logits" else spec$key
  needs_second <- isTRUE(labels$has_one_class) && labels$n_classes == 2
  to_tibble <- function(values) {
    values <- values[[1]]
    if (needs_second) values <- values[, ncol(values), drop = FALSE]
    names <- if (has_classes && ncol(values) > 1 && !length(spec$names)) {
      paste0(".pred_", classes)
    } else if (length(spec$names) == ncol(values)) {
      paste0(".pred_", spec$names)
    } else {
      numbered_names(values)
    }
    fast_tibble(prediction_columns(values, names), nrow(values))
  }
  list(keys = key, to_tibble = to_tibble)
}

# Checks the arguments for intervals. Intervals are computed from the newest weights without a
# session loop, so `checkpoint_path` and `hooks` are not available.
check_interval_arguments <- function(type, checkpoint_path, hooks, call = parent.frame()) {
  unavailable <- c("checkpoint_path", "hooks")[c(!is.null(checkpoint_path), !is.null(hooks))]
  if (length(unavailable)) {
    abort_runhooks("{.arg {unavailable[[1]]}} is not available with {.arg interval}.", call = call)
  }
  is_valid <- is.null(type) || identical(type, "link") || identical(type, "response") ||
    identical(type, "numeric")
  check_arg(is_valid, type, "\"response\" or \"link\" with an interval", "type", call)
}

# Returns the named columns of one kind of prediction: the class, a number for each class, or
# numbers with the names that the head defines.
tidy_prediction <- function(values, spec, classes) {
  if (spec$columns == "class") {
    ids <- as.integer(values) + 1L
    return(list(.pred_class = structure(ids, levels = classes, class = "factor")))
  }
  names <- if (length(spec$names)) spec$names else if (spec$columns == "by_class") classes
  if (length(names) != ncol(values)) names <- NULL
  prediction_columns(values, if (length(names)) paste0(".pred_", names) else numbered_names(values))
}

abort_no_single_head <- function(call) {
  abort_runhooks(
    c(
      "{.arg newdata} needs an estimator with one head of a built-in kind.",
      i = "Predict with an {.fn input_fn} instead."
    ),
    call = call
  )
}

check_new_data <- function(newdata, call) {
  if (is_matrix_package(newdata)) newdata <- Matrix::as.matrix(newdata)
  if (is.matrix(newdata)) newdata <- as.data.frame(newdata, optional = TRUE)
  if (is.list(newdata) && length(newdata) == 0) {
    abort_runhooks("{.arg newdata} has no columns.", call = call)
  }
  is_valid <- is.list(newdata) && !is.null(names(newdata))
  check_arg(is_valid, newdata, "a data frame", "newdata", call)
  check_unique_names(names(newdata), call)
  as.list(newdata)
}

# Returns `columns`, the features of the rows without NA in a required feature, and `rows`, which is
# TRUE for these rows of the data. A model without features gets a feature that only counts the
# rows.
newdata_features <- function(object, data, call) {
  blueprint <- object$blueprint
  if (!is.null(blueprint)) {
    frame <- evaluate_blueprint(blueprint, data, FALSE, call)
    rows <- !Reduce(`|`, frame$missing, logical(frame$n))
    columns <- frame_features(blueprint, select_frame_rows(frame, rows))
  } else {
    reads <- model_reads(object)
    keys <- feature_keys(reads)
    missing <- keys[vapply(keys, function(key) is.null(computed_feature(key, data)), NA)]
    if (length(missing)) abort_missing_features(missing, names(data), call)
    columns <- lapply(setNames(nm = keys), function(key) flat_column(computed_feature(key, data)))
    columns <- apply_column_defaults(columns, reads)
    finite <- all_finite(columns)
    for (key in keys) {
      check_column(columns[[key]], key, FALSE, call, missing = TRUE, finite = finite[[key]])
    }
    required <- columns[setdiff(names(columns)[!finite], na_features(object, names(columns)))]
    is_missing <- lapply(required, is_missing_row, words = FALSE)
    rows <- !Reduce(`|`, is_missing, logical(n_rows(data[[1]])))
    columns <- lapply(columns, select_rows, rows)
  }
  if (length(columns) == 0) columns <- row_feature(list(which(rows)))
  list(columns = columns, rows = rows)
}

# Returns the feature `key`: a column of the data, or the value of a call such as "log(x)". Returns
# NULL if the data do not have the variables of the call.
computed_feature <- function(key, data) {
  if (key %in% names(data)) return(data[[key]])
  expr <- tryCatch(str2lang(key), error = function(error) NULL)
  if (!is.call(expr) || !all(variables_of(expr) %in% names(data))) return(NULL)
  tryCatch(eval(expr, data, globalenv()), error = function(error) NULL)
}

predict_matrices <- function(object, columns, keys, checkpoint_path, hooks, call) {
  n <- n_rows(flat_column(columns[[1]]))
  if (n == 0) return(empty_predictions(model_labels(object), keys))
  input <- new_input_fn(
    columns, names(columns), character(), min(n, prediction_batch_size(object)), shuffle = FALSE,
    num_epochs = 1, call = call
  )
  input <- as_model_input(input, object, call = call)
  batches <- prediction_runner(object, input, keys, checkpoint_path, hooks, call)(all = TRUE)
  values <- lapply(setNames(nm = keys), function(key) {
    do.call(rbind, lapply(batches, function(batch) as_row_matrix(batch[[key]])))
  })
  structure(values, checkpoint = attr(batches, "checkpoint"))
}

# Trees need little memory for each row, so their batches can be larger.
prediction_batch_size <- function(object) {
  if (model_traits(object$spec$type)$needs_all_rows) 16384 else 1024
}

empty_predictions <- function(labels, keys) {
  lapply(setNames(nm = keys), function(key) {
    spec <- Find(function(spec) spec$key == key, labels$predictions)
    width <- if (is.null(spec)) {
      if (labels$n_classes > 2) labels$n_classes else 1
    } else {
      switch(spec$columns,
        class = 1, by_class = labels$n_classes, max(length(spec$names), labels$width)
      )
    }
    matrix(numeric(), 0, width)
  })
}

tidy_classes <- function(object, labels) {
  words <- class_labels(object, labels)
  if (is.null(words)) as.character(seq_len(labels$n_classes) - 1L) else words
}

numbered_names <- function(values) {
  if (ncol(values) == 1) ".pred" else paste0(".pred_", seq_len(ncol(values)))
}

prediction_columns <- function(values, names) {
  warn_not_finite(values)
  setNames(lapply(seq_len(ncol(values)), function(i) values[, i]), names)
}

# Returns TRUE for NaN and infinite numbers. NA is neither: it marks rows without a prediction.
is_not_finite <- function(x) is.nan(x) | is.infinite(x)

warn_not_finite <- function(values) {
  cells <- which(is_not_finite(values))
  if (length(cells) == 0) return(invisible())
  rows <- sort(unique((cells - 1) %% n_rows(values) + 1))
  value <- values[[cells[match(rows[[1]], (cells - 1) %% n_rows(values) + 1)]]]
  num_others <- length(rows) - 1
  verb <- if (num_others > 1) "s are" else " is"
  others <- if (num_others) sprintf(", and %d other%s NaN or infinite", num_others, verb) else ""
  rlang::warn(
    c(
      sprintf("The prediction of row %d is %s%s.", rows[[1]], value, others),
      i = paste(
        "A value of this row, or a number computed from it and the weights, is too large for",
        "float32, whose largest number is 3.4e38."
      )
    ),
    class = c("runhooks_warning_infinite", "runhooks_warning")
  )
}

# Creates a tibble from columns of equal length without the checks of new_tibble(), which take
# longer than the prediction of a row. The package tibble must be loaded, because it has the
# methods.
fast_tibble <- function(columns, n) {
  if (length(columns) == 0 || !isNamespaceLoaded("tibble")) {
    return(tibble::new_tibble(columns, nrow = n))
  }
  attr(columns, "row.names") <- .set_row_names(n)
  class(columns) <- c("tbl_df", "tbl", "data.frame")
  columns
}
