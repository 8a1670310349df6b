# Log lines of the core and of tf$logging.

log_levels <- c(DEBUG = 10L, INFO = 20L, WARN = 30L, ERROR = 40L, FATAL = 50L)

# A level as a number; it may be given by name.
log_level <- function(v, call = parent.frame()) {
  level <- if (is.character(v) && length(v) == 1) log_levels[v] else v
  check_arg(
    is_whole(level), v, "a level of tf$logging, such as tf$logging$INFO or \"INFO\"", "v", call
  )
  as.integer(level)
}

# Called by the core for each line that is shown. A message goes to stderr, and can be silenced or
# caught.
emit_log <- function(level, text) {
  name <- names(log_levels)[match(level, log_levels)]
  line <- paste0(name, ":tensorflow:", text, "\n")
  message(structure(
    class = c("runhooks_log", "message", "condition"),
    list(message = line, call = NULL, level = name, text = text)
  ))
}
