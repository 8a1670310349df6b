# Random models with every kind of column, head and optimizer, trained for some steps. Writes the
# folder of each (a checkpoint with .meta at every step, graph.pbtxt) and run.json: the batches and
# results. graphs_check.py repeats the steps in TensorFlow.
#   Rscript tests/interop/graphs.R FOLDER MODELS SEED
library(runhooks)

arguments <- commandArgs(TRUE)
folder <- arguments[[1]]
seed <- as.integer(arguments[[3]])
set.seed(seed)
cat("graphs.R: seed", seed, "\n")
steps <- 3L

pick <- function(x) x[[sample.int(length(x), 1L)]]
chance <- function(p) stats::runif(1) < p
words <- c("red", "green", "blue", "grey", "pink")
n <- 64L
several <- function(of) {
  lapply(seq_len(n), function(i) of[sample.int(length(of), sample(3L, 1L), replace = TRUE)])
}
new_data <- function() {
  data <- data.frame(
    x = stats::rnorm(n), z = stats::runif(n, 0, 4), i = sample(c(0:6, -1L), n, TRUE),
    w = sample(c(words, "", "other"), n, TRUE), g = sample(c(words, "other"), n, TRUE),
    h = paste0("u", sample.int(30L, n, TRUE)), hi = sample.int(50L, n, TRUE),
    c2 = sample(0:1, n, TRUE), c3 = sample(0:2, n, TRUE), weight = stats::runif(n, 0.5, 2),
    stringsAsFactors = FALSE
  )
  data$y <- data$x + data$i / 3 + stats::rnorm(n)
  data$m <- several(c(words, "other"))
  data$mw <- lapply(lengths(data$m), function(k) round(stats::runif(k, 0.2, 3), 2))
  data
}

vocabulary_file <- file.path(folder, "words.txt")
writeLines(words, vocabulary_file)
bucketized <- function() column_bucketized(column_numeric("x"), sort(sample(-200:200, 3)) / 100)
categorical <- list(
  function() column_categorical_with_identity("i", num_buckets = 7),
  function() column_categorical_with_identity("i", num_buckets = 4, default_value = 2),
  function() {
    column_categorical_with_vocabulary_list("w",
      vocabulary_list = words, num_oov_buckets = pick(0:2)
    )
  },
  function() {
    column_categorical_with_vocabulary_file("g",
      vocabulary_file = vocabulary_file, vocabulary_size = 5, num_oov_buckets = pick(0:2)
    )
  },
  function() column_categorical_with_vocabulary_list("hi", vocabulary_list = c(3L, 9L, 27L)),
  function() column_categorical_with_hash_bucket("h", hash_bucket_size = 11),
  function() column_categorical_with_hash_bucket("hi", hash_bucket_size = 6, dtype = tf$int32),
  function() column_crossed(c("w", "h"), hash_bucket_size = 13),
  function() column_crossed(list("h", bucketized()), hash_bucket_size = 17, hash_key = 5),
  function() {
    column_categorical_weighted(column_categorical_with_hash_bucket("m", hash_bucket_size = 8), "mw")
  },
  function() column_categorical_with_vocabulary_list("m", vocabulary_list = words)
)
# A clipped row of length 1 has gradient 0, whose rounding errors Adam would turn into steps.
embedding_of <- function(column) {
  dimension <- pick(c(1, 3))
  column_embedding(column,
    dimension = dimension, combiner = pick(c("mean", "sum", "sqrtn")),
    max_norm = if (dimension > 1 && chance(0.5)) 0.4
  )
}
dense <- list(
  function() list(column_numeric("z")),
  function() list(bucketized()),
  function() list(column_indicator(pick(categorical)())),
  function() list(embedding_of(pick(categorical)())),
  function() list(embedding_of(pick(categorical)())),
  function() {
    column_shared_embedding(list(
      column_categorical_with_vocabulary_list("w", vocabulary_list = words),
      column_categorical_with_vocabulary_list("g", vocabulary_list = words)
    ), dimension = 2)
  }
)
# `k` of the kinds. Two columns with the same name would share variables, so names are distinct.
some_of <- function(kinds, k) {
  columns <- list()
  for (make in kinds[sample.int(length(kinds), k)]) {
    made <- make()
    columns <- c(columns, if (inherits(made, "runhooks_feature_column")) list(made) else made)
  }
  names <- vapply(columns, function(column) column$name, "")
  columns[!duplicated(names)]
}
linear_columns <- function() some_of(c(categorical, dense[1:2]), sample(2:5, 1L))
dnn_columns <- function() some_of(dense, sample(2:4, 1L))

