# Columns and hooks are lists here and were objects of Python in tfestimators, where
# `c(list_of_hooks, hook)` added one. Here it takes the hook apart; this puts it together again.

# The fields of an object that was taken apart follow each other, named, from one called `first` on.
# `rebuild()` makes an object of them, or NULL where they are none.
unsplice <- function(x, first, rebuild) {
  if (is_simplified(x, first)) return(lapply(seq_len(ncol(x)), function(j) rebuild(x[, j])))
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

# What sapply() makes of objects with as many fields: a matrix, whose rows are called by the fields
# of the first. Those of one type have the same.
is_simplified <- function(x, first) {
  if (!is.list(x) || !is.matrix(x) || !isTRUE(rownames(x)[[1]] %in% first)) return(FALSE)
  is_typed <- rownames(x)[[1]] == "type"
  !is_typed || length(unique(x[1, ])) == 1
}
