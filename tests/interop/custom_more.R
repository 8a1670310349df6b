# More models of custom.R, with features of scripts other than layers, an optimizer and a head
# (custom_more.py).

binary <- whole(rows, 1.7, 2)
many <- floats(whole(c(rows, 4), 0.57, 2))
factor_ids <- list(user = whole(rows, 0.37, 9), item = whole(rows, 0.83, 7))
words <- list(tokens = tokens$tokens, length = whole(rows, 1.9, 7) + 1L)
series <- list(series = floats(waves(c(rows, 5, 3), 0.43)))
column_data <- c(list(a = floats(waves(c(rows, 6), 0.7)[, 1, drop = FALSE])), factor_ids)

optimize <- function(optimizer) function(loss) optimizer$minimize(loss, global_step = step())
line <- function(net, ...) tf$squeeze(tf$layers$dense(net, 1L, ...), 1L)

block <- function(x, filters, training, name) {
  with(tf$variable_scope(name), {
    net <- tf$layers$conv2d(x, filters, 3L, padding = "same", use_bias = FALSE, name = "a")
    net <- tf$nn$relu(tf$layers$batch_normalization(net, training = training, name = "bn_a"))
    net <- tf$layers$conv2d(net, filters, 3L, padding = "same", use_bias = FALSE, name = "b")
    net <- tf$layers$batch_normalization(net, training = training, name = "bn_b")
    if (x$shape$as_list()[[4]] != filters) {
      x <- tf$layers$conv2d(x, filters, 1L, name = "shortcut")
    }
    tf$nn$relu(net + x)
  })
}

gru_cell <- function(x, h, units, name) {
  with(tf$variable_scope(name, reuse = tf$AUTO_REUSE), {
    both <- tf$concat(list(x, h), 1L)
    gates <- tf$nn$sigmoid(tf$layers$dense(
      both, 2L * units,
      name = "gates", bias_initializer = tf$ones_initializer()
    ))
    parts <- tf$split(gates, 2L, axis = 1L)
    r <- parts[[1]]
    u <- parts[[2]]
    new <- tf$layers$dense(tf$concat(list(x, r * h), 1L), units, name = "candidate")
    u * h + (1 - u) * tf$tanh(new)
  })
}

reversed_gradient <- tf$custom_gradient(function(x) {
  list(tf$identity(x), function(dy) -0.3 * dy)
})

