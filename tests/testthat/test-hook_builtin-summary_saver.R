
test_that("hook_summary_saver() validates its arguments", {
  wrong <- function(...) {
    tryCatch(hook_summary_saver(...), runhooks_error_invalid_argument = conditionMessage)
  }
  expect_match(wrong(), "Exactly one of scaffold or summary_op must be provided.", fixed = TRUE)
  expect_match(wrong(save_steps = 1), "Exactly one of scaffold or summary_op", fixed = TRUE)
  expect_match(
    wrong(summary_op = "loss:0"), "Either every_secs or every_steps should be provided.",
    fixed = TRUE
  )
  expect_equal(
    wrong(save_steps = 1, save_secs = 1, summary_op = "loss:0"),
    " Only one of save_secs or save_steps can be specified"
  )
  expect_match(wrong(save_steps = 1, summary_op = 3), "summary_op")
  expect_match(wrong(save_steps = "a", summary_op = "loss:0"), "save_steps")
  expect_error(
    hook_summary_saver(save_steps = 1, scaffold = list()), "`scaffold` must be NULL or tf",
    class = "runhooks_error_invalid_argument"
  )
  expect_s3_class(hook_summary_saver(save_steps = 1, summary_op = "loss:0"), "SummarySaverHook")
  expect_s3_class(
    tf$train$SummarySaverHook(save_steps = 1, summary_op = "loss:0"), "SummarySaverHook"
  )
})

test_that("hook_summary_saver() saves at TensorFlow's steps", {
  rows <- golden_scenario("builtin_hooks", "summary_saver_steps")$table
  for (row in Filter(function(row) row$increment == 1, rows)) {
    model <- toy_model()
    if (row$start > 0) train(model, toy_input(num_epochs = NULL), steps = row$start)
    folder <- withr::local_tempdir()
    hook <- hook_summary_saver(row$save_steps, output_dir = folder, summary_op = "loss:0")
    train(model, toy_input(num_epochs = NULL), steps = row$runs, hooks = hook)
    expect_equal(read_events(folder)$step, as.numeric(unlist(row$summaries_at)))
  }
})

test_that("hook_summary_saver() accepts several summaries, also those of a hook's begin()", {
  folder <- withr::local_tempdir()
  model <- toy_model(save_summary_steps = 2)
  add <- session_run_hook(begin = function() {
    step <- tf$cast(tf$train$get_global_step(), tf$float32)
    tf$summary$scalar("my step", step)
  })
  hook <- hook_summary_saver(
    2, output_dir = folder, summary_op = list("Merge/MergeSummary:0", "my_step:0")
  )
  train(model, toy_input(num_epochs = NULL), steps = 3, hooks = list(add, hook))
  events <- read_events(folder)
  expect_equal(unique(events$step), c(1, 3))
  expect_equal(events$value[events$tag == "my_step"], c(0, 0, 2, 2))
  own <- read_events(model_dir(model))
  expect_equal(own$value[own$tag == "my_step"], c(0, 2))
  expect_equal(own$value[own$tag == "loss"], events$value[events$tag == "loss"])
})

test_that("a summary that is not in the graph is an error that names it", {
  hook <- hook_summary_saver(1, output_dir = withr::local_tempdir(), summary_op = "nothing:0")
  expect_error(
    train(toy_model(), toy_input(), steps = 1, hooks = hook), "nothing",
    class = "runhooks_error_not_found"
  )
})

test_that("a fetched summary is a raw vector in hooks and sessions", {
  bytes <- list()
  hook <- session_run_hook(
    before_run = function(context) session_run_args("linear/bias:0"),
    after_run = function(context, values) bytes <<- c(bytes, values$results)
  )
  train(toy_model(), toy_input(), steps = 1, hooks = hook)
  expect_type(bytes[[1]], "raw")
  expect_match(rawToChar(bytes[[1]][bytes[[1]] != 0 & bytes[[1]] < 0x80]), "linear/bias")
  with(tf$Graph()$as_default(), {
    # This serialized message contains no zero byte, but must be a raw vector like all others.
    loss <- tf$summary$scalar("a", tf$constant(3.1415927, dtype = "float32"))
    zero <- tf$constant(0L)
    with(tf$Session() %as% session, got <- session$run(list(loss = loss, none = zero)))
  })
  # TensorFlow's bytes of Summary(value = [Value(tag = "a", simple_value = pi)]).
  expect_identical(
    got$loss,
    as.raw(c(0x0a, 0x08, 0x0a, 0x01, 0x61, 0x15, 0xdb, 0x0f, 0x49, 0x40))
  )
})

test_that("save_summary_steps = 0 disables summaries", {
  model <- toy_model(save_summary_steps = 0)
  train(model, toy_input(num_epochs = NULL), steps = 3)
  expect_equal(nrow(read_events(model_dir(model))), 0)
})

test_that("tf$summary uses TensorFlow's names, tags and collections", {
  graph <- tf$Graph()
  with_graph(graph, {
    one <- tf$constant(1)
    expect_null(tf$summary$merge_all())
    expect_equal(tf$summary$scalar("a", one)$name, "a:0")
    expect_equal(tf$summary$scalar("a", 2)$name, "a_1:0")
    expect_equal(tf$summary$histogram("h", tf$constant(c(1, 2)), family = "f")$name, "f/h:0")
    mine <- tf$summary$scalar("b", one, collections = list("mine"))
    expect_equal(tf$summary$merge(list(mine))$name, "Merge/MergeSummary:0")
    expect_equal(tf$summary$merge_all(name = "all")$name, "all/all:0")
  })
  names <- function(key) vapply(graph$get_collection(key), function(x) x$name, "")
  expect_equal(names("summaries"), c("a:0", "a_1:0", "f/h:0"))
  expect_equal(names("mine"), "b:0")
})
