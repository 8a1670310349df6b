test_that("%as% assigns the context, and restores the name afterwards", {
  sess <- "before"
  value <- with(tf$Graph()$as_default(), {
    x <- tf$constant(2)
    with(tf$Session() %as% sess, {
      expect_identical(tf$get_default_session(), sess)
      inner <- sess
      x$eval() + sess$run(x)
    })
  })
  expect_equal(value, 4)
  expect_equal(sess, "before")
  expect_null(tf$get_default_session())
  expect_error(inner$run(x), class = "runhooks_error_failed_precondition")
  expect_error(x$eval(), "no default session", class = "runhooks_error_failed_precondition")
  with(tf$Graph()$as_default() %as% fresh, expect_identical(tf$get_default_graph(), fresh))
  expect_false(exists("fresh", inherits = FALSE))
})

test_that("a name can be an argument or come from reticulate's %as%", {
  context <- tf$Graph()$as_default()
  with(context, as = "g", expect_identical(tf$get_default_graph(), g))
  attr(context, "as") <- "h"
  with(context, expect_identical(tf$get_default_graph(), h))
})

test_that("contexts are left in order, however the block ends", {
  before <- tf$get_default_graph()
  leave_by_return <- function() {
    with(tf$Graph()$as_default(), with(tf$name_scope("a"), return("returned")))
    "not reached"
  }
  expect_equal(leave_by_return(), "returned")
  expect_error(with(tf$Graph()$as_default(), with(tf$name_scope("a"), stop("out"))), "out")
  for (i in 1:2) with(tf$Graph()$as_default(), if (i == 1) next)
  expect_identical(tf$get_default_graph(), before)
  with(tf$Graph()$as_default(), expect_equal(tf$constant(1, name = "c")$name, "c:0"))
})

test_that("scopes name operations and variables", {
  with(tf$Graph()$as_default() %as% graph, {
    with(tf$name_scope("layer") %as% scope, {
      expect_equal(scope, "layer/")
      expect_equal(tf$constant(1, name = "c")$name, "layer/c:0")
    })
    with(graph$name_scope("layer"), expect_equal(tf$constant(1, name = "c")$name, "layer_1/c:0"))
    with(tf$variable_scope("net"), {
      w <- tf$get_variable("w", shape = 2)
      expect_equal(w$name, "net/w:0")
      expect_error(tf$get_variable("w", shape = 2), class = "runhooks_error_already_exists")
    })
    with(tf$variable_scope("net", reuse = TRUE), {
      expect_identical(tf$get_variable("w", shape = 2), w)
      expect_error(tf$get_variable("v", shape = 2), class = "runhooks_error_not_found")
    })
    with(tf$variable_scope("net", reuse = tf$AUTO_REUSE), {
      expect_identical(tf$get_variable("w", shape = 2), w)
      expect_equal(tf$get_variable("v", shape = 2)$name, "net/v:0")
    })
  })
})

test_that("control dependencies order operations", {
  with(tf$Graph()$as_default(), {
    v <- tf$get_variable("v", initializer = 1)
    add <- v$assign_add(2)
    with(tf$control_dependencies(list(add)), after <- v$read_value())
    with(tf$Session() %as% sess, {
      sess$run(tf$global_variables_initializer())
      expect_equal(sess$run(after), 3)
      tf$group(add, list(add), name = "both")$run()
      expect_equal(v$eval(), 5)
    })
    expect_error(
      with(tf$control_dependencies(list(3)), 1), "Control inputs",
      class = "runhooks_error_invalid_argument"
    )
  })
})

test_that("non-error jumps out of a session's block close it normally", {
  calls <- character()
  hook <- function() {
    session_run_hook(
      begin = function() calls <<- c(calls, "begin"), end = function(session) {
        calls <<- c(calls, "end")
      }
    )
  }
  with(tf$Graph()$as_default(), {
    t <- toy()
    leave <- function() with(tf$train$MonitoredSession(hooks = hook()) %as% s, return(s))
    session <- leave()
    expect_equal(calls, c("begin", "end"))
    expect_true(session$should_stop())
    expect_error(
      with(tf$train$MonitoredSession(hooks = hook()) %as% s, rlang::interrupt()) |>
        tryCatch(interrupt = function(condition) stop("interrupted")),
      "interrupted"
    )
    expect_equal(calls, c("begin", "end", "begin"))
    # An error that the block itself handles is no failure of the block, so end() is called.
    with(tf$train$MonitoredSession(hooks = hook()) %as% s, {
      try(s$run("nope"), silent = TRUE)
      expect_equal(s$run(t$f), 2.5)
    })
    expect_equal(calls, c("begin", "end", "begin", "begin", "end"))
  })
})

test_that("the end of the data leaves the session's block, not a block inside it", {
  with(tf$Graph()$as_default(), {
    toy()
    reached <- FALSE
    with(tf$train$MonitoredSession() %as% s, {
      with(tf$Session() %as% inner, stop_iteration("enough"))
      reached <- TRUE
    })
    expect_false(reached)
    expect_true(s_is_closed <- !exists("s", inherits = FALSE))
  })
})

test_that("the name of a context must be a string or a symbol", {
  invalid <- "runhooks_error_invalid_argument"
  with(tf$Graph()$as_default(), {
    x <- tf$constant(2)
    expect_equal(with(tf$Session() %as% "sess", sess$run(x)), 2)
    expect_error(tf$Session() %as% 1, "must be a name", class = invalid)
    expect_error(tf$Session() %as% c(a, b), "must be a name", class = invalid)
    for (wrong in list(3, c("a", "b"), NA_character_)) {
      expect_error(with(tf$Session(), 1, as = wrong), "`as` must be", class = invalid)
    }
  })
})
