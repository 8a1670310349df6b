# Compares the log lines of hook_logging_tensor() with TensorFlow's traces.

goldens <- hook_goldens("logging_tensor")

lines_logged <- function(expr) {
  outcome <- attempt(expr)
  if (!is.null(outcome$surfaced)) stop(outcome$surfaced$message)
  sub("^[A-Z]+ ", "", outcome$log)
}

# Runs the graph of the goldens, 2 s per run. Returns the lines of each run and of the end.
log_rows <- function(make_hook, runs = 7) {
  clock <- local_clock()
  with(tf$Graph()$as_default(), {
    graph <- counting_graph()
    loss <- tf$py_func(function(step) 1 / (step + 1), graph$step, tf$float32, name = "loss")
    tf$constant(7L, name = "seven")
    hook <- make_hook(loss)
    rows <- list()
    add <- function(row, lines) rows <<- c(rows, list(c(row, list(lines = as.list(lines)))))
    at_end <- lines_logged(with(tf$train$MonitoredSession(hooks = hook) %as% s, {
      for (run in seq_len(runs)) {
        clock$advance(2)
        add(list(run = run), lines_logged(s$run(list(graph$op, loss))))
      }
    }))
  })
  add(list(at = "end"), at_end[-(1:3)]) # the first lines are those of the new session
  rows
}

# Formats a number as Python prints a float32 or an integer.
python_number <- function(x) {
  if (is.integer(x)) return(as.character(x))
  text <- format(x, digits = 8)
  if (grepl("[.]", text)) text else paste0(text, ".0")
}

test_that("tags, order, intervals, elapsed time and formatters match TensorFlow's", {
  hook <- tf$train$LoggingTensorHook
  in_angles <- function(values) {
    values <- vapply(values[order(names(values))], python_number, "")
    paste0("<<", paste0(names(values), ":", values, collapse = " "), ">>")
  }
  hooks <- list(
    dict_every_2 = function(loss) hook(list(b = "seven", a = loss), every_n_iter = 2),
    list_of_names_every_3 = function(loss) hook(c("seven:0", "loss"), every_n_iter = 3),
    every_n_iter_1 = function(loss) hook(list(loss = loss), every_n_iter = 1),
    every_n_secs_5 = function(loss) hook(list(loss = loss), every_n_secs = 5),
    at_end_only = function(loss) hook(list(seven = "seven"), at_end = TRUE),
    at_end_and_every_3 = function(loss) {
      hook(list(seven = "seven"), every_n_iter = 3, at_end = TRUE)
    },
    formatter = function(loss) {
      hook(list(seven = "seven", loss = loss), every_n_iter = 3, formatter = in_angles)
    },
    formatter_and_at_end = function(loss) {
      as_dict <- function(values) sprintf("END {'seven': %d}", values$seven)
      hook(list(seven = "seven"), at_end = TRUE, formatter = as_dict)
    },
    empty_dict = function(loss) hook(list(), every_n_iter = 3)
  )
  for (name in names(hooks)) {
    expect_equal(
      json_form(log_rows(hooks[[name]])), json_form(goldens[[name]]$table), info = name
    )
  }
})

test_that("a hook starts anew in each session", {
  hook <- tf$train$LoggingTensorHook("seven", every_n_iter = 3)
  for (golden in goldens$two_sessions$table) {
    expect_equal(json_form(log_rows(function(loss) hook, runs = 4)), json_form(golden$table))
  }
})

test_that("the run that reaches the end of the data does not count", {
  local_clock()
  with(tf$Graph()$as_default(), {
    tf$train$get_or_create_global_step()
    number <- cpp_next_batch(list(x = c(0, 1, 2)), "float32", 1, 1, FALSE, 0)[[1]]
    tf$constant(5L, name = "five")
    hook <- tf$train$LoggingTensorHook("five", every_n_iter = 2, at_end = TRUE)
    outcome <- attempt(with(tf$train$MonitoredSession(hooks = hook) %as% s, {
      while (!s$should_stop()) s$run(number)
    }))
  })
  expect_log(outcome$log, goldens$after_stop_and_out_of_range$log)
})

logged_values <- list(
  "float32 0.1" = 0.1, "float32 1/3" = 1 / 3, "float32 1e-5" = 1e-5, "float32 1e-7" = 1e-7,
  "float32 123456789" = 123456789, "float32 1e16" = 1e16, "float32 1e20" = 1e20,
  "float32 100" = 100, "float32 -0" = -0, "float32 nan" = NaN, "float32 inf" = Inf,
  "float32 -inf" = -Inf, "float32 3.4028235e38" = 3.4028235e38, "float32 3136.1035" = 3136.1035,
  "float64 0.1" = 0.1, "float64 1e-5" = 1e-5, "float64 1e22" = 1e22, "int32 7" = 7L,
  "int64 -3" = -3, "bool" = TRUE, "string" = "abc", "string utf8" = "h\u00e9",
  "vector f32" = c(1, 2.5, -3), "vector f32 mixed" = c(1e-5, 1, 1000),
  "vector f32 tiny" = c(1e-10, 2e-10), "vector f32 wide range" = c(1e-10, 1, 1e10),
  "vector f32 nan" = c(1, NaN, Inf), "vector int" = c(1, 20, 300), "vector bool" = c(TRUE, FALSE),
  "vector string" = c("a", "bc"), "empty" = numeric(),
  "matrix" = rbind(c(1, 2), c(3, 4.5)), "column" = cbind(c(0.1, 0.2, 0.30000001)),
  "3d" = aperm(array(0:7, c(2, 2, 2))), "vector 30" = (0:29) / 7, "vector 1000" = 0:999,
  "vector 1001" = 0:1000, "matrix 40x30" = matrix(0:1199, 40, byrow = TRUE)
)

test_that("values are printed as by numpy", {
  expect_setequal(names(logged_values), vapply(goldens$value_formats$table, `[[`, "", "value"))
  for (row in goldens$value_formats$table) {
    with(tf$Graph()$as_default(), {
      tf$train$get_or_create_global_step()
      value <- tf$constant(logged_values[[row$value]], dtype = row$dtype)
      hook <- tf$train$LoggingTensorHook(list(x = value), every_n_iter = 1)
      with(tf$train$MonitoredSession(hooks = hook) %as% s, lines <- lines_logged(s$run(value)))
    })
    expect_equal(lines, row$line, info = row$value)
  }
})

test_that("all scenarios are replayed", {
  expect_all_replayed(goldens)
})
