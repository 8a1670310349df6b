# Predictions and evaluations that reuse the graph and session of an earlier call give the same
# results, and never outdated ones.

iris_rows <- function(seed, n = 20) {
  set.seed(seed)
  rows <- iris[sample(nrow(iris), n, replace = TRUE), ]
  rows$id <- sample(1:9, n, replace = TRUE)
  rows$word <- sample(c("a", "b", "c"), n, replace = TRUE)
  rows
}

# Returns the result of a new model object on a copy of the folder, which has no cached graph.
anew <- function(make, folder, ask) {
  copy <- withr::local_tempdir()
  file.copy(list.files(folder, full.names = TRUE), copy, recursive = TRUE)
  ask(make(copy))
}

made_by <- function(expr) {
  before <- cpp_model_graphs()
  force(expr)
  (cpp_model_graphs() - before)[c("built", "sessions")]
}
nothing_made <- c(built = 0, sessions = 0)

known_kinds <- function() {
  data <- iris_rows(11, 60)
  columns <- function() {
    words <- column_categorical_with_vocabulary_list("word", vocabulary_list = c("a", "b"))
    hashed <- column_categorical_with_hash_bucket("Species", hash_bucket_size = 5)
    list(column_numeric("Petal.Width"), column_numeric("id"), words, hashed)
  }
  input <- input_fn(
    data, features = c("Petal.Width", "id", "word", "Species"), response = "Sepal.Length"
  )
  list(
    numbers = list(
      make = function(dir) {
        linear_regressor(Sepal.Length ~ Petal.Width + id + Species, data, model_dir = dir)
      }
    ),
    computed = list(
      make = function(dir) {
        linear_regressor(Sepal.Length ~ log(Petal.Width) * Species, data, model_dir = dir)
      }
    ),
    classes = list(
      make = function(dir) dnn_classifier(4, Species ~ Petal.Width + word, data, model_dir = dir),
      types = list(NULL, "class", "prob", "link", "response")
    ),
    two = list(
      make = function(dir) {
        linear_classifier((Species == "setosa") ~ Petal.Width + word, data, model_dir = dir)
      },
      types = list(NULL, "class", "prob", "link", "response")
    ),
    counts = list(
      make = function(dir) {
        linear_estimator(poisson_regression_head(), id ~ Petal.Width, data, model_dir = dir)
      },
      types = list(NULL, "numeric", "link", "response")
    ),
    columns = list(make = function(dir) linear_regressor(columns(), model_dir = dir), input = input)
  )
}

test_that("a second predict() creates no graph and no session, and gives the same bits", {
  for (kind in names(known_kinds())) {
    one <- known_kinds()[[kind]]
    folder <- withr::local_tempdir()
    model <- one$make(folder)
    suppressMessages({
      if (is.null(one$input)) train(model, steps = 3) else train(model, one$input, steps = 3)
    })
    for (type in if (is.null(one$types)) list(NULL, "numeric") else one$types) {
      ask <- function(seed, n) function(m) predict(m, newdata = iris_rows(seed, n), type = type)
      expect_equal(made_by(ask(1, 1)(model))[["sessions"]], 0 + is.null(type), info = kind)
      for (n in c(1, 2, 7)) {
        again <- NULL
        expect_equal(made_by(again <- ask(n, n)(model)), nothing_made, info = paste(kind, type))
        expect_identical(again, anew(one$make, folder, ask(n, n)), info = paste(kind, type, n))
      }
    }
    # If all features are columns of the data, predict() only calls the core once.
    crossed <- border_crossings(predict(model, iris_rows(5, 1)))
    if (kind != "computed") expect_equal(crossed, "cpp_predictor_run", info = kind)
  }
})

