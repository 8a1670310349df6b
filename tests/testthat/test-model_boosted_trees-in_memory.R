# Trees whose input gives all rows in each step grow on binned data in memory
# (src/trees/layer_grower.h). If the order of rows changes, operations like TensorFlow's grow them.
# Both give the same trees.

# Creates data with few distinct values, so that quantiles do not depend on the order of the rows.
some_rows <- function(n = 400) {
  data <- data.frame(a = round(rnorm(n), 1), b = round(runif(n), 1), c = sample(c("x", "y", "z"), n, TRUE))
  data$y <- as.integer(runif(n) < plogis(data$a * (data$c == "x") + data$b))
  data
}

grown <- function(data, shuffle = FALSE, n_trees = 4L, ..., dir = withr::local_tempdir(), steps = NULL) {
  columns <- list(
    column_numeric("a"), column_bucketized(column_numeric("b"), boundaries = c(0.2, 0.5, 0.7)),
    column_indicator(column_categorical_with_vocabulary_list("c", vocabulary_list = c("x", "y", "z")))
  )
  model <- boosted_trees_classifier(
    columns, n_batches_per_layer = 1L, n_trees = n_trees, max_depth = 3L, model_dir = dir, ...
  )
  input <- input_fn(
    data, features = c(a, b, c), response = y, batch_size = nrow(data), shuffle = shuffle,
    num_epochs = NULL
  )
  history <- suppressMessages(suppressWarnings(train(model, input, steps = steps)))
  list(
    losses = history$losses$mean_losses,
    model = model,
    logits = predict(model, input_fn(data, features = c(a, b, c), batch_size = 64, shuffle = FALSE)),
    trees = variable_value(model, "boosted_trees:0_serialized")
  )
}

test_that("trees grown in memory match those of TensorFlow's ops", {
  data <- some_rows()
  for (regularized in c(FALSE, TRUE)) {
    more <- if (regularized) {
      list(l1_regularization = 1e-4, l2_regularization = 0.01, min_node_weight = 0.01, center_bias = TRUE)
    } else {
      list(l2_regularization = 0, min_node_weight = 0)
    }
    whole <- do.call(grown, c(list(data), more))
    batch <- do.call(grown, c(list(data, shuffle = TRUE), more))
    expect_equal(whole$logits$logits, batch$logits$logits, tolerance = 1e-5)
    expect_gt(sd(unlist(whole$logits$logits)), 0.1)
  }
})

test_that("formula models regularize per row, and column models as in TensorFlow", {
  data <- some_rows(200)
  model <- boosted_trees_classifier(y ~ ., data)
  expect_identical(model$spec[c("l2_regularization", "min_node_weight", "quantile_sketch_epsilon")], list(
    l2_regularization = 1 / 200, min_node_weight = 1 / 200, quantile_sketch_epsilon = 0.004
  ))
  given_values <- boosted_trees_classifier(
    y ~ ., data, min_node_weight = 0, quantile_sketch_epsilon = 0.1
  )
  arguments <- c("l2_regularization", "min_node_weight", "quantile_sketch_epsilon")
  expect_identical(given_values$spec[arguments], list(
    l2_regularization = 1 / 200, min_node_weight = 0, quantile_sketch_epsilon = 0.1
  ))
  columns <- boosted_trees_classifier(list(column_numeric("x")), n_batches_per_layer = 1L)
  expect_identical(columns$spec$l2_regularization, 0)
  expect_identical(columns$spec$quantile_sketch_epsilon, 0.01)
})

