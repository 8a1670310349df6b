# The argument `warm_start_from` of estimators: initial weights from another model.

#' Initialize a model from another model
#'
#' `warm_start_settings()` returns settings for the argument `warm_start_from` of estimators. They
#' select variables that get their initial values from a checkpoint. They have no effect if the
#' model directory already has a checkpoint. `vocab_info()` describes a changed vocabulary.
#'
#' @param ckpt_to_initialize_from A string: a directory, whose newest checkpoint is used, or the
#'   prefix of a checkpoint.
#' @param vars_to_warm_start A regular expression that must match the beginning of the name of a
#'   trainable variable; all of them by default. Several expressions apply to all variables.
#' @param var_name_to_prev_var_name Variables that have another name in the checkpoint: a named list
#'   or character vector of the form `new = "old"`.
#' @param var_name_to_vocab_info Variables whose rows belong to the strings of a vocabulary that has
#'   changed: a named list of the form `variable = vocab_info()`. Each string keeps its row.
#' @param new_vocab,old_vocab Files with one string on each line: the vocabulary of this model, and
#'   that of the checkpoint.
#' @param new_vocab_size,old_vocab_size Number of lines to use; -1 (the default) for all.
#' @param num_oov_buckets Number of rows after those of the vocabulary; 0 by default.
#' @param backup_initializer Initializer for rows that the checkpoint does not have, such as
#'   `tf$truncated_normal_initializer()`. `NULL` (the default): zeros.
#' @param axis 0 (the default) if the rows belong to the strings, 1 if the columns do.
#' @return An object of class `WarmStartSettings` or `VocabInfo`. Instead of settings, estimators
#'   also accept a string: a directory or checkpoint for all trainable variables.
#' @section Models from a formula: If the new model gets all weights of another model, it must have
#'   the same terms, levels, classes and scales. It therefore uses the levels and scales of the
#'   other model. Different terms or classes are an error of the constructor
#'   (`runhooks_error_failed_precondition`). Settings that select variables are not checked.
#' @section Errors: [train()] raises these errors:
#'   * `runhooks_error_not_found`: there is no checkpoint, or it does not have the variable.
#'   * `runhooks_error_invalid_argument`: the variable has another shape in the checkpoint.
#' @seealso `tf.estimator.WarmStartSettings` of TensorFlow 1.x.
#' @family estimators
#' @export
#' @examples
#' first <- linear_regressor(column_numeric("wt"))
#' first |> train(input_fn(mpg ~ wt, mtcars))
#' second <- linear_regressor(
#'   column_numeric("wt"), warm_start_from = warm_start_settings(model_dir(first), ".*weights")
#' )
#'
#' # the strings have new row numbers, but each string keeps its weights
#' words <- tempfile()
#' writeLines(c("a", "b"), words)
#' more <- tempfile()
#' writeLines(c("c", "a", "b"), more)
#' vocab_info(more, new_vocab_size = 3, num_oov_buckets = 0, old_vocab = words)
warm_start_settings <- function(ckpt_to_initialize_from, vars_to_warm_start = ".*",
                                var_name_to_prev_var_name = NULL, var_name_to_vocab_info = NULL) {
  check_string(ckpt_to_initialize_from)
  patterns <- vars_to_warm_start
  is_valid <- is.character(patterns) && length(patterns) > 0 && !anyNA(patterns)
  check_arg(is_valid, patterns, "regular expressions", "vars_to_warm_start", environment())
  previous <- unlist(var_name_to_prev_var_name)
  is_valid <- is.null(previous) || (is.character(previous) && !is.null(names(previous)))
  check_arg(
    is_valid, previous, "a named list of strings", "var_name_to_prev_var_name", environment()
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
  are_infos <- is.list(x) && all(vapply(x, inherits, NA, "runhooks_vocab_info"))
  is_valid <- is.null(x) || are_infos && !is.null(names(x))
  check_arg(is_valid, x, "a named list of vocab_info()", "var_name_to_vocab_info", call)
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
  structure(info, class = "runhooks_vocab_info")
}

# Checks that a model that gets all weights of another model has the same columns, levels and
# scales. Settings that select variables are not checked.
check_warm_start <- function(object, settings, call) {
  if (is.null(settings) || read_model_dir(model_dir(object))$has_checkpoint) return(invisible())
  takes_all <- is_string(settings) || identical(
    settings[-1], warm_start_settings(settings$ckpt_to_initialize_from)[-1]
  )
  folder <- if (takes_all) warm_start_folder(settings)
  record <- if (!is.null(folder)) read_metadata(folder)
  trained <- record$model
  if (is.null(trained) || is.null(record$formula) && is.null(object$blueprint)) return(invisible())
  current <- core_signature(object)
  groups <- if (identical(trained$kind, current$kind)) c("head", "columns")
  lines <- unlist(lapply(groups, function(group) {
    describe_differences(group, trained[[group]], current[[group]])
  }))
  if (!is.null(object$blueprint)) {
    lines <- c(response_difference(record, object$blueprint$response$name), lines)
  }
  if (length(lines) == 0) lines <- differing_scales(record$formula, object)
  if (length(lines) == 0) return(invisible())
  abort_plain(
    c(
      paste0("The weights in ", folder$path, " belong to a different model."),
      setNames(lines, rep("x", length(lines))),
      i = "`warm_start_from` needs the terms, levels and classes of that model.",
      i = "`warm_start_settings(vars_to_warm_start = )` selects weights that do not depend on them."
    ),
    kind = "failed_precondition", call = call
  )
}

as_warm_start <- function(x, call) {
  if (is.null(x)) return(NULL)
  if (is_string(x)) x <- warm_start_settings(x)
  if (is_estimator(x)) {
    abort_runhooks(
      c(
        "{.arg warm_start_from} must be the folder of a model, not the model.",
        i = "Use {.code warm_start_from = model_dir(model)}."
      ),
      call = call
    )
  }
  is_valid <- inherits(x, "WarmStartSettings")
  check_arg(is_valid, x, "a folder, a checkpoint or warm_start_settings()", "warm_start_from", call)
  settings <- unclass(x)
  settings$var_name_to_vocab_info <- lapply(settings$var_name_to_vocab_info, function(info) {
    Filter(Negate(is.null), lapply(unclass(info), value_for_core))
  })
  settings[lengths(settings) > 0]
}
