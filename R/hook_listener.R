# Listeners: objects whose functions are called before and after each checkpoint.

listener_methods <- list(
  begin = character(), before_save = c("session", "global_step"),
  after_save = c("session", "global_step"), end = c("session", "global_step")
)

#' Create a checkpoint listener
#'
#' Creates an object whose functions are called before and after each checkpoint.
#'
#' @param begin `function()`, called before the graph is finalized.
#' @param before_save,after_save,end `function(session, global_step)`, called before and after each
#'   checkpoint and at the end of the loop. If `after_save()` returns TRUE, the loop stops, except
#'   after the first checkpoint, which is saved before the first step.
#' @return A listener for the argument `saving_listeners` of [train()] or `listeners` of
#'   [hook_checkpoint_saver()].
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is not a function, or has the wrong arguments.
#' @seealso The class `tf.train.CheckpointSaverListener` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' checkpoint_saver_listener(
#'   after_save = function(session, global_step) cat("saved step", global_step, "\n")
#' )
checkpoint_saver_listener <- function(begin = function() {},
                                      before_save = function(session, global_step) {},
                                      after_save = function(session, global_step) {},
                                      end = function(session, global_step) {}) {
  methods <- list(begin = begin, before_save = before_save, after_save = after_save, end = end)
  for (name in names(methods)) check_method(methods[[name]], name, listener_methods[[name]])
  structure(methods, class = "CheckpointSaverListener")
}

is_listener <- function(x) inherits(x, "CheckpointSaverListener")

as_listener_list <- function(listeners, call = parent.frame()) {
  if (is.null(listeners)) return(list())
  if (is_listener(listeners)) return(list(listeners))
  problem <- "saving_listeners must be a list of CheckpointSaverListener"
  if (!is.list(listeners)) {
    abort_runhooks("{problem}, not {describe_type(listeners)}.", call = call)
  }
  position <- which(!vapply(listeners, is_listener, logical(1)))
  if (length(position)) {
    position <- position[[1]]
    abort_runhooks(
      c(
        "{problem}.",
        x = "Element {position} is {describe_type(listeners[[position]])}.",
        i = "Create one with {.fn checkpoint_saver_listener}."
      ),
      call = call
    )
  }
  listeners
}
