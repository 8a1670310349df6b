# Calls `f(big)` with new environments. Returns how many of the first `n` were released after
# garbage collection. One more call follows, because R and testthat may keep the last value alive.
released <- function(f, n = 3) {
  gone <- integer()
  for (i in seq_len(n + 1)) {
    local({
      big <- new.env()
      k <- i
      reg.finalizer(big, function(e) gone <<- c(gone, k))
      f(big)
    })
  }
  for (i in 1:5) gc()
  sum(gone <= n)
}

test_that("closures of tf$py_func() are released with the graph", {
  in_session <- function(big, close = TRUE) {
    with_graph(tf$Graph(), {
      x <- tf$constant(1)
      # The closure refers to its graph and session, which form a cycle.
      y <- tf$py_func(function(value) {
        stopifnot(is.environment(big), !is.null(x))
        value + 1
      }, list(x), "float64")
      session <- tf$Session()
      expect_equal(session$run(y), 2)
      if (close) session$close()
    })
  }
  expect_equal(released(in_session), 3)
  expect_equal(released(function(big) in_session(big, close = FALSE)), 3)
})

test_that("closures in branches are released with the graph", {
  in_branch <- function(big) {
    with_graph(tf$Graph(), {
      x <- tf$constant(1)
      y <- tf$cond(
        tf$constant(TRUE),
        function() tf$py_func(function(value) if (is.environment(big)) value, list(x), "float32"),
        function() x
      )
      with(tf$Session() %as% session, expect_equal(session$run(y), 1))
    })
  }
  expect_equal(released(in_branch), 3)
})

test_that("a function is preserved while a session can call it", {
  make <- function() {
    with_graph(tf$Graph(), {
      y <- tf$py_func(function() 7, list(), "float64", name = "seven")
      tf$Session()
    })
  }
  session <- make()
  monitored <- with_graph(tf$Graph(), {
    tf$py_func(function() 8, list(), "float64", name = "eight")
    tf$train$SingularMonitoredSession()
  })
  for (i in 1:4) gc()
  expect_equal(session$run("seven:0"), 7)
  expect_equal(monitored$run("eight:0"), 8)
  session$close()
  monitored$close()
})

test_that("finalizers of other objects do not delay the release of closures", {
  # R loses a finalizer that is registered by another object's finalizer, if an older object's
  # finalizer runs after that.
  gone <- FALSE
  session <- local({
    big <- new.env()
    reg.finalizer(big, function(e) gone <<- TRUE)
    with_graph(tf$Graph(), {
      tf$py_func(function() if (is.environment(big)) 7, list(), "float64", name = "seven")
      tf$train$SingularMonitoredSession()
    })
  })
  for (i in 1:3) {
    older <- new.env()
    reg.finalizer(older, function(e) NULL)
    gc() # runs the core's finalizer, which registers the next one
    rm(older)
    gc()
  }
  expect_equal(session$run("seven:0"), 7)
  session$close()
  rm(session)
  for (i in 1:5) gc()
  expect_true(gone)
  expect_equal(released(function(big) {
    with_graph(tf$Graph(), tf$py_func(function() is.environment(big), list(), "bool"))
  }), 3)
})

test_that("closures of a monitored session's hooks are released with it, closed or not", {
  # Creates a session by `make(w, see)`, where `w` is a variable and `see(big)` returns a function
  # that refers to the session.
  in_graph <- function(make) {
    with_graph(tf$Graph(), {
      w <- tf$get_variable("w", list(), initializer = tf$zeros_initializer())
      add <- tf$assign_add(tf$train$get_or_create_global_step(), 1L)
      session <- NULL
      session <- make(w, function(big) stopifnot(is.environment(big), is.list(list(session))))
      for (i in 1:2) session$run(list(w, step = add))
      session
    })
  }
  each <- list(
    hook = function(big) {
      in_graph(function(w, see) {
        seen <- list()
        tf$train$MonitoredSession(hooks = list(session_run_hook(
          begin = function() see(big),
          after_create_session = function(session, coord) {
            seen$session <<- session
            seen$coord <<- coord
          },
          before_run = function(context) {
            seen$context <<- context
            session_run_args(list(w, again = w))
          },
          after_run = function(context, values) {
            see(big)
            seen$args <<- context$original_args
            seen$values <<- values
          },
          on_error = function(session, condition) see(big)
        )))
      })
    },
    listener = function(big) {
      folder <- withr::local_tempdir()
      in_graph(function(w, see) {
        listener <- checkpoint_saver_listener(after_save = function(...) see(big))
        tf$train$SingularMonitoredSession(hooks = list(
          hook_checkpoint_saver(folder, save_steps = 1, listeners = list(listener))
        ))
      })
    },
    operation = function(big) {
      in_graph(function(w, see) {
        y <- tf$py_func(function() {
          see(big)
          1
        }, list(), "float64")
        session <- tf$train$MonitoredSession()
        session$run(list(y, list(of = y)))
        session$run_step_fn(function(step_context) step_context$session$run(y))
        session
      })
    },
    init_fn = function(big) {
      in_graph(function(w, see) {
        own <- NULL
        tf$train$MonitoredTrainingSession(
          scaffold = tf$train$Scaffold(init_fn = function(scaffold, session) {
            own <<- session
            see(big)
          })
        )
      })
    }
  )
  for (name in names(each)) {
    expect_equal(released(each[[name]]), 3, info = name)
    expect_equal(released(function(big) each[[name]](big)$close()), 3, info = paste(name, "closed"))
  }
})

