# The estimator class: a specification of a model, a configuration and a model directory.

new_canned_estimator <- function(type, traits, class, spec, args, config) {
  spec <- c(list(type = type), spec)
  attr(spec, "owner") <- paste0(type, "()")
  structure(
    list(estimator = new_estimator_handle(traits$class, config), args = args, spec = spec),
    class = c(class, paste0("tf_estimator_", traits$kind), "tf_estimator")
  )
}

# Creates the value of `model$estimator`. Copies of a model share the environment `shared_state`.
new_estimator_handle <- function(description, config) {
  handle <- list(
    description = description, model_dir = config$model_dir, config = config,
    shared_state = new_shared_state(), is_temporary = is_within(config$model_dir, tempdir())
  )
  handle$shared_state$files <- checkpoint_snapshot(handle, config$model_dir)
  structure(handle, class = "runhooks_engine")
}

# Returns the fields of a model's handle. `$` of models and handles serves scripts and is slower.
handle_fields <- function(object) unclass(.subset2(object, "estimator"))

# State that copies of a model share and, except for `cache`, saveRDS() saves:
# * `data`, `recipe`: those of the last training;
# * `trained_in`, `trained_to`: the directory of the last training, and the id of its checkpoint;
# * `files`: the snapshot of the newest checkpoint (R/estimator_snapshot.R);
# * `model_dir`: the directory of a restored model, unless it is the original one.
new_shared_state <- function(data = NULL, recipe = NULL, trained_in = NULL, trained_to = NULL,
                             files = NULL, model_dir = NULL) {
  state <- list2env(as.list(environment()), parent = emptyenv())
  state$cache <- new_model_cache(state)
  state
}

# Creates an environment for values that later calls reuse. It may refer to the model, so it is the
# value of a weak reference: R's garbage collector can then free the cycle. saveRDS() does not save
# it.
new_model_cache <- function(state) cpp_attach_ephemeron(state, new.env(parent = emptyenv()))

# Returns the cache of a model. Its members are `cached` (the core's model), `plans` (how predict()
# reads data) and `rows` (converted data). `informed_of` is the last training that was reported to
# the user.
model_cache <- function(object) {
  state <- handle_fields(object)$shared_state
  cache <- if (typeof(state$cache) == "weakref") cpp_ephemeron_value(state$cache)
  if (!is.null(cache)) return(cache)
  state$cache <- new_model_cache(state) # the object was read from a file
  cpp_ephemeron_value(state$cache)
}

#' @export
`$.runhooks_engine` <- function(x, name) {
  if (name == "model_dir") return(resolve_model_dir(x))
  owner <- attr(x, "owner", exact = TRUE)
  if (!is.null(owner) && name %in% names(script_methods)) return(script_methods[[name]](owner))
  is_ours <- isNamespace(topenv(parent.frame()))
  if (is_ours) .subset2(x, name) else get_member(x, name, "shared_state")
}

#' @export
print.runhooks_engine <- function(x, ...) {
  # lint: allow stdout
  cat("<", unclass(x)$description, " in ", resolve_model_dir(x), ">\n", sep = "")
  invisible(x)
}

# An unknown member is an error for scripts, but NULL for packages: they look for members that only
# some kinds of models have. The package itself reads the handle by handle_fields().
#' @export
`$.tf_estimator` <- function(x, name) {
  value <- .subset2(x, name)
  if (!is.null(value)) return(if (name == "estimator") structure(value, owner = x) else value)
  if (name %in% names(script_methods)) return(script_methods[[name]](x))
  if (name %in% names(x) || isNamespace(topenv(parent.frame()))) return(value)
  abort_no_model_member(x, name, parent.frame())
}

# Functions that return what models of lm(), glm() and other packages have as members.
member_functions <- c(
  coefficients = "coef(model)", coef = "coef(model)", residuals = "residuals(model)",
  fitted.values = "fitted(model)", effects = "anova(model)", df.residual = "df.residual(model)",
  terms = "terms(model)", model = "model.frame(model)", deviance = "deviance(model)",
  aic = "AIC(model)", weights = "weights(model)", prior.weights = "weights(model)",
  family = "family(model)", na.action = "na.action(model)", sigma = "sigma(model)",
  r.squared = "summary(model)$r.squared", xlevels = "model.frame(model)",
  model_dir = "model_dir(model)", history = "run_history(model_dir(model))",
  variables = "variable_names(model)", weight = "variable_value(model)",
  importance = "feature_importances(model)", variable.importance = "feature_importances(model)"
)

