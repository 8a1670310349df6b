# Event files and other output of a run, compared with TensorFlow's traces.

of_tag <- function(events, tag) events[events$tag == tag, ]

for (name in c("lin_reg_default", "lin_reg_label2", "lin_reg_mean", "lin_reg_weight")) {
  test_that(paste("the summaries of", name, "are TensorFlow's"), {
    case <- read_golden("canned", name, "case.json")
    expected <- read_golden("canned", name, "expected.json")
    model_dir <- withr::local_tempdir()
    golden_checkpoint(name, model_dir)
    model <- golden_model(case, model_dir, save_summary_steps = 1)
    input <- golden_input(
      case, golden_data(case), batch_size = case$batch_size, num_epochs = NULL
    )
    train(model, input, steps = case$steps)
    events <- read_events(model_dir)
    # In TensorFlow these values may be read before or after the step's update.
    loose <- expected$summaries_before_or_after_update
    expect_setequal(
      setdiff(events$tag, "global_step/sec"), c(names(expected$summaries), names(loose))
    )
    for (tag in names(expected$summaries)) {
      actual <- of_tag(events, tag)
      expected_values <- expected$summaries[[tag]]
      expect_equal(actual$step, vapply(expected_values, function(pair) as.numeric(pair[[1]]), 0))
      expect_lte(
        relative_error(actual$value, lapply(expected_values, function(pair) pair[[2]])), 1e-5, label = tag
      )
    }
    for (tag in names(loose)) {
      expect_equal(of_tag(events, tag)$value[[1]], loose[[tag]][[1]][[2]])
      expect_equal(nrow(of_tag(events, tag)), case$steps)
    }
  })
}

test_that("the event file of a run has TensorFlow's steps and values", {
  trace <- golden_scenario("estimator_train", "hook_order")
  model <- toy_model(save_checkpoints_steps = 2, save_summary_steps = 2, log_step_count_steps = 2)
  train(model, toy_input(num_epochs = NULL), steps = 3)
  events <- read_events(model_dir(model))
  expected_values <- golden_scalars(trace$event_file)
  expect_equal(of_tag(events, "global_step/sec")$step, of_tag(expected_values, "global_step/sec")$step)
  expect_equal(of_tag(events, "loss")$step, of_tag(expected_values, "loss")$step)
  expect_equal(of_tag(events, "loss")$value, of_tag(expected_values, "loss")$value, tolerance = 1e-5)
  expect_true(all(abs(events$wall_time - as.numeric(Sys.time())) < 600))

  files <- setdiff(list.files(model_dir(model)), c("logs", record_file, runs_file))
  expect_setequal(files, grep("^events", unlist(trace$files), value = TRUE, invert = TRUE))
})

test_that("each train() starts its event file with its first step", {
  trace <- golden_scenario("estimator_train", "train_log")
  model <- toy_model(save_checkpoints_steps = 3, log_step_count_steps = 2)
  train(model, toy_input(num_epochs = NULL), steps = 5)
  train(model, toy_input(num_epochs = NULL), steps = 2)
  losses <- of_tag(read_events(file.path(model_dir(model), "logs")), "loss")
  expected_values <- of_tag(golden_scalars(trace$event_files), "loss")
  expect_equal(losses$step, expected_values$step)
  expect_equal(losses$value[[1]], expected_values$value[[1]], tolerance = 1e-5)
  expect_length(list.files(file.path(model_dir(model), "logs")), 2)
})

test_that("evaluate() writes its metrics to eval, or eval_<name>", {
  trace <- golden_scenario("estimator_eval_predict", "evaluate_steps_2")
  model <- toy_model()
  train(model, toy_input(num_epochs = NULL), steps = 3)
  metrics <- evaluate(model, toy_input(), steps = 2)
  events <- read_events(file.path(model_dir(model), "eval"))
  expect_equal(events$tag, sort(setdiff(names(metrics), "global_step")))
  expect_equal(events$value, unlist(metrics[events$tag], use.names = FALSE), tolerance = 1e-6)
  expected_values <- of_tag(golden_scalars(trace$eval_event_file), "loss")
  expect_equal(of_tag(events, "loss")$step, expected_values$step)
  expect_equal(of_tag(events, "loss")$value, expected_values$value, tolerance = 1e-5)

  evaluate(model, toy_input(), name = "val")
  expect_equal(unique(read_events(file.path(model_dir(model), "eval_val"))$step), 3)
})

