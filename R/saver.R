# tf.train.Saver: checkpoints written by hand, or with one's own rules of what is kept.

# Arguments that have no effect in one process, on one file, are taken.
train_saver <- function(
  var_list = NULL, reshape = FALSE, sharded = FALSE, max_to_keep = 5,
  keep_checkpoint_every_n_hours = 10000, name = NULL, restore_sequentially = FALSE,
  saver_def = NULL, builder = NULL, defer_build = FALSE, allow_empty = FALSE, write_version = 2,
  pad_step_number = FALSE, save_relative_paths = FALSE, filename = NULL
) {
  unsupported <- list(
    reshape = reshape, saver_def = !is.null(saver_def),
    pad_step_number = pad_step_number
  )
  for (argument in names(Filter(isTRUE, unsupported))) {
    stop_runhooks("{.arg {argument}} is not supported.", kind = "unimplemented")
  }
  check_whole(max_to_keep, null = TRUE)
  check_number(keep_checkpoint_every_n_hours)
  check_flag(defer_build)
  check_flag(save_relative_paths)
  cpp_saver_new(
    if (is.null(max_to_keep)) 0 else max_to_keep, keep_checkpoint_every_n_hours,
    save_relative_paths, defer_build, named_variables(var_list)
  )
}

# A variable, a list of them, or of names in the checkpoint and variables.
named_variables <- function(var_list, call = parent.frame()) {
  if (is.null(var_list)) return(NULL)
  if (is_variable(var_list)) return(list(var_list))
  good <- is.list(var_list) && length(var_list) && all(vapply(var_list, is_variable, NA))
  check_arg(good, var_list, "a list of variables", "var_list", call)
  var_list
}

# Called by the core.
new_saver <- function(pointer) {
  saver <- new.env(parent = emptyenv())
  saver$.pointer <- pointer
  saver$save <- function(sess, save_path, global_step = NULL) {
    check_string(save_path)
    step <- if (is_graph_element(global_step)) sess$run(global_step) else global_step
    check_whole(step, null = TRUE, arg = "global_step")
    cpp_saver_save(
      pointer, sess$.pointer, path.expand(save_path), if (is.null(step)) -1 else step
    )
  }
  saver$restore <- function(sess, save_path) {
    check_string(save_path)
    invisible(cpp_saver_restore(pointer, sess$.pointer, path.expand(save_path)))
  }
  saver$last_checkpoints <- function() cpp_saver_last_checkpoints(pointer)
  class(saver) <- "runhooks_saver"
  saver
}

#' @export
print.runhooks_saver <- function(x, ...) {
  cat("<Saver>\n") # lint: allow stdout
  invisible(x)
}

check_saver <- function(saver, call = parent.frame()) {
  good <- is.null(saver) || inherits(saver, "runhooks_saver")
  check_arg(good, saver, "NULL or tf$train$Saver()", "saver", call)
}
