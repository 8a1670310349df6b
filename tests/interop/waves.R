# Data that Python and R can both compute, sin(k * pace), for custom.R and models.R. The counterpart
# is waves.py.
as_float <- function(x) readBin(writeBin(x, raw(), size = 4), "numeric", length(x), size = 4)
waves <- function(shape, pace) {
  values <- as_float(sin(pace * seq_len(prod(shape))))
  if (length(shape) == 1) return(values)
  aperm(array(values, rev(shape)), rev(seq_along(shape)))
}
whole <- function(shape, pace, n) {
  values <- floor((waves(shape, pace) + 1) / 2.0001 * n)
  storage.mode(values) <- "integer"
  values
}
floats <- function(x) np_array(x, dtype = "float32")
