set.seed(1)

saved_models <- golden_saved_models(frame = testthat::teardown_env())
from_base64 <- function(x) lapply(x, function(text) jsonlite::base64_dec(text))
as_rows <- function(x) if (is.list(x[[1]])) do.call(rbind, lapply(x, unlist)) else unlist(x)

for (folder in list.dirs(saved_models, recursive = FALSE)) {
  test_that(paste("TensorFlow's export answers as there:", basename(folder)), {
    loaded <- load_savedmodel(folder)
    cases <- jsonlite::read_json(paste0(folder, ".cases.json"))$cases
    expect_gt(length(cases), 0)
    for (case in cases) {
      input <- case$inputs[[1]]$base64
      data <- if (is.null(input)) lapply(case$inputs, as_rows) else from_base64(unlist(input))
      actual <- predict(loaded, data, case$signature)
      expect_setequal(names(actual), names(case$outputs))
      for (key in names(case$outputs)) {
        expected <- unlist(case$outputs[[key]])
        got <- unlist(actual[[key]])
        if (is.character(expected)) {
          expect_equal(as.vector(got), expected)
        } else {
          expect_lt(max(abs(got - expected)), 1e-5)
        }
      }
    }
  })
}

test_that("examples are made of data frames", {
  loaded <- load_savedmodel(golden_saved_models("wide_deep_classifier_parsing"))
  data <- data.frame(x1 = c(1, 2), c = factor(c("a", "b")), h = c("u", "v"))
  data$x2 <- rbind(c(0.5, -1), c(2, 0))
  scores <- predict(loaded, data)$scores
  cases <- jsonlite::read_json(
    golden_saved_models("wide_deep_classifier_parsing.cases.json")
  )$cases
  expect_equal(
    unlist(scores), unlist(cases[[1]]$outputs$scores[1:2]), tolerance = 1e-5
  )
  expect_equal(nrow(predict(loaded, data[1, ])), 1)
  rows <- predict(loaded, data, simplify = FALSE)
  expect_equal(names(rows[[2]]), c("classes", "scores"))
  expect_error(predict(loaded, data["x1"]), "lack", class = "runhooks_error_not_found")
  data$x1[[2]] <- NA
  expect_error(predict(loaded, data), "Row 2 has NA in 'x1'")
})

test_that("what is not there is said", {
  folder <- golden_saved_models("linear_regressor_raw")
  loaded <- load_savedmodel(folder)
  expect_error(
    predict(loaded, list(x1 = 1), "regresion"), "predict", class = "runhooks_error_not_found"
  )
  expect_error(predict(loaded, list(x1 = 1)), "x2", class = "runhooks_error_not_found")
  expect_error(predict(loaded, list(x1 = "a", x2 = matrix(0, 1, 2))), "float32")
  expect_error(predict(loaded, list(x1 = NA_real_, x2 = matrix(0, 1, 2))), "NA")
  expect_error(load_savedmodel(tempdir()), "does not exist", class = "runhooks_error_not_found")
  expect_error(load_savedmodel(folder, tags = "train"), "serve", class = "runhooks_error_not_found")
})

test_that("an asset that leads out of the folder is refused", {
  from <- golden_saved_models("wide_deep_classifier_raw")
  folder <- withr::local_tempdir()
  file.copy(list.files(from, full.names = TRUE), folder, recursive = TRUE)
  path <- file.path(folder, "saved_model.pb")
  bytes <- readBin(path, "raw", file.size(path))
  at <- grepRaw("vocab.txt", bytes, fixed = TRUE, all = TRUE)
  for (k in at) bytes[k + 0:8] <- charToRaw("../../etc")
  writeBin(bytes, path)
  expect_error(load_savedmodel(folder), "not inside", class = "runhooks_error_data_loss")
})
