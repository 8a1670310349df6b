# Checks that a model agrees with the metadata of its model directory (R/model_dir_metadata.R), and
# updates the metadata. Directories without metadata, such as TensorFlow's, are accepted.

# Returns the properties that determine the variables and their meaning, as groups of named strings.
# Learning rates, regularization and example weights are not included.
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
  trained <- record$model
  if (is.null(trained)) return(invisible())
  current <- core_signature(object)
  # only training reads the variables of an optimizer
  groups <- setdiff(names(current), if (mode != "train") "optimizer")
  lines <- if (!identical(trained[groups], current[groups])) {
    unlist(lapply(groups, function(group) {
      describe_differences(group, trained[[group]], current[[group]])
    }))
  }
  # if the kind of model differs, its arguments differ, too, so only the kind is listed
  if (!identical(trained$kind, current$kind)) {
    lines <- describe_differences("kind", trained$kind, current$kind)
  }
  response <- object$blueprint$response$name
  lines <- c(lines, response_difference(record, response))
  if (length(lines) == 0) return(invisible())
  # raises a more specific error if a vocabulary file is missing or has changed
  lapply(columns_in_spec(object$spec), function(column) cpp_column_buckets(value_for_core(column)))
  abort_incompatible_model(folder$path, lines, call, arg)
}

check_columns_compatible <- function(object, folder, record, call) {
  trained <- record$model
  if (is.null(trained)) return(invisible())
  current <- core_signature(object)
  lines <- if (!identical(trained$kind, current$kind)) {
    describe_differences("kind", trained$kind, current$kind)
  } else {
    # compares the names of the columns only
    trained_columns <- replace(trained$columns, TRUE, "")
    current_columns <- replace(current$columns, TRUE, "")
    c(
      describe_differences("columns", trained_columns, current_columns),
      response_difference(record, object$blueprint$response$name)
    )
  }
  if (length(lines)) abort_incompatible_model(folder$path, lines, call)
}

describe_differences <- function(group, trained, current) {
  missing <- setdiff(names(trained), names(current))
  added <- setdiff(names(current), names(trained))
  common <- intersect(names(trained), names(current))
  different <- common[trained[common] != current[common]]
  changed <- switch(group,
    kind = sprintf("It was trained as %s(), not %s().", trained[different], current[different]),
    optimizer = sprintf("It was trained with %s, not %s.", trained[different], current[different]),
    columns = sprintf(
      "The column '%s' was %s and is now %s.", different, trained[different], current[different]
    ),
    sprintf("`%s` was %s and is now %s.", different, trained[different], current[different])
  )
  # if the metadata contain no optimizer, it is unknown, which is not a difference
  if (group == "optimizer") return(changed)
  pattern <- if (group == "columns") "the column '%s'" else "`%s`"
  c(
    changed, sprintf(paste0("It was trained with ", pattern, ", which this model lacks."), missing),
    sprintf(paste0("It was trained without ", pattern, "."), added)
  )
}

response_difference <- function(record, response) {
  trained <- record$response$name
  if (is.null(record$model) || length(trained) != 1 || length(response) != 1) return(NULL)
  if (trained != response) sprintf("It was trained to predict '%s', not '%s'.", trained, response)
}

check_response_compatible <- function(record, response, folder) {
  line <- response_difference(record, response)
  if (length(line)) abort_incompatible_model(folder, line, user_frame())
}

# Returns the features in the order of the training. The feature matrix of a custom model has no
# column names, so a different order would give wrong results.
features_in_training_order <- function(estimator, order) {
  trained_order <- training_record(estimator)$order
  is_same_set <- length(trained_order) == length(order) && setequal(trained_order, order)
  if (is_same_set) trained_order else order
}

check_order_compatible <- function(record, order, folder) {
  trained_order <- record$order
  is_unknown <- is.null(trained_order) || is.null(order)
  if (is_unknown || identical(trained_order, order)) return(invisible())
  quoted <- function(names) paste0("'", names, "'", collapse = ", ")
  line <- paste0(
    "It was trained on the features ", quoted(trained_order), ", not on ", quoted(order), "."
  )
  abort_incompatible_model(folder, line, user_frame())
}

abort_incompatible_model <- function(folder, lines, call, arg = "model_dir") {
  shown <- utils::head(lines, 6)
  num_hidden <- length(lines) - length(shown)
  if (num_hidden > 0) shown <- c(shown, sprintf("And %d more differences.", num_hidden))
  abort_plain(
    c(
      paste0("The model directory ", folder, " contains a different model."),
      setNames(shown, rep("x", length(shown))),
      i = paste0("Use another `", arg, "`, or create the model with the arguments of the training.")
    ),
    kind = "failed_precondition", call = call
  )
}

