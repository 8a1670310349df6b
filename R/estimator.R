# The estimator: a specification, a folder, and the class that the methods go by.

new_canned_estimator <- function(type, traits, class, spec, args, config) {
  spec <- c(list(type = type), spec)
  attr(spec, "owner") <- paste0(type, "()")
  structure(
    list(estimator = new_engine(traits$class, config), args = args, spec = spec),
    class = c(class, paste0("tf_estimator_", traits$kind), "tf_estimator")
  )
}

# What scripts reach as `model$estimator`. The functions hold the configuration and nothing else.
# `kept` is what all copies of the object share, with what stands for the newest checkpoint.
new_engine <- function(description, config) {
  engine <- list(
    description = description, model_dir = config$model_dir, config = config,
    kept = new.env(parent = emptyenv()), is_temporary = startsWith(config$model_dir, tempdir())
  )
  engine$kept$files <- checkpoint_snapshot(engine, config$model_dir)
  structure(engine, class = "runhooks_engine")
}

#' @export
`$.runhooks_engine` <- function(x, name) {
  switch(name,
    model_dir = resolve_model_dir(x),
    get_variable_names = function() checkpoint_names(required_checkpoint(resolve_model_dir(x))),
    get_variable_value = function(name) {
      cpp_checkpoint_values(required_checkpoint(resolve_model_dir(x)), name)[[1]]
    },
    latest_checkpoint = function() latest_checkpoint(resolve_model_dir(x)),
    unclass(x)[[name]]
  )
}

#' @export
print.runhooks_engine <- function(x, ...) {
  # lint: allow stdout
  cat("<", unclass(x)$description, " in ", resolve_model_dir(x), ">\n", sep = "")
  invisible(x)
}

is_estimator <- function(x) inherits(x, "tf_estimator")

# An error for train(data, model) and train(formula, data), with what was meant.
abort_no_model <- function(fun, object, others, call) {
  advice <- if (any(vapply(others, is_estimator, NA))) {
    "The model comes first: {.code {fun}(model, data)}."
  } else if (inherits(object, "formula")) {
    "A formula makes a model: {.code model <- linear_regressor({deparse(object, 500)[[1]]}, data)},
     then {.code {fun}(model)}."
  } else if (is.data.frame(object) || inherits(object, "tf_dataset")) {
    "Make one of the data: {.code model <- linear_regressor(y ~ x, data)}, then {.code {fun}(model)}."
  }
  if (is.null(advice)) check_arg(FALSE, object, "a model", "object", call)
  what <- if (inherits(object, "formula")) "a formula" else kind_of(object) # nolint: used by cli
  abort_runhooks(c("{.arg object} must be a model, not {what}.", i = advice), call = call,
    env = environment()
  )
}

required_checkpoint <- function(folder, call = parent.frame()) {
  path <- cpp_latest_checkpoint(folder)
  if (is.null(path)) {
    abort_runhooks(
      "Could not find trained model in model_dir: {folder}.", kind = "not_found", call = call
    )
  }
  path
}

#' The folder of a model
#'
#' @param object An estimator.
#' @param ... Not used.
#' @return A path.
#' @section Errors: `runhooks_error_invalid_argument` for what is no model.
#' @family inspecting
#' @export
#' @examples
#' model_dir(linear_regressor(column_numeric("wt"), model_dir = "models/wt"))
model_dir <- function(object, ...) UseMethod("model_dir")

#' @export
model_dir.default <- function(object, ...) {
  check_arg(FALSE, object, "a model", "object", environment())
}

#' @export
model_dir.tf_estimator <- function(object, ...) {
  if (...length()) abort_more("model_dir", list(...))
  # an object of the class that nothing was made for has no folder
  if (!is.null(object$estimator)) resolve_model_dir(object$estimator)
}

#' @export
print.tf_estimator <- function(x, ...) {
  cat(shown_estimator(x), sep = "\n") # lint: allow stdout
  invisible(x)
}

#' @export
str.tf_estimator <- function(object, ...) {
  lines <- shown_estimator(object)
  cat(lines, sep = "\n") # lint: allow stdout
  invisible(paste(lines, collapse = "\n"))
}

# One whose weights are lost is shown by the error that others raise.
shown_estimator <- function(x) {
  tryCatch(
    describe_estimator(x), runhooks_error_failed_precondition = function(error) conditionMessage(error)
  )
}

describe_estimator <- function(x) {
  if (!is.null(x$formula)) return(describe_formula_model(x))
  kind <- if (inherits(x, "tf_estimator_regressor")) {
    "regressor"
  } else if (inherits(x, "tf_estimator_classifier")) {
    "classifier"
  } else {
    "estimator"
  }
  folder <- model_dir(x)
  trained <- if (is.null(cpp_latest_checkpoint(folder))) {
    "Model has not yet been trained."
  } else {
    steps <- cpp_saved_global_step(folder)
    sprintf(
      "Model has been trained for %s %s.",
      format(steps, big.mark = ",", scientific = FALSE),
      if (steps == 1) "step" else "steps"
    )
  }
  c(
    sprintf("A TensorFlow %s [%s]", kind, unclass(x$estimator)$description),
    sprintf("Model Directory: %s", folder),
    trained
  )
}

