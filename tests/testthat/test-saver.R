# tf$train$Saver.

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

test_that("a saver says what it cannot do", {
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

test_that("collections give savers back", {
  with(tf$Graph()$as_default(), {
    tf$get_variable("v", initializer = tf$constant(1))
    tf$add_to_collection("savers", tf$train$Saver())
    expect_s3_class(tf$get_collection("savers")[[1]], "runhooks_saver")
  })
})
