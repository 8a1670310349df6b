# Model directories from untrusted sources: metadata and hook states are plain data, and reading
# them must not run code.

# Returns serialized bytes that contain a promise, which creates the file `witness` when it is
# evaluated. R before 4.4 evaluates it when the object is read.
promise_bytes <- function(witness) {
  code <- serialize(bquote(file.create(.(witness))), NULL, version = 2)
  promise <- as.raw(c(0, 0, 4, 5, 0, 0, 0, 0xfd, 0, 0, 0, 0xfc))
  c(code[1:14], promise, code[-(1:14)])
}

keeping_hook <- function(state, restored = function(state) NULL) {
  session_run_hook(save_state = function() state, restore_state = restored)
}

test_that("a hook's state of plain data is restored unchanged", {
  state <- list(
    count = 3L, na = c(TRUE, NA), x = c(a = 1.5, b = NA, c = NaN, d = -Inf), z = 1 + 2i,
    words = c("\u00e9", NA, ""), raw = as.raw(0:255), none = NULL, empty = list(),
    matrix = matrix(1:6, 2, dimnames = list(NULL, letters[1:3])), factor = factor(c("b", "a", "b")),
    day = as.Date("2020-02-29"), time = as.POSIXct("2001-09-09 01:46:40", tz = "UTC"),
    frame = data.frame(x = 1:3, y = letters[1:3], stringsAsFactors = TRUE),
    nested = list(list(structure(list(1), class = "mine")))
  )
  state["none"] <- list(NULL)
  folder <- withr::local_tempdir()
  train(mtcars_model(folder), mtcars_input(), steps = 1, hooks = list(h = keeping_hook(state)))
  back <- NULL
  hook <- keeping_hook(NULL, function(state) back <<- state)
  train(mtcars_model(folder), mtcars_input(), steps = 1, hooks = list(h = hook))
  expect_identical(back, state)
})

test_that("hook states that are not plain data are errors that name them when they are saved", {
  refused <- function(state, place, kind) {
    expect_error(
      train(mtcars_model(), mtcars_input(), steps = 1, hooks = list(mine = keeping_hook(state))),
      sprintf("hook `mine` contains `%s`, which is %s", place, kind), fixed = TRUE,
      class = "runhooks_error_invalid_argument"
    )
  }
  refused(list(a = list(f = function(x) x)), "state$a$f", "a function")
  refused(list(1, new.env()), "state[[2]]", "an environment")
  refused(list(m = quote(x + y)), "state$m", "a call")
  refused(y ~ x, "state", "a formula")
  refused(structure(1, owner = globalenv()), "attr(state, \"owner\")", "an environment")
  refused(asS4(1), "state", "an S4 object")
})

test_that("a promise in runhooks.rds is not evaluated", {
  model <- mtcars_model()
  train(model, mtcars_input(), steps = 2)
  witness <- file.path(withr::local_tempdir(), "witness")
  bytes <- promise_bytes(witness)
  path <- file.path(model_dir(model), "runhooks.rds")
  con <- gzfile(path, "wb")
  writeBin(bytes, con)
  close(con)
  unlink(file.path(model_dir(model), record_file))
  rlang::local_options(rlib_message_verbosity = "verbose")
  expect_message(predict(model, mtcars_input()), "runhooks.rds")
  suppressMessages({
    evaluate(model, mtcars_input())
    train(model, mtcars_input(), steps = 1)
    predict(model, mtcars_input())
  })
  expect_false(file.exists(witness))
  # The same bytes are in the file that this version reads.
  writeBin(bytes, file.path(model_dir(model), record_file))
  expect_error(predict(model, newdata = mtcars), class = "runhooks_error_data_loss")
  expect_false(file.exists(witness))
})

test_that("a promise in a hook state of a checkpoint is not evaluated", {
  witness <- file.path(withr::local_tempdir(), "witness")
  bytes <- promise_bytes(witness)
  given <- "nothing"
  hook <- list(h = keeping_hook(NULL, function(state) given <<- state))
  with_state <- function(name, is_string, env = parent.frame()) {
    model <- mtcars_model(withr::local_tempdir(.local_envir = env))
    train(model, mtcars_input(), steps = 1)
    cpp_add_to_checkpoint(latest_checkpoint(model_dir(model)), name, bytes, is_string)
    model
  }
  # The hook's state in the format of earlier versions, which can contain code, is not read.
  old <- with_state("runhooks/hook_state/h", FALSE)
  log <- lines_of_log(train(old, mtcars_input(), steps = 1, hooks = hook))
  expect_match(log, "The state of hook `h` .* can contain code", all = FALSE)
  expect_identical(given, "nothing")
  expect_no_error(predict(old, mtcars_input(), hooks = hook))
  # The hook's state in the format of this version must be plain data.
  new <- with_state("runhooks/hook_state/h/plain", TRUE)
  expect_error(evaluate(new, mtcars_input(), hooks = hook), class = "runhooks_error_data_loss")
  # The checkpoint counts as damaged, so training uses the previous one.
  suppressWarnings(expect_warning(train(new, mtcars_input(), steps = 1, hooks = hook), "hook `h`"))
  expect_identical(given, "nothing")
  expect_false(file.exists(witness))
})

