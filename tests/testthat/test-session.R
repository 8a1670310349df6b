test_that("a session returns nested fetches in their structure", {
  graph <- tf$Graph()
  with_graph(graph, {
    a <- tf$constant(1, name = "a")
    b <- tf$constant("text", name = "b")
    session <- tf$Session()
  })
  expect_equal(session$run(a), 1)
  expect_equal(session$run("a:0"), 1)
  expect_null(session$run("a"))
  expect_equal(session$run(list(x = a, y = list(b, "a:0"))), list(x = 1, y = list("text", 1)))
  expect_equal(session$run(list()), list())
  session$close()
  expect_error(session$run(a), "closed", class = "runhooks_error_failed_precondition")
})

test_that("values can be fed by name and by dict()", {
  graph <- tf$Graph()
  with_graph(graph, {
    step <- tf$train$get_or_create_global_step()
    x <- step$value()
    y <- x * 2L
    session <- tf$Session()
  })
  expect_equal(session$run(y, feed_dict = list("global_step/read:0" = 4)), 8)
  expect_equal(session$run(y, feed_dict = dict(x = 5)), 10)
  expect_error(
    session$run(y, feed_dict = list("nope:0" = 1)), "nope", class = "runhooks_error_not_found"
  )
  expect_error(
    session$run(y, feed_dict = dict(x = 1.5)), "1.5 cannot become an element of type int64"
  )
  expect_error(
    session$run(y, feed_dict = 3), "feed_dict", class = "runhooks_error_invalid_argument"
  )
  session$close()
})

test_that("invalid fetches are errors that name them", {
  graph <- tf$Graph()
  session <- with_graph(graph, tf$Session())
  expect_error(
    session$run("nope:0"), "The name 'nope:0' refers to a Tensor which does not exist", fixed = TRUE
  )
  expect_error(
    session$run(NULL), "A fetch cannot be NULL", class = "runhooks_error_invalid_argument"
  )
  expect_error(
    session$run(3), "A fetch cannot be a number", class = "runhooks_error_invalid_argument"
  )
  other <- with_graph(tf$Graph(), tf$constant(1))
  expect_error(session$run(other), "not an element of this session's graph")
  session$close()
})

test_that("a stored session of a hook reports that it is closed", {
  kept <- NULL
  train(
    mtcars_model(),
    mtcars_input(),
    steps = 1,
    hooks = session_run_hook(end = function(session) kept <<- session)
  )
  expect_error(
    kept$run("global_step:0"), "no longer valid", class = "runhooks_error_failed_precondition"
  )
})

test_that("unreferenced graphs are released", {
  freed <- 0
  for (i in 1:3) {
    graph <- tf$Graph()
    with_graph(graph, x <- tf$constant(1))
    x$name
    graph$get_collection("losses")
    reg.finalizer(graph, function(e) freed <<- freed + 1)
  }
  rm(graph, x)
  gc()
  expect_gte(freed, 2)
})

test_that("strings that are marked as bytes keep their bytes", {
  bytes <- "\xe9"
  Encoding(bytes) <- "bytes"
  with_graph(tf$Graph(), {
    session <- tf$Session()
    expect_identical(as.vector(session$run(tf$constant(c("a", bytes)))), c("a", bytes))
    session$close()
  })
})

test_that("values without an R representation are classed errors", {
  invalid <- "runhooks_error_invalid_argument"
  with_graph(tf$Graph(), {
    expect_error(tf$placeholder("float", shape = "a"), "dimension", class = invalid)
    a <- tf$constant(1, name = "a")
    session <- tf$Session()
    expect_error(session$run(a, options = list(3)), "named list", class = invalid)
    expect_error(session$run(a, options = 3), "named list", class = invalid)
    session$close()
  })
})

test_that("a dictionary has a name for each value", {
  expect_length(dict(), 0)
  for (wrong in c(quote(dict(1)), quote(dict(1, b = 2)))) {
    expect_error(eval(wrong), "each with the name", class = "runhooks_error_invalid_argument")
  }
})

