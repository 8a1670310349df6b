# Inspection of tree models: importances, nodes, contributions.

small_trees <- function(...) {
  set.seed(71)
  data <- data.frame(x = rnorm(60), z = runif(60), f = factor(sample(c("a", "b", "c"), 60, TRUE)))
  data$y <- sin(2 * data$x) + (data$f == "b") + 0.1 * rnorm(60)
  model <- boosted_trees_regressor(
    y ~ x + z + f, data, n_trees = 6L, max_depth = 3L, model_dir = withr::local_tempdir(.local_envir = parent.frame()), ...
  )
  suppressMessages(train(model))
  list(model = model, data = data)
}

test_that("importances are the gains of nodes", {
  fit <- small_trees()
  nodes <- as.data.frame(fit$model)
  gains <- tapply(nodes$gain * nodes$weight, nodes$feature, sum)
  shown <- feature_importances(fit$model)
  expect_named(shown, c("feature", "importance"))
  expect_equal(shown$importance[match(names(gains), shown$feature)], as.vector(gains))
  expect_false(is.unsorted(-shown$importance))
  expect_setequal(shown$feature, c("x", "z", "f"))
  expect_equal(sum(feature_importances(fit$model, normalize = TRUE)$importance), 1)
  counts <- feature_importances(fit$model, by = "count")
  expect_equal(sum(counts$importance), sum(!nodes$is_leaf))
  expect_error(feature_importances(fit$model, by = "weight"))
  expect_error(feature_importances(fit$model, normalize = NA), class = "runhooks_error_invalid_argument")
})

test_that("nodes form trees: depths, children, and leaves that sum to predictions", {
  fit <- small_trees()
  nodes <- as.data.frame(fit$model)
  expect_equal(max(nodes$tree[nodes$is_finished]), 6)
  expect_lte(max(nodes$depth), 3)
  expect_true(all(is.na(nodes$question) == nodes$is_leaf))
  expect_match(nodes$question[nodes$feature %in% "f"], "^f is not [abc]$")
  expect_match(nodes$question[nodes$feature %in% "x"], "^x <= -?[0-9.e-]+$")
  for (tree in unique(nodes$tree)) {
    own <- nodes[nodes$tree == tree, ]
    children <- c(own$left, own$right)
    expect_setequal(children[!is.na(children)], setdiff(own$node, 0))
  }
  # Follows the splits of a row in a tree, which must lead to the row's leaf.
  walk <- function(row, tree) {
    own <- nodes[nodes$tree == tree, ]
    at <- 0
    repeat {
      node <- own[own$node == at, ]
      if (node$is_leaf) return(node$value * node$weight)
      question <- node$question
      yes <- if (grepl(" is not ", question)) {
        row$f != sub(".* is not ", "", question)
      } else {
        row[[sub(" <= .*", "", question)]] <= as.numeric(sub(".* <= ", "", question)) + 1e-7
      }
      at <- if (yes) node$left else node$right
    }
  }
  rows <- lapply(1:10, function(i) lapply(fit$data[i, ], function(v) if (is.factor(v)) as.character(v) else v))
  sums <- vapply(rows, function(row) sum(vapply(unique(nodes$tree), walk, 0, row = row)), 0)
  scale <- fit$model$spec[c("label_center", "label_scale")]
  expected <- predict(fit$model, newdata = fit$data[1:10, ])$.pred
  sums <- sums * unlist(scale$label_scale) + unlist(scale$label_center)
  expect_equal(sums, expected, tolerance = 1e-5)
})

test_that("contributions sum to predictions", {
  fit <- small_trees(center_bias = TRUE)
  parts <- predict(fit$model, newdata = fit$data, type = "contributions")
  expect_setequal(names(parts), c(".bias", "x", "z", "f"))
  expect_equal(rowSums(parts), predict(fit$model, newdata = fit$data)$.pred, tolerance = 1e-5)

  data <- transform(fit$data, y = ifelse(y > 0.5, "high", "low"))
  model <- boosted_trees_classifier(y ~ x + z + f, data, n_trees = 4L, max_depth = 2L)
  suppressMessages(train(model))
  parts <- predict(model, newdata = data, type = "contributions")
  expect_equal(rowSums(parts), predict(model, newdata = data, type = "prob")$.pred_low, tolerance = 1e-5)
  rows <- experimental_predict_with_explanations(model, data[1:3, ])
  expect_length(rows, 3)
  expect_equal(rows[[2]]$bias + sum(rows[[2]]$dfc), as.vector(rows[[2]]$probabilities[[2]]), tolerance = 1e-5)
  expect_false(is.unsorted(-abs(rows[[2]]$dfc)))
  expect_null(rows[[2]]$contributions)
})

test_that("models without trees are errors, and several logits give several values", {
  linear <- linear_regressor(mpg ~ wt, mtcars)
  suppressMessages(train(linear))
  expect_error(feature_importances(linear), class = "runhooks_error_invalid_argument")
  expect_error(as.data.frame(linear), class = "runhooks_error_invalid_argument")
  expect_error(predict(linear, mtcars, type = "contributions"), class = "runhooks_error_invalid_argument")
  expect_error(feature_importances(1), class = "runhooks_error_invalid_argument")
  untrained <- boosted_trees_regressor(mpg ~ wt, mtcars)
  expect_error(feature_importances(untrained), class = "runhooks_error_failed_precondition")
  classes <- boosted_trees_classifier(Species ~ Sepal.Length, iris, n_trees = 2L, max_depth = 2L)
  suppressMessages(train(classes))
  expect_true(all(c("value_1", "value_2", "value_3") %in% names(as.data.frame(classes))))
})

