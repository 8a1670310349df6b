# Converts columns of data to matrices and vectors for tensors.

# Positions of elements that fail `test`, as indices into the whole matrix.
invalid_positions <- function(x, test) {
  bad <- which(!test(stored_numbers(x)))
  if (!is_sparse_matrix(x)) return(bad)
  column <- findInterval(bad - 1, x@p)
  sort((column - 1) * nrow(x) + x@i[bad] + 1)
}

# List columns become padded matrices, matrices of the package Matrix dgCMatrix or base matrices.
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
  if (holds_other_numbers(rows) || holds_other_numbers(Filter(is.list, unname(x)))) return(x)
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

# The vector below a class of vctrs, such as haven_labelled, or of units. Methods of vctrs refuse
# conversions if the package that defines the class is not loaded.
unclassed_column <- function(x) {
  is_plain <- inherits(x, c("vctrs_vctr", "units")) && is_atomic(x) &&
    !inherits(x, c("factor", "Date", "POSIXt", "difftime", "integer64"))
  if (is_plain) array_like(as.vector(unclass(x)), unclass(x)) else x
}

# What the columns of a model read; the head reads weights of rows.
model_reads <- function(estimator) if (!is.null(estimator$spec)) cached_core_model(estimator)$reads

# A factor becomes its labels for such features, so its levels do not matter.
string_features <- function(reads) {
  is_string <- vapply(reads, `[[`, "", "dtype") == "string"
  setdiff(feature_keys(reads[is_string]), feature_keys(reads[!is_string]))
}

# The model would cast such features anyway. A normalizer must get the original numbers.
float_features <- function(reads) {
  is_float <- vapply(reads, function(read) read$dtype == "float32" && !read$is_normalized, NA)
  setdiff(feature_keys(reads[is_float]), feature_keys(reads[!is_float]))
}

row_feature <- function(data) list(rows = numeric(n_rows(data[[1]])))

# Replaces the level NA of a factor by the string `word`; without one, such rows are missing.
with_named_na <- function(x, word) {
  if (is.factor(x) && anyNA(levels(x))) {
    if (is.null(word)) return(array_like(factor(x, exclude = NA), x))
    levels(x)[is.na(levels(x))] <- word
    return(x)
  }
  if (!is.null(word) && (is.factor(x) || is.character(x))) fill_column(x, word) else x
}

# Strings for the graph, where NA is "". If "" is a level, NA is a string that is no level.
strings_for_graph <- function(x, levels = base::levels(x)) {
  words <- as.character(x)
  if ("" %in% levels) words[is.na(words)] <- new_level("(missing)", levels)
  array_like(words, x)
}

new_level <- function(word, levels) last_or_na(make.unique(c(levels, word)))

# Variables of a formula with "" or NA as a level, by feature.
variables_with_blanks <- function(blueprint) {
  variables <- Filter(function(v) !is.null(v$na_level) || "" %in% v$levels, blueprint$variables)
  keys <- blueprint$keys[names(variables)]
  setNames(variables, keys)[!is.na(keys)]
}
