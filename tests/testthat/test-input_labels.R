# Conversion of R data: factors, logicals and other types of columns.

flowers <- function(rows = seq(1, 150, by = 5)) iris[rows, ]

flower_model <- function(folder = withr::local_tempdir(.local_envir = parent.frame()), ...) {
  linear_classifier(
    column_numeric("Petal.Length", "Petal.Width"), n_classes = 3, model_dir = folder, ...
  )
}

flower_input <- function(data, ...) {
  input_fn(data, features = c("Petal.Length", "Petal.Width"), response = "Species", ...)
}

test_that("a factor response needs no vocabulary, and its labels are the classes", {
  model <- flower_model()
  expect_message(
    train(model, flower_input(flowers(), num_epochs = 300)), "'setosa' => 0", fixed = TRUE
  )
  expect_gt(suppressMessages(evaluate(model, flower_input(flowers())))$accuracy, 0.8)
  predicted_classes <- suppressMessages(predict(model, flower_input(flowers())))
  words <- unlist(predicted_classes$classes)
  expect_gt(mean(words == flowers()$Species), 0.8)
  expect_equal(words, levels(iris$Species)[unlist(predicted_classes$class_ids) + 1])
  all <- suppressMessages(
    predict(model, flower_input(flowers()), predict_keys = "all_classes", simplify = FALSE)
  )
  expect_equal(as.vector(all[[1]]$all_classes), levels(iris$Species))
})

test_that("class codes are those of the training, whatever levels later data have", {
  folder <- withr::local_tempdir()
  model <- flower_model(folder)
  suppressMessages(train(model, flower_input(flowers(), num_epochs = 60)))
  turned <- flowers(120:110)
  turned$Species <- factor(turned$Species, levels = c("virginica", "setosa"))
  expected <- suppressMessages(evaluate(model, flower_input(flowers(120:110))))
  recreated <- flower_model(folder) # another object on the same folder
  expect_equal(suppressMessages(evaluate(recreated, flower_input(turned)))$accuracy, expected$accuracy)
  tidy <- predict(recreated, newdata = turned[c("Petal.Width", "Petal.Length")])
  expect_equal(levels(tidy$.pred_class), levels(iris$Species))
  odd <- transform(turned, Species = factor(c("rosa", as.character(Species[-1]))))
  expect_error(evaluate(model, flower_input(odd)), "did not occur in training.*\"rosa\" in row 1")
  odd$Species[3:4] <- NA
  expect_error(evaluate(model, flower_input(odd)), "2 values are NA, the first in row 3")
})

test_that("the levels are saved with a model in a temporary folder", {
  model <- linear_classifier(column_numeric("Petal.Length", "Petal.Width"), n_classes = 3)
  suppressMessages(train(model, flower_input(flowers()), steps = 1))
  expect_identical(class_labels(model), levels(iris$Species))
  path <- withr::local_tempfile()
  saveRDS(model, path)
  unlink(model_dir(model), recursive = TRUE) # as in another process
  expect_identical(class_labels(readRDS(path)), levels(iris$Species))
})

test_that("more levels than classes are an error; logicals are FALSE and TRUE", {
  model <- linear_classifier(column_numeric("Petal.Length"), model_dir = withr::local_tempdir())
  input <- input_fn(iris, features = "Petal.Length", response = "Species")
  expect_error(train(model, input), "has 3 levels, but `n_classes` is 2")
  expect_equal(list.files(model_dir(model), all.files = TRUE, no.. = TRUE), character())
  cars <- transform(mtcars, am = am == 1)
  train(model <- linear_classifier(column_numeric("wt")), input_fn(am ~ wt, cars), steps = 1)
  expect_true(all(unlist(predict(model, input_fn(am ~ wt, cars))$classes) %in% c("FALSE", "TRUE")))
  expect_equal(levels(predict(model, newdata = cars)$.pred_class), c("FALSE", "TRUE"))
  # Numeric classes are their own labels, as in TensorFlow.
  train(model <- linear_classifier(column_numeric("wt")), input_fn(am ~ wt, mtcars), steps = 1)
  expect_equal(levels(predict(model, newdata = mtcars)$.pred_class), c("0", "1"))
  predicted_classes <- predict(model, input_fn(am ~ wt, mtcars))
  expect_true(all(unlist(predicted_classes$classes) %in% c("0", "1")))
})

