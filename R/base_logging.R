# Log messages of the core and of tf$logging.

log_levels <- c(DEBUG = 10L, INFO = 20L, WARN = 30L, ERROR = 40L, FATAL = 50L)

log_level <- function(v, call = parent.frame()) {
  level <- if (is.character(v) && length(v) == 1) log_levels[v] else v
  check_arg(
    is_whole(level), v, "a level of tf$logging, such as tf$logging$INFO or \"INFO\"", "v", call
  )
  as.integer(level)
}

# Called by the core for each visible log message. A warning is signalled at once to calling
# handlers of log messages, but is raised only after the call. Returns TRUE if a warning is pending.
emit_log <- function(level, text, kind = "") {
  condition <- log_condition(level, text)
  if (level != log_levels[["WARN"]]) {
    show_line(level, text)
    return(FALSE)
  }
  class(condition) <- setdiff(class(condition), "message")
  is_muffled <- withRestarts(
    {
      signalCondition(condition)
      FALSE
    },
    muffleMessage = function() TRUE
  )
  if (is_muffled) return(FALSE)
  the$warnings <- c(the$warnings, list(core_warning(text, kind)))
  TRUE
}

show_line <- function(level, text) message(log_condition(level, text))

log_condition <- function(level, text) {
  name <- names(log_levels)[match(level, log_levels)]
  structure(
    class = c("runhooks_log", "message", "condition"),
    list(
      message = paste0(name, ":tensorflow:", text, "\n"), call = NULL, level = name, text = text
    )
  )
}

core_warning <- function(text, kind) {
  structure(
    class = c(
      if (nzchar(kind)) paste0("runhooks_warning_", kind), "runhooks_warning", "warning",
      "condition"
    ),
    list(message = text, call = NULL)
  )
}

# Raises pending warnings, each text once. A tryCatch() of the user catches only the first one.
raise_warnings <- function() {
  pending <- the$warnings
  the$warnings <- NULL
  is_repeated <- duplicated(vapply(pending, conditionMessage, ""))
  for (condition in pending[!is_repeated]) warning(condition)
}