abort_no_model_member <- function(x, name, call) {
  advice <- if (name %in% names(member_functions)) {
    paste0("Use {.code ", member_functions[[name]], "}.")
  } else {
    did_you_mean(name, c(names(x), names(script_methods)))
  }
  abort_runhooks(
    c("A model has no member {.code ${name}}.", i = unname(advice)), kind = "not_found", call = call
  )
}

is_estimator <- function(x) inherits(x, "tf_estimator")

# Aborts because `object` is not a model. The message gives advice if the arguments were swapped, as
# in train(data, model).
abort_no_model <- function(fun, object, other_args, call) {
  advice <- if (any(vapply(other_args, is_estimator, NA))) {
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
  kind <- if (is_formula) "a formula" else describe_type(object) # nolint: used by cli
  abort_runhooks(c("{.arg object} must be a model, not {kind}.", i = advice), call = call,
    env = environment()
  )
}

latest_checkpoint_or_abort <- function(dir, call = parent.frame()) {
  path <- cpp_newest_weights(dir)
  if (is.null(path)) {
    abort_runhooks(
      "Could not find trained model in model_dir: {dir}.", kind = "not_found", call = call
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
  handle <- .subset2(object, "estimator")
  if (!is.null(handle)) resolve_model_dir(handle)
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

# Describes a model. If its weights are lost, the description is the message of the error that other
# functions raise.
describe_or_error <- function(x) {
  tryCatch(
    describe_estimator(x),
    runhooks_error_failed_precondition = function(error) conditionMessage(error)
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
  dir <- model_dir(x)
  training_state <- if (is.null(cpp_latest_checkpoint(dir))) {
    "Model has not yet been trained."
  } else {
    steps <- cpp_saved_global_step(dir)
    sprintf(
      "Model has been trained for %s %s.",
      format(steps, big.mark = ",", scientific = FALSE),
      if (steps == 1) "step" else "steps"
    )
  }
  c(
    sprintf("A TensorFlow %s [%s]", kind, handle_fields(x)$description),
    sprintf("Model Directory: %s", dir),
    training_state
  )
}

# Returns the core's model, which is created again only if the specification has changed.
cached_core_model <- function(object) {
  cache <- model_cache(object)
  if (!identical(cache$cached$source, model_cache_key(object))) cache$cached <- make_model(object)
  cache$cached
}

model_cache_key <- function(object) {
  object <- unclass(object) # because `$` of an absent member takes microseconds
  list(object$spec, object$metric_fns, object$model_fn, object$args, object$warm_start_from)
}

make_model <- function(object) {
  core <- core_spec(object)
  is_file_based <- reads_vocabulary_file(object$spec)
  cached <- list2env(cpp_model_make(core, !is_file_based), parent = emptyenv())
  cached$reads_files <- is_file_based
  # not for custom models, whose model function refers to the object: the cycle would leak
  if (!is_custom(object)) cached$core <- core
  cached$source <- model_cache_key(object)
  cached
}

# Returns the cached result of model_signature(). It is computed again if the model reads vocabulary
# files, because these may change between two calls.
core_signature <- function(object) {
  cached <- cached_core_model(object)
  if (is.null(cached$signature) || cached$reads_files) cached$signature <- model_signature(object)
  cached$signature
}

reads_vocabulary_file <- function(spec) {
  if (!is.null(spec[["vocabulary_file"]])) return(TRUE)
  for (field in spec) if (is.list(field) && reads_vocabulary_file(field)) return(TRUE)
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
  config <- unclass(handle_fields(object)$config)
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
  if (folder$can_be_written) return(invisible())
  hint <- tempdir_hint("permission_denied", folder$path)
  file <- if (is.null(hint)) file_in_path(folder$path)
  if (!is.null(file)) {
    abort_runhooks(
      c(
        "{.arg model_dir} cannot be created: {.path {file}} is a file, not a directory.",
        i = "Give another path, or remove the file."
      ),
      kind = "permission_denied", call = call
    )
  }
  if (is.null(hint)) hint <- "Give a directory for which you have write permission."
  abort_runhooks(
    c("{.arg model_dir} is not writable: {.path {folder$path}}.", i = "{hint}"),
    kind = "permission_denied", call = call
  )
}

# The path itself, or the nearest directory above it that exists, if it is a file. Else NULL.
file_in_path <- function(path) {
  while (!file.exists(path) && dirname(path) != path) path <- dirname(path)
  if (file.exists(path) && !dir.exists(path)) path
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
