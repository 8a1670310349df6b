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
      expect_setequal(setdiff(names(actual), ".pred_class"), names(case$outputs))
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

test_that("examples are built from data frames", {
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
  expect_error(predict(loaded, data["x1"]), "missing from the data: c, h, x2", class = "runhooks_error_not_found")
  data$x1[[2]] <- NA
  expect_error(predict(loaded, data), "Row 2 has NA in 'x1'")
})

test_that("missing files, signatures and inputs are errors that name them", {
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

test_that("an asset outside the folder is an error", {
  from <- golden_saved_models("wide_deep_classifier_raw")
  folder <- withr::local_tempdir()
  file.copy(list.files(from, full.names = TRUE), folder, recursive = TRUE)
  path <- file.path(folder, "saved_model.pb")
  bytes <- readBin(path, "raw", file.size(path))
  at <- grepRaw("vocab.txt", bytes, fixed = TRUE, all = TRUE)
  for (k in at) bytes[k + 0:8] <- charToRaw("../../etc")
  writeBin(bytes, path)
  expect_error(load_savedmodel(folder), "outside its folder", class = "runhooks_error_data_loss")
})

test_that("a list column is a row of values for each example", {
  data <- list(x = cbind(c(1, 2, 3, 4), c(0, 1, 0, 1)), y = c(1, 5, 3, 7))
  model <- linear_regressor(column_numeric("x", shape = 2L))
  suppressMessages(train(model, input_fn(data, features = "x", response = "y"), steps = 5))
  loaded <- load_savedmodel(export_savedmodel(model, withr::local_tempfile()))
  of_matrix <- predict(loaded, list(x = data$x))
  rows <- lapply(1:4, function(row) data$x[row, ])
  expect_identical(predict(loaded, tibble::tibble(x = rows)), of_matrix)
  expect_identical(predict(loaded, list(x = as.data.frame(data$x))), of_matrix)
  expect_snapshot_text({
    predict(loaded, tibble::tibble(x = list(c(1, 0), 2)))
    predict(loaded, tibble::tibble(x = list(c(1, 0), c("a", "b"))))
    predict(loaded, tibble::tibble(x = list(sum, mean)))
    predict(loaded, list(x = data.frame(a = 1, b = "b")))
  })
})

test_that("a signature with classes returns the most likely one", {
  class_of <- function(formula, data) {
    model <- linear_classifier(formula, data)
    suppressMessages(train(model, steps = 20))
    loaded <- load_savedmodel(export_savedmodel(model, withr::local_tempfile()))
    expect_identical(predict(loaded, data)$.pred_class, predict(model, data)$.pred_class)
  }
  class_of(Species ~ Petal.Width + Sepal.Width, iris)
  model <- linear_classifier(column_numeric("mpg"), label_vocabulary = c("a", "b"))
  data <- list(mpg = c(10, 20, 30), y = c("a", "b", "b"))
  suppressMessages(train(model, input_fn(data, features = "mpg", response = "y"), steps = 20))
  receiver <- classifier_parse_example_spec(column_numeric("mpg"), "y", tf$string)["mpg"]
  folder <- export_savedmodel(
    model, withr::local_tempfile(),
    serving_input_receiver_fn = tf$estimator$export$build_parsing_serving_input_receiver_fn(receiver)
  )
  loaded <- load_savedmodel(folder)
  predicted <- predict(model, newdata = data["mpg"])$.pred_class
  for (signature in intersect(c("serving_default", "classification"), names(loaded$signatures))) {
    expect_identical(predict(loaded, data["mpg"], signature)$.pred_class, predicted)
  }
  expect_identical(predict(loaded, data["mpg"], "predict")$.pred_class, predicted)
  expect_null(suppressWarnings(predict(loaded, data["mpg"], "regression")$.pred_class))
})

test_that("a prediction does not depend on earlier predictions", {
  words <- column_categorical_with_vocabulary_list("w", vocabulary_list = c("a", "b"))
  data <- list(w = c("a", "b", "c", "b"), y = c(1, 5, 3, 7))
  model <- linear_regressor(words)
  suppressMessages(train(model, input_fn(data, features = "w", response = "y"), steps = 5))
  loaded <- load_savedmodel(export_savedmodel(model, withr::local_tempfile()))
  all <- unlist(predict(loaded, data["w"], "predict")$predictions)
  expect_length(unique(all), 3)
  for (row in c(1, 2, 2, 3, 1)) {
    expect_equal(unlist(predict(loaded, list(w = data$w[[row]]), "predict")$predictions), all[[row]])
  }
  of_factor <- predict(loaded, data.frame(w = factor(data$w)), "predict", simplify = FALSE)
  expect_equal(vapply(of_factor, function(row) c(row$predictions), 0), all)
  expect_equal(unlist(predict(loaded, data["w"], "predict")$predictions), all)
  expect_equal(dim(predict(loaded, list(w = character()), "predict")), c(0, 1))
})

test_that("changing one of two equal rows does not change the other", {
  loaded <- load_savedmodel(golden_saved_models("wide_deep_classifier_parsing"))
  data <- data.frame(x1 = c(1, 1, 2), c = "a", h = "u")
  data$x2 <- rbind(c(0.5, -1), c(0.5, -1), c(2, 0))
  answer <- before <- predict(loaded, data)
  expect_identical(answer$scores[[1]], answer$scores[[2]])
  answer$scores[[1]][[1]] <- 7
  expect_identical(answer$scores[[2]], before$scores[[2]])
  expect_false(identical(answer$scores[[1]], before$scores[[1]]))
  expect_identical(predict(loaded, data), before)
})

test_that("classes that are not strings become a factor, unless two are equal", {
  expect_identical(factor_of_classes(c(3, 1), c(1, 3)), factor(c(3, 1), c(1, 3)))
  expect_identical(factor_of_classes(c(3, 1), c(1, 1)), c(3, 1))
})
