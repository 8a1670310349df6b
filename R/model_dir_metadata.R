# What the folder of a model remembers of the data of its training (R/model_dir.R), and later data
# brought to it.

# Earlier versions wrote R's own format, which can hold code: such a file is never read.
inform_unread_record <- function(folder) {
  path <- file.path(folder, "runhooks.rds")
  if (!file.exists(path)) return(invisible())
  rlang::inform(
    c(
      paste0("The file ", path, " of an earlier version of runhooks is not read."),
      i = "It held the levels of factors, in a form that can hold code, too.",
      i = "Train the model again to write them anew; until then it takes those of new data."
    ),
    .frequency = "once", .frequency_id = paste0("runhooks_record:", path)
  )
}

# Whoever wrote the folder may have put anything into the file.
is_record <- function(x) {
  is_plain_list(x) && identical(x[["version"]], 1L) && is_plain_list(x[["features"]]) &&
    all(vapply(x[["features"]], is_known_column, NA)) &&
    (is.null(x[["model"]]) || is_known_model(x[["model"]])) && is_words(x[["order"]]) &&
    (is.null(x[["response"]]) || is_known_response(x[["response"]])) &&
    (is.null(x[["data"]]) || is_known_data(x[["data"]]))
}

# The same, for one that is read again and again.
is_sound_record <- function(x) {
  if (!is.null(x) && identical(x, the$sound_record)) return(TRUE)
  is_sound <- is_record(x)
  if (is_sound) the$sound_record <- x
  is_sound
}

# Which data the last training read.
is_known_data <- function(x) is_plain_list(x) && is_string(x[["content"]]) && is_number(x[["rows"]])

is_known_column <- function(x) {
  is_plain_list(x) && is_string(x[["kind"]]) && x[["kind"]] %in% names(kind_words) &&
    is_words(x[["levels"]])
}

is_known_response <- function(x) {
  is_plain_list(x) && is.character(x[["name"]]) && is_string(x[["kind"]]) &&
    x[["kind"]] %in% names(kind_words) && is_words(x[["classes"]])
}

empty_record <- function() list(version = 1L, features = list(), response = NULL)

# The record with what the columns at hand add to it: training knows levels that it has seen. Kinds
# of features that no column of the model reads are of no interest.
# `response` is its name, of no length where it has none.
record_schema <- function(record, columns, features, response) {
  if (is.null(record)) record <- empty_record()
  for (name in features) {
    x <- columns[[name]]
    known <- record$features[[name]]
    if (is.null(known)) {
      record$features[[name]] <- list(
        kind = column_kind(x), levels = if (is.factor(x)) levels(x)
      )
    } else if (known$kind == "factor" && is.factor(x)) {
      record$features[[name]]$levels <- union(known$levels, levels(x))
    }
  }
  if (!is.null(response) && is.null(record$response)) {
    x <- columns[[length(columns)]]
    words <- if (is.factor(x)) levels(x) else if (is.logical(x)) c("FALSE", "TRUE")
    record$response <- list(name = response, kind = column_kind(x), classes = words)
  }
  record
}

column_kind <- function(x) {
  if (is.factor(x)) return("factor")
  switch(typeof(x), character = "character", logical = "logical", integer = "integer", "double")
}

kind_words <- c(
  factor = "a factor", character = "strings", logical = "logicals", integer = "integers",
  double = "numbers"
)

# Values of the kind and with the levels that `known` says, by the names of features. One warning
# names all levels that are new, and what they are to the model, but for features in `open`.
coerce_to_schema <- function(columns, known, open = character(), has_trees = FALSE) {
  new <- list()
  for (name in intersect(names(columns), names(known))) {
    was <- known[[name]]
    x <- coerce_type(columns[[name]], name, was$kind)
    if (is.null(was$levels) || name %in% open) {
      columns[[name]] <- x
      next
    }
    words <- as.character(x)
    unknown <- setdiff(words, c(was$levels, NA, ""))
    if (length(unknown)) new[[name]] <- unknown
    if (!is.factor(x) || !identical(levels(x), was$levels)) {
      x <- array_like(factor(words, levels = was$levels), x)
    }
    columns[[name]] <- x
  }
  if (length(new)) warn_new_levels(new, has_trees)
  columns
}

# A factor keeps the rows and columns of a matrix of words.
array_like <- function(x, like) {
  if (length(dim(like)) == 2) dim(x) <- dim(like)
  x
}

warn_new_levels <- function(new, has_trees) {
  lines <- vapply(names(new), function(name) {
    words <- new[[name]] # nolint: used by cli
    cli::format_inline("{.val {name}}: {.val {words}}")
  }, "")
  names(lines) <- rep("x", length(lines))
  are <- if (has_trees) {
    "are none of those that trees ask for; where training has missed some, they are missing."
  } else {
    "have no weight."
  }
  rlang::warn(
    c(paste("Levels that training has not seen", are), lines), class = "runhooks_warning_new_levels"
  )
}

# An error where words became numbers or the other way round.
check_kind <- function(x, name, was) {
  now <- column_kind(x)
  is_word <- c("factor", "character")
  if ((now %in% is_word) == (was %in% is_word)) return(invisible())
  abort_runhooks(
    c(
      "The feature {.val {name}} is not of the type that it had in training.",
      x = "It was {kind_words[[was]]} and is now {kind_words[[now]]}; the first value is
           {.val {first_value(x)}}.",
      i = type_advice(was, now)
    ),
    call = user_frame()
  )
}

# Numbers and logicals become what they were in training; words and factors are both words.
coerce_type <- function(x, name, was) {
  now <- column_kind(x)
  if (now == was) return(x)
  check_kind(x, name, was)
  if (is_sparse_matrix(x)) return(x)
  switch(was,
    character = array_like(as.character(x), x),
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
  known <- x[!is.na(x)]
  if (length(known)) known[[1]] else NA
}

type_advice <- function(was, now) {
  if (was == "factor") return("Make it a factor with the labels of the training data.")
  if (was == "character") return("Make strings of it with as.character().")
  if (now == "factor") return("as.numeric(as.character(x)) makes numbers of such labels.")
  "Make numbers of it with as.numeric()."
}