more_models <- list(
  conv1d_text = function(features, labels, mode) {
    net <- tf$contrib$layers$embed_sequence(features$tokens, 20L, 5L, scope = "words")
    net <- tf$layers$conv1d(net, 6L, 3L, padding = "same", activation = tf$nn$relu, name = "conv")
    net <- tf$layers$max_pooling1d(net, 2L, 2L, padding = "same")
    net <- tf$layers$average_pooling1d(net, 2L, 1L)
    net <- tf$layers$dropout(tf$reduce_max(net, axis = 1L), 0.4, training = FALSE)
    classify(mode, tf$layers$dense(net, 3L), labels, tf$train$AdamOptimizer(0.03))
  },
  separable = function(features, labels, mode) {
    net <- features$image %>%
      tf$layers$separable_conv2d(
        5L, c(3L, 3L),
        depth_multiplier = 2L, padding = "same", use_bias = FALSE
      ) %>%
      tf$layers$batch_normalization(training = mode == "train", momentum = 0.8, scale = FALSE) %>%
      tf$nn$relu6() %>%
      tf$layers$max_pooling2d(3L, 2L, padding = "same") %>%
      tf$layers$conv2d(4L, 3L, dilation_rate = 2L, activation = tf$nn$swish) %>%
      tf$reduce_mean(c(1L, 2L))
    classify(mode, tf$layers$dense(net, 3L), labels, tf$train$RMSPropOptimizer(0.01))
  },
  conv_autoencoder = function(features, labels, mode) {
    x <- features$image
    net <- tf$layers$conv2d(
      x, 4L, 5L,
      strides = c(2L, 2L), padding = "SAME", activation = tf$nn$elu
    )
    code <- tf$layers$dense(tf$layers$flatten(net), 3L, name = "code")
    net <- tf$layers$dense(code, 6L * 6L * 4L, activation = tf$nn$relu)
    net <- tf$reshape(net, list(-1L, 6L, 6L, 4L))
    net <- tf$layers$conv2d_transpose(
      net, 2L, 5L,
      strides = 2L, padding = "same", activation = tf$tanh
    )
    predictions <- list(code = code, image = net)
    if (mode == "infer") return(estimator_spec(mode, predictions = predictions))
    loss <- tf$losses$mean_squared_error(x, net)
    tf$summary$image("back", net[, , , 1:1, drop = FALSE], 2L)
    tf$summary$scalar("the loss", loss)
    estimator_spec(mode,
      predictions = predictions, loss = loss,
      train_op = optimize(tf$train$AdamOptimizer(0.01))(loss),
      eval_metric_ops = list(error = tf$metrics$mean_absolute_error(x, net))
    )
  },
  residual = function(features, labels, mode) {
    net <- tf$pad(features$image, list(c(0L, 0L), c(1L, 1L), c(1L, 1L), c(0L, 0L)))
    net <- block(net, 2L, mode == "train", "first")
    net <- block(net, 3L, mode == "train", "second")
    net <- tf$reduce_mean(net, axis = c(1L, 2L), keepdims = TRUE)
    logits <- tf$layers$dense(tf$layers$flatten(net), 3L)
    rate <- tf$train$piecewise_constant(tf$cast(step(), tf$int32), c(5L, 12L), c(0.01, 0.005, 0.002))
    weights <- Filter(function(v) !grepl("bn", v$name), tf$trainable_variables())
    decay <- 1e-3 * tf$add_n(lapply(weights, tf$nn$l2_loss))
    classify(mode, logits, labels, tf$train$MomentumOptimizer(rate, 0.5), decay)
  },
  by_hand = function(features, labels, mode) {
    x <- tf$reshape(features$image, shape(-1, 12, 12, 2))
    w1 <- tf$Variable(tf$truncated_normal(shape(5, 5, 2, 3), stddev = 0.1), name = "W1")
    b1 <- tf$Variable(tf$constant(0.1, shape = shape(3)), name = "b1")
    net <- tf$nn$relu(tf$nn$conv2d(x, w1, strides = c(1L, 1L, 1L, 1L), padding = "SAME") + b1)
    net <- tf$nn$max_pool(
      net,
      ksize = c(1L, 2L, 2L, 1L), strides = c(1L, 2L, 2L, 1L), padding = "SAME"
    )
    w2 <- tf$Variable(tf$random_normal(shape(3, 3, 3, 4), stddev = 0.1), name = "W2")
    net <- tf$nn$bias_add(
      tf$nn$conv2d(net, w2, c(1L, 2L, 2L, 1L), "VALID"), tf$Variable(tf$zeros(shape(4)))
    )
    net <- tf$nn$avg_pool(net, c(1L, 2L, 2L, 1L), c(1L, 1L, 1L, 1L), "VALID")
    flat <- tf$reshape(net, list(tf$shape(net)[1], -1L))
    flat <- tf$reshape(flat, c(-1L, 4L))
    w3 <- tf$get_variable(
      "W3", shape(4, 3),
      initializer = tf$contrib$layers$xavier_initializer()
    )
    logits <- tf$nn$xw_plus_b(flat, w3, tf$Variable(tf$zeros(shape(3)), name = "b3"))
    classes <- tf$argmax(logits, 1L)
    if (mode == "infer") return(estimator_spec(mode, predictions = tf$nn$softmax(logits)))
    onehot <- tf$one_hot(labels, 3L)
    loss <- tf$reduce_mean(
      tf$nn$softmax_cross_entropy_with_logits_v2(labels = onehot, logits = logits)
    )
    correct <- tf$cast(tf$equal(classes, tf$argmax(onehot, 1L)), tf$float32)
    estimator_spec(mode,
      loss = loss, train_op = optimize(tf$train$AdagradOptimizer(0.05))(loss),
      eval_metric_ops = list(accuracy = tf$metrics$mean(correct))
    )
  },
  siamese = function(features, labels, mode) {
    embed <- function(x, reuse = NULL) {
      with(tf$variable_scope("net", reuse = reuse), {
        net <- tf$layers$dense(x, 6L, tf$nn$relu, name = "one")
        tf$nn$l2_normalize(tf$layers$dense(net, 3L, name = "two"), 1L)
      })
    }
    a <- embed(features$x[, 1:3])
    b <- embed(features$x[, 4:6], reuse = TRUE)
    distance <- tf$sqrt(tf$reduce_sum(tf$square(a - b), 1L) + 1e-6)
    if (mode == "infer") {
      return(estimator_spec(mode, predictions = list(distance = distance)))
    }
    same <- tf$to_float(labels)
    loss <- tf$reduce_mean(
      same * tf$square(distance) + (1 - same) * tf$square(tf$maximum(0, 1 - distance))
    )
    estimator_spec(mode,
      loss = loss, predictions = list(distance = distance),
      train_op = optimize(tf$train$MomentumOptimizer(0.1, 0.5))(loss),
      eval_metric_ops = list(
        auc = tf$metrics$auc(labels, 1 / (1 + distance)),
        close = tf$metrics$percentage_below(distance, 0.5)
      )
    )
  },
  unrolled = function(features, labels, mode) {
    steps <- tf$unstack(features$series, axis = 1L)
    h <- tf$zeros(list(tf$shape(steps[[1]])[1], 4L))
    for (x in steps) h <- gru_cell(x, h, 4L, "gru")
    regress(mode, line(h), labels, optimize(tf$train$AdagradOptimizer(0.05)))
  },
  looped = function(features, labels, mode) {
    series <- features$series
    w <- tf$get_variable("w", list(7L, 4L))
    b <- tf$get_variable("b", list(4L), initializer = tf$zeros_initializer())
    body <- function(i, h) {
      x <- tf$concat(list(tf$gather(series, i, axis = 1L), h), 1L)
      list(i + 1L, tf$tanh(tf$matmul(x, w) + b))
    }
    end <- tf$while_loop(
      function(i, h) i < 5L, body,
      list(tf$constant(0L), tf$zeros(list(tf$shape(series)[1], 4L))),
      shape_invariants = list(shape(), shape(NULL, 4L))
    )
    h <- end[[2]]
    h$set_shape(list(NULL, 4L))
    regress(mode, line(h), labels, optimize(tf$train$GradientDescentOptimizer(0.1)))
  },
  binary_metrics = function(features, labels, mode) {
    logits <- line(tf$layers$dense(features$x, 4L, tf$sigmoid))
    p <- tf$nn$sigmoid(logits)
    classes <- tf$cast(tf$greater(p, 0.5), tf$int32)
    if (mode == "infer") {
      return(estimator_spec(mode, predictions = list(p = p, classes = classes)))
    }
    loss <- tf$losses$sigmoid_cross_entropy(labels, logits)
    m <- tf$metrics
    w <- tf$abs(features$x[, 2])
    estimator_spec(mode,
      loss = loss, predictions = list(p = p),
      train_op = optimize(tf$train$FtrlOptimizer(0.5, l2_regularization_strength = 0.01))(loss),
      eval_metric_ops = list(
        accuracy = m$accuracy(labels, classes), weighted = m$accuracy(labels, classes, w),
        auc = m$auc(labels, p),
        pr = m$auc(labels, p, curve = "PR", summation_method = "careful_interpolation"),
        auc_w = m$auc(labels, p, weights = w, num_thresholds = 50L),
        precision = m$precision(labels, classes), recall = m$recall(labels, classes, w),
        fn = m$false_negatives(labels, classes), fp = m$false_positives(labels, classes),
        tp = m$true_positives(labels, classes), tn = m$true_negatives(labels, classes, w),
        iou = m$mean_iou(labels, classes, 2L),
        per_class = m$mean_per_class_accuracy(labels, classes, 2L),
        sensitivity = m$sensitivity_at_specificity(labels, p, 0.6),
        specificity = m$specificity_at_sensitivity(labels, p, 0.6),
        cosine = m$mean_cosine_distance(
          tf$expand_dims(tf$to_float(labels), 1L), tf$expand_dims(p, 1L), 0L
        ),
        relative = m$mean_relative_error(tf$to_float(labels), p, p + 0.1)
      )
    )
  },
  all_losses = function(features, labels, mode) {
    x <- features$x
    out <- tf$layers$dense(x, 3L, kernel_regularizer = tf$contrib$layers$l1_regularizer(0.01))
    value <- out[, 1]
    if (mode == "infer") return(estimator_spec(mode, predictions = list(out = out)))
    target <- tf$stack(list(labels, labels^2, 0.5 * labels), axis = 1L)
    w <- tf$expand_dims(tf$to_float(labels > 0), 1L)
    r <- tf$losses$Reduction
    losses <- list(
      huber = tf$losses$huber_loss(target, out, w, delta = 0.3, reduction = r$MEAN),
      hinge = tf$losses$hinge_loss(tf$to_float(target > 0), out, reduction = r$SUM),
      log = tf$losses$log_loss(tf$abs(target), tf$sigmoid(out), w),
      cosine = tf$losses$cosine_distance(
        tf$nn$l2_normalize(target, 1L), tf$nn$l2_normalize(out, 1L),
        axis = 1L, reduction = r$SUM_OVER_BATCH_SIZE
      ),
      pairs = tf$losses$mean_pairwise_squared_error(target, out),
      absolute = tf$losses$absolute_difference(target, out, 0.5),
      softmax = tf$losses$softmax_cross_entropy(
        tf$nn$softmax(target), out, tf$abs(labels),
        label_smoothing = 0.1
      ),
      sparse = tf$losses$sparse_softmax_cross_entropy(tf$to_int32(labels > 0), out, w[, 1]),
      sigmoid = tf$losses$sigmoid_cross_entropy(
        tf$to_float(target > 0.1), out,
        label_smoothing = 0.2
      ),
      own = tf$losses$compute_weighted_loss(
        tf$square(value - labels), labels + 2,
        reduction = r$SUM_OVER_NONZERO_WEIGHTS
      )
    )
    none <- tf$losses$mean_squared_error(
      labels, value,
      reduction = r$NONE, loss_collection = NULL
    )
    tf$losses$add_loss(0.1 * tf$reduce_mean(none))
    loss <- tf$losses$get_total_loss()
    estimator_spec(mode,
      loss = loss, predictions = list(out = out),
      train_op = optimize(tf$train$AdamOptimizer(0.02))(loss),
      eval_metric_ops = lapply(losses, tf$metrics$mean)
    )
  },
  columns = function(features, labels, mode, params) {
    net <- tf$feature_column$input_layer(features, params$columns)
    net <- tf$layers$dense(net, 5L, activation = tf$nn$relu)
    deep <- tf$layers$dense(net, 1L)
    wide <- tf$feature_column$linear_model(features, params$wide)
    regress(mode, tf$squeeze(deep + wide, 1L), labels, optimize(tf$train$AdagradOptimizer(0.1)))
  },
  factors = function(features, labels, mode) {
    p <- tf$get_variable(
      "P", c(9L, 3L),
      initializer = tf$random_normal_initializer(stddev = 0.5)
    )
    q <- tf$get_variable("Q", c(7L, 3L), initializer = tf$random_uniform_initializer(-0.5, 0.5))
    bias <- tf$get_variable("b", 9L, initializer = tf$zeros_initializer())
    u <- tf$nn$embedding_lookup(p, features$user)
    i <- tf$gather(q, features$item)
    out <- tf$reduce_sum(u * i, 1L) + tf$gather(bias, features$user)
    regress(mode, out, labels, function(loss) {
      loss <- loss + 0.01 * (tf$nn$l2_loss(u) + tf$nn$l2_loss(i))
      tf$train$AdamOptimizer(0.05)$minimize(loss, step())
    })
  },
  poisson = function(features, labels, mode) {
    log_rate <- line(features$x, kernel_initializer = tf$zeros_initializer())
    if (mode == "infer") return(estimator_spec(mode, list(rate = tf$exp(log_rate))))
    counts <- tf$to_float(labels)
    loss <- tf$reduce_mean(tf$nn$log_poisson_loss(counts, log_rate, compute_full_loss = TRUE))
    estimator_spec(mode, list(rate = tf$exp(log_rate)), loss,
      optimize(tf$train$RMSPropOptimizer(0.02, centered = TRUE))(loss),
      eval_metric_ops = list(deviance = tf$metrics$mean(counts * tf$log(counts + 1) - log_rate))
    )
  },
  multi_label = function(features, labels, mode) {
    logits <- tf$layers$dense(features$x, 4L)
    if (mode == "infer") {
      return(estimator_spec(mode, list(
        top = tf$nn$top_k(logits, 2L)$indices, p = tf$sigmoid(logits)
      )))
    }
    loss <- tf$reduce_mean(tf$nn$weighted_cross_entropy_with_logits(labels, logits, 2))
    ids <- tf$argmax(labels, 1L)
    optimizer <- tf$train$ProximalGradientDescentOptimizer(
      0.5, l1_regularization_strength = 0.01
    )
    estimator_spec(mode, list(p = tf$sigmoid(logits)), loss, optimize(optimizer)(loss),
      eval_metric_ops = list(
        recall2 = tf$metrics$recall_at_k(ids, logits, 2L),
        precision2 = tf$metrics$precision_at_k(ids, logits, 2L),
        top = tf$metrics$mean(tf$to_float(tf$nn$in_top_k(logits, ids, 2L)))
      )
    )
  },
  attention = function(features, labels, mode) {
    e <- tf$get_variable(
      "E", list(20L, 6L),
      initializer = tf$truncated_normal_initializer(stddev = 0.4)
    )
    net <- tf$nn$embedding_lookup(e, features$tokens)
    mask <- tf$sequence_mask(features$length, 7L)
    project <- function(n) tf$layers$dense(net, 6L, use_bias = FALSE, name = n)
    q <- project("q")
    k <- project("k")
    v <- project("v")
    scores <- tf$matmul(q, k, transpose_b = TRUE) / tf$sqrt(6.0)
    mask2 <- tf$tile(tf$expand_dims(mask, 1L), c(1L, 7L, 1L))
    scores <- tf$where(mask2, scores, -1e9 * tf$ones_like(scores))
    net <- tf$matmul(tf$nn$softmax(scores), v)
    m <- tf$expand_dims(tf$cast(mask, tf$float32), -1L)
    net <- tf$reduce_sum(net * m, 1L) / tf$reduce_sum(m, 1L)
    classify(mode, tf$layers$dense(net, 3L), labels, tf$train$AdamOptimizer(0.02))
  },
  mixture = function(features, labels, mode) {
    net <- tf$layers$dense(features$x, 6L, tf$tanh)
    parts <- tf$split(tf$layers$dense(net, 6L), c(2L, 2L, 2L), 1L)
    logits <- parts[[1]]
    mu <- parts[[2]]
    sigma <- tf$nn$softplus(parts[[3]]) + 0.1
    if (mode == "infer") {
      return(estimator_spec(mode, list(mu = mu, weights = tf$nn$softmax(logits))))
    }
    z <- (tf$expand_dims(labels, 1L) - mu) / sigma
    log_p <- -0.5 * tf$square(z) - log(sigma) - 0.5 * log(2 * pi)
    loss <- -tf$reduce_mean(tf$reduce_logsumexp(tf$nn$log_softmax(logits) + log_p, axis = 1L))
    estimator_spec(mode, list(mu = mu), loss, optimize(tf$train$AdamOptimizer(0.02))(loss),
      eval_metric_ops = list(first = tf$metrics$mean(mu[, 1]))
    )
  },
  alternating = function(features, labels, mode) {
    with(tf$variable_scope("a"), a <- line(features$x, name = "l"))
    with(tf$variable_scope("b"), {
      b <- line(tf$layers$dense(features$x, 3L, tf$nn$relu, name = "h"), name = "l")
    })
    regress(mode, a + b, labels, function(loss) {
      va <- tf$trainable_variables("a/")
      vb <- tf$trainable_variables("b/")
      oa <- tf$train$GradientDescentOptimizer(0.1)
      grads <- tf$train$AdamOptimizer(0.05)$compute_gradients(loss, vb)
      which <- tf$cond(
        tf$equal(step() %% 2L, 0L),
        function() {
          with(tf$control_dependencies(list(oa$minimize(loss, var_list = va))), tf$constant(1L))
        },
        function() {
          updates <- lapply(grads, function(p) p[[2]]$assign_sub(0.02 * p[[1]]))
          with(tf$control_dependencies(list(do.call(tf$group, updates))), tf$constant(2L))
        }
      )
      with(tf$control_dependencies(list(which)), tf$assign_add(step(), 1L))
    })
  },
  hand_sgd = function(features, labels, mode) {
    w <- tf$get_variable("w", list(6L, 1L), initializer = tf$constant_initializer(0.1))
    b <- tf$get_variable("b", initializer = tf$constant(0.5, shape = shape(1)))
    n <- tf$get_variable("n", list(), tf$float32, tf$zeros_initializer(), trainable = FALSE)
    out <- tf$reshape(tf$matmul(features$x, w) + b, -1L)
    regress(mode, out, labels, function(loss) {
      grads <- tf$gradients(loss, list(w, b))
      norm <- tf$global_norm(grads)
      rate <- tf$train$inverse_time_decay(0.3, step(), 4L, 0.5)
      updates <- Map(
        function(v, g) tf$assign_sub(v, rate * tf$clip_by_norm(g, 0.4)), list(w, b), grads
      )
      with(tf$control_dependencies(updates), {
        tf$group(tf$assign_add(step(), 1L), n$assign(0.9 * n + 0.1 * norm))
      })
    })
  },
  averaged_eval = function(features, labels, mode) {
    ema <- tf$train$ExponentialMovingAverage(0.8)
    with(tf$variable_scope("lin"), {
      w <- tf$get_variable("w", list(6L, 1L))
      b <- tf$get_variable("b", list(1L), initializer = tf$zeros_initializer())
    })
    if (mode == "train") {
      out <- tf$matmul(features$x, w) + b
    } else {
      ema$apply(list(w, b))
      out <- tf$matmul(features$x, ema$average(w)) + ema$average(b)
    }
    regress(mode, tf$squeeze(out, list(1L)), labels, function(loss) {
      if (mode != "train") return(NULL)
      opt <- tf$train$GradientDescentOptimizer(0.2)$minimize(loss, global_step = step())
      with(tf$control_dependencies(list(opt)), ema$apply(list(w, b)))
    })
  },
  class_weights = function(features, labels, mode) {
    net <- tf$contrib$layers$fully_connected(
      features$x, 6L,
      activation_fn = tf$nn$softsign, scope = "fc",
      weights_regularizer = tf$contrib$layers$l1_l2_regularizer(0.01, 0.02)
    )
    logits <- tf$contrib$layers$linear(net, 3L)
    classes <- tf$argmax(logits, axis = -1L, output_type = tf$int32)
    if (mode == "infer") return(estimator_spec(mode, list(classes = classes)))
    w <- tf$gather(tf$constant(c(0.5, 1, 2)), labels)
    tf$losses$softmax_cross_entropy(tf$one_hot(labels, depth = 3L), logits = logits, weights = w)
    loss <- tf$losses$get_total_loss(add_regularization_losses = TRUE)
    train <- tf$contrib$layers$optimize_loss(
      loss = loss, global_step = step(), learning_rate = 0.1,
      optimizer = function(r) tf$train$MomentumOptimizer(r, 0.6),
      gradient_multipliers = list("fc/weights:0" = 0.5), clip_gradients = 2,
      summaries = c("loss", "gradients"), name = "opt"
    )
    estimator_spec(mode,
      loss = loss, train_op = train,
      eval_metric_ops = list(accuracy = tf$metrics$accuracy(labels, classes, weights = w))
    )
  },
  quantiles = function(features, labels, mode) {
    out <- tf$layers$dense(
      features$x, 3L,
      bias_initializer = tf$constant_initializer(c(-1, 0, 1)),
      activity_regularizer = function(y) 0.001 * tf$reduce_sum(tf$square(y)),
      kernel_constraint = function(w) tf$clip_by_value(w, -0.5, 0.5)
    )
    if (mode == "infer") return(estimator_spec(mode, list(q = out)))
    tau <- tf$constant(c(0.1, 0.5, 0.9))
    e <- tf$expand_dims(labels, -1L) - out
    loss <- tf$reduce_mean(tf$maximum(tau * e, (tau - 1) * e)) +
      tf$losses$get_regularization_loss()
    estimator_spec(mode, list(q = out), loss, optimize(tf$train$AdagradOptimizer(0.3))(loss),
      eval_metric_ops = list(
        below = tf$metrics$mean(tf$to_float(e < 0)),
        tensor = tf$metrics$mean(tf$reduce_mean(e, 0L)[2])
      )
    )
  },
  gaussian = function(features, labels, mode) {
    x <- features$x[, 1:3]
    root <- tf$get_variable("L", c(3L, 3L), initializer = tf$initializers$identity(0.8))
    mean <- tf$get_variable("mean", c(3L), initializer = tf$zeros_initializer())
    cov <- tf$matmul(root, root, transpose_b = TRUE) + 0.1 * tf$eye(3L)
    chol <- tf$cholesky(cov)
    z <- tf$matrix_triangular_solve(chol, tf$transpose(x - mean))
    nll <- 0.5 * tf$reduce_sum(tf$square(z), 0L) + tf$reduce_sum(tf$log(tf$diag_part(chol)))
    if (mode == "infer") return(estimator_spec(mode, list(nll = nll)))
    loss <- tf$reduce_mean(nll) + 0.01 * tf$log(tf$matrix_determinant(cov))
    estimator_spec(mode, list(nll = nll), loss, optimize(tf$train$AdamOptimizer(0.05))(loss),
      eval_metric_ops = list(trace = tf$metrics$mean(tf$trace(tf$matrix_inverse(cov))))
    )
  },
  activations = function(features, labels, mode) {
    x <- features$x
    net <- tf$nn$crelu(tf$layers$dense(x, 4L))
    net <- tf$contrib$layers$maxout(tf$layers$dense(net, 8L, tf$nn$softsign), 4L)
    net <- tf$concat(list(
      net, tf$nn$selu(net), tf$nn$leaky_relu(net, 0.1), tf$nn$log_softmax(net),
      tf$log1p(abs(net)), sin(net), tf$cumsum(net, axis = 1L, reverse = TRUE)
    ), -1L)
    net <- tf$contrib$layers$layer_norm(net, center = FALSE)
    classify(mode, tf$layers$dense(net, 3L), labels, tf$train$AdadeltaOptimizer(2, 0.9))
  },
  hand_norm = function(features, labels, mode) {
    x <- features$image
    moments <- tf$nn$moments(x, c(0L, 1L, 2L))
    gamma <- tf$get_variable("gamma", 2L, initializer = tf$ones_initializer())
    beta <- tf$get_variable("beta", 2L, initializer = tf$zeros_initializer())
    moving <- tf$get_variable(
      "moving", 2L,
      initializer = tf$zeros_initializer(), trainable = FALSE
    )
    if (mode == "train") {
      update <- tf$assign(moving, moving * 0.9 + moments[[1]] * 0.1)
      tf$add_to_collection(tf$GraphKeys$UPDATE_OPS, update)
    }
    net <- tf$nn$batch_normalization(x, moments[[1]], moments[[2]], beta, gamma, 1e-3)
    net <- tf$nn$depthwise_conv2d(
      net, tf$get_variable("d", c(3L, 3L, 2L, 2L)), c(1L, 1L, 1L, 1L), "VALID",
      rate = c(2L, 2L)
    )
    net <- tf$reduce_mean(tf$square(net), c(1L, 2L))
    classify(
      mode, tf$layers$dense(net, 3L), labels, tf$train$GradientDescentOptimizer(0.1)
    )
  },
  bag = function(features, labels, mode) {
    e <- tf$get_variable("E", c(20L, 4L))
    where <- tf$where(features$tokens > 4L)
    ids <- tf$SparseTensor(where, tf$gather_nd(features$tokens, where), c(16L, 7L))
    net <- tf$nn$embedding_lookup_sparse(e, ids, NULL, combiner = "sqrtn")
    scope <- tf$variable_scope(
      "out",
      initializer = tf$random_uniform_initializer(-0.3, 0.3),
      regularizer = tf$contrib$layers$l2_regularizer(0.1)
    )
    with(scope, w <- tf$get_variable("w", c(4L, 3L)))
    classify(
      mode, tf$matmul(net, w), labels, tf$train$FtrlOptimizer(0.2),
      tf$losses$get_regularization_loss()
    )
  },
  mapped = function(features, labels, mode) {
    w <- tf$get_variable("w", c(3L, 3L), initializer = tf$orthogonal_initializer(0.7))
    net <- tf$map_fn(function(m) tf$matmul(m, w), features$series)
    net <- tf$scan(function(a, x) 0.5 * a + x, tf$transpose(net, c(1L, 0L, 2L)))
    net <- tf$foldl(function(a, x) a + tf$tanh(x), net)
    regress(mode, line(net), labels, optimize(tf$train$MomentumOptimizer(0.05, 0.9)))
  },
  adversarial = function(features, labels, mode) {
    net <- tf$layers$dense(features$x, 5L, tf$nn$tanh, name = "features")
    output <- line(net, name = "value")
    domain <- tf$layers$dense(reversed_gradient(net), 1L, name = "domain")
    regress(mode, output, labels, function(loss) {
      side <- tf$losses$sigmoid_cross_entropy(
        tf$expand_dims(tf$to_float(labels > 0), 1L), domain
      )
      optimize(tf$train$AdagradDAOptimizer(0.2, step()))(loss + side)
    })
  },
  layer_objects = function(features, labels, mode) {
    conv <- tf$layers$Conv2D(3L, 3L, activation = tf$nn$relu, name = "c")
    pool <- tf$layers$MaxPooling2D(2L, 2L)
    norm <- tf$layers$BatchNormalization(axis = -1L, momentum = 0.7)
    net <- pool(conv(features$image))
    net <- tf$layers$Flatten()(norm$apply(net, training = mode == "train"))
    dense <- tf$layers$Dense(3L)
    logits <- dense(tf$layers$Dropout(0.3)(net, training = FALSE))
    decay <- 0.01 * tf$nn$l2_loss(dense$kernel) + 0.01 * tf$reduce_sum(tf$abs(conv$kernel))
    updates <- do.call(tf$group, norm$updates)
    with(tf$control_dependencies(if (mode == "train") list(updates) else list()), {
      decay <- tf$identity(decay)
    })
    rate <- tf$train$polynomial_decay(0.2, step(), 10L, 0.01, power = 2, cycle = TRUE)
    classify(mode, logits, labels, tf$train$GradientDescentOptimizer(rate), decay)
  },
  getters = function(features, labels, mode) {
    halved <- function(getter, name, ...) 0.5 * getter(name, ...)
    with(tf$variable_scope("scaled", custom_getter = halved), {
      net <- tf$layers$dense(features$x, 4L, tf$nn$relu)
    })
    with(tf$variable_scope("scaled", reuse = TRUE), again <- tf$get_variable("dense/kernel"))
    out <- line(net) + tf$reduce_sum(again)
    regress(mode, out, labels, optimize(tf$train$GradientDescentOptimizer(0.02)))
  },
  double = function(features, labels, mode) {
    x <- tf$cast(features$x, tf$float64)
    out <- line(tf$layers$dense(x, 4L, tf$nn$relu))
    if (!is.null(labels)) labels <- tf$cast(labels, tf$float64)
    rate <- tf$train$linear_cosine_decay(0.1, step(), 20L)
    regress(mode, out, labels, optimize(tf$train$AdamOptimizer(rate)))
  }
)

