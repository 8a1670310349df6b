# Columns of data as matrices and vectors that tensors are made of.

# Which elements of `x` are not as `test` wants numbers to be, as places in the whole.
bad_places <- function(x, test) {
  bad <- which(!test(stored_numbers(x)))
  if (!is_sparse_matrix(x)) return(bad)
  column <- findInterval(bad - 1, x@p)
  sort((column - 1) * nrow(x) + x@i[bad] + 1)
}

# A list column as a matrix of one row for each element, padded; matrices of the package Matrix as
# dgCMatrix or as R's; other columns as they are.
flat_column <- function(x) {
  if (is_matrix_package(x)) return(plain_matrix(x))
  if (inherits(x, "AsIs")) class(x) <- setdiff(class(x), "AsIs")
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

# --- what the features of a model are to its columns and its head

# The same of a model's columns; the weights of its examples are its head's.
model_reads <- function(estimator) if (!is.null(estimator$spec)) cached_core_model(estimator)$reads

# The features that columns take as strings: a factor is fed as its labels to them, so that it does
# not matter which levels the data at hand have.
string_features <- function(reads) {
  is_string <- vapply(reads, `[[`, "", "dtype") == "string"
  setdiff(read_keys(reads[is_string]), read_keys(reads[!is_string]))
}

# The features that columns take as float32 and as nothing else: a model's arithmetic begins with a
# cast of them. A normalizer is given the numbers as they are.
float_features <- function(reads) {
  is_float <- vapply(reads, function(read) read$dtype == "float32" && !read$is_normalized, NA)
  setdiff(read_keys(reads[is_float]), read_keys(reads[!is_float]))
}

row_feature <- function(data) list(rows = numeric(n_rows(data[[1]])))
