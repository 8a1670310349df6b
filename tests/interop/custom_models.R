# Models of custom.R: layers, an optimizer, a head (custom_models.py).

models <- list(
  mlp = function(features, labels, mode) {
    net <- tf$layers$dense(features$x, 8L, activation = tf$nn$relu)
    net <- tf$layers$dense(net, 5L, activation = tf$nn$tanh, name = "middle")
    output <- tf$squeeze(tf$layers$dense(net, 1L), 1L)
    opt <- tf$train$AdamOptimizer(0.05)
    regress(mode, output, labels, function(loss) opt$minimize(loss, global_step = step()))
  },
  batch_norm = function(features, labels, mode) {
    net <- tf$layers$dense(features$x, 8L, use_bias = FALSE)
    net <- tf$layers$batch_normalization(net, momentum = 0.9, training = (mode == "train"))
    net <- tf$nn$relu(net)
    classify(mode, tf$layers$dense(net, 3L), labels, tf$train$MomentumOptimizer(0.1, 0.9))
  },
  cnn = function(features, labels, mode) {
    net <- tf$layers$conv2d(features$image, 4L, 3L, padding = "same", activation = tf$nn$relu)
    net <- tf$layers$max_pooling2d(net, 2L, 2L)
    net <- tf$layers$conv2d(net, 6L, c(3L, 3L), activation = tf$nn$relu)
    net <- tf$layers$average_pooling2d(net, 2L, 2L)
    net <- tf$layers$dense(tf$layers$flatten(net), 10L, activation = tf$nn$elu)
    classify(mode, tf$layers$dense(net, 3L), labels, tf$train$AdagradOptimizer(0.1))
  },
  text = function(features, labels, mode) {
    embeddings <- tf$get_variable("embeddings", list(20L, 4L))
    net <- tf$reduce_mean(tf$nn$embedding_lookup(embeddings, features$tokens), 1L)
    net <- tf$layers$dense(net, 6L, tf$nn$relu)
    classify(
      mode, tf$layers$dense(net, 3L, name = "logits"), labels, tf$train$AdamOptimizer(0.02)
    )
  },
  wide_deep = function(features, labels, mode) {
    x <- features$x
    with(tf$variable_scope("wide"), {
      w <- tf$get_variable("w", c(6L, 1L), initializer = tf$zeros_initializer())
      wide <- tf$matmul(x, w)
    })
    with(tf$variable_scope("deep"), {
      deep <- tf$layers$dense(tf$layers$dense(x, 7L, tf$nn$selu), 1L)
    })
    regress(mode, tf$squeeze(wide + deep, 1L), labels, function(loss) {
      wide_vars <- tf$get_collection(tf$GraphKeys$TRAINABLE_VARIABLES, "wide")
      deep_vars <- tf$get_collection(tf$GraphKeys$TRAINABLE_VARIABLES, "deep")
      a <- tf$train$FtrlOptimizer(0.1, l1_regularization_strength = 0.01)$minimize(
        loss, var_list = wide_vars
      )
      b <- tf$train$RMSPropOptimizer(0.01, momentum = 0.5)$minimize(
        loss, var_list = deep_vars, global_step = step()
      )
      tf$group(a, b)
    })
  },
  autoencoder = function(features, labels, mode) {
    x <- features$x
    with(tf$variable_scope("code"), code <- tf$layers$dense(x, 2L, tf$nn$sigmoid))
    with(tf$variable_scope("back"), back <- tf$layers$dense(code, 6L))
    predictions <- list(code = code, back = back)
    if (mode == "infer") return(estimator_spec(mode, predictions = predictions))
    loss <- tf$reduce_mean(tf$square(back - x)) + 0.1 * tf$reduce_mean(tf$abs(code))
    train <- tf$train$AdadeltaOptimizer(1)$minimize(loss, global_step = step())
    estimator_spec(mode,
      predictions = predictions, loss = loss, train_op = train,
      eval_metric_ops = list(error = tf$metrics$mean(tf$abs(back - x)))
    )
  },
  two_heads = function(features, labels, mode) {
    net <- tf$layers$dense(features$x, 8L, tf$nn$relu, name = "shared")
    logits <- tf$layers$dense(net, 3L, name = "class_head")
    value <- tf$squeeze(tf$layers$dense(net, 1L, name = "value_head"), 1L)
    predictions <- list(class = tf$argmax(logits, 1L), value = value)
    if (mode == "infer") return(estimator_spec(mode, predictions = predictions))
    a <- tf$losses$sparse_softmax_cross_entropy(labels$class, logits)
    b <- tf$losses$huber_loss(labels$value, value, weights = 0.5)
    loss <- tf$losses$get_total_loss()
    train <- tf$train$GradientDescentOptimizer(0.1)$minimize(loss, global_step = step())
    estimator_spec(mode,
      predictions = predictions, loss = loss, train_op = train,
      eval_metric_ops = list(
        accuracy = tf$metrics$accuracy(labels$class, predictions$class),
        value = tf$metrics$mean_squared_error(labels$value, value),
        a = tf$metrics$mean(a), b = tf$metrics$mean(b)
      )
    )
  },
  weighted = function(features, labels, mode) {
    output <- tf$squeeze(tf$layers$dense(
      features$x, 1L,
      kernel_initializer = NULL, bias_initializer = tf$constant_initializer(0.2)
    ), 1L)
    weights <- tf$abs(features$x[, 1]) + 0.5
    opt <- tf$train$ProximalAdagradOptimizer(0.1, l2_regularization_strength = 0.01)
    regress(
      mode, output, labels, function(loss) opt$minimize(loss, global_step = step()),
      function(y, p) {
        tf$losses$absolute_difference(
          y, p, weights, reduction = tf$losses$Reduction$SUM_OVER_BATCH_SIZE
        )
      }
    )
  },
  decayed = function(features, labels, mode) {
    net <- tf$layers$dense(
      features$x, 5L, tf$nn$softplus, kernel_regularizer = tf$contrib$layers$l2_regularizer(0.01)
    )
    rate <- tf$train$exponential_decay(0.2, step(), 5L, 0.8, staircase = TRUE)
    classify(
      mode, tf$layers$dense(net, 3L), labels, tf$train$GradientDescentOptimizer(rate),
      tf$losses$get_regularization_loss()
    )
  },
  clipped = function(features, labels, mode) {
    net <- tf$layers$dense(features$x, 8L, tf$nn$leaky_relu)
    output <- tf$squeeze(tf$layers$dense(net, 1L), 1L)
    regress(mode, output, labels, function(loss) {
      rate <- tf$train$cosine_decay(0.1, step(), 15L)
      opt <- tf$train$MomentumOptimizer(rate, 0.8, use_nesterov = TRUE)
      pairs <- opt$compute_gradients(loss)
      clipped <- tf$clip_by_global_norm(lapply(pairs, `[[`, 1), 0.3)[[1]]
      opt$apply_gradients(
        Map(function(g, pair) list(g, pair[[2]]), clipped, pairs), global_step = step()
      )
    })
  },
  averaged = function(features, labels, mode) {
    net <- tf$layers$dense(features$x, 4L, tf$nn$relu6)
    output <- tf$squeeze(tf$layers$dense(net, 1L), 1L)
    ema <- tf$train$ExponentialMovingAverage(0.9, num_updates = step())
    regress(mode, output, labels, function(loss) {
      opt <- tf$train$AdamOptimizer(0.05)$minimize(loss, global_step = step())
      with(tf$control_dependencies(list(opt)), ema$apply(tf$trainable_variables()))
    })
  },
  contrib = function(features, labels, mode) {
    net <- tf$contrib$layers$conv2d(
      features$image, 4L, 3L,
      stride = 2L, normalizer_fn = tf$contrib$layers$batch_norm,
      normalizer_params = list(is_training = mode == "train", decay = 0.9)
    )
    net <- tf$contrib$layers$max_pool2d(net, 2L)
    net <- tf$contrib$layers$flatten(net)
    net <- tf$contrib$layers$layer_norm(net)
    net <- tf$contrib$layers$stack(net, tf$contrib$layers$fully_connected, c(8L, 6L))
    logits <- tf$contrib$layers$fully_connected(net, 3L, activation_fn = NULL)
    classes <- tf$argmax(logits, 1L)
    predictions <- list(classes = classes)
    if (mode == "infer") return(estimator_spec(mode, predictions = predictions))
    loss <- tf$losses$sparse_softmax_cross_entropy(labels, logits)
    train <- tf$contrib$layers$optimize_loss(
      loss, step(), 0.05, "Adam",
      clip_gradients = 1,
      learning_rate_decay_fn = function(r, s) tf$train$natural_exp_decay(r, s, 10L, 0.3)
    )
    estimator_spec(mode,
      predictions = predictions, loss = loss, train_op = train,
      eval_metric_ops = list(accuracy = tf$metrics$accuracy(labels, classes))
    )
  },
  objects = function(features, labels, mode) {
    first <- tf$layers$Dense(6L, activation = tf$nn$relu)
    second <- tf$layers$Dense(6L, activation = tf$nn$relu, name = "twice")
    net <- second(second(first(features$x)))
    kernel <- tf$get_variable("mix", c(6L, 3L), initializer = tf$glorot_normal_initializer())
    with(tf$variable_scope("scale", reuse = tf$AUTO_REUSE), {
      scale <- tf$get_variable("s", list(), initializer = tf$ones_initializer())
    })
    logits <- tf$einsum("bi,ij->bj", net, kernel) * scale
    classify(mode, logits, labels, tf$train$AdamOptimizer(0.03))
  },
  upsampled = function(features, labels, mode) {
    net <- tf$layers$conv2d(
      features$image, 3L, 3L, strides = 2L, padding = "same", activation = tf$nn$relu
    )
    net <- tf$image$resize_bilinear(net, c(9L, 9L))
    net <- tf$layers$conv2d_transpose(net, 2L, 3L, strides = 2L)
    net <- tf$nn$lrn(net, 2L)
    net <- tf$reduce_mean(net, c(1L, 2L))
    classify(mode, tf$layers$dense(net, 3L), labels, tf$train$AdamOptimizer(0.02))
  }
)

data_of <- list(
  mlp = list(x, y), batch_norm = list(x, class), cnn = list(image, class),
  text = list(tokens, class), wide_deep = list(x, y), autoencoder = list(x, y),
  two_heads = list(x, list(class = class, value = y)), weighted = list(x, y),
  decayed = list(x, class), clipped = list(x, y), averaged = list(x, y),
  contrib = list(image, class), objects = list(x, class), upsampled = list(image, class)
)