test_that("the path of predict() depends on the values of its arguments only", {
  model <- linear_regressor(mpg ~ wt + hp, mtcars, model_dir = withr::local_tempdir())
  train(model, steps = 2)
  rows <- mtcars[1:2, ]
  first <- predict(model, rows)
  calls <- list(
    function() predict(model, newdata = rows),
    function() predict(newdata = rows, object = model),
    function() predict(model, rows, NULL),
    function() predict(model, rows, checkpoint_path = NULL, hooks = NULL, type = NULL),
    function() predict(model, rows, interval = NULL, input_fn = NULL, as_iterable = FALSE),
    function() do.call(predict, list(model, tibble::as_tibble(rows)))
  )
  for (call in calls) {
    expect_equal(border_crossings(again <- call()), "cpp_predictor_run")
    expect_identical(again, first)
  }
  # predictions also reuse the graph while a test observes loops
  cpp_observe_loops(function(...) NULL)
  withr::defer(cpp_observe_loops(NULL))
  expect_equal(border_crossings(predict(model, rows)), "cpp_predictor_run")
  expect_error(predict(model, rows, level = 0.9), "no `interval`")
  expect_error(predict(model, rows, typ = "numeric"), "type")
  expect_error(predict(model, rows, kind = "numeric"), "no argument")
})

test_that("predictions and evaluations do not change the hash of a model", {
  models <- list(
    linear_regressor(mpg ~ wt + hp, mtcars, model_dir = withr::local_tempdir()),
    mtcars_model(withr::local_tempdir())
  )
  train(models[[1]], steps = 2)
  train(models[[2]], mtcars_input(), steps = 2)
  file <- withr::local_tempfile()
  saveRDS(models[[1]], file)
  restored <- readRDS(file)
  for (model in c(models, list(restored, axe_data.tf_estimator(models[[1]])))) {
    hash <- rlang::hash(model)
    for (i in 1:2) predict(model, mtcars[1:3, ])
    predict(model, mtcars[1, ], type = "numeric")
    input <- input_fn(mtcars, features = c("drat", "cyl", "wt", "hp"), response = "mpg")
    predict(model, input)
    evaluate(model, input)
    expect_identical(rlang::hash(model), hash)
  }
})

test_that("input functions of data in memory reuse the graph in predict() and evaluate()", {
  folder <- withr::local_tempdir()
  model <- mtcars_model(folder)
  train(model, mtcars_input(), steps = 4)
  one <- mtcars_input(data = mtcars[3, ])
  expect_equal(made_by(first <- predict(model, one)), c(built = 1, sessions = 1))
  expect_equal(made_by(again <- predict(model, one)), nothing_made)
  expect_identical(first, again)
  all <- function(m) evaluate(m, mtcars_input())
  expect_equal(made_by(first <- all(model)), c(built = 1, sessions = 1))
  expect_equal(made_by(again <- all(model)), nothing_made)
  expect_identical(again, first)
  few <- function(m) evaluate(m, mtcars_input(data = mtcars[1:9, ], batch_size = 2), steps = 3)
  expect_equal(made_by(again <- few(model)), nothing_made)
  expect_identical(again, anew(mtcars_model, folder, few))
  # Both evaluations write to one file, as in TensorFlow, whose writers stay open.
  expect_length(list.files(file.path(folder, "eval")), 1)
})

test_that("trained, replaced and deleted checkpoints are detected", {
  folder <- withr::local_tempdir()
  make <- function(dir) linear_regressor(mpg ~ wt + hp, mtcars, model_dir = dir)
  model <- make(folder)
  ask <- function(m) predict(m, mtcars[1:3, ])
  seen <- list()
  for (steps in 1:3) {
    train(model, steps = steps, batch_size = 8)
    now <- ask(model)
    expect_identical(ask(model), now)
    expect_identical(now, anew(make, folder, ask))
    expect_false(list(now) %in% seen)
    seen <- c(seen, list(now))
    expect_identical(evaluate(model, mtcars), anew(make, folder, function(m) evaluate(m, mtcars)))
  }
  other <- withr::local_tempdir()
  twin <- make(other)
  train(twin, steps = 9, batch_size = 8)
  unlink(list.files(folder, full.names = TRUE), recursive = TRUE)
  file.copy(list.files(other, full.names = TRUE), folder, recursive = TRUE)
  expect_identical(ask(model), ask(twin))
  # A checkpoint with the same name, size and time, but other content, is detected.
  before <- ask(model)
  values <- paste0(latest_checkpoint(folder), ".data-00000-of-00001")
  time <- file.mtime(values)
  bytes <- readBin(values, "raw", file.size(values))
  writeBin(rev(bytes), values)
  Sys.setFileTime(values, time)
  expect_error(ask(model), "cannot be read", class = "runhooks_error_data_loss")
  writeBin(bytes, values)
  expect_identical(ask(model), before)
  unlink(folder, recursive = TRUE)
  expect_error(ask(model), class = "runhooks_error_not_found")
})

