# How data are dealt to several processes (mpi_strategy()).

# Calls `read` with the context of its input, in the words of TensorFlow. In training the data are
# dealt, unless `read` does so itself.
with_dealing <- function(estimator, mode, deals_itself, read) {
  outer <- the$dealing
  on.exit(the$dealing <- outer)
  config <- if (is_estimator(estimator)) engine_config(estimator)
  deals <- identical(mode, "train") && replicas_of(config) > 1
  strategy <- if (deals) unclass(config)$train_distribute else list(size = 1L, rank = 0L)
  the$dealing <- if (deals && !deals_itself) strategy
  read(list(num_input_pipelines = strategy$size, input_pipeline_id = strategy$rank))
}

# The rows of this process.
dealt_rows <- function(columns, auto_shard) {
  strategy <- the$dealing
  if (is.null(strategy) || !auto_shard) return(columns)
  n <- n_rows(columns[[1]])
  if (n < strategy$size) {
    stop_runhooks("{n} row{?s} cannot be dealt to {strategy$size} processes.", call = user_frame())
  }
  rows <- seq(strategy$rank + 1, n, by = strategy$size)
  lapply(columns, function(x) {
    if (is.null(dim(x))) return(x[rows])
    do.call(`[`, c(list(x, rows), rep(list(TRUE), length(dim(x)) - 1), list(drop = FALSE)))
  })
}
