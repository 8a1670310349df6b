# Compatibility of a model with the metadata of its model directory (R/model_dir_metadata.R).
# Directories without metadata, such as TensorFlow's, are accepted.

# Everything that determines the variables and their meaning, as groups of named strings. Learning
# rates, regularization, example weights and the like are not part of it.
model_signature <- function(object) {
  if (!is.null(object$spec)) cpp_model_signature(cached_core_model(object)$core)
}

# --- checks

# Aborts if the directory contains a different model. `mode` is "train", "eval" or "infer". `arg`:
# the argument that selects the directory.
check_model_compatible <- function(object, mode, call = parent.frame(),
                                   folder = current_model_dir(object), arg = "model_dir") {
  if (is.null(folder) || !folder$has_checkpoint) return(invisible())
  record <- read_metadata(folder)
  was <- record$model
  if (is.null(was)) return(invisible())
  now <- core_signature(object)
  # only training reads the variables of an optimizer
  groups <- setdiff(names(now), if (mode != "train") "optimizer")
  lines <- if (!identical(was[groups], now[groups])) {
    unlist(lapply(groups, function(group) differences(group, was[[group]], now[[group]])))
  }
  # a model of another kind also has other arguments, which are not worth listing
  if (!identical(was$kind, now$kind)) lines <- differences("kind", was$kind, now$kind)
  response <- object$blueprint$response$name
  lines <- c(lines, response_difference(record, response))
  if (length(lines) == 0) return(invisible())
  # a vocabulary file that is missing or has changed aborts with its own error
  lapply(spec_columns(object$spec), function(column) cpp_column_buckets(value_for_core(column)))
  abort_incompatible_model(folder$path, lines, call, arg)
}

check_columns_compatible <- function(object, folder, record, call) {
  was <- record$model
  if (is.null(was)) return(invisible())
  now <- core_signature(object)
  lines <- if (!identical(was$kind, now$kind)) {
    differences("kind", was$kind, now$kind)
  } else {
    both <- intersect(names(was$columns), names(now$columns))
    none <- setNames(character(length(both)), both)
    c(
      differences("columns", c(was$columns[setdiff(names(was$columns), both)], none),
        c(now$columns[setdiff(names(now$columns), both)], none)),
      response_difference(record, object$blueprint$response$name)
    )
  }
  if (length(lines)) abort_incompatible_model(folder$path, lines, call)
}

differences <- function(group, was, now) {
  lost <- setdiff(names(was), names(now))
  new <- setdiff(names(now), names(was))
  both <- intersect(names(was), names(now))
  other <- both[was[both] != now[both]]
  changed <- switch(group,
    kind = sprintf("It was trained as %s(), not %s().", was[other], now[other]),
    optimizer = sprintf("It was trained with %s, not %s.", was[other], now[other]),
    columns = sprintf("The column '%s' was %s and is now %s.", other, was[other], now[other]),
    sprintf("`%s` was %s and is now %s.", other, was[other], now[other])
  )
  # a missing optimizer is unknown, not different
  if (group == "optimizer") return(changed)
  what <- if (group == "columns") "the column '%s'" else "`%s`"
  c(
    changed, sprintf(paste0("It was trained with ", what, ", which this model lacks."), lost),
    sprintf(paste0("It was trained without ", what, "."), new)
  )
}

response_difference <- function(record, response) {
  was <- record$response$name
  if (is.null(record$model) || length(was) != 1 || length(response) != 1) return(NULL)
  if (was != response) sprintf("It was trained to predict '%s', not '%s'.", was, response)
}

check_response_compatible <- function(record, response, folder) {
  line <- response_difference(record, response)
  if (length(line)) abort_incompatible_model(folder, line, user_frame())
}

# The columns of a matrix have no names, so the features must be in the order of the training.
order_of_training <- function(estimator, order) {
  was <- training_record(estimator)$order
  if (length(was) == length(order) && setequal(was, order)) was else order
}

check_order_compatible <- function(record, order, folder) {
  was <- record$order
  if (is.null(was) || is.null(order) || identical(was, order)) return(invisible())
  words <- function(names) paste0("'", names, "'", collapse = ", ")
  abort_incompatible_model(
    folder,
    paste0("It was trained on the features ", words(was), ", not on ", words(order), "."),
    user_frame()
  )
}

