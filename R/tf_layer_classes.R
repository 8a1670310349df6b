# The classes of tf$layers, such as tf$layers$Dense(). All calls of a layer object share the
# variables that its first call creates.

layer_class_symbols <- function() {
  classes <- c(
    Dense = "dense", Dropout = "dropout", Flatten = "flatten", Conv1D = "conv1d",
    Conv2D = "conv2d", Conv2DTranspose = "conv2d_transpose", SeparableConv1D = "separable_conv1d",
    SeparableConv2D = "separable_conv2d", MaxPooling1D = "max_pooling1d",
    MaxPooling2D = "max_pooling2d", AveragePooling1D = "average_pooling1d",
    AveragePooling2D = "average_pooling2d", BatchNormalization = "batch_normalization"
  )
  constructors <- Map(layer_class, classes, names(classes))
  setNames(constructors, paste0("layers.", names(classes)))
}

# Arguments that a layer object takes when it is called, not when it is created.
call_only_arguments <- c("inputs", "training", "reuse")

# Returns the constructor of a layer class. `kind`: the name of the function in tf$layers that a
# layer calls, such as "dense".
layer_class <- function(kind, class_name) {
  force(kind)
  constructor <- function() {
    values <- mget(setdiff(names(formals()), "name"), envir = environment())
    new_layer(kind, values, name)
  }
  arguments <- formals(layer_function(kind))
  arguments <- arguments[setdiff(names(arguments), call_only_arguments)]
  formals(constructor) <- arguments
  constructor
}

layer_function <- function(kind) {
  r_function <- separable_symbols()[[paste0("layers.", kind)]]
  if (!is.null(r_function)) return(r_function)
  symbols <- cpp_tf_symbols()
  row <- match(paste0("layers.", kind), symbols$name)
  core_function(paste0("layers.", kind), symbols$arguments[[row]])
}

new_layer <- function(kind, arguments, name) {
  check_string(name, null = TRUE)
  layer <- new.env(parent = emptyenv())
  layer$kind <- kind
  layer$arguments <- arguments
  layer$default_name <- name_or_default(name, kind)
  layer$scope <- NULL
  layer$variables <- list()
  call <- function(inputs, ...) call_layer(layer, inputs, list(...))
  structure(call, layer = layer, class = c("runhooks_layer", "function"))
}

call_layer <- function(layer, inputs, extras, call = parent.frame(2)) {
  # evaluate `inputs` first, because they can contain another call of this layer
  force(inputs)
  unknown <- setdiff(names(extras), call_only_arguments)
  if (length(unknown) || (length(extras) && is.null(names(extras)))) {
    abort_runhooks("A layer accepts {.arg inputs} and {.arg training}, not {.arg {unknown}}.",
      call = call)
  }
  layer_function <- tf$layers[[layer$kind]]
  f <- function(...) do.call(layer_function, list(...), quote = TRUE)
  if (is.null(layer$scope)) {
    old_variables <- all_variables()
    scope <- with(variable_scope(NULL, layer$default_name) %as% opened, opened)
    layer$scope <- scope
    layer$graph <- cpp_graph_default()
    result <- call_in_layer_scope(f, layer, inputs, extras, FALSE)
    variables <- all_variables()
    layer$variables <- variables[!names(variables) %in% names(old_variables)]
    return(result)
  }
  if (!identical(layer$graph, cpp_graph_default())) {
    abort_runhooks(
      "The layer {.val {layer$scope$name}} belongs to another graph. Create it where you use it, for
       example inside the model function.",
      call = call
    )
  }
  call_in_layer_scope(f, layer, inputs, extras, length(layer$variables) > 0)
}

# Calls the layer function in the variable scope of the layer's first call, not in the current one.
call_in_layer_scope <- function(f, layer, inputs, extras, reuse) {
  name <- basename(layer$scope$name)
  outer_scope <- structure(
    list(name = sub("/?[^/]*$", "", layer$scope$name), reuse = "never"),
    class = "runhooks_variable_scope"
  )
  arguments <- c(list(inputs), layer$arguments, list(name = name), extras)
  has_reuse <- "reuse" %in% names(formals(tf$layers[[layer$kind]]))
  if (has_reuse && reuse) arguments$reuse <- TRUE
  if (!nzchar(outer_scope$name) && !nzchar(cpp_variable_scope()$name)) return(do.call(f, arguments))
  with(variable_scope(outer_scope), do.call(f, arguments))
}

all_variables <- function() {
  graph <- cpp_graph_default()
  variables <- c(graph$get_collection("variables"), graph$get_collection("local_variables"))
  setNames(variables, vapply(variables, function(v) v$name, ""))
}

#' @export
`$.runhooks_layer` <- function(x, name) {
  layer <- attr(x, "layer")
  variables <- unname(layer$variables)
  trainable <- function() {
    all_trainable <- cpp_graph_default()$get_collection("trainable_variables")
    trainable_names <- vapply(all_trainable, function(v) v$name, "")
    unname(layer$variables[names(layer$variables) %in% trainable_names])
  }
  variable_named <- function(variable_name) {
    names <- sub(":0$", "", basename(names(layer$variables)))
    if (variable_name %in% names) variables[[match(variable_name, names)]]
  }
  switch(name,
    name = if (is.null(layer$scope)) layer$default_name else basename(layer$scope$name),
    scope_name = layer$scope$name,
    built = !is.null(layer$scope),
    variables = , weights = variables,
    trainable_variables = , trainable_weights = trainable(),
    non_trainable_variables = , non_trainable_weights = setdiff(variables, trainable()),
    losses = layer$graph$get_collection("regularization_losses", paste0(layer$scope$name, "/")),
    updates = layer$graph$get_collection("update_ops", paste0(layer$scope$name, "/")),
    apply = , call = unclass_layer(x),
    kernel = , bias = , gamma = , beta = , moving_mean = , moving_variance = ,
    depthwise_kernel = , pointwise_kernel = variable_named(name),
    {
      if (!name %in% names(layer$arguments)) abort_no_member(x, name)
      layer$arguments[[name]]
    }
  )
}

unclass_layer <- function(x) {
  attributes(x) <- NULL
  x
}

#' @export
print.runhooks_layer <- function(x, ...) {
  # lint: allow stdout
  cat("<layer ", x$name, " of tf$layers$", attr(x, "layer")$kind, ">\n", sep = "")
  invisible(x)
}
