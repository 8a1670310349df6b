# How data are dealt to several processes (mpi_strategy()).

# list(input, parts): what `read` gives when it is called with the context of its input, in the
# words of TensorFlow. Where the data are dealt, unless `read` does so itself, `parts` says who has dealt
# them to the processes: "us", or "user"; NULL: nobody, each process has all.
with_shard <- function(estimator, mode, deals, deals_itself, read) {
  outer <- the$dealing
  on.exit(the$dealing <- outer)
  config <- if (is_estimator(estimator)) engine_config(estimator)
  deals <- deals && replicas_of(config) > 1
  strategy <- if (deals) unclass(config)$train_distribute else list(size = 1L, rank = 0L)
  place <- new.env(parent = emptyenv())
  place$size <- strategy$size
  place$rank <- strategy$rank
  # rows in training, so that a step has as many of all; elsewhere the batches that one process has
  place$deals_rows <- identical(mode, "train")
  if (deals && deals_itself) place$parts <- "user"
  the$dealing <- if (deals && !deals_itself) place
  input <- read(list(num_input_pipelines = strategy$size, input_pipeline_id = strategy$rank))
  list(input = input, parts = place$parts)
}

# The rows of this process.
shard_rows <- function(columns, auto_shard) {
  place <- the$dealing
  if (is.null(place)) return(columns)
  if (!auto_shard) place$parts <- "user"
  if (!auto_shard || !place$deals_rows) return(columns)
  n <- n_rows(columns[[1]])
  if (n < place$size) {
    abort_runhooks("{n} row{?s} cannot be dealt to {place$size} processes.", call = user_frame())
  }
  place$parts <- "us"
  rows <- seq(place$rank + 1, n, by = place$size)
  lapply(columns, function(x) {
    if (is.null(dim(x))) return(x[rows])
    do.call(`[`, c(list(x, rows), rep(list(TRUE), length(dim(x)) - 1), list(drop = FALSE)))
  })
}

# How many of its rows a process has in a batch. Batches that have all rows, together or by what is
# asked for, have all of each process, which may be one row less than another has.
per_replica_batch <- function(batch_size, n, own) {
  place <- the$dealing
  is_whole <- !is.null(place) && own < n && batch_size %in% c(n, ceiling(n / place$size))
  if (is_whole) own else batch_size
}

# Which reader of batches this process is, of how many; NULL: the only one.
reader_of_batches <- function() {
  place <- the$dealing
  if (is.null(place) || place$deals_rows) return(NULL)
  place$parts <- "us"
  list(place$rank, place$size)
}

# The value of `expr`, which reads all data in each process, unless they are dealt.
without_sharding <- function(auto_shard, expr) {
  place <- the$dealing
  if (auto_shard || is.null(place)) return(expr)
  on.exit(the$dealing <- place)
  the$dealing <- NULL
  place$parts <- "user"
  expr
}
