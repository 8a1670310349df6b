# Lists within lists, where functions go down into them by calling themselves.

# Each takes up to 50 kB of the stack.
deepest_list <- 32L

# `depth`: of how many lists we are in one. An error, before R has no stack left.
check_nesting <- function(depth, call = user_frame()) {
  if (depth <= deepest_list) return(invisible())
  stop_runhooks("A list cannot be nested more than {deepest_list} deep here.", call = call)
}
