# Restores columns and hooks in `c(list_of_hooks, hook)`, which appends the fields of the last hook
# instead of the hook.

# Combines consecutive named elements, beginning with a name in `first`, into one object.
# `rebuild(fields)` returns the object, or NULL if the fields are not those of an object.
unsplice <- function(x, first, rebuild) {
  if (is_simplified(x, first)) return(lapply(seq_len(ncol(x)), function(j) rebuild(x[, j])))
  if (!is.list(x) || is.object(x) || !any(first %in% names(x))) return(x)
  objects <- list()
  fields <- list()
  complete_object <- function() {
    object <- if (length(fields)) rebuild(fields)
    objects <<- c(objects, if (is.null(object)) fields else list(object))
    fields <<- list()
  }
  for (i in seq_along(x)) {
    name <- names(x)[[i]]
    # the fields of a deferred hook are `hook_fn` and then `type`, so `type` starts no new object
    starts_object <- name %in% first && !identical(names(fields), "hook_fn")
    if (starts_object || name == "") complete_object()
    if (length(fields) || starts_object) {
      fields <- c(fields, x[i])
    } else {
      objects <- c(objects, x[i])
    }
  }
  complete_object()
  objects
}

# TRUE for the result of sapply() on several objects. sapply() simplifies objects with the same
# number of fields to a matrix with one column per object. Its row names are the fields of the first
# object, so all objects must have the same type.
is_simplified <- function(x, first) {
  if (!is.list(x) || !is.matrix(x) || !isTRUE(rownames(x)[[1]] %in% first)) return(FALSE)
  is_typed <- rownames(x)[[1]] == "type"
  !is_typed || length(unique(x[1, ])) == 1
}
