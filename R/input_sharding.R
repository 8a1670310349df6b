# Shards data between the processes of mpi_strategy().

# Describes the shard that this process reads. It is an environment, so that readers can set
# `sharded_by`: "package" if this package shards the data, "input_fn" if the input function does, or
# NULL if each process reads all data.
new_shard <- function(estimator, mode, shards) {
  config <- if (is_estimator(estimator)) config_of_model(estimator)
  shards <- shards && replicas_of(config) > 1
  strategy <- if (shards) unclass(config)$train_distribute else list(size = 1L, rank = 0L)
  shard <- list2env(list(size = strategy$size, rank = strategy$rank), parent = emptyenv())
  # training shards rows, so that steps have batches of equal size; other modes shard batches
  shard$shards_rows <- identical(mode, "train")
  shard
}

# Returns the shard that readers must apply. NULL if the input function shards, or if there is one
# process.
shard_to_apply <- function(shard, is_user_sharded) {
  if (shard$size == 1) return(NULL)
  if (!is_user_sharded) return(shard)
  shard$sharded_by <- "input_fn"
  NULL
}

shard_rows <- function(columns, auto_shard) {
  shard <- the$reading$shard
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

# Returns the batch size of this process. If a batch contains all rows of the data, this is the
# number of rows in the process's shard. That number may differ by one between processes.
per_replica_batch <- function(batch_size, n, n_here) {
  shard <- the$reading$shard
  is_full_batch <- !is.null(shard) && n_here < n && batch_size %in% c(n, ceiling(n / shard$size))
  if (is_full_batch) n_here else batch_size
}

batch_shard <- function() {
  shard <- the$reading$shard
  if (is.null(shard) || shard$shards_rows) return(NULL)
  shard$sharded_by <- "package"
  list(shard$rank, shard$size)
}

without_sharding <- function(auto_shard, expr) {
  reading <- the$reading
  if (auto_shard || is.null(reading$shard)) return(expr)
  reading$shard$sharded_by <- "input_fn"
  reading["shard"] <- list(NULL)
  with_reading(reading, expr)
}
