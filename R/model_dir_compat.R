# What the folder of a model remembers of the model that was trained in it, and the refusal of
# another one. It stands in the record of the training (R/model_dir_metadata.R); folders without it,
# such as TensorFlow's, are taken as they are.

# What the checkpoints depend on, or what would make their numbers mean something else: named
# strings in groups. Rates, regularization, weights of examples and the like may change.
model_signature <- function(object) {
  if (!is.null(object$spec)) cpp_model_memory(cached_core_model(object)$core)
}

# --- comparing

# Before the folder of the model is read: an error where another one was trained there. `mode` is
# "train", "eval" or "infer".
check_model_compatible <- function(object, mode, call = parent.frame()) {
  folder <- current_model_dir(object)
  if (is.null(folder) || !folder$has_checkpoint) return(invisible())
  record <- folder_memory(folder)
  was <- record$model
  if (is.null(was)) return(invisible())
  now <- core_signature(object)
  # the variables of an optimizer are read to train only
  groups <- setdiff(names(now), if (mode != "train") "optimizer")
  lines <- if (!identical(was[groups], now[groups])) {
    unlist(lapply(groups, function(group) differences(group, was[[group]], now[[group]])))
  }
  # one of another kind has other arguments, too
  if (!identical(was$kind, now$kind)) lines <- differences("kind", was$kind, now$kind)
  response <- object$blueprint$response$name
  lines <- c(lines, response_difference(record, response))
  if (length(lines) == 0) return(invisible())
  # a file of words that has changed or is gone is an error of its own
  lapply(spec_columns(object$spec), function(column) cpp_column_buckets(core_value(column)))
  abort_incompatible_model(folder$path, lines, call)
}

