# Starting from the variables of another model.

#' What a first training starts from
#'
#' Settings for the argument `warm_start_from` of estimators: variables that get their initial
#' values from a checkpoint. A model whose folder has a checkpoint already goes on from there.
#'
#' @param ckpt_to_initialize_from A folder with checkpoints (the newest is used), or the prefix of
#'   one.
#' @param vars_to_warm_start A regular expression of the names of trainable variables, which is
#'   matched at their beginning; or several expressions, of any variables.
#' @param var_name_to_prev_var_name Where a variable has another name in the checkpoint: a named
#'   list or character vector, name here = name there.
#' @param var_name_to_vocab_info Where the rows of a variable belong to the words of a vocabulary
#'   that has changed: a named list, name here = `vocab_info()`. Each word keeps its row.
#' @param new_vocab,old_vocab Files with a word in each line: of the variable here, and of the one in
#'   the checkpoint.
#' @param new_vocab_size,old_vocab_size How many lines of them count; -1: all.
#' @param num_oov_buckets How many rows the variable has behind those of its words.
#' @param backup_initializer What rows get that the checkpoint does not have, such as
#'   `tf$truncated_normal_initializer()`; `NULL`: zeros.
#' @param axis 0 where rows belong to words, 1 where columns do.
#' @return An object of class `WarmStartSettings`. A string in its place is a folder or checkpoint
#'   all trainable variables come from.
#' @section Errors: In [train()]: `runhooks_error_not_found` where there is no checkpoint, or it has
#'   not such a variable; `runhooks_error_invalid_argument` for one of another shape.
#' @seealso `tf.estimator.WarmStartSettings` of TensorFlow 1.x.
#' @family estimators
#' @export
#' @examples
#' first <- linear_regressor(column_numeric("wt"))
#' first %>% train(input_fn(mpg ~ wt, mtcars))
#' second <- linear_regressor(
#'   column_numeric("wt"), warm_start_from = warm_start_settings(model_dir(first), ".*weights")
#' )
#'
#' # words that have got other numbers: the weights move with them
#' words <- tempfile()
#' writeLines(c("a", "b"), words)
#' more <- tempfile()
#' writeLines(c("c", "a", "b"), more)
#' vocab_info(more, new_vocab_size = 3, num_oov_buckets = 0, old_vocab = words)
warm_start_settings <- function(ckpt_to_initialize_from, vars_to_warm_start = ".*",
                                var_name_to_prev_var_name = NULL, var_name_to_vocab_info = NULL) {
  check_string(ckpt_to_initialize_from)
  patterns <- vars_to_warm_start
  good <- is.character(patterns) && length(patterns) > 0 && !anyNA(patterns)
  check_arg(good, patterns, "regular expressions", "vars_to_warm_start", environment())
  previous <- unlist(var_name_to_prev_var_name)
  good <- is.null(previous) || (is.character(previous) && !is.null(names(previous)))
  check_arg(
    good, previous, "a named list of strings", "var_name_to_prev_var_name", environment()
  )
  structure(
    list(
      ckpt_to_initialize_from = absolute_path(ckpt_to_initialize_from, "ckpt_to_initialize_from"),
      vars_to_warm_start = vars_to_warm_start, var_name_to_prev_var_name = as.list(previous),
      var_name_to_vocab_info = check_vocab_infos(var_name_to_vocab_info)
    ),
    class = "WarmStartSettings"
  )
}

check_vocab_infos <- function(x, call = parent.frame()) {
  are_infos <- is.list(x) && all(vapply(x, inherits, NA, "VocabInfo"))
  good <- is.null(x) || are_infos && !is.null(names(x))
  check_arg(good, x, "a named list of vocab_info()", "var_name_to_vocab_info", call)
  as.list(x)
}

#' @rdname warm_start_settings
#' @export
vocab_info <- function(new_vocab, new_vocab_size = -1, num_oov_buckets = 0, old_vocab,
                       old_vocab_size = -1, backup_initializer = NULL, axis = 0) {
  check_string(new_vocab)
  check_string(old_vocab)
  check_whole(new_vocab_size)
  check_whole(num_oov_buckets)
  check_whole(old_vocab_size)
  check_whole(axis)
  info <- list(
    new_vocab = absolute_path(new_vocab, "new_vocab"), new_vocab_size = new_vocab_size,
    num_oov_buckets = num_oov_buckets, old_vocab = absolute_path(old_vocab, "old_vocab"),
    old_vocab_size = old_vocab_size, backup_initializer = backup_initializer, axis = axis
  )
  structure(info, class = "VocabInfo")
}

# NULL, a path or settings, as the core reads them.
as_warm_start <- function(x, call) {
  if (is.null(x)) return(NULL)
  if (is_string(x)) x <- warm_start_settings(x)
  good <- inherits(x, "WarmStartSettings")
  check_arg(good, x, "a folder, a checkpoint or warm_start_settings()", "warm_start_from", call)
  settings <- unclass(x)
  settings$var_name_to_vocab_info <- lapply(settings$var_name_to_vocab_info, function(info) {
    Filter(Negate(is.null), lapply(unclass(info), core_value))
  })
  settings[lengths(settings) > 0]
}