test_that("old checkpoints are deleted with their graphs", {
  model <- toy_model(save_checkpoints_steps = 1, keep_checkpoint_max = 2)
  train(model, toy_input(num_epochs = NULL), steps = 5)
  expect_equal(
    list.files(model_dir(model), "[.]meta$"), c("model.ckpt-4.meta", "model.ckpt-5.meta")
  )
})

test_that("leftovers of killed writers are removed, and nothing else", {
  model <- toy_model()
  gone <- system2("sh", c("-c", shQuote("echo $$")), stdout = TRUE)
  stale <- sprintf(c("model.ckpt-3.index.tmp%s-0", "checkpoint.tmp%s-12"), gone)
  other <- c(
    sprintf("model.ckpt-3.index.tmp%d-900", Sys.getpid()), sprintf("notes.tmp%s-0", gone),
    "model.ckpt-notes", "model.ckpt-3.tmp", sprintf("model.ckpt-3.tmp%s", gone)
  )
  file.create(file.path(model_dir(model), c(stale, other)))
  train(model, toy_input(), steps = 1)
  expect_equal(intersect(list.files(model_dir(model)), c(stale, other)), sort(other))
})

test_that("read_events() reads a truncated file and rejects a damaged one", {
  folder <- withr::local_tempdir()
  model <- toy_model(save_summary_steps = 1)
  train(model, toy_input(num_epochs = NULL), steps = 4)
  file <- list.files(file.path(model_dir(model), "logs"), full.names = TRUE)
  bytes <- readBin(file, "raw", file.size(file))
  whole <- read_events(dirname(file))
  cut <- file.path(folder, "events.out.tfevents.1700000000.cut")
  # Truncates within the last summary, which precedes the session log of the last checkpoint.
  for (missing in c(3, 100, 150)) {
    writeBin(head(bytes, -missing), cut)
    events <- read_events(folder)
    expect_equal(events, whole[seq_len(nrow(events)), ])
  }
  expect_lt(nrow(events), nrow(whole))
  writeBin(bytes[1:5], cut)
  expect_equal(nrow(read_events(folder)), 0)
  bytes[[length(bytes) %/% 2]] <- xor(bytes[[length(bytes) %/% 2]], as.raw(255))
  writeBin(bytes, cut)
  expect_error(read_events(folder), class = "runhooks_error_data_loss")
})

test_that("read_events() gives an empty tibble for a folder without event files", {
  events <- read_events(withr::local_tempdir())
  expect_s3_class(events, "tbl_df")
  expect_equal(vapply(events, class, ""), c(
    step = "numeric", wall_time = "numeric", tag = "character", value = "numeric"
  ))
  expect_error(read_events("no such folder"), class = "runhooks_error_not_found")
  expect_error(read_events(1), class = "runhooks_error_invalid_argument")
})

test_that("read_events() reads TensorFlow's files", {
  records <- read_golden("files", "events", "train_events.json")
  rows <- list()
  for (record in records) {
    for (value in record$summary) {
      if (value$value != "simple_value") next
      rows[[length(rows) + 1]] <- tibble::tibble(
        step = record$step, wall_time = record$wall_time, tag = value$tag,
        value = value$simple_value
      )
    }
  }
  events <- read_events(golden_path("files", "events"))
  expect_equal(events, do.call(rbind, rows), tolerance = 1e-6)
})

test_that("read_events() reads files in the order of their names", {
  folder <- withr::local_tempdir()
  original <- list.files(golden_path("files", "events"), "tfevents", full.names = TRUE)
  for (name in c("2.b", "1.a")) {
    file.copy(original, file.path(folder, paste0("events.out.tfevents.", name)))
  }
  one <- read_events(dirname(original))
  events <- read_events(folder)
  expect_equal(events, rbind(one, one))
})
