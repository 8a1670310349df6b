## ---- include = FALSE---------------------------------------------------------
knitr::opts_chunk$set(collapse = TRUE, comment = "#>", fig.width = 6.5, fig.height = 3.5)
set.seed(1)

## -----------------------------------------------------------------------------
library(runhooks)
tf$logging$set_verbosity(tf$logging$WARN)

## -----------------------------------------------------------------------------
shells <- function(n) {
  size <- runif(n, 0.1, 0.8)
  measures <- sapply(c(1, 0.8, 0.3, 1.6, 0.7, 0.35, 0.5), function(k) k * size + rnorm(n, 0, 0.02))
  colnames(measures) <- c(
    "length", "diameter", "height", "whole", "shucked", "viscera", "shell"
  )
  data.frame(measures, age = 3 + 12 * size^1.5 + rnorm(n, 0, 0.5))
}
abalone <- shells(600)
abalone_test <- shells(200)

## -----------------------------------------------------------------------------
abalone_model <- function(features, labels, mode, params) {
  hidden <- features %>%
    tf$layers$dense(10L, activation = tf$nn$relu) %>%
    tf$layers$dense(10L, activation = tf$nn$relu)
  ages <- tf$squeeze(tf$layers$dense(hidden, 1L), 1L)
  if (mode == mode_keys()$PREDICT) {
    return(estimator_spec(mode, predictions = list(ages = ages)))
  }
  loss <- tf$losses$mean_squared_error(labels, ages)
  optimizer <- tf$train$AdamOptimizer(params$learning_rate)
  estimator_spec(
    mode,
    predictions = list(ages = ages), loss = loss,
    train_op = optimizer$minimize(loss, global_step = tf$train$get_global_step()),
    eval_metric_ops = list(rmse = tf$metrics$root_mean_squared_error(labels, ages))
  )
}

## -----------------------------------------------------------------------------
abalone_input <- function(data, ...) {
  input_fn(data, features = -age, response = age, batch_size = 50, ...)
}
model <- estimator(abalone_model, params = list(learning_rate = 0.01))
history <- model %>% train(abalone_input(abalone, num_epochs = 40))
model %>% evaluate(abalone_input(abalone_test, num_epochs = 1))
head(unlist(predict(model, abalone_input(abalone_test, num_epochs = 1, shuffle = FALSE))))

## -----------------------------------------------------------------------------
plot(history)

## -----------------------------------------------------------------------------
iris_model <- function(features, labels, mode) {
  logits <- features$x %>%
    tf$layers$dense(10L, activation = tf$nn$relu) %>%
    tf$layers$dense(3L)
  classes <- tf$argmax(logits, 1L)
  if (mode == "infer") {
    return(estimator_spec(mode, predictions = list(
      class = classes, probabilities = tf$nn$softmax(logits)
    )))
  }
  loss <- tf$losses$sparse_softmax_cross_entropy(labels, logits)
  step <- tf$train$get_global_step()
  rate <- tf$train$exponential_decay(0.05, step, decay_steps = 50L, decay_rate = 0.8)
  tf$summary$scalar("rate", rate)
  estimator_spec(
    mode,
    loss = loss,
    train_op = tf$train$AdamOptimizer(rate)$minimize(loss, global_step = step),
    eval_metric_ops = list(accuracy = tf$metrics$accuracy(labels, classes))
  )
}
measures <- as.matrix(iris[, 1:4])
species <- as.integer(iris$Species) - 1L
iris_input <- numpy_input_fn(
  x = list(x = np_array(measures, dtype = "float32")), y = species,
  batch_size = 30, num_epochs = NULL, shuffle = TRUE
)
model <- estimator(iris_model)
model %>% train(iris_input, steps = 200)
model %>% evaluate(iris_input, steps = 5)

## -----------------------------------------------------------------------------
draw <- function(kind) {
  image <- matrix(rnorm(28 * 28, 0, 0.3), 28)
  at <- sample(4:16, 2)
  rows <- at[[1]] + 0:8
  columns <- at[[2]] + 0:8
  if (kind == 0) image[rows, columns[5]] <- 1
  if (kind == 1) {
    image[rows[5], columns] <- 1
    image[rows, columns[5]] <- 1
  }
  if (kind == 2) {
    image[rows[c(1, 9)], columns] <- 1
    image[rows, columns[c(1, 9)]] <- 1
  }
  image
}
kinds <- sample(0:2, 240, replace = TRUE)
images <- aperm(sapply(kinds, draw, simplify = "array"), c(3, 1, 2))

