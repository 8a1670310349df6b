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

is_plain_list <- function(x) is.list(x) && !is.object(x)

is_words <- function(x) is.null(x) || (is.character(x) && !is.object(x))

# In the order of their bytes in UTF-8, whatever the locale, and whether R knows how they are encoded or
# not; without NA.
sorted_words <- function(x) {
  x <- x[!is.na(x)]
  x[order(if (is.character(x)) enc2utf8(x) else x, method = "radix")]
}
