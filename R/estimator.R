# The estimator class: a specification of a model, a configuration and a model directory.

new_canned_estimator <- function(type, traits, class, spec, args, config) {
  spec <- c(list(type = type), spec)
  attr(spec, "owner") <- paste0(type, "()")
  structure(
    list(estimator = new_engine(traits$class, config), args = args, spec = spec),
    class = c(class, paste0("tf_estimator_", traits$kind), "tf_estimator")
  )
}

# The value of `model$estimator`. All copies of the object share the environment
# `shared_state`, which contains the snapshot of the newest checkpoint.
new_engine <- function(description, config) {
  engine <- list(
    description = description, model_dir = config$model_dir, config = config,
    shared_state = new.env(parent = emptyenv()),
    is_temporary = is_within(config$model_dir, tempdir())
  )
  engine$shared_state$files <- checkpoint_snapshot(engine, config$model_dir)
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

#' @export
`$.tf_estimator` <- function(x, name) {
  member_of(x, name, c(
    "args", "spec", "blueprint", "formula", "data", "call", "recipe", "model_fn", "metric_fns",
    "warm_start_from", "params"
  ))
}

is_estimator <- function(x) inherits(x, "tf_estimator")

# Detects swapped arguments, as in train(data, model) or train(formula, data).
abort_no_model <- function(fun, object, others, call) {
  advice <- if (any(vapply(others, is_estimator, NA))) {
    "Put the model first: {.code {fun}(model, data)}."
  } else if (inherits(object, "formula")) {
    "Create a model from the formula: {.code model <- linear_regressor({deparse(object, 500)[[1]]},
     data)}, then {.code {fun}(model)}."
  } else if (is.data.frame(object) || inherits(object, "tf_dataset")) {
    "Create a model from the data: {.code model <- linear_regressor(y ~ x, data)}, then
     {.code {fun}(model)}."
  }
  if (is.null(advice)) check_arg(FALSE, object, "a model", "object", call)
  is_formula <- inherits(object, "formula")
  what <- if (is_formula) "a formula" else describe_type(object) # nolint: used by cli
  abort_runhooks(c("{.arg object} must be a model, not {what}.", i = advice), call = call,
    env = environment()
  )
}

required_checkpoint <- function(folder, call = parent.frame()) {
  path <- cpp_newest_weights(folder)
  if (is.null(path)) {
    abort_runhooks(
      "Could not find trained model in model_dir: {folder}.", kind = "not_found", call = call
    )
  }
  path
}

#' Get the directory of a model
#'
#' Returns the path of the directory with the checkpoints and event files of a model.
#'
#' @param object An estimator.
#' @param ... Must be empty.
#' @return An absolute path, a string.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `object` is not a model.
#'   * `runhooks_error_failed_precondition`: `object` was restored with `readRDS()`, and its weights
#'     no longer exist.
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
  if (...length()) abort_extra_arguments("model_dir", list(...))
  # an object without an estimator, such as one built by hand, has no directory
  if (!is.null(object$estimator)) resolve_model_dir(object$estimator)
}

#' @export
print.tf_estimator <- function(x, ...) {
  cat(describe_or_error(x), sep = "\n") # lint: allow stdout
  invisible(x)
}

#' @export
str.tf_estimator <- function(object, ...) {
  lines <- describe_or_error(object)
  cat(lines, sep = "\n") # lint: allow stdout
  invisible(paste(lines, collapse = "\n"))
}

