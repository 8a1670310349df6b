# Converts columns of data to matrices and vectors for tensors.

# Returns the positions of elements that fail `test`. For a sparse matrix, they are indices into the
# dense matrix.
invalid_positions <- function(x, test) {
  invalid <- which(!test(stored_numbers(x)))
  if (!is_sparse_matrix(x)) return(invalid)
  column <- findInterval(invalid - 1, x@p)
  sort((column - 1) * nrow(x) + x@i[invalid] + 1)
}

# Converts a column to a vector or a matrix. List columns become padded matrices. Matrices of the
# package Matrix become dgCMatrix or base matrices.
flat_column <- function(x) {
  if (is_matrix_package(x)) return(plain_matrix(x))
  if (inherits(x, "AsIs")) class(x) <- setdiff(class(x), "AsIs")
  x <- unclassed_column(x)
  if (!is.list(x) || is.data.frame(x)) return(x)
  rows <- lapply(unname(x), function(row) {
    row <- if (is.list(row)) unlist(row) else row
    if (is.factor(row)) as.character(row) else row
  })
  # unlist() drops classes such as Date
  if (contains_encoded_numbers(c(rows, Filter(is.list, unname(x))))) return(x)
  types <- unique(vapply(rows[lengths(rows) > 0], typeof, ""))
  # other lists do not change, and check_column() rejects them with their name
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

# Removes a class of vctrs (such as haven_labelled) or of units from a vector. Methods of vctrs
# refuse conversions if the package that defines the class is not loaded.
unclassed_column <- function(x) {
  is_plain <- inherits(x, c("vctrs_vctr", "units")) && is_atomic(x) &&
    !inherits(x, c("factor", "Date", "POSIXt", "difftime", "integer64"))
  if (is_plain) restore_dims(as.vector(unclass(x)), unclass(x)) else x
}

# Returns the features that the columns and the head of a model read. The head reads the weights of
# rows.
model_reads <- function(estimator) if (!is.null(estimator$spec)) cached_core_model(estimator)$reads

# Returns the features that all columns read as strings. Their factors are converted to strings, so
# the order of levels does not matter.
string_features <- function(reads) {
  is_string <- vapply(reads, `[[`, "", "dtype") == "string"
  setdiff(feature_keys(reads[is_string]), feature_keys(reads[!is_string]))
}

# Returns the features that all columns read as float32, so that they can be converted in advance.
# Features with a normalizer are left out, because it must get the original numbers.
float_features <- function(reads) {
  is_float <- vapply(reads, function(read) read$dtype == "float32" && !read$is_normalized, NA)
  setdiff(feature_keys(reads[is_float]), feature_keys(reads[!is_float]))
}

# Creates a feature of zeros, one per row, for models that read no column of the data.
row_feature <- function(data) list(rows = numeric(n_rows(data[[1]])))

# Replaces the level NA of a factor by the string `level`. If `level` is NULL, rows with this level
# become missing.
replace_na_level <- function(x, level) {
  if (is.factor(x) && anyNA(levels(x))) {
    if (is.null(level)) return(restore_dims(factor(x, exclude = NA), x))
    levels(x)[is.na(levels(x))] <- level
    return(x)
  }
  if (!is.null(level) && (is.factor(x) || is.character(x))) fill_column(x, level) else x
}

# Converts a factor to strings for the graph, in which "" means NA. If "" is a level, NA becomes a
# new string that is not a level.
strings_for_graph <- function(x, levels = base::levels(x)) {
  strings <- as.character(x)
  if ("" %in% levels) strings[is.na(strings)] <- new_level("(missing)", levels)
  restore_dims(strings, x)
}

new_level <- function(level, levels) last_or_na(make.unique(c(levels, level)))

# Returns the variables of a formula that have "" or NA as a level, named by features.
variables_with_blanks <- function(blueprint) {
  variables <- Filter(function(v) !is.null(v$na_level) || "" %in% v$levels, blueprint$variables)
  keys <- blueprint$keys[names(variables)]
  setNames(variables, keys)[!is.na(keys)]
}
