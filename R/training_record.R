# What a model knows of the data it was trained on: the kind of each feature, the levels of factors,
# the words of the classes. A file beside the checkpoints, so that a model that is made again on the
# same folder knows it too.

record_file <- "runhooks.rds"

# NULL where nothing is known.
training_record <- function(estimator) {
  if (!is_estimator(estimator)) return(NULL)
  path <- file.path(model_dir(estimator), record_file)
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
# training. In training the record learns them. NULL for `estimator` is no model at all.
as_trained <- function(columns, features, response, estimator) {
  if (!is_estimator(estimator)) return(columns)
  folder <- model_dir(estimator)
  record <- training_record(estimator)
  if (identical(the$mode, "train")) {
    read <- if (is.null(estimator$spec)) features else intersect(features, read_features(estimator))
    learnt <- learn_columns(record, columns, read, response)
    if (!identical(learnt, record)) write_record(learnt, folder)
    record <- learnt
  }
  open <- vapply(Filter(takes_unknown, feature_types(estimator$spec)), `[[`, "", "key")
  is_feature <- seq_along(features)
  columns[is_feature] <- match_features(columns[is_feature], record$features, open)
  if (length(response)) {
    last <- length(columns) # its name may be a feature's, too
    columns[[last]] <- as_labels(columns[[last]], response, record$response, estimator)
  }
  columns
}

# Columns that have a bucket for words they do not know.
takes_unknown <- function(pair) isTRUE(pair$takes_unknown)

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
  x <- if (is.factor(x)) as.character(x) else as.vector(x)
  known <- x[!is.na(x)]
  if (length(known)) known[[1]] else NA
}

type_advice <- function(was, now) {
  if (was == "factor") return("Make it a factor with the labels of the training data.")
  if (was == "character") return("Make strings of it with as.character().")
  if (now == "factor") return("as.numeric(as.character(x)) makes numbers of such labels.")
  "Make numbers of it with as.numeric()."
}

# --- responses

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
  kind <- label_kind(estimator$spec)
  if (identical(the$mode, "infer") || is.null(kind)) return(x)
  if (kind == "number") {
    if (is.character(x)) stop_word_label(x, name, estimator)
    return(x)
  }
  check_no_missing(x, name)
  if (!is.null(class_settings(estimator$spec)$label_vocabulary)) {
    return(if (is.factor(x)) as.character(x) else x)
  }
  if (is.null(known$classes) || !(is.factor(x) || is.character(x))) return(x)
  as_class_codes(x, name, known$classes, number_of_classes(estimator$spec))
}

stop_word_label <- function(x, name, estimator) {
  stop_runhooks(
    c(
      "The response {.val {name}} must be numbers for {.fn {estimator$spec$type}}, not strings.",
      x = "The value in row 1 is {.val {x[[1]]}}.",
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
