# Warns if a hook reads results that it has not requested, which R would silently return as NULL.

# For the first step of a hook in a loop. The core removes classes and attributes after the step.
check_reads <- function(values, hook, has_before_run) {
  results <- values$results
  known <- if (has_before_run) names(values) else setdiff(names(values), "results")
  if (has_before_run && is.list(results)) {
    values$results <- checked_results(results, names(results), warn_not_requested, hook)
  }
  checked_results(values, known, if (has_before_run) warn_no_value else warn_no_before_run, hook)
}

# `warn` is called with the name, the known names and the hook, once for each unknown name.
checked_results <- function(x, known, warn, hook) {
  checks <- list2env(list(known = known, warn = warn, hook = hook))
  structure(x, checks = checks, class = c("runhooks_checked_reads", "list"))
}

#' @export
`$.runhooks_checked_reads` <- function(x, name) {
  value <- NextMethod()
  if (is.null(value)) warn_unknown_read(attr(x, "checks"), name)
  value
}

#' @export
`[[.runhooks_checked_reads` <- function(x, i, ...) {
  value <- NextMethod()
  if (is.null(value) && is_string(i)) warn_unknown_read(attr(x, "checks"), i)
  value
}

# The checks are internal.
without_checks <- function(x) structure(unclass(x), checks = NULL)

#' @export
print.runhooks_checked_reads <- function(x, ...) {
  print(without_checks(x), ...) # lint: allow stdout
  invisible(x)
}

#' @export
str.runhooks_checked_reads <- function(object, ...) {
  str(without_checks(object), ...) # lint: allow stdout
}

#' @export
all.equal.runhooks_checked_reads <- function(target, current, ...) {
  all.equal(without_checks(target), without_checks(current), ...)
}

warn_unknown_read <- function(checks, name) {
  known <- checks$known
  if (name %in% known) return(invisible())
  checks$known <- c(known, name)
  checks$warn(name, known, checks$hook)
}

warn_not_requested <- function(name, requested, hook) {
  advice <- if (length(requested)) {
    "Its {.fn before_run} requests {.val {requested}}. Add {.code {name} = } to
     {.fn session_run_args}."
  } else {
    "Its {.fn before_run} requests values without names. Use
     {.code session_run_args({name} = ...)}."
  }
  warn_null_read(
    hook, paste0("values$results$", name), did_you_mean(name, requested, braces = FALSE),
    cli::format_inline(advice, keep_whitespace = FALSE)
  )
}

warn_no_before_run <- function(name, known, hook) {
  warn_null_read(
    hook, "values$results", NULL, cli::format_inline(
      "The hook has no {.fn before_run}. Add one that returns
       {.code session_run_args(loss = \"loss\")}.", keep_whitespace = FALSE
    )
  )
}

warn_no_value <- function(name, known, hook) {
  warn_null_read(
    hook, paste0("values$", name), NULL,
    sprintf("Requested values are in `values$results`. Did you mean `values$results$%s`?", name)
  )
}

warn_null_read <- function(hook, read, near, advice) {
  rlang::warn(
    c(
      cli::format_inline(
        "after_run() of hook `{hook}` reads {.code {read}}, which it has not requested: it is NULL.",
        keep_whitespace = FALSE
      ),
      near, i = advice
    ),
    class = "runhooks_warning_not_asked_for"
  )
}