test_that("factor codes are those of the training; new levels are missing, with one warning", {
  data <- data.frame(f = factor(c("a", "b", "c", "b")), g = factor(c("u", "v", "u", "v")), y = 1:4)
  columns <- feature_columns(
    column_categorical_with_identity("f", num_buckets = 3, default_value = 0),
    column_categorical_with_vocabulary_list("g", vocabulary_list = c("u", "v"))
  )
  model <- linear_regressor(columns, model_dir = withr::local_tempdir())
  suppressMessages(train(model, input_fn(y ~ f + g, data, num_epochs = 30)))
  predicted <- function(data) {
    unlist(suppressMessages(predict(model, input_fn(~ f + g, data)))$predictions)
  }
  expected <- predicted(data)
  fewer <- data.frame(f = factor(c("c", "b")), g = factor(c("u", "v"), levels = c("v", "u")))
  expect_no_warning(expect_equal(predicted(fewer), expected[3:4]))
  words <- transform(fewer, f = as.character(f)) # strings in place of a factor
  expect_equal(predicted(words), expected[3:4])
  new <- data.frame(f = factor(c("c", "z", "y")), g = factor(c("w", "u", "v")))
  warnings <- testthat::capture_warnings(numbers <- predicted(new))
  expect_length(warnings, 1)
  expect_match(warnings, "\"f\": \"z\" and \"y\"")
  expect_match(warnings, "\"g\": \"w\"")
  missing <- transform(new, f = factor(c("c", NA, NA)), g = factor(c(NA, "u", "v")))
  expect_no_warning(expect_equal(predicted(missing), numbers))
  expect_warning(predicted(new), class = "runhooks_warning_new_levels")
})

test_that("a call warns once of new levels of a factor, however many columns read it", {
  data <- data.frame(
    f = factor(rep(c("a", "b", "c"), 4)), g = rep(c("u", "v"), 6), w = 1:12 / 12, y = 1:12
  )
  f <- column_categorical_with_vocabulary_list("f", vocabulary_list = c("a", "b", "c"))
  wide <- list(
    column_crossed(c(f, "g"), hash_bucket_size = 20), column_categorical_weighted(f, "w")
  )
  deep <- list(column_embedding(f, dimension = 2), column_indicator(f))
  model <- dnn_linear_combined_regressor(
    linear_feature_columns = wide, dnn_feature_columns = deep, dnn_hidden_units = 4,
    model_dir = withr::local_tempdir()
  )
  input <- function(data) input_fn(y ~ f + g + w, data, batch_size = 5)
  train(model, input(data), steps = 9)
  new <- transform(data, f = factor(replace(as.character(f), c(2, 6, 7), c("z", "z", "q"))))
  missing <- transform(data, f = replace(f, c(2, 6, 7), NA))
  expect_once <- function(expr, expected) {
    warnings <- testthat::capture_warnings(value <- expr)
    expect_length(warnings, 1)
    expect_match(warnings, "\"f\": \"z\" and \"q\"$")
    expect_equal(value, expected, tolerance = 1e-6)
  }
  expect_once(predict(model, newdata = new), predict(model, newdata = missing))
  expect_once(predict(model, input(new)), predict(model, input(missing)))
  average <- function(data) evaluate(model, input(data))$average_loss
  expect_once(average(new), average(missing))
})

