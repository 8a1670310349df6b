# How data are sharded between processes (mpi_strategy()).

# The data that this process reads: an environment, so that readers can set `sharded_by` to what
# sharded the data: "package" for the package, "input_fn" for the input function, NULL if each
# process reads all.
new_shard <- function(estimator, mode, shards) {
  config <- if (is_estimator(estimator)) config_of_model(estimator)
  shards <- shards && replicas_of(config) > 1
  strategy <- if (shards) unclass(config)$train_distribute else list(size = 1L, rank = 0L)
  shard <- list2env(list(size = strategy$size, rank = strategy$rank), parent = emptyenv())
  # training shards rows, so that steps have batches of equal size; other modes shard batches
  shard$shards_rows <- identical(mode, "train")
  shard
}

# NULL if the input function shards, or if there is one process.
shard_to_apply <- function(shard, by_user) {
  if (shard$size == 1) return(NULL)
  if (!by_user) return(shard)
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

# A batch of all rows has all rows of each process; these numbers may differ by one.
per_replica_batch <- function(batch_size, n, own) {
  shard <- the$reading$shard
  is_whole <- !is.null(shard) && own < n && batch_size %in% c(n, ceiling(n / shard$size))
  if (is_whole) own else batch_size
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
