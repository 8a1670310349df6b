# Limits the depth of nested lists for recursive functions.

# A recursive function uses up to 50 kB of the stack for each level of a nested list.
max_list_depth <- 32L

check_nesting <- function(depth, call = user_frame()) {
  if (depth <= max_list_depth) return(invisible())
  abort_runhooks("A list cannot be nested more than {max_list_depth} deep here.", call = call)
}

# base::unlist() recurses without checking the stack and crashes R on very deep lists. All code of
# the package calls this version.
unlist <- function(x, recursive = TRUE, use.names = TRUE) { # nolint: R's names
  if (recursive && is.list(x)) check_all_nesting(x)
  base::unlist(x, recursive, use.names)
}

# Checks the depth iteratively, level by level, so that the check itself cannot overflow the stack.
check_all_nesting <- function(x) {
  level <- x
  for (depth in seq_len(max_list_depth)) {
    level <- unclass(level)[vapply(level, is.list, NA)]
    if (length(level) == 0) return(invisible())
    level <- base::unlist(lapply(level, unclass), recursive = FALSE, use.names = FALSE)
  }
  check_nesting(max_list_depth + 1L)
}