cnn <- function(features, labels, mode) {
  image <- tf$reshape(features$image, c(-1L, 28L, 28L, 1L))
  logits <- image %>%
    tf$layers$conv2d(8L, 5L, padding = "same", activation = tf$nn$relu) %>%
    tf$layers$max_pooling2d(pool_size = 2L, strides = 2L) %>%
    tf$layers$conv2d(16L, 3L, padding = "same", activation = tf$nn$relu) %>%
    tf$layers$max_pooling2d(pool_size = 2L, strides = 2L) %>%
    tf$layers$flatten() %>%
    tf$layers$dense(32L, activation = tf$nn$relu) %>%
    tf$layers$dropout(rate = 0.3, training = (mode == "train")) %>%
    tf$layers$dense(3L)
  classes <- tf$argmax(logits, 1L)
  if (mode == "infer") {
    return(estimator_spec(mode, predictions = list(class = classes)))
  }
  loss <- tf$losses$softmax_cross_entropy(tf$one_hot(labels, 3L), logits)
  estimator_spec(
    mode,
    loss = loss,
    train_op = tf$train$AdamOptimizer(0.005)$minimize(loss, tf$train$get_global_step()),
    eval_metric_ops = list(accuracy = tf$metrics$accuracy(labels, classes))
  )
}
image_input <- numpy_input_fn(
  x = list(image = np_array(images, dtype = "float32")), y = kinds, batch_size = 40,
  num_epochs = NULL, shuffle = TRUE
)
model <- estimator(cnn)
model %>% train(image_input, steps = 60)
model %>% evaluate(image_input, steps = 5)

## -----------------------------------------------------------------------------
wide_deep <- function(features, labels, mode) {
  with(tf$variable_scope("wide"), {
    table <- tf$get_variable("crossed", c(8L, 1L), initializer = tf$zeros_initializer())
    wide <- tf$nn$embedding_lookup(table, features$crossed)
  })
  with(tf$variable_scope("deep"), {
    deep <- features$x %>%
      tf$layers$dense(8L, activation = tf$nn$relu) %>%
      tf$layers$dense(1L)
  })
  mpg <- tf$squeeze(wide + deep, 1L)
  if (mode == "infer") return(estimator_spec(mode, predictions = list(mpg = mpg)))
  loss <- tf$losses$mean_squared_error(labels, mpg)
  of_part <- function(scope) tf$get_collection(tf$GraphKeys$TRAINABLE_VARIABLES, scope)
  train_op <- tf$group(
    tf$train$FtrlOptimizer(1)$minimize(loss, var_list = of_part("wide")),
    tf$train$AdagradOptimizer(0.3)$minimize(
      loss, tf$train$get_global_step(), var_list = of_part("deep")
    )
  )
  estimator_spec(mode, loss = loss, train_op = train_op)
}
crossed <- as.integer(interaction(mtcars$gear, mtcars$am, drop = FALSE)) - 1L
scaled <- scale(mtcars[, c("wt", "hp")])
cars_input <- numpy_input_fn(
  x = list(crossed = crossed, x = np_array(unclass(scaled)[, 1:2], dtype = "float32")),
  y = np_array(mtcars$mpg, dtype = "float32"), batch_size = 16, num_epochs = NULL, shuffle = TRUE
)
model <- estimator(wide_deep)
model %>% train(cars_input, steps = 300)
model %>% evaluate(cars_input, steps = 2)

