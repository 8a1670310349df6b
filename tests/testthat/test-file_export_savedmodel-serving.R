test_that("the plumber example answers requests", {
  skip_if_not_installed("plumber", "1.0.0") # suggested package
  skip_if_not_installed("callr")
  skip_if_not_installed("curl")
  model <- linear_regressor(column_numeric("drat"), config = run_config(tf_random_seed = 1))
  suppressMessages(train(model, input_fn(mpg ~ drat, mtcars), steps = 5))
  folder <- export_savedmodel(model, withr::local_tempfile())
  port <- httpuv::randomPort()
  server <- callr::r_bg(
    function(folder, port) {
      Sys.setenv(RUNHOOKS_MODEL = folder)
      file <- system.file("examples/serving/plumber.R", package = "runhooks", mustWork = TRUE)
      plumber::pr_run(plumber::pr(file), port = port, docs = FALSE, quiet = TRUE)
    },
    list(folder, port), stdout = "|", stderr = "2>&1"
  )
  withr::defer(server$kill())
  ask <- function(path, body = NULL) {
    handle <- curl::new_handle()
    if (!is.null(body)) {
      text <- if (is.character(body)) body else jsonlite::toJSON(body, auto_unbox = TRUE)
      curl::handle_setopt(handle, postfields = text)
      curl::handle_setheaders(handle, "Content-Type" = "application/json")
    }
    answer <- curl::curl_fetch_memory(sprintf("http://127.0.0.1:%d/%s", port, path), handle)
    list(status = answer$status_code, content = jsonlite::fromJSON(rawToChar(answer$content)))
  }
  for (attempt in 1:100) {
    signatures <- tryCatch(ask("signatures"), error = function(error) NULL)
    if (!is.null(signatures) || !server$is_alive()) break
    Sys.sleep(0.1)
  }
  if (is.null(signatures)) stop(server$read_all_output())
  expect_equal(signatures$content$predict$takes, "drat")
  rows <- data.frame(drat = c(3, 4.5))
  answer <- ask("predict", list(rows = rows))
  expect_equal(answer$status, 200L)
  expected <- unlist(predict(load_savedmodel(folder), rows)$predictions)
  expect_equal(as.vector(unlist(answer$content$predictions)), expected)
  bad <- ask("predict", list(rows = data.frame(cyl = 4)))
  expect_equal(bad$status, 400L)
  expect_match(unlist(bad$content$error), "drat")
  for (text in c("{\"rows\": [", "", "[1, 2]", "{\"rows\": 3}", "{\"rows\": [[1], [2]]}")) {
    unread <- ask("predict", text)
    expect_equal(unread$status, 400L, label = text)
    expect_match(unlist(unread$content$error), "no JSON|\"rows\"", label = text)
  }
  for (cell in list("much", list(list(1, "b")))) {
    wrong <- ask("predict", list(rows = list(list(drat = cell))))
    expect_equal(wrong$status, 400L)
    expect_match(unlist(wrong$content$error), "drat")
  }
})