test_that("a tree without leaves to split is finished if a formula gives all rows", {
  set.seed(8)
  data <- data.frame(x = rnorm(60), z = rnorm(60))
  data$y <- as.integer(data$x + 0.3 * rnorm(60) > 0)
  model <- boosted_trees_classifier(
    y ~ ., data, n_trees = 10L, max_depth = 6L, min_node_weight = 0.05, learning_rate = 0.3
  )
  expect_silent(suppressMessages(train(model)))
  nodes <- as.data.frame(model)
  grown <- setdiff(unique(nodes$tree), if (sum(nodes$tree == max(nodes$tree)) == 1) max(nodes$tree))
  expect_length(grown, 10)
  expect_true(any(tapply(nodes$depth, nodes$tree, max)[as.character(grown)] < 6))
  # All 10 trees exist already, so training ends at once.
  expect_message(suppressWarnings(train(model)), "already has 10 of 10 trees")
  # No root can be split: training stops early and reports it.
  heavy <- boosted_trees_classifier(y ~ ., data, n_trees = 10L, min_node_weight = 0.3)
  expect_message(train(heavy), "Training ends with 0 of 10 trees because no leaf reaches")
  expect_lt(variable_value(heavy, "global_step")[[1]], 10)
})

test_that("trees with columns whose leaves cannot be split wait for other batches, and end", {
  set.seed(8)
  data <- data.frame(x = rnorm(60))
  data$y <- as.integer(data$x + 0.3 * rnorm(60) > 0)
  for (shuffle in c(FALSE, TRUE)) {
    model <- boosted_trees_classifier(
      list(column_numeric("x")), n_batches_per_layer = 1L, n_trees = 3L, max_depth = 4L, min_node_weight = 0.1
    )
    input <- input_fn(y ~ x, data, batch_size = 60, num_epochs = NULL, shuffle = shuffle)
    expect_warning(suppressMessages(train(model, input)), "Training ends with 0 of 3 trees because no leaf reaches")
  }
})

test_that("the loss of rows in memory matches the head's, and invalid labels are errors", {
  data <- some_rows()
  # Another order of rows changes the last bits of the loss.
  losses <- lapply(c(FALSE, TRUE), function(shuffle) grown(data, shuffle)$losses)
  expect_gt(length(losses[[1]]), 1)
  expect_equal(losses[[1]], losses[[2]], tolerance = 1e-6)
  data$y[[7]] <- 2L
  expect_error(grown(data), "class numbers from 0 to n_classes - 1", class = "runhooks_error")
})

test_that("trees grown in memory have the same bits for one thread and for two", {
  data <- some_rows(40000)
  withr::local_options(runhooks.threads = 1)
  one <- grown(data)
  withr::local_options(runhooks.threads = 2)
  expect_identical(grown(data)$trees, one$trees)
})

test_that("a training that resumes within a tree has the same bits", {
  data <- some_rows()
  once <- grown(data)
  dir <- withr::local_tempdir()
  for (steps in c(3, 2, 4)) grown(data, dir = dir, steps = steps)
  expect_identical(grown(data, dir = dir)$trees, once$trees)
})

test_that("trees read whole data frames, and training stops after the last tree", {
  data <- some_rows(100)
  data$c <- factor(data$c)
  model <- boosted_trees_classifier(y ~ ., data, n_trees = 3L, max_depth = 2L)
  suppressWarnings(train(model, data))
  expect_identical(as.integer(variable_value(model, "global_step")), 6L)
  expect_gt(mean(predict(model, data)[[1]] == data$y), 0.5)
})

test_that("trees in memory handle extreme data", {
  constant <- data.frame(x = rep(1, 5), y = c(1, 2, 3, 4, 5))
  model <- boosted_trees_regressor(y ~ x, constant, n_trees = 2L, max_depth = 2L)
  suppressWarnings(train(model, constant))
  expect_equal(var(predict(model, constant)[[1]]), 0)
  same <- data.frame(x = 1:5, y = rep(2, 5))
  model <- boosted_trees_regressor(y ~ x, same, n_trees = 60L, max_depth = 2L, learning_rate = 0.5)
  suppressWarnings(train(model, same))
  expect_equal(predict(model, same)[[1]], rep(2, 5), tolerance = 1e-4)
})

