# GraphDef and MetaGraphDef messages: import, export and frozen graphs.

# Creates an object for a protobuf message. It is an environment with the bytes, because
# ParseFromString() modifies the object.

new_graph_def <- function(bytes = raw(), message = "GraphDef") {
  def <- new.env(parent = emptyenv())
  def$.bytes <- bytes
  def$SerializeToString <- function() def$.bytes # nolint: TensorFlow's name
  def$ParseFromString <- function(serialized) { # nolint
    good <- is.raw(serialized)
    check_arg(good, serialized, "a raw vector", "serialized", environment())
    if (message == "GraphDef") cpp_graph_def_nodes(serialized)
    def$.bytes <- serialized
    invisible(length(serialized))
  }
  if (message == "GraphDef") {
    makeActiveBinding("node", function() cpp_graph_def_nodes(def$.bytes), def)
  }
  class(def) <- c(paste0("tensorflow.", message), "runhooks_message")
  def
}

#' @export
format.runhooks_message <- function(x, ...) {
  cpp_message_text(x$.bytes, sub("^tensorflow[.]", "", class(x)[[1]]))
}

#' @export
as.character.runhooks_message <- function(x, ...) format(x)

#' @export
print.runhooks_message <- function(x, ...) {
  cat(format(x)) # lint: allow stdout
  invisible(x)
}

graph_def_bytes <- function(x, call = parent.frame()) {
  if (inherits(x, "tensorflow.GraphDef")) return(x$.bytes)
  if (is.raw(x)) return(x)
  good <- is_string(x) && file.exists(path.expand(x))
  check_arg(good, x, "a GraphDef, a raw vector or the path of a file", "graph_def", call)
  read_message(x, "GraphDef")
}

# Returns the bytes of a message in a file. Files named .pbtxt or .txt contain the text format.
read_message <- function(path, message) {
  path <- path.expand(path)
  if (!file.exists(path)) {
    abort_runhooks("File {.path {path}} does not exist.", kind = "not_found", call = parent.frame())
  }
  bytes <- cpp_read_file(path)
  if (!grepl("[.](pbtxt|txt)$", path)) return(bytes)
  cpp_message_bytes(rawToChar(bytes), message)
}

import_graph_def <- function(graph_def, input_map = NULL, return_elements = NULL, name = NULL,
                             op_dict = NULL, producer_op_list = NULL, trust = FALSE) {
  abort_unsupported_arguments(op_dict, producer_op_list)
  check_flag(trust)
  bytes <- graph_def_bytes(graph_def)
  good <- is.null(input_map) || is.list(input_map) && !is.null(names(input_map))
  check_arg(good, input_map, "a named list of tensors", "input_map", environment())
  elements <- if (!is.null(return_elements)) as_strings(return_elements)
  cpp_import_graph_def(
    bytes, lapply(input_map, as_tensor), elements, if (is.null(name)) "import" else name, trust
  )
}

import_meta_graph <- function(meta_graph_or_file, clear_devices = FALSE, import_scope = NULL,
                              trust = FALSE) {
  check_flag(clear_devices)
  check_flag(trust)
  check_string(import_scope, null = TRUE)
  source <- meta_graph_or_file
  is_message <- inherits(source, "tensorflow.MetaGraphDef")
  check_arg(
    is_message || is_string(source), source, "a MetaGraphDef or the path of a file",
    "meta_graph_or_file", environment()
  )
  bytes <- if (is_message) source$.bytes else read_message(source, "MetaGraphDef")
  scope <- if (is.null(import_scope)) "" else import_scope
  cpp_import_meta_graph(bytes, scope, if (is_message) "MetaGraphDef" else source, trust)
}

export_meta_graph <- function(filename = NULL, graph = NULL, as_text = FALSE) {
  check_string(filename, null = TRUE)
  check_flag(as_text)
  if (is.null(graph)) graph <- cpp_graph_default()
  def <- new_graph_def(cpp_meta_graph(graph), "MetaGraphDef")
  if (!is.null(filename)) write_message(def, filename, as_text)
  def
}

write_message <- function(def, path, as_text) {
  path <- path.expand(path)
  dir.create(dirname(path), showWarnings = FALSE, recursive = TRUE)
  cpp_write_file(path, if (as_text) charToRaw(enc2utf8(format(def))) else def$.bytes)
  path
}

convert_variables_to_constants <- function(sess, input_graph_def, output_node_names,
                                           variable_names_whitelist = NULL,
                                           variable_names_blacklist = NULL) {
  names <- as_strings(output_node_names)
  good <- length(names) > 0
  check_arg(good, output_node_names, "names of operations", "output_node_names", environment())
  new_graph_def(cpp_freeze(
    underlying_session(sess)$.pointer, graph_def_bytes(input_graph_def), names,
    as_strings(variable_names_whitelist), as_strings(variable_names_blacklist)
  ))
}

extract_sub_graph <- function(graph_def, dest_nodes) {
  new_graph_def(cpp_sub_graph(graph_def_bytes(graph_def), as_strings(dest_nodes)))
}

graph_def_symbols <- function() {
  list(
    GraphDef = function() new_graph_def(), MetaGraphDef = function() {
      new_graph_def(message = "MetaGraphDef")
    },
    import_graph_def = import_graph_def, graph_util.import_graph_def = import_graph_def,
    train.import_meta_graph = import_meta_graph,
    train.export_meta_graph = export_meta_graph,
    graph_util.convert_variables_to_constants = convert_variables_to_constants,
    graph_util.extract_sub_graph = extract_sub_graph,
    train.VocabInfo = vocab_info, estimator.VocabInfo = vocab_info
  )
}
