test_that("the bar matches the line that tfestimators showed", {
  expect_equal(
    bar_line("Training", 2, 2, 3136.1035, 1, width = 48),
    "Training 2/2 [======] - ETA:  0s - loss: 3136.10"
  )
  expect_equal(
    bar_line("Evaluating", 1, 4, 1.5, 30, width = 52),
    "Evaluating 1/4 [==.........] - ETA:  2m - loss: 1.50"
  )
  expect_match(
    spinner_line("Training", 12.34, 57, 1), "^\\[.\\] Training -- loss: 12\\.34, step: 57$"
  )
})

test_that("times are short", {
  durations <- vapply(c(0, 59, 61, 7300, 200000), short_duration, "")
  expect_equal(durations, c("0s", "59s", "1m", "2h", "2d"))
})

# Returns the terminal output of `expr` without control sequences, with messages in the same stream.
terminal_output <- function(expr, ...) {
  withr::local_options(cli.dynamic = TRUE, cli.ansi = FALSE, cli.num_colors = 1L, width = 80, ...)
  text <- capture.output(expr, type = "message")
  lines <- unlist(strsplit(text, "[\r\n]+"))
  trimws(gsub("\033\\[[0-9;?]*[a-zA-Z]", "", lines))
}

test_that("train() and evaluate() show the line through cli, with the total of rows and epochs", {
  model <- mtcars_model()
  lines <- terminal_output(train(model, mtcars_input(num_epochs = 2)))
  expect_match(lines, "^Training 8/8 \\[=+\\] - ETA:  0s - loss: [0-9]+[.][0-9][0-9]$", all = FALSE)
  expect_true(all(nchar(lines) <= 80))
  lines <- terminal_output(train(model, mtcars_input(num_epochs = NULL), steps = 3))
  expect_match(lines, "^Training 3/3 \\[=+\\] - ETA:  0s - loss: ", all = FALSE)
  lines <- terminal_output(train(model, mtcars_input(), max_steps = 13))
  expect_match(lines, "^Training 2/2 ", all = FALSE)
  lines <- terminal_output(evaluate(model, mtcars_input()))
  expect_match(lines, "^Evaluating 4/4 \\[=+\\] - ETA:  0s - loss: ", all = FALSE)
  stops <- hook_stop_at_step(3)
  lines <- terminal_output(train(model, mtcars_input(num_epochs = NULL), hooks = stops))
  expect_match(lines, "^\\[.\\] Training -- loss: [0-9.]+, step: 16$", all = FALSE)
})

test_that("the newest validation metric is on the line", {
  lines <- terminal_output(
    train(mtcars_model(), mtcars_input(), validation = mtcars_input(shuffle = FALSE))
  )
  expect_match(lines, "Training 4/4 .* - loss: .* - validation average_loss: [0-9.]+$", all = FALSE)
})

test_that("a message of a hook appears below the line, not in it", {
  model <- mtcars_model()
  stops <- hook_early_stopping(
    model, function() TRUE, run_every_secs = NULL, run_every_steps = 1
  )
  lines <- terminal_output(train(model, mtcars_input(num_epochs = NULL), steps = 9, hooks = stops))
  expect_match(lines, "^Training stopped early at step 1, ", all = FALSE)
})

test_that("no bar without a terminal, when turned off, or in a forked process", {
  expect_false(shows_progress())
  expect_equal(capture.output(train(mtcars_model(), mtcars_input())), character())
  silent <- terminal_output(train(mtcars_model(), mtcars_input()), runhooks.progress = FALSE)
  expect_false(any(grepl("Training", silent)))
  skip_on_os("windows") # lint: allow skip (there are no forks)
  withr::local_options(cli.dynamic = TRUE)
  expect_true(shows_progress())
  in_forks <- parallel::mclapply(1:2, function(i) shows_progress(), mc.cores = 2)
  expect_equal(in_forks, list(FALSE, FALSE))
})

test_that("a run with fewer steps than requested prints a message", {
  expect_message(
    check_all_steps_ran("train", 15, 100), "Training completed after 15 steps but 100 steps were specified"
  )
  expect_message(check_all_steps_ran("train", 1, 2, "hook", "Mine"), "Hook `Mine` ended it", fixed = TRUE)
  expect_no_message(check_all_steps_ran("train", 2, 2L))
  expect_no_message(check_all_steps_ran("eval", 2, NULL))
})
