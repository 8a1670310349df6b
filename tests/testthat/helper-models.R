# A small model and its data, which many tests share.

mtcars_input <- function(..., batch_size = 8, data = mtcars) {
  input_fn(data, response = "mpg", features = c("drat", "cyl"), batch_size = batch_size, ...)
}

mtcars_model <- function(
  model_dir = withr::local_tempdir(.local_envir = parent.frame()),
  seed = 1,
  ...
) {
  linear_regressor(
    feature_columns(column_numeric("drat"), column_numeric("cyl")),
    model_dir = model_dir, config = run_config(tf_random_seed = seed, ...)
  )
}

lines_of_log <- function(expr) {
  lines <- character()
  withCallingHandlers(expr, runhooks_log = function(m) {
    lines <<- c(lines, sub("\n$", "", conditionMessage(m)))
    invokeRestart("muffleMessage")
  })
  lines
}

# Creates a hook that records the value of `what()` for each of its calls.
recording_hook <- function(
  methods = c("begin", "after_create_session", "before_run", "after_run", "end")
) {
  calls <- character()
  note <- function(method) calls <<- c(calls, method)
  hook <- list(
    begin = function() note("begin"),
    after_create_session = function(session, coord) note("after_create_session"),
    before_run = function(context) {
      note("before_run")
      NULL
    },
    after_run = function(context, values) note("after_run"),
    end = function(session) note("end")
  )
  structure(do.call(session_run_hook, hook[methods]), calls = function() calls)
}

calls_of <- function(hook) attr(hook, "calls")()

child_rscript <- function() file.path(R.home("bin"), "Rscript")
child_env <- function() c("current", R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))

with_graph <- function(graph, expr) {
  cpp_graph_push_default(graph$.pointer)
  on.exit(cpp_graph_pop_default())
  force(expr)
}

untrained <- function(expr) suppressWarnings(expr, classes = "runhooks_warning_untrained")