test_that("a given checkpoint, and a model in training, bypass the cache", {
  folder <- withr::local_tempdir()
  model <- mtcars_model(folder, save_checkpoints_steps = 2)
  within <- list()
  train(model, mtcars_input(num_epochs = NULL), steps = 4, hooks = session_run_hook(
    after_run = function(context, values) {
      within[[length(within) + 1]] <<- predict(model, mtcars[1, ])$.pred
    }
  ))
  expect_equal(anyDuplicated(unlist(within)), 0)
  expect_identical(predict(model, mtcars[1, ])$.pred, within[[4]])
  earlier <- predict(
    model, newdata = mtcars[1, ], checkpoint_path = file.path(folder, "model.ckpt-2")
  )
  expect_identical(earlier$.pred, within[[2]])
  expect_identical(predict(model, mtcars[1, ])$.pred, within[[4]])
})

test_that("data of other types give the same results as without a cache", {
  data <- iris_rows(3, 60)
  folder <- withr::local_tempdir()
  make <- function(dir) {
    linear_regressor(Sepal.Length ~ Petal.Width + id + word, data, model_dir = dir)
  }
  model <- make(folder)
  train(model, steps = 3)
  rows <- iris_rows(4, 5)
  predict(model, rows)
  outcome <- function(m, rows) {
    warned <- character()
    value <- withCallingHandlers(
      tryCatch(predict(m, rows), error = function(e) sub("/[^ ]*", "", conditionMessage(e))),
      warning = function(w) {
        warned <<- c(warned, conditionMessage(w))
        invokeRestart("muffleWarning")
      }
    )
    list(value, warned)
  }
  cases <- list(
    na = transform(rows, Petal.Width = c(NA, 1:4)), nan = transform(rows, Petal.Width = NaN),
    infinite = transform(rows, Petal.Width = Inf), large = transform(rows, Petal.Width = 1e39),
    largest = transform(rows, Petal.Width = 3.4028235e38),
    whole = transform(rows, id = as.double(id)), parts = transform(rows, id = id + 0.5),
    numbers = transform(rows, Petal.Width = 1:5), flags = transform(rows, Petal.Width = TRUE),
    factor = transform(rows, word = factor(word, levels = c("c", "b", "a"))),
    new_level = transform(rows, word = "z"), blank = transform(rows, word = ""),
    no_word = transform(rows, word = NA), response_as_strings = transform(rows, Petal.Width = "1"),
    matrix = { x <- rows; x$Petal.Width <- matrix(1:5); x },
    list = { x <- rows; x$Petal.Width <- as.list(1:5); x },
    date = transform(rows, id = Sys.Date() + 1:5), lacks = rows["id"], none = rows[0, ],
    twice = { x <- rows[c("Petal.Width", "id", "word", "id")]; names(x)[4] <- "id"; x },
    tibble = tibble::as_tibble(rows), latin = transform(rows, word = c("a", "b", "c", "\xe4", "a"))
  )
  for (case in names(cases)) {
    as_first <- anew(make, folder, function(m) outcome(m, cases[[case]]))
    expect_identical(outcome(model, cases[[case]]), as_first, info = case)
  }
})

test_that("R's generator, later evaluations and the history do not change", {
  model <- mtcars_model(withr::local_tempdir())
  train(model, mtcars_input(), steps = 4)
  predict(model, mtcars[1, ])
  set.seed(5)
  state <- .Random.seed
  predict(model, mtcars[1:4, ])
  evaluate(model, mtcars_input())
  expect_identical(.Random.seed, state)
  histories <- lapply(1:3, function(i) attr(evaluate(model, mtcars_input()), "history"))
  expect_identical(histories[[1]], histories[[3]])
})