test_that("columns with OOV buckets use them; training adds levels", {
  data <- data.frame(f = factor(c("a", "b")), y = c(1, 2))
  open <- column_categorical_with_vocabulary_list("f", vocabulary_list = "a", num_oov_buckets = 1)
  model <- linear_regressor(open, model_dir = withr::local_tempdir())
  train(model, input_fn(y ~ f, data, num_epochs = 20))
  expect_no_warning(predicted <- predict(model, newdata = data.frame(f = factor(c("z", "b")))))
  expect_equal(predicted$.pred[[1]], predicted$.pred[[2]])
  codes <- column_categorical_with_identity("f", num_buckets = 3)
  model <- linear_regressor(codes, model_dir = withr::local_tempdir())
  suppressMessages(train(model, input_fn(y ~ f, data)))
  more <- data.frame(f = factor(c("a0", "b")), y = c(5, 2)) # sorts before "b"
  suppressMessages(train(model, input_fn(y ~ f, more)))
  expect_equal(training_record(model)$features$f$levels, c("a", "b", "a0"))
})

test_that("every type of table and column is accepted", {
  skip_if_not_installed("Matrix")
  skip_if_not_installed("data.table")
  fit <- function(data, ...) {
    model <- linear_regressor(
      column_numeric("x", ...), model_dir = withr::local_tempdir(),
      config = run_config(tf_random_seed = 1)
    )
    train(model, input_fn(data, features = "x", response = "y", shuffle = FALSE), steps = 1)
    unlist(predict(model, input_fn(data, features = "x")))
  }
  x <- c(0, 3, 0, 5)
  y <- c(1, 2, 3, 4)
  expected <- fit(data.frame(x = x, y = y))
  expect_equal(fit(tibble::tibble(x = x, y = y)), expected)
  expect_equal(fit(data.table::data.table(x = x, y = y)), expected)
  expect_equal(fit(cbind(x = x, y = y)), expected)
  expect_equal(fit(Matrix::Matrix(cbind(x = x, y = y), sparse = TRUE)), expected)
  expect_equal(fit(data.frame(x = as.integer(x), y = y)), expected)
  expect_equal(fit(data.frame(x = I(x), y = y)), expected)
  expect_equal(fit(list(x = array(x, 4), y = y)), expected)
  wide <- cbind(x, rev(x))
  expected <- fit(list(x = wide, y = y), shape = 2)
  sparse <- Matrix::Matrix(unname(wide), sparse = TRUE)
  expect_equal(fit(list(x = sparse, y = y), shape = 2), expected)
  expect_equal(fit(list(x = array(wide, c(4, 1, 2)), y = y), shape = c(1, 2)), expected)
  rows <- data.frame(y = y)
  rows$x <- lapply(1:4, function(i) wide[i, ])
  expect_equal(fit(rows, shape = 2), expected)
  flags <- list(x = x > 0, y = y)
  expect_equal(fit(flags), fit(list(x = as.numeric(x > 0), y = y)))
})

test_that("a sparse matrix is never densified as a whole", {
  skip_if_not_installed("Matrix")
  seed <- property_seed("sparse matrices")
  withr::local_seed(seed)
  n <- 37
  dense <- matrix(stats::rnorm(n * 9) * (stats::runif(n * 9) < 0.2), n)
  y <- stats::rnorm(n)
  fit <- function(x, ...) {
    model <- linear_regressor(
      column_numeric("x", shape = 9), model_dir = withr::local_tempdir(),
      config = run_config(tf_random_seed = seed)
    )
    data <- list(x = x, y = y)
    input <- input_fn(data, features = "x", response = "y", batch_size = 10, num_epochs = 3, ...)
    train(model, input)
    # Data in another class of matrix than in training give the same numbers.
    list(
      variable_value(model), evaluate(model, input)$average_loss,
      predict(model, newdata = data)$.pred, predict(model, newdata = list(x = dense))$.pred
    )
  }
  sparse <- Matrix::Matrix(dense, sparse = TRUE)
  for (shuffle in c(FALSE, TRUE)) {
    expected <- fit(dense, shuffle = shuffle)
    for (x in list(sparse, methods::as(sparse, "TsparseMatrix"), Matrix::Matrix(dense))) {
      expect_equal(fit(x, shuffle = shuffle), expected, info = paste("seed", seed))
    }
  }
  # A sparse matrix that would take 8 GB if it were dense.
  wide <- Matrix::sparseMatrix(1:1000, 1:1000 * 1000, x = 2, dims = c(1000, 1e6))
  rows <- with_graph(tf$Graph(), {
    tensor <- input_fn(list(x = wide), features = "x", batch_size = 2, shuffle = FALSE)(NULL)()$x
    tf$Session()$run(list(tensor, tf$reduce_sum(tensor)))
  })
  expect_equal(which(rows[[1]] != 0, arr.ind = TRUE), cbind(row = 1:2, col = c(1000, 2000)))
  wide@x[[500]] <- NA
  expect_error(input_fn(list(x = wide), features = "x"), "1 value is NA.*first in row 500")
  wide@x[[500]] <- 1e39
  model <- linear_regressor(column_numeric("x", shape = 1e6))
  expect_error(
    train(model, input_fn(list(x = wide, y = 1:1000), features = "x", response = "y")),
    "\"x\" must be below.*1e\\+39 in row 500"
  )
})

