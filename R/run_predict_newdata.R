# predict(newdata = ): predictions as a tibble.

predict_newdata <- function(object, newdata, type, checkpoint_path, hooks, call = parent.frame()) {
  labels <- model_labels(object)
  forms <- labels$predictions
  if (is_custom(object)) return(predict_recorded(object, newdata, type, checkpoint_path, hooks, call))
  if (length(forms) == 0) abort_no_single_head(call)
  forms <- lapply(forms, name_outputs, response_columns(object))
  names(forms) <- vapply(forms, `[[`, "", "type")
  choices <- c(names(forms), "response", "link", if (is_tree_model(object)) "contributions")
  good <- is.null(type) || (is_string(type) && type %in% choices)
  shown <- cli::format_inline("{.or {.val {choices}}}")
  check_arg(good, type, paste(shown, "for this model"), "type", call)
  if (identical(type, "contributions")) {
    return(predict_contributions(object, newdata, checkpoint_path, hooks, call))
  }
  shape <- prediction_shape(object, labels, forms, type)
  data <- check_new_data(bake_newdata(object, newdata, call), call)
  values <- predicted_rows(object, data, shape$keys, checkpoint_path, hooks, call)
  if (is.null(checkpoint_path) && length(hooks) == 0) {
    cache_predict_plan(object, newdata, type, shape, attr(values, "checkpoint"))
  }
  shape$finish(values)
}

# The names of the columns of a response `cbind(a, b)`, if all have one.
response_columns <- function(object) {
  expr <- object$blueprint$response$expr
  if (!is.call(expr) || !identical(expr[[1]], quote(cbind))) return(NULL)
  columns <- as.list(expr)[-1]
  names <- vapply(columns, function(x) if (is.symbol(x)) as.character(x) else "", "")
  given <- names(columns)
  if (!is.null(given)) names[nzchar(given)] <- given[nzchar(given)]
  if (all(nzchar(names))) unname(names)
}

name_outputs <- function(form, names) {
  if (!length(form$names) && form$columns != "class" && length(names) > 1) form$names <- names
  form
}

# The keys to compute, and a function that converts their matrices to a tibble.
prediction_shape <- function(object, labels, forms, type) {
  classes <- if (labels$n_classes > 0) tidy_classes(object, labels)
  if (identical(type, "response") || identical(type, "link")) {
    return(mean_shape(labels, last_or_na(forms), type, classes))
  }
  forms <- unname(if (is.null(type)) forms else forms[type])
  keys <- vapply(forms, `[[`, "", "key")
  # a class has no value that shows an overflow
  is_class <- identical(type, "class")
  finish <- function(values) {
    if (is_class) warn_not_finite(values$logits)
    values <- without_undefined_classes(values, forms)
    columns <- lapply(forms, function(form) tidy_prediction(values[[form$key]], form, classes))
    fast_tibble(do.call(c, columns), nrow(values[[keys[[1]]]]))
  }
  list(keys = c(keys, if (is_class) "logits"), finish = finish)
}

predict_stream <- function(object, newdata, type, interval, level, checkpoint_path, hooks, call) {
  if (length(hooks)) {
    abort_runhooks("{.arg hooks} are not available for data that are read in chunks.", call = call)
  }
  if (!is.null(interval)) abort_with_interval(type, checkpoint_path, hooks, call)
  if (is.null(object$blueprint)) abort_streamed_without_formula(newdata, call)
  stream <- as_stream(newdata, object$blueprint$response_variables, call)
  columns <- intersect(stream$names, object$blueprint$columns)
  parts <- list()
  each_chunk(stream, columns, function(chunk) {
    parts[[length(parts) + 1]] <<- if (is.null(interval)) {
      suppressWarnings(
        predict_newdata(object, chunk, type, checkpoint_path, hooks, call),
        classes = if (!identical(type, "class")) "runhooks_warning_infinite" else character()
      )
    } else {
      predict_interval(object, chunk, type, interval, level, call)
    }
  })
  if (length(parts) == 0) abort_runhooks("The data have no rows.", call = call)
  parts <- do.call(rbind, parts)
  warn_not_finite(as.matrix(parts[vapply(parts, is.double, NA)]))
  parts
}

# The largest of several numbers is not defined if one is NaN.
without_undefined_classes <- function(values, forms) {
  others <- Filter(is.double, values)
  undefined <- Reduce(`|`, lapply(others, function(x) rowSums(is.nan(x)) > 0), FALSE)
  if (!any(undefined)) return(values)
  for (form in forms) if (form$columns == "class") values[[form$key]][undefined, ] <- NA
  values
}

# NA for omitted rows. The attribute `checkpoint` is the number of the checkpoint in the core.
predicted_rows <- function(object, data, keys, checkpoint_path, hooks, call) {
  ready <- new_features(object, data, call)
  values <- predicted_matrices(object, ready$columns, keys, checkpoint_path, hooks, call)
  structure(lapply(values, scatter_rows_to_na, ready$rows), checkpoint = attr(values, "checkpoint"))
}

mean_shape <- function(labels, form, type, classes) {
  has_classes <- !is.null(classes)
  has_logits <- has_classes || labels$family %in% c("binomial", "poisson")
  key <- if (type == "link" && has_logits) "logits" else form$key
  is_second <- isTRUE(labels$has_one_class) && labels$n_classes == 2
  finish <- function(values) {
    values <- values[[1]]
    if (is_second) values <- values[, ncol(values), drop = FALSE]
    names <- if (has_classes && ncol(values) > 1 && !length(form$names)) {
      paste0(".pred_", classes)
    } else if (length(form$names) == ncol(values)) {
      paste0(".pred_", form$names)
    } else {
      numbered_names(values)
    }
    fast_tibble(prediction_columns(values, names), nrow(values))
  }
  list(keys = key, finish = finish)
}

