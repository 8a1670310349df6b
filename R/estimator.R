# The estimator class: a specification of a model, a configuration and a model directory.

new_canned_estimator <- function(type, traits, class, spec, args, config) {
  spec <- c(list(type = type), spec)
  attr(spec, "owner") <- paste0(type, "()")
  structure(
    list(estimator = new_engine(traits$class, config), args = args, spec = spec),
    class = c(class, paste0("tf_estimator_", traits$kind), "tf_estimator")
  )
}

# The value of `model$estimator`. All copies of the object share `shared_state`.
new_engine <- function(description, config) {
  engine <- list(
    description = description, model_dir = config$model_dir, config = config,
    shared_state = new_shared_state(), is_temporary = is_within(config$model_dir, tempdir())
  )
  engine$shared_state$files <- checkpoint_snapshot(engine, config$model_dir)
  structure(engine, class = "runhooks_engine")
}

# `data` and `recipe` are those of the last training, `trained_in` and `trained_to` its directory
# and mark. `files` is the snapshot of the newest checkpoint, `model_dir` the directory of a
# restored model if it is not the original one (R/estimator_snapshot.R). Except for `cache`, saved
# with the object.
new_shared_state <- function(data = NULL, recipe = NULL, trained_in = NULL, trained_to = NULL,
                             files = NULL, model_dir = NULL) {
  state <- list2env(as.list(environment()), parent = emptyenv())
  state$cache <- new_model_cache(state)
  state
}

# An environment for what later calls reuse. It is in a weak reference, because it may refer to the
# object; R's collector can free this cycle. Files do not contain it.
new_model_cache <- function(state) cpp_attach_ephemeron(state, new.env(parent = emptyenv()))

# `cached`: see make_model(); `plans`: see cache_predict_plan(); `rows`: see cached_rows();
# `informed_of`: see inform_other_training().
model_cache <- function(object) {
  state <- unclass(object$estimator)$shared_state
  cache <- if (typeof(state$cache) == "weakref") cpp_part(state$cache)
  if (!is.null(cache)) return(cache)
  state$cache <- new_model_cache(state) # the object was read from a file
  cpp_part(state$cache)
}

#' @export
`$.runhooks_engine` <- function(x, name) {
  owner <- attr(x, "owner", exact = TRUE)
  method <- if (!is.null(owner)) engine_method(owner, name)
  if (!is.null(method)) return(method)
  switch(name,
    model_dir = resolve_model_dir(x),
    get_variable_names = function() checkpoint_names(required_checkpoint(resolve_model_dir(x))),
    get_variable_value = function(name) {
      cpp_checkpoint_values(required_checkpoint(resolve_model_dir(x)), name)[[1]]
    },
    latest_checkpoint = function() latest_checkpoint(resolve_model_dir(x)),
    {
      is_ours <- isNamespace(topenv(parent.frame()))
      if (is_ours) unclass(x)[[name]] else member_of(x, name, "shared_state")
    }
  )
}

#' @export
print.runhooks_engine <- function(x, ...) {
  # lint: allow stdout
  cat("<", unclass(x)$description, " in ", resolve_model_dir(x), ">\n", sep = "")
  invisible(x)
}

# Packages that take models of any kind look for members that only some models have.
#' @export
`$.tf_estimator` <- function(x, name) {
  value <- .subset2(x, name)
  # for scripts that call methods, as in Python
  if (is.null(value) && name %in% engine_method_names) return(engine_method(x, name))
  if (isNamespace(topenv(parent.frame()))) return(value)
  if (name == "estimator") return(structure(value, owner = x))
  if (!is.null(value) || name %in% names(x)) return(value)
  abort_no_member(x, name, c(names(x), engine_method_names), call = parent.frame())
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

# Created once per specification.
cached_core_model <- function(object) {
  cache <- model_cache(object)
  if (!identical(cache$cached$source, model_cache_key(object))) cache$cached <- make_model(object)
  cache$cached
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
    above <- folder$path
    while (!file.exists(above) && dirname(above) != above) above <- dirname(above)
    if (file.exists(above) && !dir.exists(above)) {
      abort_runhooks(
        c(
          "{.arg model_dir} cannot be created: {.path {above}} is a file, not a directory.",
          i = "Give another path, or remove the file."
        ),
        kind = "permission_denied", call = call
      )
    }
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
