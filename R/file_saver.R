# tf$train$Saver: saves and restores variables outside of estimators.

# `sharded`, `name` and `restore_sequentially` are only checked. On one device TensorFlow writes a
# single file, too, and this package's savers have no operations to name or to order.
train_saver <- function(
  var_list = NULL, reshape = FALSE, sharded = FALSE, max_to_keep = 5,
  keep_checkpoint_every_n_hours = 10000, name = NULL, restore_sequentially = FALSE,
  saver_def = NULL, builder = NULL, defer_build = FALSE, allow_empty = FALSE, write_version = 2,
  pad_step_number = FALSE, save_relative_paths = FALSE, filename = NULL
) {
  for (arg in c("saver_def", "builder", "filename")) {
    if (is.null(get(arg))) next
    abort_runhooks("{.arg {arg}} of `tf$train$Saver()` is not supported.", kind = "unimplemented")
  }
  check_string(name, null = TRUE)
  check_flag(restore_sequentially)
  check_whole(write_version)
  if (write_version != 2) {
    abort_runhooks(
      "Checkpoints are written in version 2 of the format; {.arg write_version} is
       {.val {write_version}}.",
      kind = "unimplemented"
    )
  }
  check_flag(reshape)
  check_flag(sharded)
  check_whole(max_to_keep, null = TRUE)
  check_arg(
    is.null(max_to_keep) || max_to_keep >= 0, max_to_keep, "a whole number >= 0", "max_to_keep",
    environment()
  )
  check_number(keep_checkpoint_every_n_hours)
  check_flag(defer_build)
  check_flag(allow_empty)
  check_flag(pad_step_number)
  check_flag(save_relative_paths)
  if (defer_build && !is.null(var_list)) {
    abort_runhooks("If {.arg var_list} is provided then build cannot be deferred.")
  }
  cpp_saver_new(
    saver_variables(var_list), reshape, if (is.null(max_to_keep)) 0 else max_to_keep,
    keep_checkpoint_every_n_hours, save_relative_paths, pad_step_number, defer_build, allow_empty
  )
}

saver_variables <- function(x, call = parent.frame()) {
  if (is.null(x)) return(NULL)
  if (is_variable(x)) x <- list(x)
  good <- is.list(x) && all(vapply(x, is_variable, NA)) &&
    (is.null(names(x)) || all(nzchar(names(x))))
  check_arg(good, x, "a list of variables, or a named one", "var_list", call)
  if (!is.null(names(x))) check_unique_names(names(x), call)
  x
}

new_saver <- function(pointer) {
  saver <- new.env(parent = emptyenv())
  saver$.pointer <- pointer
  saver$save <- function(sess, save_path, global_step = NULL, latest_filename = NULL,
                         meta_graph_suffix = "meta", write_meta_graph = TRUE, write_state = TRUE) {
    sess <- underlying_session(sess)
    check_string(save_path)
    check_flag(write_meta_graph)
    check_flag(write_state)
    if (!nzchar(save_path)) abort_runhooks("no path specified")
    check_file_name(latest_filename, "latest_filename")
    check_file_name(meta_graph_suffix, "meta_graph_suffix")
    step <- if (is_graph_element(global_step)) sess$run(global_step) else global_step
    check_whole(step, null = TRUE, arg = "global_step")
    cpp_saver_save(
      pointer, sess$.pointer, path.expand(save_path), if (is.null(step)) -1 else step,
      write_meta_graph, write_state, if (is.null(latest_filename)) "" else latest_filename,
      meta_graph_suffix
    )
  }
  saver$export_meta_graph <- function(filename = NULL) export_meta_graph(filename)
  saver$set_last_checkpoints <- function(last_checkpoints) {
    saver$set_last_checkpoints_with_time(
      lapply(last_checkpoints, function(path) list(path, as.numeric(Sys.time())))
    )
  }
  saver$set_last_checkpoints_with_time <- function(last_checkpoints_with_time) {
    checkpoints <- last_checkpoints_with_time
    cpp_saver_set_last_checkpoints(
      pointer, vapply(checkpoints, `[[`, "", 1),
      vapply(checkpoints, function(x) as.numeric(x[[2]]), 0)
    )
  }
  saver$recover_last_checkpoints <- function(checkpoint_paths) {
    paths <- as_strings(checkpoint_paths)
    paths <- paths[file.exists(paste0(paths, ".index"))]
    times <- as.numeric(file.mtime(paste0(paths, ".index")))
    cpp_saver_set_last_checkpoints(pointer, paths, times)
  }
  saver$restore <- function(sess, save_path) {
    sess <- underlying_session(sess)
    check_string(save_path)
    invisible(cpp_saver_restore(pointer, sess$.pointer, path.expand(save_path)))
  }
  saver$last_checkpoints <- function() cpp_saver_last_checkpoints(pointer)
  class(saver) <- "runhooks_saver"
  with_checked_members(saver)
}

#' @export
print.runhooks_saver <- function(x, ...) {
  cat("<Saver>\n") # lint: allow stdout
  invisible(x)
}