test_that("hooks of a failed session are called even if the session is unreachable", {
  messages <- NULL
  fail <- function() {
    with_graph(tf$Graph(), {
      w <- tf$get_variable("w", list(), initializer = tf$zeros_initializer())
      hook <- session_run_hook(
        after_run = function(context, values) {
          gc()
          stop("no")
        },
        on_error = function(session, condition) {
          gc()
          messages <<- c(messages, conditionMessage(condition))
        }
      )
      with(tf$train$MonitoredSession(hooks = list(hook)) %as% session, session$run(w))
    })
  }
  for (i in 1:3) expect_error(fail(), "no")
  for (i in 1:3) gc()
  expect_length(messages, 3)
  expect_match(messages, "no")
})

test_that("functions and generators of datasets are released with the datasets", {
  on_elements <- function(big, read) {
    d <- range_dataset(0, 3)
    # The closure refers to the dataset that calls it.
    d <- dataset_map(d, on_values(function(x) {
      stopifnot(is.environment(big), is.environment(globalenv()))
      x + 1
    }))
    d <- dataset_batch(dataset_filter(d, on_values(function(x) is.environment(big), "bool")), 2)
    read(d)
  }
  generated <- function(big, read) {
    n <- 0
    d <- generator_dataset(function() {
      if (is.environment(big) && n < 3) n <<- n + 1
    }, "float64", list())
    d <- dataset_flat_map(d, function(x) {
      inner <- dataset_filter(tensors_dataset(x), on_values(function(x) is.environment(big), "bool"))
      dataset_concatenate(tensors_dataset(x), inner)
    })
    read(d)
  }
  collect <- function(d) dataset_collect(d)
  in_session <- function(d, close) {
    with_graph(tf$Graph(), {
      iterator <- make_iterator_initializable(d)
      value <- iterator_get_next(iterator)
      session <- tf$Session()
      session$run(iterator_initializer(iterator))
      session$run(value)
      if (close) session$close()
    })
  }
  for (read in list(
    collect, function(d) in_session(d, TRUE), function(d) in_session(d, FALSE)
  )) {
    expect_equal(released(function(big) on_elements(big, read)), 3)
    expect_equal(released(function(big) generated(big, read)), 3)
  }
})

test_that("a dataset's function is preserved while an iterator can call it", {
  value <- NULL
  session <- with_graph(tf$Graph(), {
    d <- dataset_map(range_dataset(0, 3), on_values(function(x) x + 10, "float64"))
    g <- dataset_batch(generator_dataset(local({
      n <- 0
      function() n <<- n + 1
    }), "float64", list()), 1)
    both <- zip_datasets(d, dataset_map(g, function(x) x))
    make_iterator_one_shot(both)
    value <- iterator_get_next(make_iterator_one_shot(both))
    session <- tf$Session()
    rm(d, g, both)
    session
  })
  for (i in 1:4) gc()
  expect_equal(session$run(value), list(10, array(1)))
  for (i in 1:4) gc()
  expect_equal(session$run(value), list(11, array(2)))
  session$close()
})