column_params <- function() {
  fc <- tf$feature_column
  item <- fc$categorical_column_with_identity("item", num_buckets = 7L)
  user <- fc$categorical_column_with_identity("user", num_buckets = 9L)
  a <- fc$numeric_column("a")
  list(
    columns = list(
      a, fc$indicator_column(item), fc$embedding_column(user, 3L),
      fc$bucketized_column(a, c(-0.5, 0, 0.5))
    ),
    wide = list(item, user, fc$crossed_column(c("item", "user"), 20L))
  )
}

more_data <- list(
  conv1d_text = list(tokens, class), separable = list(image, class),
  conv_autoencoder = list(image, y), residual = list(image, class), by_hand = list(image, class),
  siamese = list(x, binary), unrolled = list(series, y), looped = list(series, y),
  binary_metrics = list(x, binary), all_losses = list(x, y),
  columns = list(column_data, y, column_params), factors = list(factor_ids, y),
  poisson = list(x, class), multi_label = list(x, many), attention = list(words, class),
  mixture = list(x, y), alternating = list(x, y), hand_sgd = list(x, y),
  averaged_eval = list(x, y), class_weights = list(x, class), quantiles = list(x, y),
  gaussian = list(x, y), activations = list(x, class), hand_norm = list(image, class),
  bag = list(tokens, class), mapped = list(series, y), adversarial = list(x, y),
  layer_objects = list(image, class), getters = list(x, y), double = list(x, y)
)
