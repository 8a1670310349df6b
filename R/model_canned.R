# Constructors of built-in estimators, generated from the arguments that the core registers.

# `place$class` overrides the class, because tfestimators has one irregular class name.
constructor_factories$estimator <- function(specs, place) {
  .specs <- list(
    type = specs$type[[1]], seats = positional_slots(specs), own = spec_columns_of(specs, !specs$apart),
    formals = registered_formals(specs)
  )
  .specs$asks_given <- as.call(c(c, lapply(names(.specs$formals), function(name) {
    bquote(!missing(.(as.name(name))))
  })))
  .specs$required <- names(.specs$formals)[vapply(.specs$formals, is_absent, NA)]
  .class <- place$class
  f <- function() canned_estimator(.specs, .class)
  formals(f) <- c(.specs$formals, alist(... = ))
  f
}

# `call` is the frame of the constructor. A formula becomes columns before arguments are checked.
canned_estimator <- function(specs, class = NULL, call = parent.frame()) {
  type <- specs$type
  constructor <- sys.function(sys.parent())
  settled <- constructor_arguments(specs, call, names(sys.call(sys.parent())))
  check_string(settled$args$model_dir, null = TRUE, arg = "model_dir", call = call)
  config <- as_run_config(settled$args$config, settled$args$model_dir, call)
  derived <- formula_arguments(settled, config$model_dir, call)
  args <- derived$args
  weights <- args$class_weights
  if (!is.null(weights)) {
    response <- if (is_string(weights) && is.data.frame(derived$data)) {
      response_value(as.list(derived$data), derived$blueprint, call)
    }
    args$class_weights <- settle_class_weights(weights, args, response, call)
  }
  own <- specs$own
  spec <- prepared_arguments(args[own$name], own, call)
  # the core treats NULL and empty lists as missing arguments; empty `hidden_units` is a valid value
  is_vector <- !vapply(spec, is.null, NA) &
    (own$kind == "widths" | vapply(spec, function(x) isTRUE(attr(x, "is_of_formula")), NA))
  spec <- c(spec[is_vector | lengths(spec) > 0], derived$spec)
  traits <- settled$traits
  if (is.null(class)) class <- paste0("tf_estimator_", traits$kind, "_", type)
  model <- new_canned_estimator(
    type, traits, class, spec, args[!names(args) %in% c("formula", "data")], config
  )
  cached_core_model(model)
  written <- match.call(constructor, sys.call(sys.parent()), envir = parent.frame(2))
  model$call <- normalize_call(written, settled)
  for (name in c("formula", "blueprint", "data")) model[[name]] <- derived[[name]]
  check_warm_start(model, args$warm_start_from, call)
  if (!is.null(settled$recipe)) {
    model$recipe <- settled$recipe
    model$data <- as_baked(model$data)
  }
  without_frames(model)
}

model_words <- function(object) {
  traits <- model_traits(object$spec$type)
  modes <- c(regression = "regressor", classification = "classifier")
  kind <- if (traits$mode %in% names(modes)) {
    modes[[traits$mode]]
  } else {
    paste("model with", object$args$head$type)
  }
  paste(traits$words, kind)
}

# --- kinds of arguments

argument_kinds$optimizer <- function(x, name, call, wanted) {
  check_optimizer(x, name, call)
  x
}

argument_kinds$activation <- function(x, name, call, wanted) {
  if (is.function(x)) return(x)
  check_string(x, arg = name, call = call)
  known <- tryCatch(tf$nn[[x]], runhooks_error_not_found = function(error) NULL)
  if (is.null(known)) {
    abort_plain(
      sprintf("'%s' is not a known activation function in the 'tf$nn' module", x), call = call
    )
  }
  x
}

argument_kinds$partitioner <- function(x, name, call, wanted) {
  check_partitioner(x, name, call)
  wrap_partitioner(x)
}

argument_kinds$`warm start` <- function(x, name, call, wanted) as_warm_start(x, call)
