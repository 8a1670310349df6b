# Rebuilds columns and hooks after `c(list_of_hooks, hook)`, which appends the fields of the hook.

# Consecutive named elements, beginning with a name in `first`, are the fields of one object.
# `rebuild()` returns the object, or NULL if the fields do not form one.
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
    # a deferred hook also has a field `type`, which is not its first one
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

# sapply() simplifies objects with the same number of fields to a matrix with one column per object.
# Its row names are the fields of the first object, so all objects must have the same type.
is_simplified <- function(x, first) {
  if (!is.list(x) || !is.matrix(x) || !isTRUE(rownames(x)[[1]] %in% first)) return(FALSE)
  is_typed <- rownames(x)[[1]] == "type"
  !is_typed || length(unique(x[1, ])) == 1
}
