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

# The features that an estimator's columns take as strings: a factor is fed as its labels to them,
# so that it does not matter which levels the data at hand have.
string_features <- function(estimator) {
  types <- if (inherits(estimator, "tf_estimator")) feature_types(estimator$spec) else list()
  keys <- vapply(types, `[[`, "", "key")
  is_string <- vapply(types, `[[`, "", "type") == "string"
  setdiff(keys[is_string], keys[!is_string])
}

# Pairs of a feature and the type that a column takes it in, of all columns in a specification.
feature_types <- function(spec) {
  pair <- function(key, type) list(list(key = key, type = type))
  if (!is_column(spec)) {
    is_nest <- is.list(spec) && (is.null(attr(spec, "class")) || inherits(spec, "list"))
    if (!is_nest) return(list())
    return(unlist(lapply(unname(spec), feature_types), recursive = FALSE))
  }
  switch(spec$type,
    HashedCategoricalColumn = ,
    VocabularyListCategoricalColumn = ,
    VocabularyFileCategoricalColumn = pair(spec$key, spec$dtype),
    IdentityCategoricalColumn = pair(spec$key, "int64"),
    NumericColumn = pair(spec$key, "float32"),
    BucketizedColumn = feature_types(spec$source_column),
    CrossedColumn = {
      parts <- lapply(spec$keys, function(key) {
        if (is.character(key)) pair(key, "string") else feature_types(key)
      })
      unlist(parts, recursive = FALSE)
    },
    feature_types(spec$categorical_column)
  )
}
