# `sample_size` and `mtry`: the rows and predictors that each tree learns from.

sampled_data <- function(n = 600) {
  withr::local_seed(5)
  data <- as.data.frame(matrix(rnorm(n * 5), n))
  data$word <- factor(sample(c("u", "v", "w"), n, TRUE))
  data$y <- data$V1 - data$V2 + (data$word == "v") + 0.3 * rnorm(n)
  data$class <- factor(ifelse(data$y > 0, "yes", "no"))
  data$three <- cut(data$y, c(-Inf, -0.7, 0.7, Inf), c("low", "mid", "high"))
  data
}

seeded <- function(make, formula, data, ..., dir = NULL, seed = 3) {
  make(
    formula, data, n_trees = 6L, max_depth = 3L, ..., model_dir = dir,
    config = run_config(tf_random_seed = seed)
  )
}

quietly <- function(...) suppressMessages(suppressWarnings(train(...)))

models <- list(
  list(boosted_trees_regressor, y ~ V1 + V2 + V3 + V4 + V5 + word),
  list(boosted_trees_classifier, class ~ V1 + V2 + V3 + V4 + V5 + word),
  list(boosted_trees_classifier, three ~ V1 + V2 + V3 + V4 + V5 + word)
)

model_trees <- function(model) variable_value(model, "boosted_trees:0_serialized")

test_that("samples depend on the seed only", {
  data <- sampled_data()
  for (about in models) {
    grown <- function(..., threads = 2, seed = 3) {
      withr::local_options(runhooks.threads = threads)
      model <- seeded(about[[1]], about[[2]], data, ..., seed = seed)
      quietly(model)
      model_trees(model)
    }
    own <- grown(sample_size = 0.5, mtry = 2)
    expect_identical(grown(sample_size = 0.5, mtry = 2, threads = 1), own)
    expect_false(identical(grown(sample_size = 0.5, mtry = 2, seed = 4), own))
    all <- grown()
    expect_identical(grown(sample_size = 1, mtry = 6), all)
    expect_identical(grown(sample_size = 1, mtry = NULL, seed = 4), all)
    expect_false(identical(grown(sample_size = 0.5), all))
    expect_false(identical(grown(mtry = 2), all))
  }
})

test_that("more rows than sums of floats allow have the same bits for any number of threads", {
  data <- sampled_data(20000)
  grown <- function(threads) {
    withr::local_options(runhooks.threads = threads)
    model <- seeded(models[[3]][[1]], models[[3]][[2]], data, sample_size = 0.3, mtry = 3)
    quietly(model)
    model_trees(model)
  }
  expect_identical(grown(1), grown(2))
})

test_that("a training that resumes within a tree has the same bits", {
  data <- sampled_data()
  for (about in models) {
    make <- function(dir) {
      seeded(about[[1]], about[[2]], data, sample_size = 0.6, mtry = 3, dir = dir)
    }
    once <- make(withr::local_tempdir())
    quietly(once)
    dir <- withr::local_tempdir()
    for (steps in c(4, 1, 6)) quietly(make(dir), steps = steps)
    quietly(make(dir))
    expect_identical(model_trees(make(dir)), model_trees(once))
  }
})

test_that("each tree uses as many predictors as given, and factors count as one", {
  data <- sampled_data()
  for (about in models) {
    for (mtry in 1:2) {
      model <- seeded(about[[1]], about[[2]], data, mtry = mtry)
      quietly(model)
      nodes <- as.data.frame(model)
      used <- tapply(nodes$feature, nodes$tree, function(x) length(unique(na.omit(x))))
      expect_lte(max(used), mtry)
      if (mtry == 1) expect_gt(length(unique(na.omit(nodes$feature))), 1)
    }
  }
})

test_that("each tree learns from about the share of the rows", {
  data <- data.frame(x = rep(0:1, each = 2000), y = rep(0:1, each = 2000) + rnorm(4000))
  model <- boosted_trees_regressor(
    y ~ x, data, n_trees = 1L, max_depth = 1L, learning_rate = 1, sample_size = 0.25,
    min_node_weight = 0, l2_regularization = 0, config = run_config(tf_random_seed = 1)
  )
  quietly(model)
  # each prediction is the mean of about 500 rows, so it differs slightly from the mean of all rows
  means <- tapply(data$y, data$x, mean)
  found <- predict(model, data.frame(x = 0:1))[[1]]
  expect_true(all(abs(found - means) > 0 & abs(found - means) < 5 / sqrt(500)))
})

test_that("if the root of a tree cannot be split, training continues with the next tree", {
  data <- sampled_data(40)
  model <- boosted_trees_classifier(
    class ~ V1 + word, data, n_trees = 30L, sample_size = 0.1,
    config = run_config(tf_random_seed = 1)
  )
  quietly(model)
  expect_identical(sum(unique(as.data.frame(model)[c("tree", "is_finished")])$is_finished), 30L)
})

test_that("invalid values of sample_size and mtry are errors that name the argument", {
  invalid <- "runhooks_error_invalid_argument"
  data <- sampled_data(50)
  for (bad in list(0, -1, 1.5, NA, "a", c(0.5, 0.6))) {
    expect_error(
      boosted_trees_regressor(y ~ V1, data, sample_size = bad), "sample_size", class = invalid
    )
  }
  for (bad in list(0, -1, 1.5, NA, "a")) {
    expect_error(boosted_trees_regressor(y ~ V1, data, mtry = bad), "mtry", class = invalid)
  }
  many <- boosted_trees_regressor(y ~ V1 + word, data, mtry = 3)
  expect_error(train(many), "has only 2 predictors", class = invalid)
  columns <- boosted_trees_regressor(
    list(column_numeric("V1")), n_batches_per_layer = 1L, sample_size = 0.5
  )
  expect_error(
    train(columns, input_fn(y ~ V1, data, batch_size = 50, num_epochs = NULL)),
    "needs a model from a formula", class = invalid
  )
})
