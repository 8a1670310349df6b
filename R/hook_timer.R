# tf$train$SecondOrStepTimer, for custom hooks that act at intervals.

second_or_step_timer <- function(every_secs = NULL, every_steps = NULL) {
  if (is.null(every_secs) && is.null(every_steps)) {
    abort_runhooks("Either every_secs or every_steps should be provided.")
  }
  if (!is.null(every_secs) && !is.null(every_steps)) {
    abort_runhooks("Can not provide both every_secs and every_steps.")
  }
  check_number(every_secs, null = TRUE)
  check_whole(every_steps, null = TRUE)
  new_timer("SecondOrStepTimer", cpp_timer_new(every_secs, every_steps))
}

never_trigger_timer <- function() new_timer("NeverTriggerTimer", cpp_timer_new(NULL, NULL))

new_timer <- function(type, pointer) {
  timer <- new.env(parent = emptyenv())
  timer$should_trigger_for_step <- function(step) cpp_timer_should_trigger(pointer, step)
  timer$update_last_triggered_step <- function(step) cpp_timer_update(pointer, step)
  timer$last_triggered_step <- function() cpp_timer_last_step(pointer)
  timer$reset <- function() invisible(cpp_timer_reset(pointer))
  class(timer) <- type
  timer
}