# If the weights are lost, the description is the message of the error that other functions raise.
describe_or_error <- function(x) {
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

# Created once per specification, and never serialized. It is in a weak reference with the key
# `shared_state`, because the model's functions may refer to the object; R's collector can free this
# cycle.
cached_core_model <- function(object) {
  shared_state <- unclass(object$estimator)$shared_state
  cached <- if (typeof(shared_state$cached) == "weakref") cpp_part(shared_state$cached)
  if (!is.null(cached) && identical(cached$source, model_cache_key(object))) return(cached)
  cached <- make_model(object)
  shared_state$cached <- cpp_attach_ephemeron(shared_state, cached)
  cached
}

# Never serialized. The environment is reused: R releases the value of a weak reference only with
# its key, so replacing it would leak.
object_cache <- function(shared_state, name) {
  place <- if (typeof(shared_state[[name]]) == "weakref") cpp_part(shared_state[[name]])
  if (is.null(place)) {
    place <- new.env(parent = emptyenv())
    shared_state[[name]] <- cpp_attach_ephemeron(shared_state, place)
  }
  place
}

model_cache_key <- function(object) {
  list(object$spec, object$metric_fns, object$model_fn, object$args, object$warm_start_from)
}

make_model <- function(object) {
  core <- core_spec(object)
  # vocabulary files may change between two calls
  reads_files <- has_file(object$spec)
  cached <- list2env(cpp_model_make(core, !reads_files), parent = emptyenv())
  cached$reads_files <- reads_files
  # omitted for custom models: their function refers to the object, and the cycle would leak
  if (!is_custom(object)) cached$core <- core
  cached$source <- model_cache_key(object)
  cached
}

# Like model_signature(), cached unless the model reads vocabulary files, which may change.
core_signature <- function(object) {
  cached <- cached_core_model(object)
  if (is.null(cached$signature) || cached$reads_files) cached$signature <- model_signature(object)
  cached$signature
}

has_file <- function(spec) {
  if (!is.null(spec[["vocabulary_file"]])) return(TRUE)
  for (part in spec) if (is.list(part) && has_file(part)) return(TRUE)
  FALSE
}

core_model <- function(object) cached_core_model(object)$pointer

core_spec <- function(object) {
  if (is_custom(object)) {
    return(structure(
      list(model_fn = custom_model(object), warm_start_from = object$warm_start_from),
      metric_fns = object$metric_fns
    ))
  }
  spec <- values_for_core(object$spec)
  attr(spec, "owner") <- attr(object$spec, "owner")
  attr(spec, "metric_fns") <- object$metric_fns
  spec
}

core_config <- function(object) {
  config <- unclass(unclass(object$estimator)$config)
  config <- config[names(config_defaults)]
  config$model_dir <- model_dir(object)
  config$replicas <- replicas_of(config)
  config$sync_batch_norm <- isTRUE(unclass(config)$train_distribute$sync_batch_norm)
  config["train_distribute"] <- list(NULL)
  config[vapply(config, is.null, NA)] <- NULL
  config[c("session_config", "device_fn")] <- NULL
  config
}

check_model_dir <- function(folder, call = parent.frame()) {
  if (!folder$can_be_written) {
    hint <- temporary_hint("permission_denied", folder$path)
    if (is.null(hint)) hint <- "Give a directory for which you have write permission."
    abort_runhooks(
      c("{.arg model_dir} is not writable: {.path {folder$path}}.", i = "{hint}"),
      kind = "permission_denied", call = call
    )
  }
}

is_custom <- function(x) inherits(x, "tf_custom_estimator")

stored_numbers <- function(x) if (is_sparse_matrix(x)) x@x else x

feature_keys <- function(reads) unique(vapply(reads, `[[`, "", "key"))

model_labels <- function(estimator) {
  if (!is.null(estimator$spec)) cached_core_model(estimator)$labels
}

model_planned_steps <- function(object) {
  if (is_custom(object) || !model_traits(object$spec$type)$ends_itself) return(NULL)
  cpp_estimator_planned_steps(core_spec(object))
}

model_traits <- function(type) {
  if (is.null(the$model_traits[[type]])) {
    traits <- cpp_model_traits(type)
    traits$kind <- ascii_lower(
      sub(".*(?=(Regressor|Classifier|Estimator)$)", "", traits$class, perl = TRUE)
    )
    parts <- Filter(function(part) nzchar(part$columns), traits$parts)
    traits$parts_of_columns <- setNames(parts, vapply(parts, `[[`, "", "columns"))
    traits$trained_parts <- Filter(function(part) nzchar(part$optimizer), traits$parts)
    the$model_traits[[type]] <- traits
  }
  the$model_traits[[type]]
}

is_tree_model <- function(object) {
  !is_custom(object) && isTRUE(model_traits(object$spec$type)$has_trees)
}
