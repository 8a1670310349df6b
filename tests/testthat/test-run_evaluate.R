test_that("metrics have TensorFlow's order, as a tibble or a list", {
  model <- mtcars_model()
  train(model, mtcars_input(), steps = 2)
  metrics <- evaluate(model, mtcars_input())
  expect_s3_class(metrics, "tbl_df")
  expect_named(metrics, c("average_loss", "label/mean", "loss", "prediction/mean", "global_step"))
  expect_true(all(vapply(metrics, is.double, NA)))
  expect_equal(metrics$`label/mean`, mean(mtcars$mpg), tolerance = 1e-6)
  expect_equal(metrics$global_step, 2)
  plain <- evaluate(model, mtcars_input(), simplify = FALSE)
  expect_type(plain, "list")
  expect_false(inherits(plain, "tbl_df"))
})

test_that("average_loss and loss have their documented values", {
  model <- mtcars_model()
  train(model, mtcars_input(), steps = 3)
  predicted <- unlist(predict(model, mtcars_input())$predictions)
  squares <- (predicted - mtcars$mpg)^2
  metrics <- evaluate(model, mtcars_input(shuffle = FALSE, batch_size = 10))
  expect_equal(metrics$average_loss, mean(squares), tolerance = 1e-5)
  expect_equal(
    metrics$loss, mean(tapply(squares, (seq_along(squares) - 1) %/% 10, sum)), tolerance = 1e-5
  )
})

test_that("metrics do not depend on the batch size", {
  model <- mtcars_model()
  train(model, mtcars_input(), steps = 3)
  by_size <- lapply(
    c(1, 5, 32), function(n) evaluate(model, mtcars_input(batch_size = n))$average_loss
  )
  expect_equal(by_size[[1]], by_size[[2]], tolerance = 1e-6)
  expect_equal(by_size[[1]], by_size[[3]], tolerance = 1e-6)
})

test_that("steps limit the batches; a message reports shorter input", {
  model <- mtcars_model()
  seen <- untrained(evaluate(model, mtcars_input(), steps = 2, hooks = hook_history_saver(1)))
  expect_equal(attr(seen, "history")$step, c(0, 0))
  expect_message(
    untrained(evaluate(model, mtcars_input(), steps = 9)),
    "Evaluation completed after 4 steps but 9 steps were specified"
  )
})

test_that("an untrained model is evaluated with its initial values, with a log line", {
  withr::defer(tf$logging$set_verbosity(tf$logging$WARN))
  tf$logging$set_verbosity(tf$logging$INFO)
  model <- mtcars_model()
  expect_message(
    metrics <- untrained(evaluate(model, mtcars_input())),
    paste0(
      "Could not find trained model in model_dir: ",
      model_dir(model),
      ", running initialization to evaluate."
    ),
    fixed = TRUE
  ) %>% suppressMessages()
  expect_equal(metrics$average_loss, mean(mtcars$mpg^2), tolerance = 1e-6)
  expect_equal(metrics$global_step, 0)
})

test_that("another checkpoint can be given", {
  model <- mtcars_model(save_checkpoints_steps = 1)
  train(model, mtcars_input(), steps = 3)
  path <- file.path(model_dir(model), "model.ckpt-1")
  expect_equal(evaluate(model, mtcars_input(), checkpoint_path = path)$global_step, 1)
  expect_error(
    evaluate(model, mtcars_input(), checkpoint_path = "nope"),
    "The passed save_path is not a valid checkpoint: nope",
    fixed = TRUE
  )
})

test_that("weights affect metrics", {
  data <- list(x = c(1, 2), y = c(1, 5), w = c(3, 1))
  model <- linear_regressor(
    column_numeric("x"), weight_column = "w", model_dir = withr::local_tempdir()
  )
  input <- input_fn(data, features = c(x, w), response = y)
  expect_equal(untrained(evaluate(model, input))$average_loss, (3 * 1 + 1 * 25) / 4)
  column <- linear_regressor(
    column_numeric("x"), weight_column = column_numeric("w"), model_dir = withr::local_tempdir()
  )
  expect_equal(untrained(evaluate(column, input))$`label/mean`, (3 * 1 + 5) / 4)
})

test_that("invalid arguments are errors", {
  model <- mtcars_model()
  train(model, mtcars_input())
  expect_snapshot_text({
    evaluate(model, mtcars_input(), steps = -1)
    evaluate(model, mtcars_input(), hooks = list(NULL))
    evaluate(model, input_fn(mtcars, features = c(drat, cyl)))
  })
})

test_that("an evaluation does not change R's random generator", {
  model <- linear_regressor(column_numeric("wt"))
  train(model, input_fn(mpg ~ wt, mtcars), steps = 1)
  withr::local_seed(1)
  before <- .Random.seed
  evaluate(model, input_fn(mpg ~ wt, mtcars))
  expect_identical(.Random.seed, before)
  expect_error(evaluate(model, input_fn(mpg ~ wt, mtcars), hooks = list(5)))
  expect_identical(.Random.seed, before)
  rm(.Random.seed, envir = globalenv())
  evaluate(model, input_fn(mpg ~ wt, mtcars))
  expect_false(exists(".Random.seed", globalenv(), inherits = FALSE))
})

test_that("metrics with several values are matrix columns of one row", {
  metrics <- function(labels, predictions) {
    cuts <- list(.2, .5, .8)
    confusion <- tf$confusion_matrix(
      tf$reshape(labels, -1L), tf$reshape(predictions$class_ids, -1L), num_classes = 2L
    )
    list(
      hits = tf$metrics$true_positives_at_thresholds(labels, predictions$logistic, cuts),
      table = tf$metrics$mean_tensor(tf$reshape(tf$cast(confusion, tf$float32), c(2L, 2L)))
    )
  }
  model <- linear_classifier(
    feature_columns(column_numeric("wt")), withr::local_tempdir(),
    config = run_config(save_checkpoints_steps = 25)
  )
  model <- add_metrics(model, metrics)
  input <- function(...) input_fn(mtcars, "wt", "vs", batch_size = 32, ...)
  trained <- train_and_evaluate(
    model, train_spec(input(num_epochs = NULL), max_steps = 50),
    eval_spec(input(num_epochs = 1), throttle_secs = 0)
  )
  expect_false(anyNA(as.data.frame(trained)$value))
  e <- evaluate(model, input(num_epochs = 1))
  listed <- evaluate(model, input(num_epochs = 1), simplify = FALSE)
  expect_identical(dim(e), c(1L, length(listed)))
  expect_identical(e$accuracy, listed$accuracy)
  expect_identical(e$hits, matrix(as.vector(listed$hits), 1))
  expect_identical(e$table, list(listed$table))
  expect_output(print(e), "hits")
  expect_identical(nrow(as.data.frame(e)), 1L)
  expect_identical(dim(rbind(e, e)$hits), 2:3)
  expect_identical(attr(e, "history")$step, 50)
  events <- read_events(file.path(model_dir(model), "eval"))
  expect_true(all(c("accuracy", "loss") %in% events$tag))
  rows <- run_history(model)$evaluations[[1]]
  expect_true(all(c("accuracy", "loss") %in% rows$metric))
  expect_false(anyNA(rows$metric))
})