## -----------------------------------------------------------------------------
seen <- new.env()
two_heads <- function(features, labels, mode) {
  net <- tf$layers$dense(features$x, 12L, activation = tf$nn$relu, name = "shared")
  logits <- tf$layers$dense(net, 3L, name = "species")
  width <- tf$squeeze(tf$layers$dense(net, 1L, name = "width"), 1L)
  predictions <- list(species = tf$argmax(logits, 1L), width = width)
  if (mode == "infer") return(estimator_spec(mode, predictions = predictions))
  losses <- list(
    species = tf$losses$sparse_softmax_cross_entropy(labels$species, logits),
    width = tf$losses$huber_loss(labels$width, width, weights = 2)
  )
  loss <- tf$losses$get_total_loss()
  keep <- session_run_hook(
    before_run = function(context) session_run_args(losses),
    after_run = function(context, values) {
      seen$losses <- rbind(seen$losses, unlist(values$results))
    }
  )
  estimator_spec(
    mode,
    loss = loss, training_hooks = list(keep),
    train_op = tf$train$AdamOptimizer(0.02)$minimize(loss, tf$train$get_global_step()),
    eval_metric_ops = list(
      accuracy = tf$metrics$accuracy(labels$species, predictions$species),
      mae = tf$metrics$mean_absolute_error(labels$width, width)
    )
  )
}
two_input <- function(epochs) {
  function() {
    tensor_slices_dataset(list(
      list(x = np_array(measures[, 1:3], dtype = "float32")),
      list(species = species, width = np_array(iris$Petal.Width, dtype = "float32"))
    )) %>%
      dataset_shuffle(150, seed = 1) %>%
      dataset_repeat(epochs) %>%
      dataset_batch(30)
  }
}
model <- estimator(two_heads)
model %>% train(two_input(60))
model %>% evaluate(two_input(1))
matplot(seen$losses, type = "l", xlab = "step", ylab = "loss")

## -----------------------------------------------------------------------------
clipped_model <- function(features, labels, mode) {
  output <- tf$squeeze(tf$layers$dense(features, 1L), 1L)
  if (mode == "infer") return(estimator_spec(mode, predictions = list(mpg = output)))
  loss <- tf$losses$mean_squared_error(labels, output)
  optimizer <- tf$train$GradientDescentOptimizer(0.05)
  pairs <- optimizer$compute_gradients(loss)
  clipped <- tf$clip_by_global_norm(lapply(pairs, function(pair) pair[[1]]), 5)
  tf$summary$scalar("gradient_norm", clipped[[2]])
  pairs <- Map(function(gradient, pair) list(gradient, pair[[2]]), clipped[[1]], pairs)
  estimator_spec(
    mode,
    loss = loss, train_op = optimizer$apply_gradients(pairs, tf$train$get_global_step())
  )
}
cars <- data.frame(scale(mtcars[c("drat", "wt")]), mpg = mtcars$mpg)
model <- estimator(clipped_model)
model %>% train(
  input_fn(cars, features = c(drat, wt), response = mpg, batch_size = 32, num_epochs = 300)
)
unlist(variable_value(model, c("dense/bias", "dense/kernel")))
coef(lm(mpg ~ drat + wt, cars))

## -----------------------------------------------------------------------------
good <- c("good", "great", "lovely", "fine")
bad <- c("bad", "awful", "dull", "poor")
plain <- c("the", "film", "was", "a", "and", "plot", "cast", "it")
sentence <- function(is_good) {
  words <- c(sample(plain, 5), sample(if (is_good) good else bad, 2))
  paste(sample(words), collapse = " ")
}
liked <- rep(0:1, 100)
sentences <- vapply(liked == 1, sentence, "")

text_model <- function(features, labels, mode) {
  words <- tf$string_split(features$text)
  ids <- tf$SparseTensor(
    words$indices, tf$string_to_hash_bucket_fast(words$values, 500L), words$dense_shape
  )
  table <- tf$get_variable("embeddings", c(500L, 8L))
  net <- tf$nn$safe_embedding_lookup_sparse(table, ids, combiner = "mean")
  logits <- tf$layers$dense(net, 1L)
  if (mode == "infer") {
    return(estimator_spec(mode, predictions = list(liked = tf$sigmoid(logits))))
  }
  targets <- tf$reshape(tf$cast(labels, "float32"), c(-1L, 1L))
  loss <- tf$losses$sigmoid_cross_entropy(targets, logits)
  estimator_spec(
    mode,
    loss = loss,
    train_op = tf$train$AdamOptimizer(0.05)$minimize(loss, tf$train$get_global_step()),
    eval_metric_ops = list(
      accuracy = tf$metrics$accuracy(targets, tf$round(tf$sigmoid(logits)))
    )
  )
}
text_input <- function(text, labels = NULL, epochs = 1) {
  numpy_input_fn(
    x = list(text = text), y = labels, batch_size = 20, num_epochs = epochs, shuffle = FALSE
  )
}
model <- estimator(text_model)
model %>% train(text_input(sentences, liked, 20))
model %>% evaluate(text_input(sentences, liked))
predict(model, text_input(c("the plot was great", "a dull film")))