# Intervals use the newest weights and no loop, so some arguments are not available.
abort_with_interval <- function(type, checkpoint_path, hooks, call = parent.frame()) {
  odd <- c("checkpoint_path", "hooks")[c(!is.null(checkpoint_path), !is.null(hooks))]
  if (length(odd)) {
    abort_runhooks("{.arg {odd[[1]]}} is not available with {.arg interval}.", call = call)
  }
  good <- is.null(type) || identical(type, "link") || identical(type, "response") ||
    identical(type, "numeric")
  check_arg(good, type, "\"response\" or \"link\" with an interval", "type", call)
}

# Named columns: the class, a number for each class, or numbers with the names of the head.
tidy_prediction <- function(values, form, classes) {
  if (form$columns == "class") {
    ids <- as.integer(values) + 1L
    return(list(.pred_class = structure(ids, levels = classes, class = "factor")))
  }
  names <- if (length(form$names)) form$names else if (form$columns == "by_class") classes
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
  good <- is.list(newdata) && !is.null(names(newdata))
  check_arg(good, newdata, "a data frame", "newdata", call)
  check_unique_names(names(newdata), call)
  as.list(newdata)
}

# `rows` marks rows without NA in a required feature. A computed feature may be in the data. Models
# without features get a feature that only counts the rows.
new_features <- function(object, data, call) {
  blueprint <- object$blueprint
  if (!is.null(blueprint)) {
    frame <- blueprint_frame(blueprint, data, FALSE, call)
    rows <- !Reduce(`|`, frame$missing, logical(frame$n))
    columns <- frame_features(blueprint, select_frame_rows(frame, rows))
  } else {
    reads <- model_reads(object)
    keys <- feature_keys(reads)
    missing <- keys[vapply(keys, function(key) is.null(computed_feature(key, data)), NA)]
    if (length(missing)) abort_missing_features(missing, names(data), call)
    columns <- lapply(setNames(nm = keys), function(key) flat_column(computed_feature(key, data)))
    columns <- fill_by_columns(columns, reads)
    finite <- all_finite(columns)
    for (key in keys) {
      check_column(columns[[key]], key, FALSE, call, missing = TRUE, finite = finite[[key]])
    }
    wanted <- columns[setdiff(names(columns)[!finite], na_features(object, names(columns)))]
    rows <- !Reduce(`|`, lapply(wanted, is_missing_row, words = FALSE), logical(n_rows(data[[1]])))
    columns <- lapply(columns, select_rows, rows)
  }
  if (length(columns) == 0) columns <- row_feature(list(which(rows)))
  list(columns = columns, rows = rows)
}

computed_feature <- function(key, data) {
  if (key %in% names(data)) return(data[[key]])
  expr <- tryCatch(str2lang(key), error = function(error) NULL)
  if (!is.call(expr) || !all(variables_of(expr) %in% names(data))) return(NULL)
  tryCatch(eval(expr, data, globalenv()), error = function(error) NULL)
}

predicted_matrices <- function(object, columns, keys, checkpoint_path, hooks, call) {
  n <- n_rows(flat_column(columns[[1]]))
  if (n == 0) return(empty_predictions(model_labels(object), keys))
  input <- new_input_fn(
    columns, names(columns), character(), min(n, prediction_batch_size(object)), shuffle = FALSE,
    num_epochs = 1, call = call
  )
  input <- as_model_input(input, object, call = call)
  batches <- prediction_start(object, input, keys, checkpoint_path, hooks, call)(all = TRUE)
  values <- lapply(setNames(nm = keys), function(key) {
    do.call(rbind, lapply(batches, function(batch) as_rows(batch[[key]])))
  })
  structure(values, checkpoint = attr(batches, "checkpoint"))
}

# Trees need little memory for each row, so their batches can be larger.
prediction_batch_size <- function(object) {
  if (model_traits(object$spec$type)$wants_all_rows) 16384 else 1024
}

empty_predictions <- function(labels, keys) {
  lapply(setNames(nm = keys), function(key) {
    form <- Find(function(form) form$key == key, labels$predictions)
    if (is.null(form)) return(matrix(numeric(), 0, if (labels$n_classes > 2) labels$n_classes else 1))
    width <- switch(form$columns,
      class = 1, by_class = labels$n_classes, max(length(form$names), labels$width)
    )
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

# Missing values in omitted rows are NA and not NaN.
is_not_finite <- function(x) is.nan(x) | is.infinite(x)

warn_not_finite <- function(values) {
  odd <- which(is_not_finite(values))
  if (length(odd) == 0) return(invisible())
  rows <- sort(unique((odd - 1) %% n_rows(values) + 1))
  value <- values[[odd[match(rows[[1]], (odd - 1) %% n_rows(values) + 1)]]]
  others <- length(rows) - 1
  rlang::warn(
    c(
      sprintf("The prediction of row %d is %s%s.", rows[[1]], value, if (others) {
        sprintf(", and %d other%s NaN or infinite", others, if (others > 1) "s are" else " is")
      } else ""),
      i = paste(
        "A value of this row, or a number computed from it and the weights, is too large for",
        "float32, whose largest number is 3.4e38."
      )
    ),
    class = c("runhooks_warning_infinite", "runhooks_warning")
  )
}

# A tibble from columns of equal length. The checks of new_tibble() take longer than the prediction
# of a row. tibble must be loaded, because it provides the methods.
fast_tibble <- function(columns, n) {
  if (length(columns) == 0 || !isNamespaceLoaded("tibble")) {
    return(tibble::new_tibble(columns, nrow = n))
  }
  attr(columns, "row.names") <- .set_row_names(n)
  class(columns) <- c("tbl_df", "tbl", "data.frame")
  columns
}
