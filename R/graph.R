# Graph objects: environments of functions. Hooks use them in every step, and `$` is fastest on
# environments.

# Creates the object when the core first passes a graph to R.
new_graph <- function(pointer) {
  graph <- new.env(parent = emptyenv())
  graph$.pointer <- pointer
  # called by hooks in every step, so it bypasses the Rcpp wrapper
  graph$get_collection <- function(name, scope = NULL) {
    .Call(`_runhooks_cpp_graph_get_collection`, pointer, name, scope)
  }
  graph$add_to_collection <- function(name, value) cpp_graph_add_to_collection(pointer, name, value)
  graph$get_all_collection_keys <- function() cpp_graph_collection_names(pointer)
  graph$get_tensor_by_name <- function(name) cpp_graph_get_tensor(pointer, name)
  graph$get_operation_by_name <- function(name) cpp_graph_get_operation(pointer, name)
  graph$get_operations <- function() cpp_graph_get_operations(pointer)
  graph$finalize <- function() cpp_graph_finalize(pointer)
  graph$as_graph_def <- function(from_version = NULL, add_shapes = FALSE) {
    abort_unsupported_arguments(from_version)
    check_flag(add_shapes)
    new_graph_def(cpp_graph_message(graph, add_shapes))
  }
  graph$as_default <- function() default_graph_context(graph)
  graph$name_scope <- function(name) name_scope(name, graph = graph)
  graph$control_dependencies <- function(control_inputs) {
    control_dependencies(control_inputs, graph)
  }
  graph$unique_name <- function(name, mark_as_used = TRUE) {
    cpp_graph_unique_name(pointer, name, mark_as_used)
  }
  makeActiveBinding("finalized", function() cpp_graph_is_finalized(pointer), graph)
  makeActiveBinding("seed", function() cpp_graph_seed(pointer, NULL), graph)
  class(graph) <- "tensorflow.python.framework.ops.Graph"
  graph
}

is_graph <- function(x) inherits(x, "tensorflow.python.framework.ops.Graph")

#' @export
print.tensorflow.python.framework.ops.Graph <- function(x, ...) {
  cat("<Graph of", length(x$get_operations()), "operations>\n") # lint: allow stdout
  invisible(x)
}
