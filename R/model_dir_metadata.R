# The training schema in the metadata of a model directory, and the conversion of later data to it.

# Reports a file of an earlier version. These were RDS files, which can contain code, so they are
# not read.
inform_unread_record <- function(folder) {
  path <- file.path(folder, "runhooks.rds")
  if (!file.exists(path)) return(invisible())
  rlang::inform(
    c(
      paste0("The file ", path, " of an earlier version of runhooks is not read."),
      i = "It contained the levels of factors, in a format that can contain code.",
      i = "Train the model again to record the levels. Until then it uses the levels of new data."
    ),
    .frequency = "once", .frequency_id = paste0("runhooks_record:", path)
  )
}

# Validates the metadata, because the file may come from an untrusted source.
is_record <- function(x) {
  is_plain_list(x) && identical(x[["version"]], 1L) && is_plain_list(x[["features"]]) &&
    all(vapply(x[["features"]], is_recorded_column, NA)) &&
    (is.null(x[["model"]]) || is_recorded_model(x[["model"]])) && is_plain_strings(x[["order"]]) &&
    (is.null(x[["response"]]) || is_recorded_response(x[["response"]])) &&
    (is.null(x[["data"]]) || is_recorded_data(x[["data"]]))
}

# Like is_record(), but remembers the last valid record and does not check it again.
is_valid_record <- function(x) {
  if (!is.null(x) && identical(x, the$valid_record)) return(TRUE)
  is_valid <- is_record(x)
  if (is_valid) the$valid_record <- x
  is_valid
}

is_recorded_data <- function(x) {
  is_plain_list(x) && is_string(x[["content"]]) && is_number(x[["rows"]])
}

is_recorded_column <- function(x) {
  is_plain_list(x) && is_string(x[["kind"]]) && x[["kind"]] %in% names(kind_descriptions) &&
    is_plain_strings(x[["levels"]])
}

is_recorded_response <- function(x) {
  is_plain_list(x) && is.character(x[["name"]]) && is_string(x[["kind"]]) &&
    x[["kind"]] %in% names(kind_descriptions) && is_plain_strings(x[["classes"]])
}

empty_record <- function() list(version = 1L, features = list(), response = NULL)

# Adds kinds and levels of features to the metadata. Levels accumulate over trainings.
record_schema <- function(record, columns, features, response) {
  if (is.null(record)) record <- empty_record()
  for (name in features) {
    x <- columns[[name]]
    recorded <- record$features[[name]]
    if (is.null(recorded)) {
      record$features[[name]] <- list(
        kind = column_kind(x), levels = if (is.factor(x)) levels(x)
      )
    } else if (recorded$kind == "factor" && is.factor(x)) {
      record$features[[name]]$levels <- union(recorded$levels, levels(x))
    }
  }
  if (!is.null(response) && is.null(record$response)) {
    x <- columns[[length(columns)]]
    classes <- if (is.factor(x)) levels(x) else if (is.logical(x)) c("FALSE", "TRUE")
    record$response <- list(name = response, kind = column_kind(x), classes = classes)
  }
  record
}

column_kind <- function(x) {
  if (is.factor(x)) return("factor")
  switch(typeof(x), character = "character", logical = "logical", integer = "integer", "double")
}

kind_descriptions <- c(
  factor = "a factor", character = "strings", logical = "logicals", integer = "integers",
  double = "numbers"
)

# Converts columns to the kinds and levels in `schema`, a list by feature. One warning lists all new
# levels. Features in `open` accept new levels. `missing`: strings that are not levels. In a graph,
# "" is the missing string.
coerce_to_schema <- function(columns, schema, open = character(), has_trees = FALSE,
                             missing = c(NA, "")) {
  new_levels <- list()
  for (name in intersect(names(columns), names(schema))) {
    recorded <- schema[[name]]
    x <- coerce_type(columns[[name]], name, recorded$kind)
    if (is.null(recorded$levels) || name %in% open) {
      columns[[name]] <- x
      next
    }
    strings <- as.character(x)
    unknown <- setdiff(strings, c(recorded$levels, missing))
    if (length(unknown)) new_levels[[name]] <- unknown
    if (!is.factor(x) || !identical(levels(x), recorded$levels)) {
      x <- restore_dims(factor(strings, levels = recorded$levels), x)
    }
    columns[[name]] <- x
  }
  if (length(new_levels)) warn_new_levels(new_levels, has_trees)
  columns
}

# Restores the dimensions of a string matrix after factor().
restore_dims <- function(x, like) {
  if (length(dim(like)) == 2) dim(x) <- dim(like)
  x
}

warn_new_levels <- function(new_levels, has_trees) {
  lines <- vapply(names(new_levels), function(name) {
    levels <- new_levels[[name]] # nolint: used by cli
    cli::format_inline("{.val {name}}: {.val {levels}}")
  }, "")
  names(lines) <- rep("x", length(lines))
  effect <- if (has_trees) {
    "match no split; where the training data had missing values, they count as missing."
  } else {
    "have no weight."
  }
  rlang::warn(
    c(paste("Levels that are not in the training data", effect), lines),
    class = "runhooks_warning_new_levels"
  )
}

check_kind <- function(x, name, trained_kind) {
  kind <- column_kind(x)
  is_string_like <- c("factor", "character")
  if ((kind %in% is_string_like) == (trained_kind %in% is_string_like)) return(invisible())
  abort_runhooks(
    c(
      "The feature {.val {name}} has a different type than in training.",
      x = "It was {kind_descriptions[[trained_kind]]} and is now {kind_descriptions[[kind]]}; the
           first value is {.val {first_value(x)}}.",
      i = type_advice(trained_kind, kind)
    ),
    call = user_frame()
  )
}

# Converts numbers and logicals to their type in training. Strings and factors are equivalent.
coerce_type <- function(x, name, trained_kind) {
  kind <- column_kind(x)
  if (kind == trained_kind) return(x)
  check_kind(x, name, trained_kind)
  if (is_sparse_matrix(x)) return(x)
  switch(trained_kind,
    character = restore_dims(as.character(x), x),
    double = {
      storage.mode(x) <- "double"
      x
    },
    integer = {
      if (all(x == trunc(x) & abs(x) <= .Machine$integer.max)) storage.mode(x) <- "integer"
      x
    },
    x
  )
}

first_value <- function(x) {
  x <- if (is.factor(x)) as.character(x) else as.vector(stored_numbers(x))
  present <- x[!is.na(x)]
  if (length(present)) present[[1]] else NA
}

type_advice <- function(trained_kind, kind) {
  if (trained_kind == "factor") {
    return("Convert it to a factor with the labels of the training data.")
  }
  if (trained_kind == "character") return("Convert it to strings with as.character().")
  if (kind == "factor") return("Convert it to numbers with as.numeric(as.character(x)).")
  "Convert it to numbers with as.numeric()."
}

