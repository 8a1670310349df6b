# Constructors of built-in estimators, generated from the arguments that the core registers.

# `place$class` overrides the class of the result. One constructor needs this, because its class
# name in tfestimators is irregular.
constructor_factories$estimator <- function(specs, place) {
  .specs <- list(
    type = specs$type[[1]], slots = positional_slots(specs),
    own = specs_as_list(specs, !specs$binding_only),
    formals = registered_formals(specs)
  )
  .specs$asks_given <- as.call(c(c, lapply(names(.specs$formals), function(name) {
    bquote(!missing(.(as.name(name))))
  })))
  .specs$required <- names(.specs$formals)[vapply(.specs$formals, is_absent, NA)]
  .class <- place$class
  f <- function() {
    abort_abbreviated_arguments()
    canned_estimator(.specs, .class)
  }
  formals(f) <- c(.specs$formals, alist(... = ))
  f
}

# Creates the estimator. `call` is the frame of the constructor, such as linear_regressor(). A
# formula is converted to columns before the other arguments are checked.
canned_estimator <- function(specs, class = NULL, call = parent.frame()) {
  type <- specs$type
  constructor <- sys.function(sys.parent())
  matched <- constructor_arguments(specs, call, names(sys.call(sys.parent())))
  check_string(matched$args$model_dir, null = TRUE, arg = "model_dir", call = call)
  config <- as_run_config(matched$args$config, matched$args$model_dir, call)
  derived <- formula_arguments(matched, config$model_dir, call)
  args <- derived$args
  weights <- args$class_weights
  if (!is.null(weights)) {
    response <- if (is_string(weights) && is.data.frame(derived$data)) {
      response_value(as.list(derived$data), derived$blueprint, call)
    }
    args$class_weights <- resolve_class_weights(weights, args, response, call)
  }
  core_specs <- specs$own
  spec <- convert_arguments(args[core_specs$name], core_specs, call)
  # the core treats NULL and empty lists as missing arguments; empty `hidden_units` is a valid value
  is_value <- !vapply(spec, is.null, NA) &
    (core_specs$kind == "widths" | vapply(spec, function(x) isTRUE(attr(x, "is_of_formula")), NA))
  spec <- c(spec[is_value | lengths(spec) > 0], derived$spec)
  traits <- matched$traits
  if (is.null(class)) class <- paste0("tf_estimator_", traits$kind, "_", type)
  model <- new_canned_estimator(
    type, traits, class, spec, args[!names(args) %in% c("formula", "data")], config
  )
  cached_core_model(model)
  user_call <- match.call(constructor, sys.call(sys.parent()), envir = parent.frame(2))
  model$call <- normalize_call(user_call, matched)
  for (name in c("formula", "blueprint", "data")) model[[name]] <- derived[[name]]
  check_warm_start(model, args$warm_start_from, call)
  if (!is.null(matched$recipe)) {
    model$recipe <- matched$recipe
    model$data <- mark_as_baked(model$data)
  }
  reduce_environments(model)
}

describe_model <- function(object) {
  traits <- model_traits(object$spec$type)
  mode_nouns <- c(regression = "regressor", classification = "classifier")
  kind <- if (traits$mode %in% names(mode_nouns)) {
    mode_nouns[[traits$mode]]
  } else {
    paste("model with", object$args$head$type)
  }
  paste(traits$words, kind)
}

# Returns the title of a model, such as "Deep regressor: mpg ~ wt". Without a formula, it is the
# kind of model only.
model_title <- function(object) {
  kind <- if (is_custom(object)) "custom model" else describe_model(object)
  substr(kind, 1, 1) <- ascii_upper(substr(kind, 1, 1))
  if (is.null(object$formula)) kind else paste0(kind, ": ", code_text(object$formula))
}

describe_optimizer <- function(object) {
  parts <- model_traits(object$spec$type)$parts
  texts <- vapply(parts, function(part) {
    describe_part_optimizer(object$args[[part$optimizer]], part)
  }, "")
  names <- sub("_?optimizer$", "", vapply(parts, `[[`, "", "optimizer"))
  if (length(parts) > 1) paste(names, texts, collapse = ", ") else texts[[1]]
}

describe_part_optimizer <- function(optimizer, part) {
  if (is.function(optimizer)) return("by a function")
  if (is.null(optimizer)) return(part$missing)
  is_own <- inherits(optimizer, "runhooks_own_optimizer")
  name <- if (is_own) optimizer$name else optimizer_type(optimizer)
  if (needs_all_rows(name)) return(paste0(name, ", over all rows in each step"))
  rate <- if (is_optimizer(optimizer)) {
    optimizer$learning_rate
  } else if (!part$rate_falls) {
    part$rate
  }
  if (is_number(rate)) sprintf("%s (learning rate %s)", name, format(unname(rate))) else name
}

# Returns the settings of a model for the record of a run: arguments with short values. Arguments
# about data or files, and defaults without effect, are omitted.
hyperparameters <- function(object) {
  if (is_custom(object)) return(Filter(is_short, object$args$params))
  args <- object$args[!names(object$args) %in% c(
    "feature_columns", "model_dir", "config", "label_dimension", "label_vocabulary", "n_classes",
    "normalize", "weight_column"
  )]
  has_optimizer <- grepl("optimizer$", names(args))
  args <- Filter(is_short, args[!has_optimizer])
  args <- args[!vapply(args, isFALSE, NA) & !vapply(args, identical, NA, "sum")]
  traits <- model_traits(object$spec$type)
  if (length(traits$trained_parts) == 0) return(args)
  c(args[!grepl("learning_rate$", names(args))], list(optimizer = describe_optimizer(object)))
}

is_short <- function(x) is_atomic(x) && length(x) > 0 && length(x) <= 20

# --- kinds of arguments

argument_converters$optimizer <- function(x, name, call, wanted) {
  check_optimizer(x, name, call)
  x
}

argument_converters$activation <- function(x, name, call, wanted) {
  if (is.function(x)) return(x)
  check_string(x, arg = name, call = call)
  activation <- tryCatch(tf$nn[[x]], runhooks_error_not_found = function(error) NULL)
  if (is.null(activation)) {
    abort_plain(
      sprintf("'%s' is not a known activation function in the 'tf$nn' module", x), call = call
    )
  }
  x
}

argument_converters$partitioner <- function(x, name, call, wanted) {
  check_partitioner(x, name, call)
  wrap_partitioner(x)
}

argument_converters$`warm start` <- function(x, name, call, wanted) as_warm_start(x, call)
