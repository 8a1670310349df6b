# Builds the random columns of columns.py: Rscript tests/interop/columns.R FILE
library(runhooks)
given <- jsonlite::read_json(commandArgs(TRUE)[[1]])

normalizers <- list(half = function(x) x / 2, shift = function(x) x + 1, square = function(x) x * x)

make <- function(column) {
  dtype <- if (isTRUE(column$is_string)) tf$string else tf$int64
  switch(column$kind,
    numeric = column_numeric(
      column$key, shape = column$shape,
      normalizer_fn = if (!is.null(column$normalizer)) normalizers[[column$normalizer]]
    ),
    bucketized = column_bucketized(make(column$source), unlist(column$boundaries)),
    identity = column_categorical_with_identity(
      column$key, num_buckets = column$buckets, default_value = column$default
    ),
    hashed = column_categorical_with_hash_bucket(
      column$key, hash_bucket_size = column$buckets, dtype = dtype
    ),
    list = column_categorical_with_vocabulary_list(
      column$key, vocabulary_list = unlist(column$words), dtype = dtype,
      num_oov_buckets = if (is.null(column$oov)) 0L else column$oov,
      default_value = if (is.null(column$default)) -1L else column$default
    ),
    weighted = column_categorical_weighted(make(column$column), column$weights),
    crossed = column_crossed(
      lapply(column$keys, function(key) if (is.character(key)) key else make(key)), column$buckets
    )
  )
}

dense_column <- function(column) {
  made <- make(column)
  if (column$kind == "numeric" || isTRUE(column$as_is)) made else column_indicator(made)
}

rows <- function(x) if (is.list(x[[1]])) do.call(rbind, lapply(x, unlist)) else array(unlist(x))

feature <- function(x) {
  if (is.null(x$indices)) return(tf$constant(rows(x)))
  tf$SparseTensor(
    matrix(as.double(rows(x$indices)), ncol = 2), rows(x$values), unlist(x$shape)
  )
}

differs <- function(case) {
  with(tf$Graph()$as_default(), {
    layer <- input_layer(lapply(case$features, feature), lapply(case$columns, dense_column))
    with(tf$Session() %as% session, values <- session$run(layer))
  })
  expected <- rows(case$values)
  if (!identical(dim(values), dim(expected))) return("shapes")
  error <- max(abs(values - expected))
  if (error > 1e-5) format(error)
}

failed <- 0
for (i in seq_along(given$cases)) {
  case <- given$cases[[i]]
  wrong <- tryCatch(differs(case), error = function(error) conditionMessage(error))
  if (is.null(wrong)) next
  failed <- failed + 1
  cat("FAILED case", i, ":", wrong, "\n", jsonlite::toJSON(case$columns, auto_unbox = TRUE), "\n")
}
cat(if (failed) "FAILED" else "ok    ", length(given$cases) - failed, "of", length(given$cases),
  "random input layers (seed", paste0(given$seed, ")\n")
)
quit(status = as.integer(failed > 0))