test_that("closures of a model's functions are released after its runs", {
  runs <- function(big, use) {
    model <- estimator(
      function(features, labels, mode, params) {
        x <- tf$py_func(function(x) if (is.environment(big)) x, list(features), "float32")
        w <- tf$get_variable("w", list())
        p <- tf$reshape(x, list(-1L)) * w
        loss <- tf$reduce_mean(tf$square(p - 1))
        estimator_spec(mode, predictions = list(p = p), loss = loss,
          train_op = tf$train$GradientDescentOptimizer(0.1)$minimize(
            loss, tf$train$get_global_step()
          ))
      },
      model_dir = withr::local_tempdir()
    )
    input <- function() {
      d <- tensor_slices_dataset(list(matrix(1:3 / 2), 1:3))
      d <- dataset_map(d, on_values(function(x, y) list(if (is.environment(big)) x, y)))
      dataset_batch(dataset_map(d, function(x, y) list(tf$cast(x, "float32"), y)), 2)
    }
    use(model, input)
  }
  fit <- function(model, input) train(model, input, steps = 2)
  expect_equal(released(function(big) runs(big, fit)), 3)
  expect_equal(released(function(big) {
    runs(big, function(model, input) {
      fit(model, input)
      evaluate(model, input)
      predict(model, input)
    })
  }), 3)
})

test_that("closures of variables, layers, gradients and optimizers are released with the graph", {
  zeros <- function(big) {
    function(shape, dtype = NULL, ...) if (is.environment(big)) tf$zeros(shape, dtype)
  }
  sum_of <- function(big) function(x) if (is.environment(big)) tf$reduce_sum(x)
  same <- function(big) function(x) if (is.environment(big)) x
  cases <- list(
    variable = function(big) {
      graph <- tf$get_default_graph()
      w <- tf$get_variable("w", list(2L), initializer = zeros(big), regularizer = sum_of(big),
        constraint = function(x) if (is.environment(big) && !is.null(graph)) x)
      train <- tf$train$GradientDescentOptimizer(0.1)$minimize(tf$reduce_sum(w))
      session <- tf$Session()
      session$run(tf$global_variables_initializer())
      session$run(train)
    },
    scope = function(big) {
      own <- function(getter, ...) if (is.environment(big)) getter(...)
      scope <- tf$variable_scope("a", regularizer = sum_of(big), constraint = same(big),
        initializer = zeros(big), custom_getter = own)
      with(scope, {
        w <- tf$get_variable("w", list(2L))
        tf$layers$dense(tf$ones(list(2L, 2L)), 3L)
      })
    },
    layers = function(big) {
      x <- tf$ones(list(2L, 2L))
      y <- 0
      y <- tf$layers$dense(x, 2L, activation = function(x) if (is.environment(big)) tf$abs(x) + y,
        kernel_constraint = same(big), bias_regularizer = sum_of(big))
      layer <- NULL
      layer <- tf$layers$Dense(2L, kernel_constraint = function(x) {
        stopifnot(is.environment(big), !is.null(layer))
        x
      })
      layer(x)
    },
    gradient = function(big) {
      x <- tf$constant(1)
      y <- NULL
      double <- tf$custom_gradient(function(x) {
        list(x * 2, function(dy) if (is.environment(big) && !is.null(y)) dy * 2)
      })
      y <- double(x)
      with(tf$Session() %as% session, expect_equal(session$run(tf$gradients(y, x)[[1]]), 2))
    },
    optimizer = function(big) {
      w <- tf$get_variable("w", list(2L))
      optimizer <- NULL
      optimizer <- tf$train$GradientDescentOptimizer(function() {
        stopifnot(is.environment(big), !is.null(optimizer))
        0.1
      })
      optimizer$minimize(tf$reduce_sum(w))
    },
    scaffold = function(big) {
      tf$train$get_or_create_global_step()
      scaffold <- tf$train$Scaffold(init_fn = function(scaffold, session) {
        stopifnot(is.environment(big), !is.null(scaffold))
      })
      session <- tf$train$MonitoredTrainingSession(scaffold = scaffold)
      session$close()
    }
  )
  for (name in names(cases)) {
    expect_equal(
      released(function(big) with_graph(tf$Graph(), cases[[name]](big))), 3, info = name
    )
  }
})

