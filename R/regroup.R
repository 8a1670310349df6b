# Columns and hooks are lists here and were objects of Python in tfestimators, where
# `c(list_of_hooks, hook)` added one. Here it takes the hook apart; this puts it together again.

# The fields of an object that was taken apart follow each other, named, from one called `first` on.
# `rebuild()` makes an object of them, or NULL where they are none.
regroup <- function(x, first, rebuild) {
  if (!is.list(x) || is.object(x) || !any(first %in% names(x))) return(x)
  parts <- list()
  fields <- list()
  finish <- function() {
    whole <- if (length(fields)) rebuild(fields)
    parts <<- c(parts, if (is.null(whole)) fields else list(whole))
    fields <<- list()
  }
  for (i in seq_along(x)) {
    name <- names(x)[[i]]
    # a deferred hook has a type, too, which is not its first field
    starts <- name %in% first && !identical(names(fields), "hook_fn")
    if (starts || name == "") finish()
    if (length(fields) || starts) {
      fields <- c(fields, x[i])
    } else {
      parts <- c(parts, x[i])
    }
  }
  finish()
  parts
}
