# Folders and checkpoints with unusual names, or with names of the maximum length.

# Returns one name for each kind of parsing, quoting, matching or truncation that may fail.
unusual_names <- function() {
  names <- c(
    blanks = "two  words ", umlauts = "Gr\u00f6\u00dfe \u6a21\u578b", percent = "100%s %d {x} $HOME ~",
    brackets = "a[1] (2)+^.$", long = strrep("n", 255), long_umlauts = strrep("\u00fc", 127)
  )
  if (.Platform$OS.type == "windows") return(names)
  c(names, quotes = "it's \"quoted\" `here`", backslash = "back\\slash\\", glob = "a*b?c|<d>:e")
}

test_that("models train, resume, export and load in folders of any name", {
  skip_if_not(l10n_info()[["UTF-8"]], "the locale has no UTF-8")
  directory <- withr::local_tempdir()
  withr::local_dir(directory)
  plain <- mtcars_model(file.path(directory, "plain"))
  train(plain, mtcars_input(shuffle = FALSE))
  train(plain, mtcars_input(shuffle = FALSE))
  expected <- predict(plain, newdata = mtcars)
  for (name in unusual_names()) {
    # The path is relative, because a name must not be mistaken for an absolute path.
    train(mtcars_model(name), mtcars_input(shuffle = FALSE))
    model <- mtcars_model(file.path(directory, name))
    expect_true(dir.exists(file.path(directory, name)), label = name)
    train(model, mtcars_input(shuffle = FALSE))
    expect_equal(predict(model, newdata = mtcars), expected, label = name)
    expect_equal(evaluate(model, mtcars_input())$global_step, 8, label = name)
    expect_gt(nrow(read_events(model_dir(model))), 0, label = name)
    expect_equal(nrow(run_history(model_dir(model))), 2, label = name)
    expect_equal(dirname(latest_checkpoint(name)), name, label = name)
    saved <- file.path(directory, "model.rds")
    saveRDS(model, saved)
    expect_equal(predict(readRDS(saved), newdata = mtcars), expected, label = name)
    unlink(name, recursive = TRUE, expand = FALSE)
    expect_false(dir.exists(name), label = name)
    for (i in 1:2) suppressMessages(export_savedmodel(plain, name))
    loaded <- load_savedmodel(file.path(directory, name))
    expect_equal(
      unlist(predict(loaded, mtcars)), unlist(expected), ignore_attr = TRUE, label = name
    )
    expect_setequal(
      list.files(directory, all.files = TRUE, no.. = TRUE), c("plain", "model.rds", name)
    )
    unlink(name, recursive = TRUE, expand = FALSE)
  }
})

test_that("data files and vocabularies can have any name", {
  skip_if_not(l10n_info()[["UTF-8"]], "the locale has no UTF-8")
  withr::local_dir(withr::local_tempdir())
  data <- data.frame(word = c("b", "a", "b", "a"), y = c(2, 1, 2, 1))
  for (name in unusual_names()) {
    writeLines(c("word,y", paste(data$word, data$y, sep = ",")), name)
    batch <- dataset_collect(make_csv_dataset(name, 4, num_epochs = 1, shuffle = FALSE))[[1]]
    expect_equal(as.numeric(batch$y), data$y, label = name)
    writeLines(c("a", "b"), name)
    expect_length(dataset_collect(text_line_dataset(file.path(getwd(), name))), 2)
    column <- column_categorical_with_vocabulary_file("word", vocabulary_file = name)
    model <- linear_regressor(column, model_dir = "model")
    train(model, input_fn(data, features = word, response = y, num_epochs = 20))
    expect_equal(evaluate(model, input_fn(data, features = word, response = y))$global_step, 1)
    unlink(c("model", name), recursive = TRUE, expand = FALSE)
    expect_length(list.files(all.files = TRUE, no.. = TRUE), 0)
  }
})

test_that("checkpoints can have any name that fits the file system", {
  skip_if_not(l10n_info()[["UTF-8"]], "the locale has no UTF-8")
  # File names are limited to 255 bytes, and the suffix "-1.data-00000-of-00001" is added to these.
  names <- c("a b", "g\u00fcte", "b\\s \"q\"", strrep("n", 230), strrep("\u00fc", 115))
  if (.Platform$OS.type == "windows") names <- names[-3]
  for (name in names) {
    dir <- withr::local_tempdir()
    prefix <- file.path(dir, name)
    with(tf$Graph()$as_default(), {
      v <- tf$get_variable("v", initializer = tf$constant(c(1, 2)))
      saver <- tf$train$Saver(max_to_keep = 2)
      with(tf$Session() %as% s, {
        s$run(tf$global_variables_initializer())
        for (i in 1:3) path <- saver$save(s, prefix, global_step = i)
        expect_equal(path, paste0(prefix, "-3"))
        expect_equal(latest_checkpoint(dir), path)
        state <- tf$train$get_checkpoint_state(dir)
        expect_equal(state$all_model_checkpoint_paths, paste0(prefix, "-", 2:3))
        saver$restore(s, path)
        expect_equal(as.numeric(s$run(v)), c(1, 2))
      })
    })
    expect_setequal(
      sub("^.*-([0-9])[.]([a-z]+).*$", "\\1 \\2", list.files(dir)),
      c("checkpoint", outer(2:3, c("data", "index", "meta"), paste))
    )
  }
})

test_that("a checkpoint with too long a name is an error that names it, and loses nothing", {
  dir <- withr::local_tempdir()
  with(tf$Graph()$as_default(), {
    tf$get_variable("v", initializer = tf$constant(1))
    saver <- tf$train$Saver()
    with(tf$Session() %as% s, {
      s$run(tf$global_variables_initializer())
      good <- saver$save(s, file.path(dir, "good"))
      long <- file.path(dir, strrep("n", 250))
      error <- expect_error(saver$save(s, long), class = "runhooks_error_failed_precondition")
      expect_match(conditionMessage(error), strrep("n", 250), fixed = TRUE)
      expect_equal(latest_checkpoint(dir), good)
    })
  })
  expect_setequal(
    list.files(dir), c("checkpoint", "good.index", "good.meta", "good.data-00000-of-00001")
  )
})

test_that("a folder that cannot be created is one error that names it", {
  skip_if_not(file.exists("/proc/self"), "no folder that root cannot write to")
  model <- mtcars_model("/proc/runhooks")
  error <- expect_error(train(model, mtcars_input()), class = "runhooks_error")
  expect_match(conditionMessage(error), "/proc/runhooks", fixed = TRUE, all = FALSE)
  trained <- mtcars_model()
  train(trained, mtcars_input())
  error <- expect_error(export_savedmodel(trained, "/proc/runhooks"), class = "runhooks_error")
  expect_match(conditionMessage(error), "/proc", fixed = TRUE, all = FALSE)
})

test_that("absolute paths are recognized by the rules of the system", {
  windows <- c(paste0("C:", c("/x", "\\x", "x")), "\\\\server\\share", "\\x", "/x")
  expect_true(all(is_absolute_path(windows, windows = TRUE)))
  expect_false(any(is_absolute_path(windows[-6], windows = FALSE)))
  expect_false(any(is_absolute_path(c("x", paste0("x/C:", "/"), ".\\x"), windows = TRUE)))
})
