# Warns if a hook reads results that it has not requested, which R would silently return as NULL.

# For the first step of a hook in a loop. `x` are the results, or, for a hook without before_run(),
# the `values` that contain none. The core removes class and attribute after the step.
check_reads <- function(x, hook, has_before_run) {
  requested <- if (has_before_run) names(x) else setdiff(names(x), "results")
  checks <- list(hook = hook, has_before_run = has_before_run, requested = requested)
  structure(x, checks = list2env(checks), class = c("runhooks_checked_reads", "list"))
}

#' @export
`$.runhooks_checked_reads` <- function(x, name) {
  value <- NextMethod()
  if (is.null(value)) warn_not_requested(attr(x, "checks"), name)
  value
}

#' @export
`[[.runhooks_checked_reads` <- function(x, i, ...) {
  value <- NextMethod()
  if (is.null(value) && is_string(i)) warn_not_requested(attr(x, "checks"), i)
  value
}

warn_not_requested <- function(checks, name) {
  requested <- checks$requested
  if (name %in% requested) return(invisible())
  checks$requested <- c(requested, name) # one warning for each name
  read <- if (checks$has_before_run) paste0("values$results$", name) else "values$results"
  advice <- if (!checks$has_before_run) {
    "The hook has no {.fn before_run}. Add one that returns
     {.code session_run_args(loss = \"loss\")}."
  } else if (length(requested)) {
    "Its {.fn before_run} requests {.val {requested}}. Add {.code {name} = } to
     {.fn session_run_args}."
  } else {
    "Its {.fn before_run} requests values without names. Use
     {.code session_run_args({name} = ...)}."
  }
  rlang::warn(
    c(
      cli::format_inline(
        "after_run() of hook `{checks$hook}` reads {.code {read}}, which it has not
         requested: it is NULL.", keep_whitespace = FALSE
      ),
      if (checks$has_before_run) did_you_mean(name, requested, braces = FALSE),
      i = cli::format_inline(advice, keep_whitespace = FALSE)
    ),
    class = "runhooks_warning_not_asked_for"
  )
}
