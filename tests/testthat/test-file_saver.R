
test_that("a saver writes and reads checkpoints of a session", {
  dir <- withr::local_tempdir()
  with(tf$Graph()$as_default(), {
    step <- tf$train$get_or_create_global_step()
    v <- tf$get_variable("v", initializer = tf$constant(c(1, 2)))
    saver <- tf$train$Saver(max_to_keep = 2)
    expect_output(print(saver), "<Saver>")
    add <- v$assign_add(c(1, 1))
    init <- tf$global_variables_initializer()
    with(tf$Session() %as% s, {
      s$run(init)
      paths <- character()
      for (i in 1:3) {
        paths <- c(paths, saver$save(s, file.path(dir, "m"), global_step = i))
        s$run(add)
      }
      expect_equal(paths, file.path(dir, paste0("m-", 1:3)))
      expect_equal(saver$last_checkpoints(), paths[2:3])
      expect_equal(latest_checkpoint(dir), paths[[3]])
      expect_false(file.exists(paste0(paths[[1]], ".index")))
      saver$restore(s, paths[[2]])
      expect_equal(as.numeric(s$run(v)), c(2, 3))
      expect_equal(saver$save(s, file.path(dir, "m"), step), file.path(dir, "m-0"))
      expect_equal(saver$save(s, file.path(dir, "plain")), file.path(dir, "plain"))
    })
  })
})

test_that("a saver rejects invalid variables, paths and arguments", {
  with(tf$Graph()$as_default(), {
    expect_error(tf$train$Saver(), "No variables to save", fixed = TRUE)
    expect_s3_class(tf$train$Saver(defer_build = TRUE), "runhooks_saver")
    expect_error(
      tf$train$Saver(var_list = list("v")), "`var_list` must be a list of variables",
      class = "runhooks_error_invalid_argument"
    )
    expect_error(tf$train$Saver(max_to_keep = "all"), "`max_to_keep` must be a whole number")
    expect_error(
      tf$train$Scaffold(saver = 3), "`saver` must be NULL or tf$train$Saver()", fixed = TRUE
    )
    tf$get_variable("v", initializer = tf$constant(1))
    saver <- tf$train$Saver()
    with(tf$Session() %as% s, {
      expect_error(
        saver$restore(s, "nope"), "The passed save_path is not a valid checkpoint: nope",
        fixed = TRUE
      )
      expect_error(saver$save(s, 3), "`save_path` must be a single string")
    })
  })
})

test_that("savers can be stored in collections", {
  with(tf$Graph()$as_default(), {
    tf$get_variable("v", initializer = tf$constant(1))
    tf$add_to_collection("savers", tf$train$Saver())
    expect_s3_class(tf$get_collection("savers")[[1]], "runhooks_saver")
  })
})

with_saver_session <- function(code) {
  with(tf$Graph()$as_default(), {
    tf$get_variable("a", initializer = tf$constant(c(1, 2)))
    tf$get_variable("b", initializer = tf$constant(3), use_resource = TRUE)
    with(tf$Session() %as% session, {
      session$run(tf$global_variables_initializer())
      code(session)
    })
  })
}
index_files <- function(dir) list.files(dir, "index$")

test_that("a sharded saver on one device writes the same files as TensorFlow", {
  dir <- withr::local_tempdir()
  with_saver_session(function(session) {
    tf$train$Saver(sharded = TRUE)$save(session, file.path(dir, "m"), global_step = 1)
  })
  expect_setequal(
    list.files(dir), c("checkpoint", "m-1.data-00000-of-00001", "m-1.index", "m-1.meta")
  )
})

test_that("keep_checkpoint_every_n_hours works as in TensorFlow", {
  clock <- local_clock()
  dir <- withr::local_tempdir()
  with_saver_session(function(session) {
    saver <- tf$train$Saver(max_to_keep = 2, keep_checkpoint_every_n_hours = 1)
    for (i in 0:11) {
      clock$advance(1500)
      saver$save(session, file.path(dir, "m"), global_step = i)
    }
    expect_equal(basename(saver$last_checkpoints()), c("m-10", "m-11"))
  })
  # The checkpoints that TensorFlow 1.15 keeps with the same clock.
  expect_setequal(index_files(dir), paste0("m-", c(2, 4, 7, 9, 10, 11), ".index"))
})

