# The random custom models of models.py, from the same checkpoints:
#   Rscript models.R FOLDER
# Losses, variables by name, metrics and predictions must agree.
suppressPackageStartupMessages(library(runhooks))
folder <- commandArgs(TRUE)[[1]]
cases <- jsonlite::read_json(file.path(folder, "models.json"))
tf$logging$set_verbosity(tf$logging$ERROR)
is_double <- cases$dtype == "float64"
steps <- cases$steps
batch <- 16
rows <- 48L

source("tests/interop/waves.R")
floats <- function(x) np_array(x, dtype = cases$dtype)
features_all <- list(
  x = floats(waves(c(rows, 5), 0.7)), image = floats(waves(c(rows, 8, 8, 2), 0.31)),
  tokens = whole(c(rows, 4), 0.9, 9), weight = floats(as_float(abs(waves(rows, 2.7)) + 0.25))
)
labels_all <- list(
  number = floats(waves(rows, 1.3)), count = floats(as.numeric(whole(rows, 1.9, 5))),
  class = whole(rows, 2.1, 3), flag = whole(rows, 2.3, 2)
)

activation <- function(name) if (name != "none") tf$nn[[name]]

image_layer <- function(net, spec) {
  act <- activation(spec$activation)
  size <- min(spec$size, unlist(dim(net)[2:3]))
  switch(spec$kind,
    conv2d = tf$layers$conv2d(
      net, spec$filters, size, spec$strides, spec$padding, activation = act
    ),
    separable = tf$layers$separable_conv2d(
      net, spec$filters, size, spec$strides, spec$padding, activation = act
    ),
    max_pool = tf$layers$max_pooling2d(net, size, spec$strides, spec$padding),
    average_pool = tf$layers$average_pooling2d(net, size, spec$strides, spec$padding),
    lrn = tf$nn$lrn(net, 2L, bias = 1, alpha = 0.1, beta = 0.5)
  )
}

layer <- function(net, spec, training) {
  act <- activation(spec$activation)
  switch(spec$kind,
    dense = tf$layers$dense(
      net, spec$units, act, spec$bias, trainable = spec$trainable,
      kernel_regularizer = if (spec$l2 > 0) function(w) spec$l2 * tf$nn$l2_loss(w)
    ),
    batch_norm = tf$layers$batch_normalization(net, momentum = spec$momentum, training = training),
    residual = net + tf$layers$dense(net, dim(net)[[2]], act),
    l2_normalize = tf$nn$l2_normalize(net, 1L),
    split = tf$concat(list(net, tf$square(net), tf$reverse(net, 1L)), 1L),
    moments = {
      parts <- tf$nn$moments(net, 1L, keep_dims = TRUE)
      (net - parts[[1]]) / tf$sqrt(parts[[2]] + 0.1)
    }
  )
}

network <- function(spec, features, training) {
  parts <- lapply(spec$inputs, function(name) {
    if (name == "x") return(features$x)
    if (name == "image") {
      net <- features$image
      for (one in spec$images) net <- image_layer(net, one)
      return(tf$layers$flatten(net))
    }
    table <- tf$get_variable("table", list(9L, spec$embedding), dtype = cases$dtype)
    rows <- tf$nn$embedding_lookup(table, features$tokens, max_norm = spec$max_norm)
    tf[[paste0("reduce_", spec$combiner)]](rows, 1L)
  })
  net <- tf$concat(parts, 1L)
  for (one in spec$layers) net <- layer(net, one, training)
  net
}

learning_rate <- function(spec, step) {
  rate <- spec$rate
  train <- tf$train
  if (is_double && spec$decay == "piecewise") {
    rates <- lapply(rate * c(1, 0.5, 0.1), tf$constant, "float64")
    return(train$piecewise_constant(step, c(2L, 5L), rates))
  }
  drop <- 0.7
  if (is_double && spec$decay != "none") {
    rate <- tf$constant(rate, "float64")
    drop <- tf$constant(drop, "float64")
  }
  switch(spec$decay,
    exponential = train$exponential_decay(rate, step, 3L, drop),
    staircase = train$exponential_decay(rate, step, 3L, drop, staircase = TRUE),
    polynomial = train$polynomial_decay(rate, step, 5L, 0.01, power = 0.5, cycle = TRUE),
    inverse_time = train$inverse_time_decay(rate, step, 2L, 0.5),
    cosine = train$cosine_decay(rate, step, 10L, 0.1),
    piecewise = train$piecewise_constant(step, c(2L, 5L), c(rate, rate * 0.5, rate * 0.1)),
    none = rate
  )
}

