# How data are sharded between processes (mpi_strategy()).

# Calls `read` with the context of an input, as in TensorFlow, and returns list(input, sharded_by).
# `sharded_by` tells who sharded the data: "package", "input_fn", or NULL if each process reads all
# data. `shards_itself` means that `read` shards.
with_shard <- function(estimator, mode, shards, shards_itself, read) {
  outer <- the$shard
  on.exit(the$shard <- outer)
  config <- if (is_estimator(estimator)) engine_config(estimator)
  shards <- shards && replicas_of(config) > 1
  strategy <- if (shards) unclass(config)$train_distribute else list(size = 1L, rank = 0L)
  shard <- new.env(parent = emptyenv())
  shard$size <- strategy$size
  shard$rank <- strategy$rank
  # training shards rows, so that steps have batches of equal size; other modes shard batches
  shard$shards_rows <- identical(mode, "train")
  if (shards && shards_itself) shard$sharded_by <- "input_fn"
  the$shard <- if (shards && !shards_itself) shard
  input <- read(list(num_input_pipelines = strategy$size, input_pipeline_id = strategy$rank))
  list(input = input, sharded_by = shard$sharded_by)
}

shard_rows <- function(columns, auto_shard) {
  shard <- the$shard
  if (is.null(shard)) return(columns)
  if (!auto_shard) shard$sharded_by <- "input_fn"
  if (!auto_shard || !shard$shards_rows) return(columns)
  n <- n_rows(columns[[1]])
  if (n < shard$size) {
    abort_runhooks("Cannot shard {n} row{?s} between {shard$size} processes.", call = user_frame())
  }
  shard$sharded_by <- "package"
  rows <- seq(shard$rank + 1, n, by = shard$size)
  lapply(columns, function(x) {
    if (is.null(dim(x))) return(x[rows])
    do.call(`[`, c(list(x, rows), rep(list(TRUE), length(dim(x)) - 1), list(drop = FALSE)))
  })
}

# A batch of all rows has all rows of each process; these numbers may differ by one.
per_replica_batch <- function(batch_size, n, own) {
  shard <- the$shard
  is_whole <- !is.null(shard) && own < n && batch_size %in% c(n, ceiling(n / shard$size))
  if (is_whole) own else batch_size
}

batch_shard <- function() {
  shard <- the$shard
  if (is.null(shard) || shard$shards_rows) return(NULL)
  shard$sharded_by <- "package"
  list(shard$rank, shard$size)
}

without_sharding <- function(auto_shard, expr) {
  shard <- the$shard
  if (auto_shard || is.null(shard)) return(expr)
  on.exit(the$shard <- shard)
  the$shard <- NULL
  shard$sharded_by <- "input_fn"
  expr
}
