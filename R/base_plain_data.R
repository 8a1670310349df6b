# Plain data, which cannot contain code, for files that other users may read.

# Called by the core; NULL if the attributes are invalid. Sets all of them in one assignment on a
# vector without a class, so that no S3 method is dispatched.
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

# Sorts by the bytes in UTF-8, so that the order depends neither on the locale nor on the declared
# encoding. Drops NA.
sorted_words <- function(x) {
  x <- x[!is.na(x)]
  x[order(if (is.character(x)) enc2utf8(x) else x, method = "radix")]
}
