# Warns if a hook reads results that it has not requested, which R would silently return as NULL.

# Called by the core for the first step of a hook in a loop. Returns `values` with classes that
# check which results the hook reads. The core removes the classes after the step.
with_read_checks <- function(values, hook, has_before_run) {
  results <- values$results
  available <- if (has_before_run) names(values) else setdiff(names(values), "results")
  if (has_before_run && is.list(results)) {
    values$results <- results_with_checks(results, names(results), warn_not_requested, hook)
  }
  warn <- if (has_before_run) warn_no_value else warn_no_before_run
  results_with_checks(values, available, warn, hook)
}

# Adds a class whose methods check reads of `x`. `warn` is called with the name, the available names
# and the hook, once for each unknown name.
results_with_checks <- function(x, available, warn, hook) {
  checks <- list2env(list(available = available, warn = warn, hook = hook))
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
  utils::str(without_checks(object), ...) # lint: allow stdout
}

#' @method all.equal runhooks_checked_reads
#' @export
all.equal.runhooks_checked_reads <- function(target, current, ...) {
  all.equal(without_checks(target), without_checks(current), ...)
}

warn_unknown_read <- function(checks, name) {
  available <- checks$available
  if (name %in% available) return(invisible())
  checks$available <- c(available, name)
  checks$warn(name, available, checks$hook)
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

warn_no_before_run <- function(name, available, hook) {
  warn_null_read(
    hook, "values$results", NULL, cli::format_inline(
      "The hook has no {.fn before_run}. Add one that returns
       {.code session_run_args(loss = \"loss\")}.", keep_whitespace = FALSE
    )
  )
}

warn_no_value <- function(name, available, hook) {
  warn_null_read(
    hook, paste0("values$", name), NULL,
    sprintf("Requested values are in `values$results`. Did you mean `values$results$%s`?", name)
  )
}

warn_null_read <- function(hook, read, suggestion, advice) {
  rlang::warn(
    c(
      cli::format_inline(
        "after_run() of hook `{hook}` reads {.code {read}}, which it has not requested: it is
         NULL.",
        keep_whitespace = FALSE
      ),
      suggestion, i = advice
    ),
    class = "runhooks_warning_not_asked_for"
  )
}