test_that("restored models and forked children give the same results", {
  folder <- withr::local_tempdir()
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = folder)
  train(model, steps = 2, batch_size = 8)
  then <- predict(model, mtcars[1, ])
  file <- withr::local_tempfile()
  saveRDS(model, file)
  train(model, steps = 5, batch_size = 8)
  now <- predict(model, mtcars[1, ])
  expect_false(identical(then, now))
  saved <- readRDS(file)
  suppressMessages(expect_identical(predict(saved, mtcars[1, ]), then))
  expect_identical(predict(saved, mtcars[1, ]), then)
  expect_identical(predict(model, mtcars[1, ]), now)
  skip_on_os("windows") # no forks there
  expect_identical(in_forks(2, function(i) predict(model, mtcars[1, ])), list(now, now))
})

test_that("R functions are called each time, and hooks get a new loop", {
  calls <- 0
  column <- column_numeric("wt", normalizer_fn = function(x) {
    calls <<- calls + 1
    x
  })
  model <- linear_regressor(list(column), model_dir = withr::local_tempdir())
  train(model, input_fn(mpg ~ wt, mtcars), steps = 1)
  calls <- 0
  for (i in 1:2) predict(model, mtcars[1, ])
  expect_equal(calls, 2)
  plain <- mtcars_model(withr::local_tempdir())
  train(plain, mtcars_input(), steps = 1)
  sessions <- list()
  for (i in 1:2) {
    hook <- session_run_hook(
      begin = function() tf$constant(1, name = "own"),
      after_create_session = function(session, coord) sessions[[i]] <<- session
    )
    predict(plain, mtcars_input(), hooks = hook)
  }
  # Each session is closed and has its own graph, because each graph has only one constant `own`.
  for (session in sessions) {
    expect_error(session$run("own:0"), class = "runhooks_error")
    expect_error(session$graph$get_tensor_by_name("own_1:0"), class = "runhooks_error")
  }
})

test_that("the number of cached graphs is limited, and graphs of deleted models are released", {
  models <- lapply(1:20, function(i) {
    model <- mtcars_model(tempfile(tmpdir = tempdir()))
    train(model, mtcars_input(), steps = 1)
    predict(model, mtcars[1, ])
    model
  })
  expect_equal(cpp_model_graphs()[["kept"]], 16)
  then <- predict(models[[20]], mtcars[1, ])
  cpp_reset_model_graphs()
  expect_equal(cpp_model_graphs()[["kept"]], 0)
  expect_identical(predict(models[[20]], mtcars[1, ]), then)
  for (model in models[c(1, 20)]) {
    expect_identical(predict(model, mtcars[1, ]), predict(model, mtcars[1, ]))
  }
  lapply(models, function(model) unlink(model_dir(model), recursive = TRUE))
  rm(models, model)
  gc()
  expect_equal(cpp_model_graphs()[["kept"]], 0)
})

test_that("log level INFO uses the same cache and prints the same lines", {
  withr::defer(tf$logging$set_verbosity(tf$logging$WARN))
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = withr::local_tempdir())
  train(model)
  tf$logging$set_verbosity(tf$logging$INFO)
  lines_of <- function(expr) {
    lines <- testthat::capture_messages(expr)
    sub(".*INFO:tensorflow:", "", grep("INFO", lines, value = TRUE))
  }
  calls <- list(
    function() predict(model, data.frame(wt = 3)),
    function() predict(model, input_fn(mpg ~ wt, mtcars)),
    function() evaluate(model, mtcars)
  )
  for (call in calls) {
    first <- lines_of(call())
    expect_identical(made_by(again <- lines_of(call())), nothing_made)
    without_times <- function(lines) sub("( at | : ).*", "", lines)
    expect_identical(without_times(again), without_times(first))
    expect_identical(again[1:2], c("Calling model_fn.\n", "Done calling model_fn.\n"))
    expect_match(again, "^Restoring parameters from .*model.ckpt-3\n$", all = FALSE)
  }
})
