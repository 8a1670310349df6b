# tf$summary: summary operations, and writers of event files.

summary_symbols <- function() {
  summary_op <- function(is_histogram, name, values, collections, family, call = parent.frame()) {
    check_string(name, call = call)
    check_string(family, null = TRUE, call = call)
    cpp_summary_op(
      is_histogram, name, as_summary_value(values),
      collections_or(collections, "summaries", call = call), name_or_default(family, "")
    )
  }
  list(
    summary.scalar = function(name, tensor, collections = NULL, family = NULL) {
      summary_op(FALSE, name, tensor, collections, family)
    },
    summary.histogram = function(name, values, collections = NULL, family = NULL) {
      summary_op(TRUE, name, values, collections, family)
    },
    summary.merge = function(inputs, collections = NULL, name = NULL) {
      if (is_tensor(inputs)) inputs <- list(inputs)
      cpp_summary_merge(inputs, collections_or(collections, character()), name_or_default(name, ""))
    },
    summary.merge_all = function(key = "summaries", scope = NULL, name = NULL) {
      cpp_summary_merge_all(key, name_or_default(scope, ""), name_or_default(name, ""))
    },
    summary.FileWriter = file_writer
  )
}

# Creates a writer of event files. It writes each event at once and ignores the arguments of the
# queue, `max_queue` and `flush_secs`, which TensorFlow's writer has.
file_writer <- function(logdir, graph = NULL, max_queue = 10, flush_secs = 120, graph_def = NULL,
                        filename_suffix = NULL, session = NULL) {
  abort_unsupported_arguments(graph_def, session)
  check_string(logdir)
  check_number(max_queue)
  check_number(flush_secs)
  check_string(filename_suffix, null = TRUE)
  folder <- path.expand(logdir)
  open <- function() cpp_event_writer_open(folder, name_or_default(filename_suffix, ""))
  pointer <- open()
  step_of <- function(step) if (is.null(step)) 0 else as.numeric(step)
  self <- new.env(parent = emptyenv())
  self$get_logdir <- function() logdir
  self$add_summary <- function(summary, global_step = NULL) {
    cpp_event_writer_add_summary(pointer, summary, step_of(global_step))
    invisible()
  }
  self$add_graph <- function(graph, global_step = NULL, graph_def = NULL) {
    if (!is.null(graph_def)) abort_runhooks("{.arg graph_def} is not supported; give {.arg graph}.")
    cpp_event_writer_add_graph(pointer, graph$.pointer, step_of(global_step))
    invisible()
  }
  # a further method, which TensorFlow's writer does not have; `values`: a named list or vector
  self$add_scalars <- function(values, global_step = NULL) {
    values <- unlist(values)
    check_arg(is.numeric(values) && !is.null(names(values)), values, "named numbers", "values",
      environment()
    )
    cpp_event_writer_add_scalars(pointer, names(values), as.numeric(values), step_of(global_step))
    invisible()
  }
  self$flush <- function() cpp_event_writer_flush(pointer)
  self$close <- function() invisible(cpp_event_writer_close(pointer))
  self$reopen <- function() pointer <<- open()
  add_context_methods(self, function() self, function(condition) self$close())
  if (!is.null(graph)) self$add_graph(graph)
  class(self) <- c("runhooks_file_writer", "runhooks_context")
  with_checked_members(self)
}

#' @export
print.runhooks_file_writer <- function(x, ...) {
  cat("<FileWriter of ", x$get_logdir(), ">\n", sep = "") # lint: allow stdout
  invisible(x)
}

as_summary_value <- function(x) {
  if (is_tensor(x) || is_variable(x)) x else cpp_constant(x, NULL, "values")
}

collections_or <- function(collections, default, arg = "collections", call = parent.frame()) {
  if (is.null(collections)) default else as_strings(collections, arg, call)
}
