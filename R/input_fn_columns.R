# Columns of data as matrices and vectors that tensors are made of.

# A list column as a matrix of one row for each element, padded; other columns as they are.
flat_column <- function(x) {
  if (!is.list(x) || is.data.frame(x)) return(x)
  rows <- lapply(unname(x), function(row) {
    row <- if (is.list(row)) unlist(row) else row
    if (is.factor(row)) as.character(row) else row
  })
  types <- unique(vapply(rows[lengths(rows) > 0], typeof, ""))
  # what is no vector of one kind stays a list, which the check refuses by name
  if (length(types) == 0 || !all(types %in% c("character", "integer", "double", "logical"))) {
    return(x)
  }
  if ("character" %in% types && length(types) > 1) return(x)
  padding <- if ("character" %in% types) "" else if ("double" %in% types) 0 else -1L
  width <- max(lengths(rows), 1L)
  padded <- lapply(rows, function(row) {
    if (is.character(padding)) row[is.na(row)] <- ""
    c(row, rep(padding, width - length(row)))
  })
  if (all(types == "logical") && all(lengths(rows) == width)) padded <- rows
  matrix(unlist(padded), nrow = length(rows), byrow = TRUE)
}
