# Lists within lists, where functions go down into them by calling themselves.

# Each takes up to 50 kB of the stack.
deepest_list <- 32L

# `depth`: of how many lists we are in one. An error, before R has no stack left.
check_nesting <- function(depth, call = user_frame()) {
  if (depth <= deepest_list) return(invisible())
  abort_runhooks("A list cannot be nested more than {deepest_list} deep here.", call = call)
}

# R's own goes down into lists without asking how much of the stack is left: nested deep enough they
# end R, past any try(). All of this package's code has this one.
unlist <- function(x, recursive = TRUE, use.names = TRUE) { # nolint: R's names
  if (recursive && is.list(x)) check_all_nesting(x)
  base::unlist(x, recursive, use.names)
}

# By levels: nothing here calls itself.
check_all_nesting <- function(x) {
  level <- x
  for (depth in seq_len(deepest_list)) {
    level <- unclass(level)[vapply(level, is.list, NA)]
    if (length(level) == 0) return(invisible())
    level <- base::unlist(lapply(level, unclass), recursive = FALSE, use.names = FALSE)
  }
  check_nesting(deepest_list + 1L)
}
