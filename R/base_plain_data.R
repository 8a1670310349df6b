# What is written to files that others may read: data that cannot hold code.

# Called by the core; NULL where the attributes do not fit. As all of them are set at once on a bare
# vector, no method of a class is called.
set_plain_attributes <- function(x, attributes) {
  tryCatch(
    {
      attributes(x) <- attributes
      x
    },
    error = function(error) NULL
  )
}
