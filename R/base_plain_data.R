# Plain data, which cannot contain code, for files that other users may read.

# Sets the attributes of a value that the core has read from a file. Called by the core. Sets all at
# once, so that no S3 method is dispatched.
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

is_plain_strings <- function(x) is.null(x) || (is.character(x) && !is.object(x))

# Sorts by bytes in UTF-8, independently of the locale and of declared encodings; drops NA.
sort_bytewise <- function(x) {
  x <- x[!is.na(x)]
  x[order(if (is.character(x)) enc2utf8(x) else x, method = "radix")]
}
