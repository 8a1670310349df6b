# Graphs as messages: GraphDefs, meta graphs, what is read from checkpoints without a model.

# --- GraphDef: the message as bytes, in an environment, since it can be parsed into

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

# The bytes of a GraphDef in any form: the object, a raw vector, a file.
graph_def_bytes <- function(x, call = parent.frame()) {
  if (inherits(x, "tensorflow.GraphDef")) return(x$.bytes)
  if (is.raw(x)) return(x)
  good <- is_string(x) && file.exists(path.expand(x))
  check_arg(good, x, "a GraphDef, a raw vector or the path of a file", "graph_def", call)
  message_of_file(x, "GraphDef")
}

# Text where the name says so.
message_of_file <- function(path, message) {
  path <- path.expand(path)
  if (!file.exists(path)) {
    stop_runhooks("There is no file {.path {path}}.", kind = "not_found", call = parent.frame())
  }
  bytes <- readBin(path, "raw", file.size(path))
  if (!grepl("[.](pbtxt|txt)$", path)) return(bytes)
  cpp_message_bytes(rawToChar(bytes), message)
}

import_graph_def <- function(graph_def, input_map = NULL, return_elements = NULL, name = NULL,
                             op_dict = NULL, producer_op_list = NULL) {
  unsupported(op_dict, producer_op_list)
  bytes <- graph_def_bytes(graph_def)
  good <- is.null(input_map) || is.list(input_map) && !is.null(names(input_map))
  check_arg(good, input_map, "a named list of tensors", "input_map", environment())
  elements <- if (!is.null(return_elements)) as.character(unlist(return_elements))
  cpp_import_graph_def(
    bytes, lapply(input_map, as_tensor), elements, if (is.null(name)) "import" else name
  )
}

import_meta_graph <- function(meta_graph_or_file, clear_devices = FALSE, import_scope = NULL) {
  check_flag(clear_devices)
  check_string(import_scope, null = TRUE)
  given <- meta_graph_or_file
  is_message <- inherits(given, "tensorflow.MetaGraphDef")
  check_arg(
    is_message || is_string(given), given, "a MetaGraphDef or the path of a file",
    "meta_graph_or_file", environment()
  )
  bytes <- if (is_message) given$.bytes else message_of_file(given, "MetaGraphDef")
  scope <- if (is.null(import_scope)) "" else import_scope
  cpp_import_meta_graph(bytes, scope, if (is_message) "MetaGraphDef" else given)
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
  writeBin(if (as_text) charToRaw(enc2utf8(format(def))) else def$.bytes, path)
  path
}

write_graph <- function(graph_or_graph_def, logdir, name, as_text = TRUE) {
  check_string(logdir)
  check_string(name)
  check_flag(as_text)
  def <- graph_or_graph_def
  if (!inherits(def, "tensorflow.GraphDef")) def <- def$as_graph_def()
  write_message(def, file.path(path.expand(logdir), name), as_text)
}

# --- graph_util

convert_variables_to_constants <- function(sess, input_graph_def, output_node_names,
                                           variable_names_whitelist = NULL,
                                           variable_names_blacklist = NULL) {
  names <- as.character(unlist(output_node_names))
  good <- length(names) > 0
  check_arg(good, output_node_names, "names of operations", "output_node_names", environment())
  new_graph_def(cpp_freeze(
    sess$.pointer, graph_def_bytes(input_graph_def), names,
    as.character(unlist(variable_names_whitelist)), as.character(unlist(variable_names_blacklist))
  ))
}

extract_sub_graph <- function(graph_def, dest_nodes) {
  new_graph_def(cpp_sub_graph(graph_def_bytes(graph_def), as.character(unlist(dest_nodes))))
}

# --- checkpoints

# A folder stands for its newest checkpoint.
checkpoint_path_of <- function(ckpt_dir_or_file, call = parent.frame()) {
  check_string(ckpt_dir_or_file, arg = "ckpt_dir_or_file", call = call)
  path <- path.expand(ckpt_dir_or_file)
  if (!dir.exists(path)) return(sub("[.]index$", "", path))
  newest <- cpp_latest_checkpoint(path)
  if (is.null(newest)) {
    stop_runhooks(
      "Couldn't find 'checkpoint' file or checkpoints in given directory {.path {path}}.",
      kind = "not_found", call = call
    )
  }
  newest
}

list_variables <- function(ckpt_dir_or_file) {
  tensors <- cpp_checkpoint_tensors(checkpoint_path_of(ckpt_dir_or_file))
  lapply(names(tensors), function(name) list(name, as.integer(tensors[[name]]$shape)))
}

load_variable <- function(ckpt_dir_or_file, name) {
  check_string(name)
  load_checkpoint(ckpt_dir_or_file)$get_tensor(sub(":0$", "", name))
}

load_checkpoint <- function(ckpt_dir_or_file) {
  path <- checkpoint_path_of(ckpt_dir_or_file)
  tensors <- cpp_checkpoint_tensors(path)
  structure(
    list(
      has_tensor = function(tensor_str) tensor_str %in% names(tensors),
      get_tensor = function(tensor_str) {
        check_string(tensor_str)
        cpp_checkpoint_values(path, tensor_str)[[1]]
      },
      get_variable_to_shape_map = function() {
        lapply(tensors, function(x) as.integer(x$shape))
      },
      get_variable_to_dtype_map = function() lapply(tensors, function(x) as_dtype(x$dtype)),
      path = path
    ),
    class = "runhooks_checkpoint_reader"
  )
}

#' @export
print.runhooks_checkpoint_reader <- function(x, ...) {
  cat("<checkpoint ", x$path, ">\n", sep = "") # lint: allow stdout
  invisible(x)
}

init_from_checkpoint <- function(ckpt_dir_or_file, assignment_map) {
  path <- absolute_path(checkpoint_path_of(ckpt_dir_or_file), "ckpt_dir_or_file")
  map <- as.list(assignment_map)
  good <- length(map) > 0 && !is.null(names(map)) && all(nzchar(names(map)))
  check_arg(good, assignment_map, "a named list", "assignment_map", environment())
  targets <- lapply(map, function(x) {
    if (is_string(x)) return(x)
    if (is_variable(x)) x <- list(x)
    good <- is.list(x) && length(x) > 0 && all(vapply(x, is_variable, NA))
    check_arg(good, x, "names, variables or lists of them", "assignment_map", parent.frame())
    x
  })
  invisible(cpp_init_from_checkpoint(path, targets))
}

graph_def_symbols <- function() {
  list(
    GraphDef = function() new_graph_def(), MetaGraphDef = function() {
      new_graph_def(message = "MetaGraphDef")
    },
    import_graph_def = import_graph_def, graph_util.import_graph_def = import_graph_def,
    train.import_meta_graph = import_meta_graph,
    train.export_meta_graph = function(filename = NULL, graph = NULL, as_text = FALSE) {
      export_meta_graph(filename, graph, as_text)
    },
    train.write_graph = write_graph, io.write_graph = write_graph,
    graph_util.convert_variables_to_constants = convert_variables_to_constants,
    graph_util.extract_sub_graph = extract_sub_graph,
    train.list_variables = list_variables, train.load_variable = load_variable,
    train.load_checkpoint = load_checkpoint,
    train.NewCheckpointReader = load_checkpoint,
    train.init_from_checkpoint = init_from_checkpoint, train.VocabInfo = vocab_info,
    estimator.VocabInfo = vocab_info
  )
}
