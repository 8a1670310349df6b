# How data are sharded between processes (mpi_strategy()).

# Calls `read` with the context of an input, as in TensorFlow, and returns list(input, parts).
# `parts` tells what sharded the data: "us" for the package, "user" for the input function, or NULL
# if each process reads all data. `deals_itself` means that `read` shards.
with_shard <- function(estimator, mode, deals, deals_itself, read) {
  outer <- the$dealing
  on.exit(the$dealing <- outer)
  config <- if (is_estimator(estimator)) engine_config(estimator)
  deals <- deals && replicas_of(config) > 1
  strategy <- if (deals) unclass(config)$train_distribute else list(size = 1L, rank = 0L)
  place <- new.env(parent = emptyenv())
  place$size <- strategy$size
  place$rank <- strategy$rank
  # training shards rows, so that steps have batches of equal size; other modes shard batches
  place$deals_rows <- identical(mode, "train")
  if (deals && deals_itself) place$parts <- "user"
  the$dealing <- if (deals && !deals_itself) place
  input <- read(list(num_input_pipelines = strategy$size, input_pipeline_id = strategy$rank))
  list(input = input, parts = place$parts)
}

shard_rows <- function(columns, auto_shard) {
  place <- the$dealing
  if (is.null(place)) return(columns)
  if (!auto_shard) place$parts <- "user"
  if (!auto_shard || !place$deals_rows) return(columns)
  n <- n_rows(columns[[1]])
  if (n < place$size) {
    abort_runhooks("Cannot shard {n} row{?s} between {place$size} processes.", call = user_frame())
  }
  place$parts <- "us"
  rows <- seq(place$rank + 1, n, by = place$size)
  lapply(columns, function(x) {
    if (is.null(dim(x))) return(x[rows])
    do.call(`[`, c(list(x, rows), rep(list(TRUE), length(dim(x)) - 1), list(drop = FALSE)))
  })
}

# A batch of all rows has all rows of each process; these numbers may differ by one.
per_replica_batch <- function(batch_size, n, own) {
  place <- the$dealing
  is_whole <- !is.null(place) && own < n && batch_size %in% c(n, ceiling(n / place$size))
  if (is_whole) own else batch_size
}

batch_shard <- function() {
  place <- the$dealing
  if (is.null(place) || place$deals_rows) return(NULL)
  place$parts <- "us"
  list(place$rank, place$size)
}

without_sharding <- function(auto_shard, expr) {
  place <- the$dealing
  if (auto_shard || is.null(place)) return(expr)
  on.exit(the$dealing <- place)
  the$dealing <- NULL
  place$parts <- "user"
  expr
}