test_that("closures of a model's specification are released with the model", {
  data <- data.frame(a = 1:4 / 4, b = 1:4)
  input <- input_fn(data, features = "a", response = "b", batch_size = 2)
  # Each closure refers to the model, which forms a cycle.
  cases <- list(
    normalizer = function(big) {
      model <- NULL
      seen <- function(x) if (is.environment(big) && !is.null(model)) x
      model <- linear_regressor(list(column_numeric("a", normalizer_fn = seen)))
      model
    },
    activation = function(big) {
      model <- NULL
      relu <- function(x) if (is.environment(big) && !is.null(model)) tf$nn$relu(x)
      model <- dnn_regressor(hidden_units = 2L, column_numeric("a"), activation_fn = relu)
      model
    },
    optimizer = function(big) {
      model <- NULL
      make <- function() if (is.environment(big) && !is.null(model)) tf$train$AdamOptimizer(0.1)
      model <- linear_regressor(column_numeric("a"), optimizer = make)
      model
    }
  )
  for (name in names(cases)) {
    make <- cases[[name]]
    expect_equal(released(make), 3, info = name)
    expect_equal(released(function(big) {
      model <- make(big)
      train(model, input, steps = 2)
      evaluate(model, input)
      unlink(model_dir(model), recursive = TRUE)
    }), 3, info = name)
  }
})

test_that("such closures are preserved while something can call them", {
  model <- linear_regressor(column_numeric("a", normalizer_fn = local({
    half <- 0.5
    function(x) x * half
  })))
  withr::defer(unlink(model_dir(model), recursive = TRUE))
  input <- input_fn(data.frame(a = 1:4 / 4, b = 1:4), features = "a", response = "b", batch_size = 2)
  train(model, input, steps = 2)
  for (i in 1:4) gc()
  train(model, input, steps = 2)
  expect_length(unlist(predict(model, data.frame(a = 1:4 / 4))), 4)
  # The variable is the only reference to the graph.
  w <- with_graph(tf$Graph(), tf$get_variable("w", list(2L), constraint = local({
    most <- 1
    function(x) tf$minimum(x, most)
  })))
  for (i in 1:4) gc()
  values <- with_graph(w$graph, {
    train <- tf$train$GradientDescentOptimizer(5)$minimize(-tf$reduce_sum(w))
    with(tf$Session() %as% session, {
      session$run(tf$global_variables_initializer())
      session$run(train)
      session$run(w)
    })
  })
  expect_equal(c(values), c(1, 1))
  # The scaffold is created outside the graph of the session that uses it.
  seen <- 0
  scaffold <- with_graph(
    tf$Graph(), tf$train$Scaffold(init_fn = function(scaffold, session) seen <<- seen + 1)
  )
  for (i in 1:4) gc()
  with_graph(tf$Graph(), {
    tf$train$get_or_create_global_step()
    tf$train$MonitoredTrainingSession(scaffold = scaffold)$close()
  })
  expect_equal(seen, 1)
})

test_that("repeatedly creating models and graphs with functions does not leak memory", {
  skip_on_cran()
  skip_if_not_installed("processx")
  skip_if_not(file.exists("/proc/self/status"), "no /proc to measure memory")
  script <- "
    library(runhooks)
    tf$logging$set_verbosity('ERROR')
    input <- input_fn(data.frame(a = 1:4, b = 1:4), features = 'a', response = 'b', batch_size = 2)
    round <- function() {
      big <- stats::runif(1e6) # 8 MB, captured by each closure
      with(tf$Graph()$as_default(), {
        w <- NULL
        w <- tf$get_variable('w', list(2L), constraint = function(x) if (length(big)) x,
          regularizer = function(x) if (length(big) && is.null(w)) tf$reduce_sum(x))
        y <- tf$layers$dense(tf$ones(list(2L, 2L)), 2L,
          kernel_constraint = function(x) if (length(big) || is.null(w)) x)
        twice <- tf$custom_gradient(function(x) list(x * 2, function(dy) dy * length(big)))
        tf$gradients(twice(y), y)
      })
      folder <- tempfile()
      model <- NULL
      seen <- function(x) if (length(big) && !is.null(model)) x
      model <- linear_regressor(column_numeric('a', normalizer_fn = seen), model_dir = folder)
      train(model, input, steps = 1)
      unlink(folder, recursive = TRUE)
    }
    resident <- function() {
      for (i in 1:4) gc()
      as.numeric(gsub('[^0-9]', '', grep('^VmRSS', readLines('/proc/self/status'), value = TRUE)))
    }
    # Collect in each round, because garbage would enlarge the heap.
    rounds <- function(n) for (i in seq_len(n)) { round(); gc() }
    rounds(4)
    first <- resident()
    rounds(8)
    cat('grown', (resident() - first) / 1024 / 8, 'MB a round\\n')"
  result <- processx::run(child_rscript(), c("-e", script), env = child_env(), timeout = 120)
  grown <- as.numeric(sub("grown (.*) MB a round\n", "\\1", result$stdout))
  expect_lt(grown, 2)
})