abort_incompatible_model <- function(folder, lines, call, arg = "model_dir") {
  most <- 6
  shown <- utils::head(lines, most)
  rest <- length(lines) - length(shown)
  if (rest > 0) shown <- c(shown, sprintf("And %d more differences.", rest))
  abort_plain(
    c(
      paste0("The model directory ", folder, " contains a different model."),
      setNames(shown, rep("x", length(shown))),
      i = paste0("Use another `", arg, "`, or create the model with the arguments of the training.")
    ),
    kind = "failed_precondition", call = call
  )
}

# Informs once for each training that another object or process did in the model directory.
inform_other_training <- function(object, folder) {
  cache <- model_cache(object)
  was <- cache$informed_of
  if (is.null(was)) was <- unclass(object$estimator)$shared_state$trained_to
  if (is.null(was) || folder$is_training) return(invisible())
  if (folder$checkpoint_id %in% c(was, "")) return(invisible())
  # if the newest checkpoint cannot be read, the core reports that
  newest <- utils::tail(cpp_listed_checkpoints(folder$path, "checkpoint"), 1)
  is_read <- endsWith(newest, paste0("-", sub(":.*", "", folder$checkpoint_id)))
  if (length(newest) && !is_read) return(invisible())
  cache$informed_of <- folder$checkpoint_id
  then <- sub(":.*", "", was) # nolint: used by cli
  now <- sub(":.*", "", folder$checkpoint_id) # nolint: used by cli
  cli::cli_inform(
    c(
      "Another object or process has trained the model in {.path {folder$path}}: this object had
       trained it to step {then}, and it is now at step {now}.",
      i = "This object now uses the new weights. Use one {.arg model_dir} for each model."
    ),
    class = "runhooks_message_other_training"
  )
}

# --- updates of the metadata

# Wraps the input of a training so that it records the model and the data when the graph is built.
# Only then does the core hold the directory, and it removes the record if the training fails.
recording_input <- function(input, object, folder) {
  force(input)
  is_new <- !folder$has_checkpoint
  # a killed process may have left a record without a checkpoint
  if (is_new) folder$metadata <- NULL
  if (is_new) folder$is_checked <- TRUE
  function(mode) {
    result <- input(mode)
    if (is_new) record_model(object, folder)
    record_data(attr(result, "data"), folder)
    metadata <- pending_metadata(folder)
    folder$is_recorded <- !is.null(metadata) || isTRUE(folder$is_recorded)
    c(result, list(metadata = metadata))
  }
}

record_model <- function(object, folder) {
  record <- read_metadata(folder)
  if (is.null(record)) record <- empty_record()
  if (!is.null(record$model)) return(invisible())
  record["model"] <- list(core_signature(object))
  blueprint <- object$blueprint
  if (!is.null(blueprint)) {
    record$formula <- formula_record(blueprint)
    if (is.null(record$response)) {
      kind <- if (blueprint$as_words) "character" else "double"
      record$response <- list(name = blueprint$response$name, kind = kind)
    }
  }
  update_metadata(folder, record)
}

record_data <- function(data, folder) {
  record <- read_metadata(folder)
  if (is.null(data$content) || is.null(record) || identical(record$data, data)) return(invisible())
  was <- record$data
  if (folder$has_checkpoint && !is.null(was)) {
    cli::cli_inform(
      c(
        "The model in {.path {folder$path}} was trained on other data until step {folder$step}:
         {was$rows} row{?s}, and now {if (was$rows == data$rows) 'as many others' else data$rows}.",
        i = "Training continues with the new data; use another {.arg model_dir} to start again."
      ),
      class = "runhooks_message_other_data"
    )
  }
  record$data <- data
  update_metadata(folder, record)
}

is_recorded_model <- function(x) {
  is_texts <- function(texts) is.null(texts) || (is.character(texts) && !is.object(texts))
  is_plain_list(x) && all(vapply(x, is_texts, NA))
}

# --- state of the training

record_training <- function(object, input_fn, folder, checkpoint_id = folder$checkpoint_id) {
  shared_state <- unclass(object$estimator)$shared_state
  shared_state$trained_in <- folder$path
  if (nzchar(checkpoint_id)) {
    shared_state$trained_to <- checkpoint_id
    cache <- model_cache(object)
    cache$informed_of <- NULL
  }
  keep_recipe(object, attr(input_fn, "recipe", exact = TRUE), folder)
}