optimizer_of <- tf$train
optimizers <- list(
  SGD = function() optimizer_of$GradientDescentOptimizer(0.1),
  Momentum = function() optimizer_of$MomentumOptimizer(0.05, 0.9, use_nesterov = chance(0.5)),
  Adagrad = function() optimizer_of$AdagradOptimizer(0.1),
  AdagradDA = function() optimizer_of$AdagradDAOptimizer(0.1, optimizer_of$get_or_create_global_step()),
  Adam = function() optimizer_of$AdamOptimizer(0.05),
  RMSProp = function() optimizer_of$RMSPropOptimizer(0.02, momentum = 0.5, centered = chance(0.5)),
  Adadelta = function() optimizer_of$AdadeltaOptimizer(0.5),
  Ftrl = function() {
    optimizer_of$FtrlOptimizer(0.1,
      l1_regularization_strength = 0.01, l2_regularization_strength = 0.01,
      l2_shrinkage_regularization_strength = pick(c(0, 0.01))
    )
  },
  ProximalAdagrad = function() {
    optimizer_of$ProximalAdagradOptimizer(0.1, l1_regularization_strength = 0.001)
  },
  ProximalGradientDescent = function() {
    optimizer_of$ProximalGradientDescentOptimizer(0.1, l2_regularization_strength = 0.01)
  },
  AdamW = function() optimizer_of$AdamWOptimizer(0.01, 0.05),
  LAMB = function() optimizer_of$LAMBOptimizer(0.05, weight_decay_rate = 0.01)
)

config <- function() {
  run_config(tf_random_seed = sample.int(1e6, 1L), save_checkpoints_steps = 1, keep_checkpoint_max = 0)
}
# An estimator of one of three families with one of three heads.
new_model <- function(model_dir, optimizer) {
  family <- pick(c("linear", "dnn", "dnn_linear_combined"))
  head <- pick(list(
    list("regressor", "y"), list("classifier", "c2"), list("classifier", "c3", n_classes = 3),
    list("regressor", "y", weight_column = "weight")
  ))
  partitioner <- if (chance(0.4)) tf$fixed_size_partitioner(2)
  make <- optimizers[[optimizer]]
  own <- switch(family,
    linear = list(
      feature_columns = linear_columns(), optimizer = make, partitioner = partitioner
    ),
    dnn = list(
      hidden_units = c(4, 3), feature_columns = dnn_columns(), optimizer = make,
      input_layer_partitioner = partitioner
    ),
    list(
      linear_feature_columns = linear_columns(), dnn_feature_columns = dnn_columns(),
      dnn_hidden_units = 4, linear_optimizer = make, dnn_optimizer = make,
      input_layer_partitioner = partitioner
    )
  )
  model <- do.call(
    paste0(family, "_", head[[1]]),
    c(own, head[-(1:2)], list(model_dir = model_dir, config = config()))
  )
  list(model = model, response = head[[2]], family = family, cut = !is.null(partitioner))
}

# The batch and the tensors to compare.
tensors_of <- function(graph) {
  operations <- graph$get_operations()
  types <- vapply(operations, function(op) op$type, "")
  names <- vapply(operations, function(op) op$name, "")
  batch <- operations[[which(types == "IteratorGetNext")]]
  list(
    batch = vapply(batch$outputs, function(x) x$name, ""),
    compared = paste0(names[
      grepl("(weighted_sum|logits/BiasAdd)$", names) | grepl("/weighted_loss/Sum$", names)
    ], ":0")
  )
}
plain <- function(x) {
  list(shape = as.list(if (is.null(dim(x))) length(x) else dim(x)), values = as.list(as.vector(x)))
}

run_one <- function(k, optimizer) {
  model_dir <- file.path(folder, sprintf("%02d_%s", k, optimizer))
  made <- new_model(model_dir, optimizer)
  tensors <- NULL
  runs <- list()
  look <- session_run_hook(
    begin = function() tensors <<- tensors_of(tf$get_default_graph()),
    before_run = function(context) {
      do.call(session_run_args, as.list(unlist(tensors, use.names = FALSE)))
    },
    after_run = function(context, values) {
      count <- length(tensors$batch)
      runs[[length(runs) + 1]] <<- list(
        batch = lapply(values$results[seq_len(count)], plain),
        compared = lapply(values$results[-seq_len(count)], plain)
      )
    }
  )
  input <- input_fn(
    new_data(), features = c(x, z, i, w, g, h, hi, m, mw, weight), response = made$response,
    batch_size = pick(c(7, 16)), shuffle = FALSE, num_epochs = NULL
  )
  suppressMessages(utils::capture.output(
    train(made$model, input, steps = steps, hooks = list(look))
  ))
  run <- list(
    model = paste0(made$family, if (made$cut) ", in parts", ", ", optimizer),
    batch = as.list(tensors$batch), compared = as.list(tensors$compared), runs = runs
  )
  jsonlite::write_json(run, file.path(model_dir, "run.json"), digits = NA, auto_unbox = TRUE)
}

names_in_turn <- rep(sample(names(optimizers)), length.out = as.integer(arguments[[2]]))
for (k in seq_along(names_in_turn)) run_one(k, names_in_turn[[k]])
