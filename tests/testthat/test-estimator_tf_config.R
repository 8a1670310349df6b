skip_if_not_installed("jsonlite")

with_tf_config <- function(value, code) {
  text <- if (is.character(value)) value else jsonlite::toJSON(value, auto_unbox = TRUE)
  withr::with_envvar(c(TF_CONFIG = text), code)
}

test_that("TF_CONFIG of one process gives its task", {
  alone <- with_tf_config("{}", run_config())
  expect_identical(alone, withr::with_envvar(c(TF_CONFIG = NA), run_config()))
  cluster <- list(chief = list("host0:2222"))
  folder <- withr::local_tempfile()
  config <- with_tf_config(
    list(
      cluster = cluster, task = list(type = "chief", index = 0), model_dir = folder,
      service = list(name = "a"), session_master = ""
    ),
    run_config(tf_random_seed = 3)
  )
  expect_identical(config$task_type, "chief")
  expect_identical(config$task_id, 0L)
  expect_identical(config$cluster_spec, cluster)
  expect_identical(config$service, list(name = "a"))
  expect_identical(config$num_worker_replicas, 1L)
  expect_identical(basename(config$model_dir), basename(folder))
  expect_identical(config$tf_random_seed, 3)
  evaluator <- with_tf_config(list(task = list(type = "evaluator")), run_config())
  expect_identical(evaluator$task_type, "evaluator")
})

test_that("more than one task is an error when a configuration is created", {
  several <- list(
    cluster = list(chief = list("a:1"), worker = list("b:1", "c:1"), ps = list("d:1")),
    task = list(type = "worker", index = 1)
  )
  expect_snapshot_text(with_tf_config(several, run_config()))
  expect_error(
    with_tf_config(several, linear_regressor(column_numeric("x"))),
    "4 tasks", class = "runhooks_error_unimplemented"
  )
})

test_that("an invalid TF_CONFIG is an error that names it", {
  expect_snapshot_text({
    with_tf_config("[1, 2]", run_config())
    with_tf_config(list(cluster = "host0:1"), run_config())
    with_tf_config(list(task = list(type = "boss")), run_config())
    with_tf_config(list(task = list(type = "worker", index = 2)), run_config())
    with_tf_config(list(session_master = "grpc://a:1"), run_config())
    with_tf_config(list(model_dir = "/a"), run_config(model_dir = "/b"))
  })
  expect_error(
    with_tf_config("{\"task\": ", run_config()), "TF_CONFIG.* is not valid JSON",
    class = "runhooks_error_invalid_argument"
  )
})
