# Data frames as input of models without a formula. The metadata that the training has recorded name
# the features and the response.

# Returns the names of features in the order of the feature matrix; NULL if none are recorded.
recorded_features <- function(object) {
  record <- training_record(object)
  if (!is.null(record$order)) return(record$order)
  names(record$features)
}

has_recorded_features <- function(object) {
  is_estimator(object) && is.null(object$blueprint) && length(recorded_features(object)) > 0
}

is_recorded_matrix <- function(object) !is.null(training_record(object)$order)

recorded_columns <- function(data, names, call) {
  columns <- lapply(setNames(nm = names), computed_feature, data)
  missing <- names[vapply(columns, is.null, NA)]
  if (length(missing)) abort_missing_features(missing, names(data), call)
  lapply(columns, flat_column)
}

recorded_input_fn <- function(object, data, call) {
  response <- training_record(object)$response$name
  if (length(response) != 1) {
    abort_runhooks(
      c(
        "input_fn must be a function, not a data frame.",
        i = "The training did not record the name of the response. Use {.fn input_fn}."
      ),
      call = call
    )
  }
  data <- check_new_data(data, call)
  features <- unique(c(recorded_features(object), feature_keys(model_labels(object)$reads)))
  columns <- recorded_columns(data, c(features, response), call)
  new_input_fn(
    columns, features, response, min(128, n_rows(columns[[1]])), shuffle = FALSE, num_epochs = 1,
    as_matrix = is_recorded_matrix(object), call = call
  )
}

# Implements predict(newdata = ) for a custom model. The tibble has one or several columns for each
# key of its predictions.
predict_recorded <- function(object, newdata, type, checkpoint_path, hooks, call) {
  if (!has_recorded_features(object)) {
    abort_runhooks(
      c(
        "{.arg newdata} needs the names of the features, which the training did not record.",
        i = "Training with an {.fn input_fn} of columns records them. Otherwise predict with an
             {.fn input_fn}."
      ),
      call = call
    )
  }
  if (!is.null(type)) {
    abort_runhooks("{.arg type} needs an estimator with a head.", call = call)
  }
  data <- check_new_data(bake_newdata(object, newdata, call), call)
  columns <- recorded_columns(data, recorded_features(object), call)
  for (name in names(columns)) check_column(columns[[name]], name, FALSE, call, missing = TRUE)
  is_missing <- lapply(columns, is_missing_row, words = FALSE)
  is_complete <- !Reduce(`|`, is_missing, logical(n_rows(columns[[1]])))
  if (!any(is_complete)) abort_runhooks("All rows have NA.", call = call)
  input <- new_input_fn(
    lapply(columns, select_rows, is_complete), names(columns), character(),
    min(sum(is_complete), 1024), shuffle = FALSE, num_epochs = 1,
    as_matrix = is_recorded_matrix(object), call = call
  )
  input <- as_model_input(input, object, call = call)
  batches <- prediction_runner(object, input, character(), checkpoint_path, hooks, call)(all = TRUE)
  keys <- names(batches[[1]])
  tables <- lapply(keys, function(key) {
    values <- do.call(rbind, lapply(batches, function(batch) {
      matrix(batch[[key]], nrow = n_rows(batch[[key]]))
    }))
    prefix <- if (identical(keys, "predictions")) ".pred" else paste0(".pred_", key)
    names <- if (ncol(values) == 1) prefix else paste0(prefix, "_", seq_len(ncol(values)))
    prediction_columns(scatter_rows_to_na(values, is_complete), names)
  })
  fast_tibble(do.call(c, tables), length(is_complete))
}
