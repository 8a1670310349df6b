test_that("an unknown member is an error that suggests a similar name", {
  missing_member <- function(expr, words) {
    expect_error(expr, words, fixed = TRUE, class = "runhooks_error_not_found")
  }
  with(tf$Graph()$as_default(), {
    tf$Variable(1)
    session <- tf$Session()
    missing_member(session$as_defalt(), "\"as_default\"")
    missing_member(tf$get_default_graph()$get_tensor_by_nam("a:0"), "\"get_tensor_by_name\"")
    missing_member(tf$train$Saver()$sve(session, "m"), "\"save\"")
    session$close()
  })
  missing_member(tf$train$Coordinator()$shuld_stop(), "\"should_stop\"")
  missing_member(tf$train$Scaffold()$nosuch, "nosuch")
  missing_member(tf$train$AdamOptimizer(0.1)$minimise(1), "\"minimize\"")
  missing_member(tf$constant(1)$shape$as_lst(), "\"as_list\"")
  missing_member(tf$float32$nam, "\"name\"")
  model <- linear_regressor(column_numeric("wt"), model_dir = withr::local_tempdir())
  user <- new.env(parent = globalenv())
  user$model <- model
  missing_member(evalq(model$nosuch, user), "nosuch")
  missing_member(run_config()$nosuch, "nosuch")
  history <- train(model, input_fn(mtcars, wt, mpg), steps = 1)
  missing_member(history$losss, "\"losses\"")
  # this code counts as that of a package, for which an unknown member is NULL
  expect_null(model$blueprint)
  expect_null(history$validation)
})

test_that("session$as_default() makes the session the default and leaves it open", {
  with(tf$Graph()$as_default(), {
    x <- tf$constant(2)
    session <- tf$Session()
    with(session$as_default(), {
      expect_identical(tf$get_default_session(), session)
      expect_equal(x$eval(), 2)
    })
    expect_null(tf$get_default_session())
    expect_equal(session$run(x), 2)
    session$close()
  })
})
