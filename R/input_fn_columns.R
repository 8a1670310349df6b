# Columns of data as matrices and vectors that tensors are made of.

# Sparse and other matrices of the package Matrix.
is_matrix_package <- function(x) isS4(x) && inherits(x, "Matrix")

# Those that go into the core as they are: a batch at a time becomes dense.
is_sparse_matrix <- function(x) is_matrix_package(x) && inherits(x, "dgCMatrix")

# A sparse matrix of any kind as a dgCMatrix, another one of the package Matrix as R's.
plain_matrix <- function(x) {
  if (is_sparse_matrix(x)) return(x)
  if (!inherits(x, "sparseMatrix")) return(unname(Matrix::as.matrix(x)))
  methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
}

# The numbers that are written down: all of them, or those of a sparse matrix.
stored_numbers <- function(x) if (is_sparse_matrix(x)) x@x else x

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

# The features that an estimator's columns take as strings: a factor is fed as its labels to them,
# so that it does not matter which levels the data at hand have.
string_features <- function(estimator) {
  types <- if (inherits(estimator, "tf_estimator")) feature_types(estimator$spec) else list()
  keys <- vapply(types, `[[`, "", "key")
  is_string <- vapply(types, `[[`, "", "type") == "string"
  setdiff(keys[is_string], keys[!is_string])
}

# Pairs of a feature and the type that a column takes it in, of all columns in a specification; with
# them what else the column asks of its values.
feature_types <- function(spec) {
  pair <- function(key, type, ...) list(list(key = key, type = type, ...))
  if (!is_column(spec)) {
    is_nest <- is.list(spec) && (is.null(attr(spec, "class")) || inherits(spec, "list"))
    if (!is_nest) return(list())
    return(unlist(lapply(unname(spec), feature_types), recursive = FALSE))
  }
  switch(spec$type,
    HashedCategoricalColumn = pair(spec$key, spec$dtype),
    VocabularyListCategoricalColumn = ,
    VocabularyFileCategoricalColumn = pair(
      spec$key, spec$dtype,
      takes_unknown = isTRUE(spec$num_oov_buckets > 0) || isTRUE(spec$default_value >= 0)
    ),
    WeightedCategoricalColumn = c(
      feature_types(spec$categorical_column),
      pair(spec$weight_feature_key, spec$dtype, is_weight = TRUE)
    ),
    IdentityCategoricalColumn = pair(
      spec$key, "int64", num_buckets = if (is.null(spec$default_value)) spec$number_buckets
    ),
    NumericColumn = pair(spec$key, "float32", is_normalized = !is.null(spec$normalizer_fn)),
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

# The names of all features that an estimator reads, its weights' included unless `weights` is
# FALSE.
read_features <- function(estimator, weights = TRUE) {
  spec <- estimator$spec
  weight <- class_settings(spec)$weight_column
  # not also among the columns
  spec <- spec[setdiff(names(spec), c("weight_column", "head"))]
  keys <- unique(vapply(feature_types(spec), `[[`, "", "key"))
  if (weights && !is.null(weight)) keys <- union(keys, weight_key(weight))
  keys
}

weight_key <- function(weight) if (is_column(weight)) weight$key else weight