test_that("attributes that do not fit their vector are errors", {
  folder <- withr::local_tempdir()
  path <- file.path(folder, "x")
  cpp_write_plain_file(path, structure(list(1, 2), names = c("a", "b")), "This")
  expect_identical(cpp_read_plain_file(path), list(a = 1, b = 2))
  cpp_write_plain_file(path, structure(list(1, 2), nmaes = c("a", "b", "c")), "This")
  text <- readBin(path, "raw", file.size(path))
  at <- grepRaw(charToRaw("nmaes"), text)
  text[at:(at + 4)] <- charToRaw("names")
  writeBin(text, path)
  expect_error(cpp_read_plain_file(path), "do not fit", class = "runhooks_error_data_loss")
})

test_that("an invalid metadata record is an error, whatever it contains", {
  model <- mtcars_model()
  train(model, mtcars_input(), steps = 1)
  path <- file.path(model_dir(model), record_file)
  good <- cpp_read_plain_file(path)
  expect_true(is_record(good))
  for (bad in list(
    1, NULL, list(version = 2L), list(version = 1L, features = 1),
    list(version = 1L, features = list(drat = list(kind = "evil"))),
    list(version = 1L, features = list(drat = list(kind = "factor", levels = 1))),
    structure(good, class = "mine"), list(version = 1L, features = list(), response = "x")
  )) {
    cpp_write_plain_file(path, bad, "This")
    expect_error(predict(model, newdata = mtcars), class = "runhooks_error_data_loss")
  }
})

test_that("a model snapshot with unexpected file names writes none of them", {
  model <- linear_regressor(column_numeric("drat"))
  train(model, input_fn(mpg ~ drat, mtcars), steps = 1)
  saved <- withr::local_tempfile()
  saveRDS(model, saved)
  read <- readRDS(saved)
  shared_state <- handle_fields(read)$shared_state
  expect_setequal(
    sub("ckpt-[0-9]+", "ckpt", names(shared_state$files)),
    c("checkpoint", record_file, "model.ckpt.index", "model.ckpt.data-00000-of-00001")
  )
  folder <- withr::local_tempdir()
  fields <- handle_fields(read)
  fields$model_dir <- file.path(folder, "gone")
  read$estimator <- structure(fields, class = "runhooks_engine")
  shared_state$files[["../../../x"]] <- as.raw(1)
  before <- list.files(tempdir())
  expect_error(model_dir(read), "../../../x", class = "runhooks_error_invalid_argument", fixed = TRUE)
  expect_length(list.files(folder), 0)
  created <- setdiff(list.files(tempdir()), before)
  expect_length(list.files(file.path(tempdir(), created)), 0)
  shared_state$files <- shared_state$files[names(shared_state$files) != "../../../x"]
  expect_equal(variable_value(read, "global_step")[[1]], 1)
})

test_that("training keeps no checkpoint contents in R", {
  data <- as.data.frame(matrix(stats::rnorm(500), 10, dimnames = list(NULL, paste0("x", 1:50))))
  data$y <- 1
  features <- lapply(paste0("x", 1:50), column_numeric)
  model <- dnn_regressor(c(512L, 512L), features)
  train(model, input_fn(data, features = paste0("x", 1:50), response = "y"), steps = 1)
  expect_lt(as.numeric(utils::object.size(handle_fields(model)$shared_state$files)), 1000)
  expect_gt(length(serialize(model, NULL)), 1e6)
})

test_that("a state file that lists another model's checkpoint does not delete it", {
  theirs <- mtcars_model()
  train(theirs, mtcars_input(), steps = 1)
  mine <- mtcars_model(save_checkpoints_steps = 1, keep_checkpoint_max = 1)
  train(mine, mtcars_input(), steps = 1)
  state <- file.path(model_dir(mine), "checkpoint")
  other <- file.path("..", basename(model_dir(theirs)), "model.ckpt-1")
  writeLines(c(
    readLines(state)[[1]], sprintf("all_model_checkpoint_paths: \"%s\"", other),
    sprintf("all_model_checkpoint_paths: \"%s\"", latest_checkpoint(model_dir(theirs))),
    "all_model_checkpoint_paths: \"model.ckpt-1\""
  ), state)
  expect_warning(
    train(mine, mtcars_input(num_epochs = NULL), steps = 3),
    "in another folder. It will not be deleted."
  ) |>
    expect_warning("in another folder. It will not be deleted.")
  expect_false(is.null(latest_checkpoint(model_dir(theirs))))
  expect_length(list.files(model_dir(mine), "[.]index$"), 1)
  expect_equal(variable_value(theirs, "global_step")[[1]], 1)
})