optimizer <- function(spec, rate) {
  t <- tf$train
  switch(spec$optimizer,
    GradientDescent = t$GradientDescentOptimizer(rate),
    Momentum = t$MomentumOptimizer(rate, 0.9),
    Nesterov = t$MomentumOptimizer(rate, 0.8, use_nesterov = TRUE),
    Adagrad = t$AdagradOptimizer(rate), Adam = t$AdamOptimizer(rate),
    RMSProp = t$RMSPropOptimizer(rate, momentum = 0.5),
    CenteredRMSProp = t$RMSPropOptimizer(rate, centered = TRUE),
    Ftrl = t$FtrlOptimizer(
      rate, l1_regularization_strength = 0.01, l2_regularization_strength = 0.02
    ),
    Adadelta = t$AdadeltaOptimizer(rate * 10),
    ProximalAdagrad = t$ProximalAdagradOptimizer(rate, l1_regularization_strength = 0.01),
    ProximalGradientDescent = t$ProximalGradientDescentOptimizer(
      rate, l2_regularization_strength = 0.02
    )
  )
}

minimized <- function(spec, loss, step) {
  opt <- optimizer(spec, learning_rate(spec, step))
  pairs <- Filter(function(pair) !is.null(pair[[1]]), opt$compute_gradients(loss))
  grads <- lapply(pairs, `[[`, 1)
  grads <- switch(spec$clip,
    global_norm = tf$clip_by_global_norm(grads, 0.3)[[1]],
    norm = lapply(grads, tf$clip_by_norm, 0.2),
    value = lapply(grads, tf$clip_by_value, -0.05, 0.05),
    none = grads
  )
  with(tf$control_dependencies(tf$get_collection(tf$GraphKeys$UPDATE_OPS)), {
    train <- opt$apply_gradients(
      Map(function(g, pair) list(g, pair[[2]]), grads, pairs), global_step = step
    )
  })
  if (is.null(spec$average)) return(train)
  with(tf$control_dependencies(list(train)), {
    tf$train$ExponentialMovingAverage(spec$average)$apply(tf$trainable_variables())
  })
}

# As in models.py.
own_loss <- function(spec, y, labels, weights) {
  rows <- if (spec$head == "class") {
    tf$nn$softmax_cross_entropy_with_logits_v2(tf$one_hot(labels, 3L, dtype = "float64"), y)
  } else if (spec$head == "flag") {
    tf$nn$sigmoid_cross_entropy_with_logits(labels = tf$cast(labels, "float64"), logits = y)
  } else {
    switch(spec$loss,
      log_poisson = tf$nn$log_poisson_loss(labels, y, compute_full_loss = TRUE),
      log_cosh = tf$log(tf$cosh(y - labels)),
      absolute_difference = tf$abs(y - labels),
      tf$square(y - labels)
    )
  }
  tf$reduce_mean(if (is.null(weights)) rows else rows * weights)
}

# Predictions, a function that returns the loss, and one that returns metrics.
head_of <- function(spec, net, labels, weights) {
  losses <- tf$losses
  given <- list(weights = if (is.null(weights)) 1 else weights, reduction = spec$reduction)
  weighted <- function(f, ...) do.call(f, c(list(...), given))
  metrics <- tf$metrics
  if (spec$head == "class") {
    logits <- tf$layers$dense(net, 3L, name = "head")
    classes <- tf$argmax(logits, 1L)
    return(list(
      predictions = list(classes = classes, probabilities = tf$nn$softmax(logits)),
      loss = function() {
        if (is_double) return(own_loss(spec, logits, labels, weights))
        if (spec$smoothing > 0) {
          return(weighted(
            losses$softmax_cross_entropy, tf$one_hot(labels, 3L), logits,
            label_smoothing = spec$smoothing
          ))
        }
        weighted(losses$sparse_softmax_cross_entropy, labels, logits)
      },
      metrics = function() {
        list(
          accuracy = metrics$accuracy(labels, classes, weights),
          in_top = metrics$mean(tf$cast(tf$nn$in_top_k(tf$cast(logits, "float32"), labels, 2L), tf$float32))
        )
      }
    ))
  }
  y <- tf$squeeze(tf$layers$dense(net, 1L, name = "head"), 1L)
  if (spec$head == "flag") {
    p <- tf$sigmoid(y)
    return(list(
      predictions = list(p = p),
      loss = function() {
        if (is_double) return(own_loss(spec, y, labels, weights))
        weighted(
          losses$sigmoid_cross_entropy, tf$cast(labels, tf$float32), y,
          label_smoothing = spec$smoothing
        )
      },
      metrics = function() {
        list(
          auc = metrics$auc(labels, p, weights), precision = metrics$precision(labels, p > 0.5),
          recall = metrics$recall(labels, p > 0.5), log = metrics$mean(tf$log(p + 0.1))
        )
      }
    ))
  }
  loss_of <- function() {
    if (is_double) return(own_loss(spec, y, labels, weights))
    switch(spec$loss,
      log_cosh = weighted(losses$compute_weighted_loss, tf$log(tf$cosh(y - labels))),
      log_poisson = weighted(
        losses$compute_weighted_loss, tf$nn$log_poisson_loss(labels, y, compute_full_loss = TRUE)
      ),
      weighted(losses[[spec$loss]], labels, y)
    )
  }
  list(predictions = list(y = y), loss = loss_of, metrics = function() {
    list(
      rmse = metrics$root_mean_squared_error(labels, y, weights),
      mae = metrics$mean_absolute_error(labels, y, weights), mean = metrics$mean(y, weights)
    )
  })
}