test_that("only the selected columns of a sparse table become dense", {
  skip_if_not_installed("Matrix")
  wide <- Matrix::sparseMatrix(
    1:4, c(1, 2, 2e4, 1), x = 1:4, dims = c(4, 2e4), dimnames = list(NULL, c("x", "y", 3:2e4))
  )
  chosen <- "x"
  given <- list(
    input_fn(wide, features = chosen, response = y), input_fn(wide, "x", "y"),
    input_fn(wide, features = x, response = "y")
  )
  for (input in given) {
    parts <- with_graph(tf$Graph(), {
      tensors <- input(NULL)()
      tf$Session()$run(tensors)
    })
    expect_setequal(as.vector(parts[[1]]$x), c(1, 0, 0, 4))
    expect_setequal(as.vector(parts[[2]]), c(0, 2, 0, 0))
  }
  expect_error(
    input_fn(wide, features = "none"), "\"none\".*and 19950 more",
    class = "runhooks_error_not_found"
  )
  dimnames(wide) <- list(NULL, NULL)
  expect_error(input_fn(wide), "without column names")
})

test_that("invalid data are errors that name column and row", {
  bad <- data.frame(
    x = c(1, NA, Inf), day = Sys.Date(), time = Sys.time(), s = c("a", "b", "c"), y = 1:3
  )
  bad$big <- structure(c(1, 2, 3), class = "integer64")
  expect_error(input_fn(y ~ day, bad), "day.*not a <Date> object.*as.numeric")
  expect_error(input_fn(y ~ time, bad), "time.*POSIXct.*as.numeric")
  expect_error(input_fn(y ~ big, bad), "big.*integer64")
  expect_error(input_fn(y ~ x, bad), "\"x\".*1 value is infinite, the first in row 3")
  twice <- setNames(data.frame(1, 2, 3), c("a", "b", "a"))
  expect_error(input_fn(twice, features = "b"), "\"a\" is the name of columns 1 and 3")
  expect_error(input_fn(as.matrix(twice), features = "b"), "columns 1 and 3")
  model <- linear_regressor(column_numeric("y"), model_dir = withr::local_tempdir())
  expect_error(train(model, input_fn(s ~ y, bad)), "\"s\" must be numbers.*row 1 is \"a\"")
})

test_that("a feature of another type than in training is an error that names both", {
  data <- data.frame(n = c(1, 2), s = c("a", "b"), f = factor(c("u", "v")), y = 1:2)
  columns <- feature_columns(
    column_numeric("n"),
    column_categorical_with_hash_bucket("s", hash_bucket_size = 10),
    column_categorical_with_vocabulary_list("f", vocabulary_list = c("u", "v"))
  )
  model <- linear_regressor(columns, model_dir = withr::local_tempdir())
  train(model, input_fn(y ~ n + s + f, data))
  predicted <- function(...) predict(model, newdata = transform(data, ...))
  expect_error(predicted(n = c("1", "x")), "\"n\".*was numbers and is now strings.*\"1\"")
  expect_error(predicted(n = factor(1:2)), "\"n\".*was numbers and is now a factor")
  expect_error(predicted(s = 7:8), "\"s\".*was strings and is now integers.*7.*as.character")
  expect_error(predicted(f = c(TRUE, FALSE)), "\"f\".*was a factor and is now logicals.*TRUE")
  expected <- predicted()
  expect_equal(predicted(n = 1:2), expected)
  expect_equal(predicted(s = factor(s)), expected)
  expect_equal(predicted(f = as.character(f)), expected)
  input <- function(extra) input_fn(y ~ n + s + f + extra, transform(data, extra = extra))
  train(model, input(1:2))
  expect_equal(predict(model, input(c("a", "b")))[[1]][[1]], predict(model, input(1:2))[[1]][[1]])
})

