# What a model knows of the data it was trained on: the kind of each feature, the levels of factors,
# the words of the classes. A file beside the checkpoints, so that a model that is made again on the
# same folder knows it too.

record_file <- "runhooks.rds"

# NULL where nothing is known.
training_record <- function(estimator) {
  if (!is_estimator(estimator)) return(NULL)
  folder <- model_dir(estimator)
  if (is.null(folder)) return(NULL)
  path <- file.path(folder, record_file)
  if (!file.exists(path)) return(NULL)
  record <- tryCatch(readRDS(path), error = function(error) NULL, warning = function(w) NULL)
  if (is.list(record) && identical(record$version, 1L)) return(record)
  stop_runhooks(
    c(
      "The file {.path {path}} is damaged, or was written by another version of runhooks.",
      i = "It holds the levels of factors. Without the file, the model takes those of new data."
    ),
    kind = "data_loss"
  )
}

# The whole file or nothing, whatever happens meanwhile.
write_record <- function(record, folder) {
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  partial <- tempfile(".runhooks-", folder)
  on.exit(unlink(partial))
  saveRDS(record, partial)
  file.rename(partial, file.path(folder, record_file))
}

# Where training failed before its first checkpoint there is nothing to know.
forget_untrained <- function(folder, was_there) {
  # an odd state file is what the error on its way is about
  is_trained <- tryCatch(!is.null(cpp_latest_checkpoint(folder)), error = function(e) TRUE)
  if (is_trained) return(invisible())
  unlink(file.path(folder, record_file))
  is_empty <- dir.exists(folder) && length(list.files(folder, all.files = TRUE, no.. = TRUE)) == 0
  if (!was_there && is_empty) unlink(folder, recursive = TRUE)
}

# The record with what the columns at hand add to it: training knows levels that it has seen. Kinds
# of features that no column of the model reads are of no interest.
learn_columns <- function(record, columns, features, response) {
  if (is.null(record)) record <- list(version = 1L, features = list(), response = NULL)
  for (name in features) {
    x <- columns[[name]]
    known <- record$features[[name]]
    if (is.null(known)) {
      record$features[[name]] <- list(kind = column_kind(x), levels = levels(x))
    } else if (known$kind == "factor" && is.factor(x)) {
      record$features[[name]]$levels <- union(known$levels, levels(x))
    }
  }
  if (length(response) && is.null(record$response)) {
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

# The columns as the model was trained with: of the same kind, factors with the levels of the
# training. In training the record learns them. NULL for `estimator` is no model at all; `reads` is
# what its columns read.
as_trained <- function(columns, features, response, estimator, reads) {
  if (is.null(estimator)) return(columns)
  known <- training_record(estimator)
  labels <- model_labels(estimator)
  record <- known
  if (identical(the$mode, "train")) {
    read <- if (is.null(labels)) features else read_keys(c(reads, labels$reads))
    record <- learn_columns(known, columns, intersect(features, read), response)
  }
  open <- read_keys(Filter(function(read) read$takes_unknown, reads))
  is_feature <- seq_along(features)
  columns[is_feature] <- match_features(columns[is_feature], record$features, open)
  check_feature_values(columns[is_feature], reads)
  if (!identical(the$mode, "infer")) check_weights(columns[is_feature], labels$reads)
  if (length(response)) {
    last <- length(columns) # its name may be a feature's, too
    columns[[last]] <- as_labels(
      columns[[last]], response, record$response, labels, estimator$spec$type
    )
  }
  # only what can be trained with is learnt
  folder <- model_dir(estimator)
  if (!is.null(folder) && !identical(record, known)) write_record(record, folder)
  columns
}

# Values of the kind and with the levels that `known` says, by the names of features. One warning
# names all levels that are new; they count as missing, but for features in `open`.
match_features <- function(columns, known, open = character()) {
  new <- list()
  for (name in intersect(names(columns), names(known))) {
    was <- known[[name]]
    x <- as_kind(columns[[name]], name, was$kind)
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
  if (length(new)) warn_new_levels(new)
  columns
}

# A factor keeps the rows and columns of a matrix of words.
array_like <- function(x, like) {
  if (length(dim(like)) == 2) dim(x) <- dim(like)
  x
}

warn_new_levels <- function(new) {
  lines <- vapply(names(new), function(name) {
    words <- new[[name]] # nolint: used by cli
    cli::format_inline("{.val {name}}: {.val {words}}")
  }, "")
  names(lines) <- rep("x", length(lines))
  rlang::warn(
    c("Levels that training has not seen count as missing.", lines),
    class = "runhooks_warning_new_levels"
  )
}

# An error where words became numbers or the other way round.
check_kind <- function(x, name, was) {
  now <- column_kind(x)
  is_word <- c("factor", "character")
  if ((now %in% is_word) == (was %in% is_word)) return(invisible())
  stop_runhooks(
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
as_kind <- function(x, name, was) {
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