model_fn_of <- function(spec) {
  function(features, labels, mode) {
    net <- network(spec, features, mode == "train")
    head <- head_of(spec, net, labels, if (spec$weighted) features$weight)
    if (mode == "infer") return(estimator_spec(mode, predictions = head$predictions))
    loss <- head$loss()
    regularization <- tf$losses$get_regularization_losses()
    if (length(regularization)) loss <- loss + tf$add_n(regularization)
    estimator_spec(mode,
      predictions = head$predictions, loss = loss,
      train_op = if (mode == "train") minimized(spec, loss, tf$train$get_global_step()),
      eval_metric_ops = head$metrics()
    )
  }
}

input <- function(spec, epochs) {
  features <- features_all[c(unlist(spec$inputs), "weight")]
  function() {
    tensor_slices_dataset(list(features, labels_all[[spec$head]])) %>%
      dataset_repeat(epochs) %>%
      dataset_batch(batch)
  }
}

# In row-major order.
flat <- function(x) if (is.null(dim(x))) as.vector(x) else as.vector(aperm(x))

run <- function(spec, theirs) {
  model_dir <- tempfile()
  on.exit(unlink(model_dir, recursive = TRUE))
  dir.create(model_dir)
  first <- list.files(theirs, "^model.ckpt-0[.]", full.names = TRUE)
  stopifnot(length(first) > 0, file.copy(first, model_dir))
  writeLines('model_checkpoint_path: "model.ckpt-0"', file.path(model_dir, "checkpoint"))
  model <- estimator(
    model_fn_of(spec), model_dir,
    config = run_config(save_summary_steps = NULL, save_checkpoints_steps = 1000)
  )
  losses <- c()
  keep <- session_run_hook(
    before_run = function(context) {
      all <- context$session$graph$get_collection("losses")
      session_run_args(all[[length(all)]])
    },
    after_run = function(context, values) losses <<- c(losses, values$results)
  )
  train(model, input(spec, NULL), steps = steps, hooks = keep)
  names <- variable_names(model)
  rows <- predict(model, input(spec, 1), simplify = FALSE)
  keys <- names(spec$result$predictions)
  list(
    losses = losses, metrics = as.list(evaluate(model, input(spec, 1))),
    variables = lapply(setNames(nm = names), function(n) flat(variable_value(model, n)[[1]])),
    predictions = lapply(setNames(nm = keys), function(key) {
      unlist(lapply(rows, function(row) flat(if (key %in% names(row)) row[[key]] else unlist(row))))
    })
  )
}

# The largest difference over all values of a kind.
distance <- function(here, there) {
  if (!length(here)) return(0)
  if (!setequal(names(here), names(there))) {
    return(paste("other names:", toString(c(setdiff(names(here), names(there)), "|",
      setdiff(names(there), names(here))))))
  }
  if (!is.null(names(there))) here <- here[names(there)]
  here <- as.numeric(unlist(here))
  there <- as.numeric(unlist(there))
  if (length(here) != length(there)) return("other lengths")
  both <- !(is.nan(here) & is.nan(there)) & !(here == there)
  both[is.na(both)] <- TRUE
  if (!any(both)) return(0)
  error <- max(abs(here - there)[both] / (1 + abs(there))[both])
  if (is.na(error)) Inf else error
}

differ <- 0
for (i in seq_along(cases$models)) {
  spec <- cases$models[[i]]
  found <- tryCatch(run(spec, file.path(folder, i)), error = function(e) conditionMessage(e))
  errors <- if (is.list(found)) {
    Map(function(kind) distance(found[[kind]], spec$result[[kind]]), names(spec$result))
  } else {
    list(failed = found)
  }
  # Metrics are always float32.
  most <- ifelse(is_double & names(errors) != "metrics", 1e-9, 1e-4)
  good <- mapply(function(e, most) is.numeric(e) && e <= most, errors, most)
  if (all(good)) next
  differ <- differ + 1
  cat("models: ", i, " differs in ", paste(names(errors), format(errors), collapse = ", "), "\n  ",
    jsonlite::toJSON(spec[names(spec) != "result"], auto_unbox = TRUE, null = "null"), "\n",
    sep = "")
}
cat("models: ", length(cases$models), " custom models of ", cases$dtype, " (seed ", cases$seed, "), ", differ,
  " differ\n", sep = "")
quit(save = "no", status = differ > 0)