test_that("histograms are summed in double, as in TensorFlow", {
  # Sums use double precision: in single precision, adding 1 to 2^24 has no effect.
  sums <- function(op, ...) {
    with(tf$Graph()$as_default(), {
      one <- function(x) tf$constant(matrix(x, 3), "float32")
      op <- op(
        node_ids = tf$constant(c(0L, 0L, 0L)), gradients = one(c(2^24, 1, 1)), hessians = one(c(1, 1, 1)),
        ..., max_splits = 1L, num_buckets = 1L
      )
      with(tf$Session() %as% session, session$run(op))
    })
  }
  expect_equal(sums(
    tf$raw_ops$BoostedTreesAggregateStats, feature = matrix(0L, 3)
  )[1, 1, 1, 1], 2^24 + 2)
  expect_equal(sums(
    tf$raw_ops$BoostedTreesMakeStatsSummary, bucketized_features_list = list(c(0L, 0L, 0L))
  )[1, 1, 1, 1], 2^24 + 2)
})

test_that("the graph of trees in memory is exported in TensorFlow's ops", {
  dir <- withr::local_tempdir()
  grown(some_rows(), center_bias = TRUE, dir = dir)
  graph <- readLines(file.path(dir, "graph.pbtxt"))
  ops <- unique(gsub('.*op: "(.*)".*', "\\1", grep("^ *op: ", graph, value = TRUE)))
  expect_equal(grep("InMemory", ops, value = TRUE), character())
  expected_nodes <- c(
    "BoostedTreesTrainingPredict", "BoostedTreesMakeStatsSummary", "BoostedTreesUpdateEnsemble"
  )
  expect_equal(setdiff(expected_nodes, ops), character())
})

test_that("the ops of data in memory reject inconsistent inputs", {
  fill <- function(x = c(1, 2, 3), are_numbers = c(0L, 1L), groups = c(-1L, -1L)) {
    with(tf$Graph()$as_default(), {
      data <- tf$raw_ops$BoostedTreesInMemoryHandle()
      op <- tf$raw_ops$BoostedTreesInMemoryFill(
        data = data, are_boundaries_ready = tf$constant(TRUE),
        bucketized_features = list(tf$constant(c(0L, 1L, 0L))),
        numbers = list(tf$constant(x, "float32")), boundaries = list(tf$constant(c(1, 2), "float32")),
        are_numbers = are_numbers, groups = groups, buckets = "a:0,b:0"
      )
      with(tf$Session() %as% session, session$run(op))
    })
  }
  expect_no_error(fill())
  expect_error(fill(x = c(1, 2)), "Feature 1 has 2 buckets, but the data have 3 rows")
  expect_error(fill(are_numbers = c(1L, 1L)), "and 1 of them must be set")
  expect_error(fill(are_numbers = 0L), "and 1 of them must be set")
  expect_error(fill(groups = -1L), "groups must have a number for each of 2")
  loss <- function(labels, rows = c(1, 2, 3)) {
    with(tf$Graph()$as_default(), {
      trees <- tf$raw_ops$BoostedTreesEnsembleResourceHandleOp(shared_name = "trees")
      create <- tf$raw_ops$BoostedTreesCreateEnsemble(trees, tf$constant(0, "int64"), tf$constant(""))
      data <- tf$raw_ops$BoostedTreesInMemoryHandle()
      kept <- tf$raw_ops$BoostedTreesInMemoryLabels(data, tf$constant(labels, "float32"))
      loss <- tf$raw_ops$BoostedTreesInMemoryLogisticLoss(trees, data, tf$constant(rows, "float32"))
      with(tf$Session() %as% session, {
        session$run(create)
        session$run(kept)
        session$run(loss)
      })
    })
  }
  made <- loss(c(0, 1, 1))
  expect_equal(made[[1]], log(2), tolerance = 1e-6)
  expect_equal(as.vector(made[[2]]), c(1, -1, -1) / 6, tolerance = 1e-6)
  expect_equal(as.vector(made[[3]]), rep(1, 3) / 12, tolerance = 1e-6)
  expect_error(loss(c(0, 1)), "have 2 labels, but the features have shape")
})
