# Log lines of the core and of tf$logging.

log_levels <- c(DEBUG = 10L, INFO = 20L, WARN = 30L, ERROR = 40L, FATAL = 50L)

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