test_that("a loss that is not finite is an error", {
  model <- linear_regressor(
    column_numeric("wt"), optimizer = tf$train$GradientDescentOptimizer(1e30),
    model_dir = withr::local_tempdir()
  )
  suppressMessages(expect_error(
    train(model, input_fn(mpg ~ wt, mtcars, num_epochs = 20)), class = "runhooks_error_nan_loss"
  ))
})

test_that("a damaged record is an error that describes its contents", {
  model <- linear_regressor(column_numeric("wt"), model_dir = withr::local_tempdir())
  train(model, input_fn(mpg ~ wt, mtcars), steps = 1)
  writeBin(raw(10), file.path(model_dir(model), record_file))
  expect_error(predict(model, newdata = mtcars), "damaged", class = "runhooks_error_data_loss")
})

random_frame <- function(n) {
  word <- function(k) sample(letters[seq_len(k)], n, replace = TRUE)
  data <- data.frame(
    d = stats::rnorm(n), i = sample(10L, n, replace = TRUE), l = stats::runif(n) > 0.5,
    s = word(6), f = factor(word(4), levels = letters[4:1])
  )
  data$s[sample(n, 2)] <- NA
  data$f[sample(n, 2)] <- NA
  data$m <- matrix(stats::rnorm(2 * n), n)
  data$y <- stats::rnorm(n)
  data
}

test_that("predictions are in the order of the rows, whatever the data", {
  seed <- property_seed("order of predictions")
  columns <- feature_columns(
    column_numeric("d", "l"), column_numeric("m", shape = 2),
    column_categorical_with_identity("i", num_buckets = 11),
    column_categorical_with_hash_bucket("s", hash_bucket_size = 50),
    column_categorical_with_vocabulary_list("f", vocabulary_list = letters[1:4])
  )
  for (seed in seed + 0:2) {
    set.seed(seed)
    n <- sample(20:80, 1)
    data <- random_frame(n)
    model <- linear_regressor(columns, model_dir = withr::local_tempdir())
    input <- input_fn(
      data, features = c(d, i, l, s, f, m), response = y, batch_size = sample(30, 1), num_epochs = 3
    )
    train(model, input)
    # The training's input function repeats the data three times.
    predicted_classes <- unlist(predict(model, input)$predictions)
    tidy <- predict(model, newdata = data)$.pred
    # float32 rounding depends on a row's position in its batch. The bound is relative to the terms,
    # because they can exceed their sum.
    expect_near <- function(x, y) {
      expect_identical(length(x), length(y))
      largest <- max(abs(x - y)) / max(1, abs(tidy))
      expect_lt(largest, 1e-6, label = paste("the largest difference with seed", seed))
    }
    expect_near(predicted_classes, rep(tidy, 3))
    order <- sample(n)
    expect_near(predict(model, newdata = data[order, ])$.pred, tidy[order])
    row <- sample(n, 1)
    expect_near(predict(model, newdata = data[row, ])$.pred, tidy[row])
    expect_gt(length(unique(tidy)), n / 2)
  }
})

test_that("empty text is a class of a formula model", {
  data <- transform(mtcars, class = ifelse(am == 1, "", "automatic"))
  model <- linear_classifier(class ~ hp + qsec, data)
  train(model)
  reference <- glm(factor(class) ~ hp + qsec, binomial, data)
  expect_equal(coef(model), coef(reference), tolerance = 1e-2)
  expect_equal(levels(predict(model, data)$.pred_class), c("", "automatic"))
})
