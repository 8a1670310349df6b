# Compares trees that classify, made from a formula, with xgboost 1.7.4: 100 trees of depth 4, rate
# 0.1. Row i is in fold (i - 1) %% 5 + 1.

log_loss <- function(formula, data) {
  y <- data[[as.character(formula[[2]])]]
  fold <- rep_len(1:5, nrow(data))
  p <- numeric(nrow(data))
  for (k in 1:5) {
    model <- boosted_trees_classifier(
      formula, data[fold != k, ], n_trees = 100L, max_depth = 4L, learning_rate = 0.1
    )
    suppressMessages(train(model))
    rows <- which(fold == k)
    found <- as.matrix(predict(model, data[rows, ], type = "prob"))
    p[rows] <- found[cbind(seq_along(rows), as.integer(y[rows]))]
  }
  -mean(log(pmax(p, 1e-7)))
}

test_that("small noisy classes are predicted as well as by xgboost", {
  skip_if_not_installed("MASS")
  pima <- rbind(MASS::Pima.tr, MASS::Pima.te)
  expect_lt(log_loss(type ~ ., pima), 0.4762 * 1.02)
  expect_lt(log_loss(type ~ ., MASS::fgl), 0.6417 * 1.02)
  birth <- subset(infert, select = -c(stratum, pooled.stratum))
  birth$case <- factor(birth$case)
  expect_lt(log_loss(case ~ ., birth), 0.585 * 1.02)
})

test_that("min_node_weight applies to both sides of a split", {
  data <- data.frame(x = 1:100, y = factor(c("a", rep("b", 99))))
  sides <- function(weight) {
    model <- boosted_trees_classifier(
      y ~ x, data, n_trees = 1L, max_depth = 1L, min_node_weight = weight / 100,
      l2_regularization = 0
    )
    suppressMessages(suppressWarnings(train(model)))
    as.data.frame(model)$threshold[[1]]
  }
  # each row has the hessian 1/4 before the first tree, so the limit 0.2 allows a single row
  expect_lt(sides(0.2), 2)
  expect_true(sides(2) >= 8 && sides(2) < 10)
  three <- transform(data, y = factor(c("a", "c", rep("b", 98))))
  model <- boosted_trees_classifier(y ~ x, three, n_trees = 1L, max_depth = 1L)
  suppressMessages(suppressWarnings(train(model)))
  expect_gt(as.data.frame(model)$threshold[[1]], 0)
})

test_that("layers of a tree of classes fit the derivatives before the tree", {
  # the tree splits the root and each side once, and has the leaf values of xgboost
  data <- data.frame(x = rep(1:4, each = 50), y = factor(rep(c(0, 1, 0, 1, 1, 1, 0, 0), each = 25)))
  model <- boosted_trees_classifier(y ~ x, data, n_trees = 1L, max_depth = 2L, learning_rate = 0.5)
  suppressMessages(train(model))
  p <- predict(model, data.frame(x = 1:4), type = "prob")[[2]]
  g <- tapply(0.5 - (data$y == 1), data$x, sum)
  expect_equal(qlogis(p), unname(as.vector(-0.5 * g / (50 / 4 + 1))), tolerance = 1e-5)
})