test_that("a fed shape is read in every run, also after many runs", {
  with(tf$Graph()$as_default(), {
    dims <- tf$placeholder("int32", shape(2L))
    y <- tf$reshape(tf$constant(as.numeric(1:6)), dims) * 2
    session <- tf$Session()
    for (i in 1:8) {
      expected <- list(c(2L, 3L), c(3L, 2L), c(6L, 1L), c(1L, 6L))[[i %% 4 + 1]]
      expect_identical(dim(session$run(y, feed_dict = dict(dims = expected))), expected)
    }
  })
})

test_that("functions that take a session also take a monitored one", {
  path <- file.path(withr::local_tempdir(), "m.ckpt")
  with(tf$Graph()$as_default(), {
    step <- tf$train$get_or_create_global_step()
    v <- tf$get_variable("v", shape(2L), initializer = tf$zeros_initializer())
    y <- tf$identity(v, name = "y")
    saver <- tf$train$Saver()
    for (make in list(monitored_session, singular_monitored_session, monitored_training_session)) {
      session <- make()
      v$load(c(1, 2), session)
      expect_equal(step$eval(session = session), 0)
      expect_equal(y$eval(session = session), array(c(1, 2)))
      saver$save(session, path, global_step = step)
      v$load(c(0, 0), session)
      saver$restore(session, paste0(path, "-0"))
      expect_equal(session$run(v), array(c(1, 2)))
      expect_identical(tf$train$global_step(session, step), 0L)
      def <- tf$get_default_graph()$as_graph_def()
      frozen <- tf$graph_util$convert_variables_to_constants(session, def, "y")
      expect_s3_class(frozen, "tensorflow.GraphDef")
      session$close()
      expect_error(saver$save(session, path), "closed", class = "runhooks_error_failed_precondition")
    }
    invalid <- "runhooks_error_invalid_argument"
    expect_error(saver$save(NULL, path), "`sess` must be a session", class = invalid)
    expect_error(saver$restore(5, path), "`sess` must be a session", class = invalid)
    expect_error(v$load(1, path), "`session` must be a session", class = invalid)
    expect_error(y$eval(session = 5), "`session` must be a session", class = invalid)
  })
})

test_that("load() of a variable adds no operation, so it works in a finalized graph", {
  with(tf$Graph()$as_default(), {
    initial <- tf$random_normal(shape(2L))
    variables <- list(
      tf$get_variable("a", shape(), initializer = tf$zeros_initializer()),
      tf$get_variable("b", shape(2L), tf$int64, tf$ones_initializer(), use_resource = TRUE),
      tf$Variable(initial), tf$Variable("text")
    )
    values <- list(5, array(c(3, 4)), array(c(1.5, 2)), "other")
    load_all <- function(session) {
      for (i in seq_along(variables)) variables[[i]]$load(values[[i]], session)
    }
    session <- tf$train$MonitoredSession()
    load_all(session$raw_session())
    expect_equal(session$run(variables), values)
    expect_error(variables[[2]]$load(1:3, session), "shape")
    session$close()
    scaffold <- tf$train$Scaffold(init_fn = function(scaffold, session) load_all(session))
    with(tf$train$MonitoredTrainingSession(scaffold = scaffold) %as% session, {
      expect_equal(session$run(variables), values)
    })
  })
})

test_that("messages name a wrong value as R users do", {
  expect_error(tf$gradients("a", "b"), "must be a tensor, not a string",
    class = "runhooks_error_invalid_argument")
  expect_error(tf$constant(NULL), "A tensor cannot be made from NULL", class = "runhooks_error")
  with(tf$Graph()$as_default(), {
    x <- tf$placeholder(tf$float32, shape(NULL, 1L))
    expect_error(
      tf$Session()$run(x, feed_dict = dict(x = data.frame(a = 1))), "made from a data frame",
      class = "runhooks_error_invalid_argument"
    )
  })
  file <- withr::local_tempfile()
  saveRDS(range_dataset(0, 2), file)
  expect_error(dataset_collect(readRDS(file)), "another R session has saved",
    class = "runhooks_error_failed_precondition")
})