record_aborted_training <- function(object, input_fn) {
  folder <- open_folder(model_dir(object))
  if (!folder$has_checkpoint) return(invisible())
  record_training(object, input_fn, folder)
  metadata <- pending_metadata(folder)
  if (!is.null(metadata)) write_metadata(metadata, folder$path)
}

# Warns if the model was never trained. Aborts if the directory of its training is lost.
check_has_weights <- function(object, purpose, call = parent.frame()) {
  folder <- current_model_dir(object)
  if (folder$has_checkpoint) return(inform_other_training(object, folder))
  if (folder$is_training) return(invisible())
  trained_in <- unclass(object$estimator)$shared_state$trained_in
  if (!is.null(trained_in)) abort_lost_folder(trained_in, folder$path, call)
  cpp_newest_weights(folder$path) # an error if the directory names a checkpoint that is missing
  rlang::warn(
    c(
      paste0("Could not find trained model in model_dir: ", folder$path, "."),
      x = paste0("The model has not been trained: ", purpose, " by its initial weights."),
      i = "Call train() first, or use the `model_dir` of a trained model."
    ),
    class = c("runhooks_warning_untrained", "runhooks_warning"), call = call
  )
}

abort_lost_folder <- function(trained_in, folder, call) {
  lost <- if (dir.exists(trained_in)) "which has no checkpoint now" else "which is missing"
  left <- sub("[.]index$", "", list.files(trained_in, "[.]ckpt-[0-9]+[.]index$", full.names = TRUE))
  left <- left[order(as.numeric(sub(".*-", "", left)))]
  if (folder == trained_in && length(left)) {
    problem <- if (file.exists(file.path(trained_in, "checkpoint"))) "damaged" else "missing"
    newest <- encodeString(left[[length(left)]], quote = "\"")
    abort_plain(
      c(
        paste0("The model was trained in ", trained_in, ", where no file names a checkpoint now."),
        x = paste0("The file 'checkpoint' of the directory is ", problem, "."),
        i = paste0("`checkpoint_path = ", newest, "` selects the last checkpoint.")
      ),
      kind = "not_found", call = call
    )
  }
  abort_plain(
    c(
      paste0("The model was trained in ", trained_in, ", ", lost, "."),
      x = if (folder != trained_in) paste0("Its model directory is now ", folder, "."),
      i = "If the directory was moved, create the model again with the new `model_dir`.",
      i = "Or call train() to start again with initial weights."
    ),
    kind = "not_found", call = call
  )
}

# Only a message, because a script may remove the directory to start again.
inform_lost_folder <- function(object, folder) {
  trained_in <- unclass(object$estimator)$shared_state$trained_in
  if (is.null(trained_in) || folder$has_checkpoint) return(invisible())
  cli::cli_inform(
    "The checkpoints in {.path {trained_in}}, where the model was trained, are missing. Training
     starts again with initial weights."
  )
}

# --- weights during a training

# In a hook of the model's own training, returns a temporary checkpoint of the current weights.
current_weights <- function(object, checkpoint_path = NULL) {
  nothing <- function() invisible()
  if (!is.null(checkpoint_path)) {
    return(list(path = path.expand(checkpoint_path), forget = nothing))
  }
  folder <- current_model_dir(object)
  if (!folder$is_training) return(list(path = "", forget = nothing))
  scratch <- tempfile("runhooks-now-")
  path <- cpp_save_running(folder$path, scratch)
  if (is.null(path)) return(list(path = "", forget = nothing))
  list(path = path, forget = function() unlink(scratch, recursive = TRUE))
}

# A recipe contains code, so the metadata only record that there was one.
keep_recipe <- function(object, recipe, folder) {
  shared_state <- unclass(object$estimator)$shared_state
  if (is.null(recipe)) recipe <- object$recipe
  shared_state$recipe <- recipe
  record <- read_metadata(folder)
  has_recipe <- !is.null(recipe)
  if (is.null(record) || identical(isTRUE(record$recipe), has_recipe)) return(invisible())
  record$recipe <- if (has_recipe) TRUE
  update_metadata(folder, record)
}