test_that("all checkpoints are kept without a limit", {
  dir <- withr::local_tempdir()
  with_saver_session(function(session) {
    for (keep in list(0, NULL)) {
      saver <- tf$train$Saver(max_to_keep = keep)
      for (i in 0:6) saver$save(session, file.path(dir, "m"), global_step = i)
      expect_length(saver$last_checkpoints(), 0)
    }
  })
  expect_length(index_files(dir), 7)
  state <- readLines(file.path(dir, "checkpoint"))
  expect_length(grep("all_model_checkpoint_paths", state), 1)
})

test_that("the checkpoint state and the graph can have other names", {
  dir <- withr::local_tempdir()
  with_saver_session(function(session) {
    saver <- tf$train$Saver(max_to_keep = 1)
    save <- function(step, ...) saver$save(session, file.path(dir, "m"), step, ...)
    save(0, latest_filename = "mine", meta_graph_suffix = "graph")
    save(1, latest_filename = "mine", meta_graph_suffix = "graph")
    expect_error(save(2, latest_filename = "a/b"), "must not contain path components")
    expect_error(save(2, latest_filename = "../b"), "must not contain path components")
    expect_error(save(2, meta_graph_suffix = "/../b"), "must not contain path components")
    expect_error(saver$save(session, ""), "no path specified")
  })
  expect_setequal(
    list.files(dir), c("mine", "m-1.data-00000-of-00001", "m-1.index", "m-1.graph")
  )
  expect_null(latest_checkpoint(dir))
  expect_equal(latest_checkpoint(dir, latest_filename = "mine"), file.path(dir, "m-1"))
  expect_equal(tf$train$latest_checkpoint(dir, "mine"), file.path(dir, "m-1"))
  expect_error(latest_checkpoint(dir, latest_filname = "mine"), "has only the arguments")
})

test_that("unsupported options of a saver are errors", {
  with_saver_session(function(session) {
    kind <- "runhooks_error_unimplemented"
    expect_error(tf$train$Saver(write_version = 1), "version 2", class = kind)
    expect_error(tf$train$Saver(filename = "x"), "filename", class = kind)
    expect_error(tf$train$Saver(saver_def = 1), "saver_def", class = kind)
    expect_error(tf$train$Saver(max_to_keep = -1), ">= 0")
    expect_error(tf$train$Saver(name = 3), "name")
    expect_error(tf$train$Saver(restore_sequentially = NA), "restore_sequentially")
    expect_error(tf$train$Saver(keep_checkpoint_every_n_hours = "1"), "keep_checkpoint")
  })
})

test_that("a state file cannot delete checkpoints outside its folder", {
  dir <- withr::local_tempdir()
  inside <- file.path(dir, "model")
  outside <- file.path(dir, "precious")
  dir.create(outside)
  with_saver_session(function(session) {
    tf$train$Saver()$save(session, file.path(outside, "m"), global_step = 1, write_state = FALSE)
  })
  model <- linear_regressor(
    column_numeric("x"), model_dir = inside,
    config = run_config(tf_random_seed = 1, keep_checkpoint_max = 1, save_checkpoints_steps = 1)
  )
  data <- data.frame(x = c(1, 2), y = c(1, 2))
  input <- input_fn(data, features = x, response = y, num_epochs = NULL, shuffle = FALSE)
  suppressMessages(train(model, input, steps = 1))
  newest <- latest_checkpoint(inside)
  for (path in c(file.path(outside, "m-1"), "../precious/m-1")) {
    writeLines(sprintf(
      c('model_checkpoint_path: "%s"', 'all_model_checkpoint_paths: "%s"'), c(newest, path)
    ), file.path(inside, "checkpoint"))
    suppressWarnings(suppressMessages(train(model, input, steps = 2)))
    newest <- latest_checkpoint(inside)
    expect_equal(index_files(outside), "m-1.index")
  }
})