test_that("a formula model prints its trees", {
  fit <- small_trees()
  expect_output(print(fit$model), "trees: 6, of [0-9]+ leaves; most important: x")
})

test_that("contributions of several classes sum to their probabilities", {
  classes <- boosted_trees_classifier(Species ~ ., iris, n_trees = 4L, max_depth = 2L)
  suppressMessages(train(classes))
  probabilities <- predict(classes, newdata = iris, type = "prob")
  parts <- predict(classes, newdata = iris, type = "contributions")
  expect_equal(ncol(parts), 3 * 5)
  for (class in levels(iris$Species)) {
    own <- parts[grepl(paste0("_", class, "$"), names(parts))]
    expect_named(own, paste0(c(".bias", sort(names(iris)[1:4])), "_", class))
    expect_equal(rowSums(own), probabilities[[paste0(".pred_", class)]], tolerance = 1e-5)
  }
  # Features without a split contribute nothing.
  asked <- feature_importances(classes)$feature[feature_importances(classes)$importance == 0]
  for (feature in asked) expect_true(all(parts[startsWith(names(parts), feature)] == 0))
  row <- experimental_predict_with_explanations(classes, iris[100, ])[[1]]
  expect_equal(dim(row$dfc), c(4, 3))
  expect_equal(row$bias + colSums(row$dfc), setNames(as.vector(row$probabilities), levels(iris$Species)),
    tolerance = 1e-5
  )

  wide <- transform(mtcars, y = I(cbind(mpg, 10 * qsec)))
  both <- boosted_trees_regressor(y ~ wt + hp, wide, n_trees = 3L, max_depth = 2L)
  suppressMessages(train(both))
  parts <- predict(both, newdata = wide, type = "contributions")
  predicted <- predict(both, newdata = wide)
  for (k in 1:2) {
    expect_equal(rowSums(parts[grepl(paste0("_", k, "$"), names(parts))]), predicted[[k]], tolerance = 1e-5)
  }
})

test_that("importances and trees are drawn by ggplot2 and by base graphics", {
  skip_if_not_installed("ggplot2")
  withr::local_pdf(NULL)
  fit <- small_trees()
  expect_identical(plot(fit$model, which = 1:4), fit$model)
  expect_identical(plot(fit$model, which = 4, tree = 6), fit$model)
  for (which in 1:4) expect_s3_class(ggplot2::autoplot(fit$model, which), "ggplot")
  nodes <- as.data.frame(fit$model)
  nodes <- nodes[nodes$tree == 2, ]
  drawn <- ggplot2::ggplot_build(ggplot2::autoplot(fit$model, 4, tree = 2))$data
  expect_equal(nrow(drawn[[1]]), nrow(nodes))
  boxes <- drawn[[3]]
  features <- sub("\n.*", "", boxes$label[!nodes$is_leaf])
  expect_equal(features, nodes$feature[!nodes$is_leaf])
  # Nodes do not overlap, and children are on both sides of their parents.
  expect_false(anyDuplicated(boxes[c("x", "y")]) > 0)
  left <- match(nodes$left[!nodes$is_leaf], nodes$node)
  expect_true(all(boxes$x[left] < boxes$x[which(!nodes$is_leaf)]))
  bars <- ggplot2::ggplot_build(ggplot2::autoplot(fit$model, 3))$data[[1]]
  expect_equal(sum(bars$x), 1)
  expect_error(plot(fit$model, which = 4, tree = 99), "no tree 99", class = "runhooks_error_not_found")
  expect_error(plot(fit$model, which = 5), "1 to 4", class = "runhooks_error_invalid_argument")
  expect_error(plot(fit$model, which = 1, tree = 2), "which = 4", class = "runhooks_error_invalid_argument")
  linear <- linear_regressor(mpg ~ wt, mtcars)
  suppressMessages(train(linear))
  expect_error(plot(linear, which = 4), "1 to 3", class = "runhooks_error_invalid_argument")
  classes <- boosted_trees_classifier(Species ~ ., iris, n_trees = 1L, max_depth = 2L)
  suppressMessages(train(classes))
  expect_s3_class(ggplot2::autoplot(classes, 4), "ggplot")
})

test_that("importances before the first split are reported as missing", {
  model <- boosted_trees_regressor(mpg ~ wt + hp, mtcars, n_trees = 2L, center_bias = TRUE)
  suppressMessages(train(model, steps = 1))
  expect_message(
    shown <- feature_importances(model, normalize = TRUE), "all importances are 0",
    class = "runhooks_message_no_splits"
  )
  expect_equal(shown$importance, c(0, 0))
  expect_no_message(capture.output(print(model)))
  suppressMessages(train(model))
  expect_no_message(feature_importances(model))
})