# What was made of the model in the core, with what it says of its labels and of the features that
# its columns read: once, until the specification is another one. It is a part of the object that no
# file gets, so that a model that is saved does not hold its specification twice, and what no file can.
# It may know the object, by a function of the model: R's collector sees the circle.
cached_core_model <- function(object) {
  kept <- unclass(object$estimator)$kept
  made <- if (typeof(kept$made) == "weakref") cpp_part(kept$made)
  if (!is.null(made) && identical(made$source, model_cache_key(object))) return(made)
  made <- make_model(object)
  kept$made <- cpp_attach_ephemeron(kept, made)
  made
}

# An environment that goes with `kept`, for what no file gets. One and the same each time, since what
# R keeps for an owner it keeps until the owner goes, be it replaced or not.
object_cache <- function(kept, name) {
  place <- if (typeof(kept[[name]]) == "weakref") cpp_part(kept[[name]])
  if (is.null(place)) {
    place <- new.env(parent = emptyenv())
    kept[[name]] <- cpp_attach_ephemeron(kept, place)
  }
  place
}

model_cache_key <- function(object) {
  list(object$spec, object$metric_fns, object$model_fn, object$args, object$warm_start_from)
}

make_model <- function(object) {
  core <- core_spec(object)
  # the words of a file may change between two calls
  reads_files <- has_file(object$spec)
  made <- list2env(cpp_model_make(core, !reads_files), parent = emptyenv())
  made$reads_files <- reads_files
  # a custom one's function knows the object, which then would never be let go
  if (!is_custom(object)) made$core <- core
  made$source <- model_cache_key(object)
  made
}

# model_signature(), once for a model that reads no files: their words may change between two calls.
core_signature <- function(object) {
  made <- cached_core_model(object)
  if (is.null(made$memory) || made$reads_files) made$memory <- model_signature(object)
  made$memory
}

# Whether a column in the specification, at whatever depth, has its words in a file.
has_file <- function(spec) {
  if (!is.null(spec[["vocabulary_file"]])) return(TRUE)
  for (part in spec) if (is.list(part) && has_file(part)) return(TRUE)
  FALSE
}

# What the core is called with.
core_model <- function(object) cached_core_model(object)$pointer

# What the core needs of an estimator.
core_spec <- function(object) {
  if (is_custom(object)) {
    return(structure(
      list(model_fn = custom_model(object), warm_start_from = object$warm_start_from),
      metric_fns = object$metric_fns
    ))
  }
  spec <- core_values(object$spec)
  attr(spec, "owner") <- attr(object$spec, "owner")
  attr(spec, "metric_fns") <- object$metric_fns
  spec
}

core_config <- function(object) {
  config <- unclass(unclass(object$estimator)$config)
  config <- config[names(config_defaults)]
  config$model_dir <- model_dir(object)
  config$replicas <- replicas_of(config)
  config$normalizes_together <- isTRUE(unclass(config)$train_distribute$sync_batch_norm)
  config["train_distribute"] <- list(NULL)
  config[vapply(config, is.null, NA)] <- NULL
  config[c("session_config", "device_fn")] <- NULL
  config
}

# An error before anything is run where the folder cannot be written, or not be made. Nothing is
# left there.
check_model_dir <- function(folder, call = parent.frame()) {
  if (!folder$can_be_written) {
    abort_runhooks(
      c(
        "{.arg model_dir} cannot be written: {.path {folder$path}}.",
        i = "Give a folder that you may write to."
      ),
      kind = "permission_denied", call = call
    )
  }
}

is_custom <- function(x) inherits(x, "tf_custom_estimator")

# The numbers that are written down: all of them, or those of a sparse matrix.
stored_numbers <- function(x) if (is_sparse_matrix(x)) x@x else x

read_keys <- function(reads) unique(vapply(reads, `[[`, "", "key"))

# What a model's head takes as labels, what it predicts, and the weights that it reads; NULL where
# there is none. The core said so when the model was made.
model_labels <- function(estimator) {
  if (!is.null(estimator$spec)) cached_core_model(estimator)$labels
}

# The global step at which a model ends a training by itself; NULL of most.
model_planned_steps <- function(object) {
  if (is_custom(object) || !model_traits(object$spec$type)$ends_itself) return(NULL)
  cpp_estimator_planned_steps(core_spec(object))
}

# What the family of an estimator says of itself: its words, parts, optimizers with their rates.
model_traits <- function(type) {
  if (is.null(the$model_traits[[type]])) {
    traits <- cpp_model_traits(type)
    traits$kind <- ascii_lower(
      sub(".*(?=(Regressor|Classifier|Estimator)$)", "", traits$class, perl = TRUE)
    )
    # those that have columns, by the argument that takes them, and those that have an optimizer
    parts <- Filter(function(part) nzchar(part$columns), traits$parts)
    traits$parts_of_columns <- setNames(parts, vapply(parts, `[[`, "", "columns"))
    traits$trained_parts <- Filter(function(part) nzchar(part$optimizer), traits$parts)
    the$model_traits[[type]] <- traits
  }
  the$model_traits[[type]]
}

# Whether a model is of trees, which ask its features.
is_tree_model <- function(object) {
  !is_custom(object) && isTRUE(model_traits(object$spec$type)$has_trees)
}
