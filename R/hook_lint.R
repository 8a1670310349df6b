# Detects hooks that read results which they have not requested.

# Called by the core once per loop. `asked` are the names of the request; `has_request` is FALSE
# without before_run(). R would silently return NULL for an unknown name.
check_results_read <- function(after_run, asked, hook, has_request) {
  read <- referenced_results(body(after_run), names(formals(after_run))[2])
  missing <- setdiff(read, asked)
  if (length(missing) == 0) return(invisible())
  name <- missing[[1]] # nolint: used by cli
  advice <- if (!has_request) {
    "The hook has no {.fn before_run}. Add one that returns
     {.code session_run_args({name} = ...)}."
  } else {
    "Its {.fn before_run} requests {.val {asked}}. Add {.code {name} = } to
     {.fn session_run_args}."
  }
  if (has_request && length(asked) == 0) {
    advice <- "Its {.fn before_run} requests values without names. Use
               {.code session_run_args({name} = ...)}."
  }
  rlang::warn(
    c(
      cli::format_inline(
        "after_run() of hook `{hook}` reads {.code values$results${name}}, which it has not
         requested: it is NULL.", keep_whitespace = FALSE
      ),
      did_you_mean(name, asked, braces = FALSE),
      i = cli::format_inline(advice, keep_whitespace = FALSE)
    ),
    class = "runhooks_warning_not_asked_for"
  )
}

# Names in values$results$loss or values$results[["loss"]], and in r$loss after r <- values$results.
referenced_results <- function(expr, values) {
  aliases <- character()
  found <- character()
  is_results <- function(x) {
    if (is.symbol(x)) return(as.character(x) %in% aliases)
    is_member(x) && identical(x[[2]], as.name(values)) && identical(member_name(x), "results")
  }
  walk <- function(x) {
    if (!is.call(x)) return(invisible())
    is_assignment <- is.symbol(x[[1]]) && as.character(x[[1]]) %in% c("<-", "=", "<<-")
    if (is_assignment && length(x) == 3) {
      if (is.symbol(x[[2]]) && is_results(x[[3]])) {
        aliases <<- c(aliases, as.character(x[[2]]))
        return(invisible())
      }
      walk(x[[3]])
      # the target of an assignment is not a read
      return(invisible())
    }
    if (is_member(x) && is_results(x[[2]])) found <<- c(found, member_name(x))
    for (part in always_evaluated(x)) if (!missing(part)) walk(part)
  }
  if (length(values) && !is.na(values)) walk(expr)
  unique(found)
}

# A conditional read may be intended for steps without the value, and is.null() tests for it.
always_evaluated <- function(x) {
  parts <- as.list(x)
  name <- if (is.symbol(x[[1]])) as.character(x[[1]]) else ""
  switch(name,
    `if` = , switch = , `&&` = , `||` = , `while` = parts[2],
    `for` = parts[3],
    `function` = , is.null = , tryCatch = , try = list(),
    parts
  )
}

is_member <- function(x) {
  is.call(x) && length(x) == 3 && is.symbol(x[[1]]) && as.character(x[[1]]) %in% c("$", "[[") &&
    !is.null(member_name(x))
}

# NULL if the name is computed.
member_name <- function(x) {
  name <- x[[3]]
  if (is.character(name)) return(name)
  if (is.symbol(name) && identical(x[[1]], as.name("$"))) as.character(name)
}