# Informs the user, once for each training, if another object or process has trained the model.
inform_other_training <- function(object, folder) {
  cache <- model_cache(object)
  known_id <- cache$informed_of
  if (is.null(known_id)) known_id <- handle_fields(object)$shared_state$trained_to
  if (is.null(known_id) || folder$is_training) return(invisible())
  if (folder$checkpoint_id %in% c(known_id, "")) return(invisible())
  # if the newest checkpoint cannot be read, the core reports that
  newest <- utils::tail(cpp_listed_checkpoints(folder$path, "checkpoint"), 1)
  is_read <- endsWith(newest, paste0("-", sub(":.*", "", folder$checkpoint_id)))
  if (length(newest) && !is_read) return(invisible())
  cache$informed_of <- folder$checkpoint_id
  known_step <- sub(":.*", "", known_id) # nolint: used by cli
  current_step <- sub(":.*", "", folder$checkpoint_id) # nolint: used by cli
  cli::cli_inform(
    c(
      "Another object or process has trained the model in {.path {folder$path}}: this object had
       trained it to step {known_step}, and it is now at step {current_step}.",
      i = "This object now uses the new weights. Use one {.arg model_dir} for each model."
    ),
    class = "runhooks_message_other_training"
  )
}

# --- updates of the metadata

# Wraps the input function of a training, so that it also records the model and the data. The core
# calls the input while it builds the graph. At that time the core holds the lock of the directory.
# The core removes the record if the training fails.
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
      kind <- if (blueprint$response_as_strings) "character" else "double"
      record$response <- list(name = blueprint$response$name, kind = kind)
    }
  }
  update_metadata(folder, record)
}

record_data <- function(data, folder) {
  record <- read_metadata(folder)
  if (is.null(data$content) || is.null(record) || identical(record$data, data)) return(invisible())
  previous <- record$data
  if (folder$has_checkpoint && !is.null(previous)) {
    cli::cli_inform(
      c(
        "The model in {.path {folder$path}} was trained on other data until step {folder$step}:
         {previous$rows} row{?s}, and now
         {if (previous$rows == data$rows) 'as many others' else data$rows}.",
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
  shared_state <- handle_fields(object)$shared_state
  shared_state$trained_in <- folder$path
  if (nzchar(checkpoint_id)) {
    shared_state$trained_to <- checkpoint_id
    cache <- model_cache(object)
    cache$informed_of <- NULL
  }
  record_recipe(object, attr(input_fn, "recipe", exact = TRUE), folder)
}

record_aborted_training <- function(object, input_fn) {
  folder <- read_model_dir(model_dir(object))
  if (!folder$has_checkpoint) return(invisible())
  record_training(object, input_fn, folder)
  write_pending_metadata(folder)
}

# Warns if the model was never trained. Aborts if the directory of its training is lost.
check_has_weights <- function(object, purpose, call = parent.frame()) {
  folder <- current_model_dir(object)
  if (folder$has_checkpoint) return(inform_other_training(object, folder))
  if (folder$is_training) return(invisible())
  trained_in <- handle_fields(object)$shared_state$trained_in
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

# Reports that the directory of the last training is lost. This is no error, because a script may
# delete the directory to start again.
inform_lost_folder <- function(object, folder) {
  trained_in <- handle_fields(object)$shared_state$trained_in
  if (is.null(trained_in) || folder$has_checkpoint) return(invisible())
  cli::cli_inform(
    "The checkpoints in {.path {trained_in}}, where the model was trained, are missing. Training
     starts again with initial weights."
  )
}

# --- weights during a training

# Returns `path`, the checkpoint to use, and `forget()`, which deletes it if it is temporary. In a
# hook of the model's own training, the checkpoint is a temporary one of the current weights. The
# path "" means the newest checkpoint.
current_weights <- function(object, checkpoint_path = NULL) {
  nothing <- function() invisible()
  if (!is.null(checkpoint_path)) {
    return(list(path = path.expand(checkpoint_path), forget = nothing))
  }
  folder <- current_model_dir(object)
  if (!folder$is_training) return(list(path = "", forget = nothing))
  scratch <- tempfile("runhooks-now-")
  path <- cpp_save_active_training(folder$path, scratch)
  if (is.null(path)) return(list(path = "", forget = nothing))
  list(path = path, forget = function() unlink(scratch, recursive = TRUE))
}

# Keeps the recipe with the object. The metadata only record that there was a recipe, because a
# recipe contains code.
record_recipe <- function(object, recipe, folder) {
  shared_state <- handle_fields(object)$shared_state
  if (is.null(recipe)) recipe <- object$recipe
  shared_state$recipe <- recipe
  record <- read_metadata(folder)
  has_recipe <- !is.null(recipe)
  if (is.null(record) || identical(isTRUE(record$recipe), has_recipe)) return(invisible())
  record$recipe <- if (has_recipe) TRUE
  update_metadata(folder, record)
}
