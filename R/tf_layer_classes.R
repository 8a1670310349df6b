# The classes of tf$layers. Later calls of a layer share the variables of its first call.

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

# Arguments of the call, not of the constructor.
call_only_arguments <- c("inputs", "training", "reuse")

layer_class <- function(kind, class_name) {
  force(kind)
  constructor <- function() {
    given <- mget(setdiff(names(formals()), "name"), envir = environment())
    new_layer(kind, given, name)
  }
  arguments <- formals(layer_function(kind))
  arguments <- arguments[setdiff(names(arguments), call_only_arguments)]
  # the name is optional in a class, and it comes with the arguments of all layers
  formals(constructor) <- arguments
  constructor
}

layer_function <- function(kind) {
  own <- separable_symbols()[[paste0("layers.", kind)]]
  if (!is.null(own)) return(own)
  arguments <- cpp_tf_symbols()
  at <- match(paste0("layers.", kind), arguments$name)
  core_function(paste0("layers.", kind), arguments$arguments[[at]])
}

new_layer <- function(kind, given, name) {
  check_string(name, null = TRUE)
  layer <- new.env(parent = emptyenv())
  layer$kind <- kind
  layer$given <- given
  layer$base <- name_or_default(name, kind)
  layer$scope <- NULL
  layer$variables <- list()
  call <- function(inputs, ...) call_layer(layer, inputs, list(...))
  structure(call, layer = layer, class = c("runhooks_layer", "function"))
}

call_layer <- function(layer, inputs, more, call = parent.frame(2)) {
  # the input may come from the same layer, so evaluate it before this call starts
  force(inputs)
  unknown <- setdiff(names(more), call_only_arguments)
  if (length(unknown) || (length(more) && is.null(names(more)))) {
    abort_runhooks("A layer accepts {.arg inputs} and {.arg training}, not {.arg {unknown}}.",
      call = call)
  }
  layer_of <- tf$layers[[layer$kind]]
  f <- function(...) do.call(layer_of, list(...), quote = TRUE)
  if (is.null(layer$scope)) {
    before <- all_variables()
    scope <- with(variable_scope(NULL, layer$base) %as% opened, opened)
    layer$scope <- scope
    layer$graph <- cpp_graph_default()
    result <- call_in_layer_scope(f, layer, inputs, more, FALSE)
    layer$variables <- setdiff_variables(all_variables(), before)
    return(result)
  }
  if (!identical(layer$graph, cpp_graph_default())) {
    abort_runhooks(
      "The layer {.val {layer$scope$name}} belongs to another graph. Create it where you use it, for
       example inside the model function.",
      call = call
    )
  }
  call_in_layer_scope(f, layer, inputs, more, length(layer$variables) > 0)
}

# Calls the layer in the scope of its first call, whatever the current scope is.
call_in_layer_scope <- function(f, layer, inputs, more, reuse) {
  name <- basename(layer$scope$name)
  outer <- structure(
    list(name = sub("/?[^/]*$", "", layer$scope$name), reuse = "never"),
    class = "runhooks_variable_scope"
  )
  arguments <- c(list(inputs), layer$given, list(name = name), more)
  takes_reuse <- "reuse" %in% names(formals(tf$layers[[layer$kind]]))
  if (takes_reuse && reuse) arguments$reuse <- TRUE
  if (!nzchar(outer$name) && !nzchar(cpp_variable_scope()$name)) return(do.call(f, arguments))
  with(variable_scope(outer), do.call(f, arguments))
}

all_variables <- function() {
  graph <- cpp_graph_default()
  variables <- c(graph$get_collection("variables"), graph$get_collection("local_variables"))
  setNames(variables, vapply(variables, function(v) v$name, ""))
}

setdiff_variables <- function(all, before) all[!names(all) %in% names(before)]

#' @export
`$.runhooks_layer` <- function(x, name) {
  layer <- attr(x, "layer")
  own <- unname(layer$variables)
  trainable <- function() {
    all <- vapply(cpp_graph_default()$get_collection("trainable_variables"), function(v) v$name, "")
    unname(layer$variables[names(layer$variables) %in% all])
  }
  part <- function(what) {
    names <- sub(":0$", "", basename(names(layer$variables)))
    if (what %in% names) own[[match(what, names)]]
  }
  switch(name,
    name = if (is.null(layer$scope)) layer$base else basename(layer$scope$name),
    scope_name = layer$scope$name,
    built = !is.null(layer$scope),
    variables = , weights = own,
    trainable_variables = , trainable_weights = trainable(),
    non_trainable_variables = , non_trainable_weights = setdiff(own, trainable()),
    losses = layer$graph$get_collection("regularization_losses", paste0(layer$scope$name, "/")),
    updates = layer$graph$get_collection("update_ops", paste0(layer$scope$name, "/")),
    apply = , call = unclass_layer(x),
    kernel = , bias = , gamma = , beta = , moving_mean = , moving_variance = ,
    depthwise_kernel = , pointwise_kernel = part(name),
    {
      if (!name %in% names(layer$given)) abort_no_member(x, name)
      layer$given[[name]]
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
