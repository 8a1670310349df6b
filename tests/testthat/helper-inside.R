# Access to internals of the core for tests, from a separate library (tests/inside/testing.cpp) that
# is built here if it is missing or outdated. The source package contains neither it nor the tests
# that use it; see .Rbuildignore.
# Child processes get `inside_library` from their parent.
if (!exists("inside_library")) inside_library <- local({
  tool <- file.path(test_path(), "..", "..", "tools", "inside.sh")
  said <- system2("sh", shQuote(tool), stdout = TRUE)
  if (!is.null(attr(said, "status"))) stop("tools/inside.sh failed: ", paste(said, collapse = "\n"))
  said[length(said)]
})

inside <- local({
  loaded <- dyn.load(inside_library)
  function(name, ...) .Call(getNativeSymbolInfo(paste0("inside_", name), loaded)$address, ...)
})

cpp_read_all_events <- function(path) inside("read_all_events", path)
cpp_write_events <- function(folder, suffix, steps, values) {
  invisible(inside("write_events", folder, suffix, as.numeric(steps), values))
}
cpp_read_eval_metrics <- function(folder) inside("read_eval_metrics", folder)
cpp_clock_set <- function(seconds) invisible(inside("clock_set", seconds))
cpp_sleep_set <- function(sleep) invisible(inside("sleep_set", sleep))
cpp_reset_log_counts <- function() invisible(inside("reset_log_counts"))
cpp_observe_loops <- function(tell) invisible(inside("observe_loops", tell))
cpp_add_to_checkpoint <- function(path, name, bytes, is_string) {
  invisible(inside("add_to_checkpoint", path, name, bytes, is_string))
}
# Edits a checkpoint: writes edit `which` to `to` and returns its description. For `which` 0,
# returns the number of possible edits.
cpp_edit_checkpoint <- function(path, to, seed, which = 0) {
  inside("edit_checkpoint", path, to, seed, which)
}
cpp_test_throw <- function(kind) inside("throw", kind)
cpp_held_count <- function() inside("held_count")
cpp_test_arrow_stream <- function(batches, null_row, pointer = NULL, format = NULL) {
  inside("arrow_stream", as.integer(batches), as.integer(null_row), pointer, format)
}
cpp_folder_reads <- function() inside("folder_reads")
# Sets the number of threads of the core, whatever the machine and the options allow.
cpp_kernel_threads_set <- function(threads) {
  invisible(inside("kernel_threads_set", as.integer(threads)))
}
cpp_model_graphs <- function() inside("model_graphs")
cpp_reset_model_graphs <- function() invisible(inside("reset_model_graphs"))
cpp_write_plain_file <- function(path, x, owner) {
  invisible(inside("write_plain_file", path.expand(path), x, owner))
}
cpp_read_plain_file <- function(path) inside("read_plain_file", path.expand(path))
