# Boosted trees against TensorFlow 1.15 (of more than two classes: 2.8): losses of all steps,
# evaluation, predictions, the trees themselves, summaries.

boosted_cases <- function() sub("[.]json$", "", list.files(golden_path("boosted"), "[.]json$"))

boosted_golden <- function(name) read_golden("boosted", paste0(name, ".json"))

# Errors as parts of what is allowed: 1 is at the tolerance of the goldens.
boosted_error <- function(x, y) max(abs(x - y) / (1e-5 + 2e-5 * abs(y)))

# Of each class, but for what all have in common.
centered <- function(x) x - rowMeans(x)

as_rows <- function(x) do.call(rbind, lapply(x, function(row) as.numeric(unlist(row))))

run_boosted <- function(golden, model_dir) {
  case <- golden$case
  model <- golden_model(case, model_dir, save_summary_steps = 1)
  data <- golden_data(case)
  losses <- c()
  record <- session_run_hook(
    before_run = function(context) session_run_args("loss"),
    after_run = function(context, values) losses <<- c(losses, values$results[[1]])
  )
  endless <- golden_input(case, data, batch_size = case$batch_size, num_epochs = NULL)
  suppressMessages(suppressWarnings(train(model, endless, steps = case$steps, hooks = record)))
  scalars <- read_events(model_dir)
  list(
    model = model, loss = losses, scalars = scalars,
    eval = evaluate(
      model, golden_input(case, data, batch_size = case$eval_batch_size), simplify = FALSE
    ),
    predict = predict(
      model, golden_input(case, data, 1:12, batch_size = case$eval_batch_size), simplify = FALSE,
      predict_keys = unlist(prediction_keys())
    )
  )
}

for (name in boosted_cases()) {
  test_that(paste("golden", name), {
    golden <- boosted_golden(name)
    ours <- run_boosted(golden, withr::local_tempdir())
    expected <- golden$expected
    expect_length(ours$loss, length(expected$loss))
    expect_lt(boosted_error(ours$loss, unlist(expected$loss)), 1)
    for (key in names(expected$eval)) {
      expect_lt(boosted_error(ours$eval[[key]], expected$eval[[key]]), 1, label = key)
    }
    for (key in names(expected$predict)) {
      ours_rows <- lapply(ours$predict, `[[`, key)
      if (key %in% c("classes", "all_classes")) {
        expect_equal(unlist(ours_rows), unlist(expected$predict[[key]]))
        next
      }
      a <- as_rows(ours_rows)
      b <- as_rows(expected$predict[[key]])
      # Classes have more logits than there are degrees of freedom: what all of them have in common
      # is rounding in TensorFlow.
      if (key == "logits" && ncol(b) > 1) {
        a <- centered(a)
        b <- centered(b)
      }
      expect_lt(boosted_error(a, b), 1, label = key)
    }
    for (tag in names(expected$summaries)) {
      own <- ours$scalars[ours$scalars$tag == tag, ]
      values <- as_rows(expected$summaries[[tag]])
      expect_equal(own$step, values[, 1], label = tag)
      expect_lt(boosted_error(own$value, values[, 2]), 1, label = tag)
    }
    stamp <- variable_value(ours$model, "boosted_trees:0_stamp")[[1]]
    expect_equal(stamp, expected$boosted_trees$stamp)
  })
}