# What can be told without a look at the contents of columns: kinds, names of columns, the response.
check_column_memory <- function(object, folder, record, call) {
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
  # an optimizer that is not known now may be the same
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

# In an input function, which knows the response.
check_response_memory <- function(record, response, folder) {
  line <- response_difference(record, response)
  if (length(line)) abort_incompatible_model(folder, line, user_frame())
}

# A matrix has no names: the weights of a column are those of its place. The same features in another
# order are put in that of the training.
order_of_training <- function(estimator, order) {
  was <- training_record(estimator)$order
  if (length(was) == length(order) && setequal(was, order)) was else order
}

check_order_memory <- function(record, order, folder) {
  was <- record$order
  if (is.null(was) || is.null(order) || identical(was, order)) return(invisible())
  words <- function(names) paste0("'", names, "'", collapse = ", ")
  abort_incompatible_model(
    folder,
    paste0("It was trained on the features ", words(was), ", not on ", words(order), "."),
    user_frame()
  )
}

abort_incompatible_model <- function(folder, lines, call) {
  most <- 6
  shown <- utils::head(lines, most)
  rest <- length(lines) - length(shown)
  if (rest > 0) shown <- c(shown, sprintf("And %d more differences.", rest))
  abort_plain(
    c(
      paste0("The folder ", folder, " holds another model than this one."),
      setNames(shown, rep("x", length(shown))),
      i = "Give this model another `model_dir`, or make it as it was trained."
    ),
    kind = "failed_precondition", call = call
  )
}

# A word, once for each such training, where the folder of an object that was trained has weights by now
# that another object has trained.
inform_other_training <- function(object, folder) {
  kept <- unclass(object$estimator)$kept
  was <- kept$trained_to
  if (is.null(was) || folder$is_training || folder$mark %in% c(was, "")) return(invisible())
  kept$trained_to <- folder$mark
  then <- sub(":.*", "", was)
  now <- sub(":.*", "", folder$mark) # nolint: used by cli
  cli::cli_inform(
    c(
      "The model in {.path {folder$path}} has been trained by another object or process since:
       {if (then == now) 'it is another one by now, both' else paste('at step', then, 'then,')}
       at step {now}{if (then != now) ' by now'}.",
      i = "What is asked of this object is of that model; another {.arg model_dir} keeps models apart."
    ),
    class = "runhooks_message_other_training"
  )
}

# --- remembering

# The input of a training, which writes down what is trained: when the graph is built, since only
# then the core watches over the folder and takes the record away where nothing comes of it.
remembering_input <- function(input, object, folder) {
  force(input)
  is_new <- !folder$has_checkpoint
  # one that a killed process has left without a checkpoint
  if (is_new) folder$memory <- NULL
  if (is_new) folder$is_checked <- TRUE
  function(mode) {
    result <- input(mode)
    if (is_new) remember_model(object, folder)
    remember_data(attr(result, "data"), folder)
    c(result, list(memory = pending_metadata(folder)))
  }
}

remember_model <- function(object, folder) {
  record <- folder_memory(folder)
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

# Which data in memory are trained on, with a word where the folder has seen others, as in a script
# that is run again with other data.
remember_data <- function(data, folder) {
  record <- folder_memory(folder)
  if (is.null(data$content) || is.null(record) || identical(record$data, data)) return(invisible())
  was <- record$data
  if (folder$has_checkpoint && !is.null(was)) {
    cli::cli_inform(
      c(
        "The model in {.path {folder$path}} was trained on other data until step {folder$step}:
         {was$rows} row{?s}, and now {if (was$rows == data$rows) 'as many others' else data$rows}.",
        i = "It goes on from there with these; another {.arg model_dir} begins anew."
      ),
      class = "runhooks_message_other_data"
    )
  }
  record$data <- data
  update_metadata(folder, record)
}

is_known_model <- function(x) {
  is_texts <- function(texts) is.null(texts) || (is.character(texts) && !is.object(texts))
  is_plain_list(x) && all(vapply(x, is_texts, NA))
}

# --- whether there is something to predict by

# After a training: that the object was trained, where, to which checkpoint, and by which recipe.
record_training <- function(object, input_fn, folder, mark = folder$mark) {
  kept <- unclass(object$estimator)$kept
  kept$trained_in <- folder$path
  if (nzchar(mark)) kept$trained_to <- mark
  keep_recipe(object, attr(input_fn, "recipe", exact = TRUE), folder)
}

# The same of one that an error or an interrupt has left.
record_aborted_training <- function(object, input_fn) {
  folder <- open_folder(model_dir(object))
  if (!folder$has_checkpoint) return(invisible())
  record_training(object, input_fn, folder)
  memory <- pending_metadata(folder)
  if (!is.null(memory)) write_record(memory, folder$path)
}

# A warning where the model was never trained, as its values are initial ones then; an error where
# it was, elsewhere. `purpose` is what is asked of it.
check_has_weights <- function(object, purpose, call = parent.frame()) {
  folder <- current_model_dir(object)
  if (folder$has_checkpoint) return(inform_other_training(object, folder))
  if (folder$is_training) return(invisible())
  trained_in <- unclass(object$estimator)$kept$trained_in
  if (!is.null(trained_in)) abort_lost_folder(trained_in, folder$path, call)
  rlang::warn(
    c(
      paste0("Could not find trained model in model_dir: ", folder$path, "."),
      x = paste0("The model was not trained: ", purpose, " by its initial values."),
      i = "Call train() first, or give the `model_dir` in which it was trained."
    ),
    class = c("runhooks_warning_untrained", "runhooks_warning"), call = call
  )
}

abort_lost_folder <- function(trained_in, folder, call) {
  lost <- if (dir.exists(trained_in)) "which has no checkpoint any more" else "which is gone"
  abort_plain(
    c(
      paste0("The model was trained in ", trained_in, ", ", lost, "."),
      x = if (folder != trained_in) paste0("Its folder is now ", folder, "."),
      i = "Where the folder was moved, make the model again with `model_dir` = its new place.",
      i = "train() begins anew."
    ),
    kind = "not_found", call = call
  )
}

# Training begins anew, which is what a script wants that removes the folder.
inform_lost_folder <- function(object, folder) {
  trained_in <- unclass(object$estimator)$kept$trained_in
  if (is.null(trained_in) || folder$has_checkpoint) return(invisible())
  cli::cli_inform(
    "The checkpoints of {.path {trained_in}}, where the model was trained, are gone: training
     begins anew."
  )
}

# --- a model that is being trained

# The checkpoint to read, "" for the newest. A hook that asks the model which it trains gets the
# weights of this moment: a checkpoint of its own, which `forget()` removes when it was read.
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

# After a training: the recipe that has prepared its data, for new ones. Only that there was one
# goes into the folder, since a recipe is made of code.
keep_recipe <- function(object, recipe, folder) {
  kept <- unclass(object$estimator)$kept
  if (is.null(recipe)) recipe <- object$recipe
  kept$recipe <- recipe
  record <- folder_memory(folder)
  has_recipe <- !is.null(recipe)
  if (is.null(record) || identical(isTRUE(record$recipe), has_recipe)) return(invisible())
  record$recipe <- if (has_recipe) TRUE
  update_metadata(folder, record)
}
