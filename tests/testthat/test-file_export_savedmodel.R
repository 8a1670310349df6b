set.seed(1)

n <- 40
export_data <- data.frame(
  x = stats::rnorm(n), z = stats::runif(n), w = sample(c("a", "b", "c"), n, TRUE),
  h = paste0("u", sample.int(9, n, TRUE)), i = sample(0:3, n, TRUE),
  y = stats::rnorm(n), c2 = sample(0:1, n, TRUE), c3 = sample(0:2, n, TRUE), rows = 0
)
vocabulary <- withr::local_tempfile(fileext = ".txt", .local_envir = teardown_env())
writeLines(c("a", "b"), vocabulary)
words <- function() {
  column_categorical_with_vocabulary_file("w", vocabulary_file = vocabulary, num_oov_buckets = 1)
}
hashed <- function() column_categorical_with_hash_bucket("h", hash_bucket_size = 5)
wide <- function() {
  list(
    words(), hashed(), column_crossed(c("w", "h"), hash_bucket_size = 7),
    column_bucketized(column_numeric("x"), c(-0.5, 0.5)),
    column_categorical_with_identity("i", num_buckets = 4)
  )
}
deep <- function() {
  list(
    column_numeric("x"), column_numeric("z"), column_embedding(hashed(), dimension = 2),
    column_indicator(column_categorical_with_vocabulary_list("w", vocabulary_list = c("a", "b")))
  )
}
config <- function() run_config(tf_random_seed = 3)
models <- list(
  linear_regressor = function() list("y", linear_regressor(wide(), config = config()), wide()),
  linear_classifier = function() {
    list("c3", linear_classifier(wide(), n_classes = 3, config = config()), wide())
  },
  dnn_regressor = function() list("y", dnn_regressor(c(4, 3), deep(), config = config()), deep()),
  dnn_classifier = function() list("c2", dnn_classifier(4, deep(), config = config()), deep()),
  combined = function() {
    model <- dnn_linear_combined_classifier(
      linear_feature_columns = wide(), dnn_feature_columns = deep(), dnn_hidden_units = 3,
      config = config()
    )
    list("c2", model, c(wide(), deep()))
  },
  baseline = function() {
    list("c2", baseline_classifier(config = config()), list(column_numeric("x")))
  }
)
input <- function(response) {
  input_fn(
    export_data, features = c("x", "z", "w", "h", "i"), response = response, shuffle = FALSE,
    num_epochs = 1
  )
}
trained <- function(name) {
  exported <- models[[name]]()
  suppressMessages(train(exported[[2]], input(exported[[1]]), steps = 3))
  list(model = exported[[2]], columns = exported[[3]], input = input(exported[[1]]))
}
difference <- function(a, b) max(abs(unlist(a) - unlist(b)))

for (name in names(models)) {
  test_that(paste("an export predicts as the model:", name), {
    exported <- trained(name)
    expected <- predict(exported$model, exported$input)
    keys <- intersect(c("predictions", "logits", "probabilities"), names(expected))
    expected <- expected[keys]

    raw <- load_savedmodel(export_savedmodel(exported$model, withr::local_tempfile()))
    expect_equal(names(raw$signatures), "predict")
    expect_lt(difference(predict(raw, export_data)[keys], expected), 1e-5)

    spec <- tf$feature_column$make_parse_example_spec(exported$columns)
    receiver <- tf$estimator$export$build_parsing_serving_input_receiver_fn(spec)
    path <- export_savedmodel(exported$model, withr::local_tempfile(), receiver)
    parsed <- load_savedmodel(path)
    expect_true(all(c("predict", "serving_default") %in% names(parsed$signatures)))
    expect_lt(difference(predict(parsed, export_data, "predict")[keys], expected), 1e-5)
  })
}

test_that("signatures match those of TensorFlow's exports", {
  exported <- trained("combined")
  spec <- tf$feature_column$make_parse_example_spec(exported$columns)
  receiver <- tf$estimator$export$build_parsing_serving_input_receiver_fn(spec)
  ours <- load_savedmodel(export_savedmodel(exported$model, withr::local_tempfile(), receiver))
  golden <- golden_saved_models("wide_deep_classifier_parsing.json")
  theirs <- jsonlite::read_json(golden)$signature_def
  expect_setequal(names(ours$signatures), names(theirs))
  for (name in names(theirs)) {
    signature <- ours$signatures[[name]]
    expect_equal(signature$method_name, theirs[[name]]$method_name)
    for (part in c("inputs", "outputs")) {
      expect_setequal(names(signature[[part]]), names(theirs[[name]][[part]]))
      for (key in names(theirs[[name]][[part]])) {
        wanted <- theirs[[name]][[part]][[key]]
        actual <- signature[[part]][[key]]
        expect_equal(actual$dtype, wanted$dtype)
        shape <- unlist(wanted$shape)
        expect_equal(actual$shape, ifelse(shape < 0, NA_integer_, shape), info = key)
      }
    }
  }
})

test_that("an export contains the expected files", {
  exported <- trained("linear_regressor")
  base <- withr::local_tempfile()
  extra <- withr::local_tempfile(lines = "note")
  path <- export_savedmodel(exported$model, base, assets_extra = list("a/note.txt" = extra))
  expect_equal(path, base)
  expect_setequal(
    list.files(base, recursive = TRUE),
    c(
      "saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001",
      paste0("assets/", basename(vocabulary)), "assets.extra/a/note.txt"
    )
  )
  writeLines("mine", file.path(base, "mine.txt"))
  export_savedmodel(exported$model, base, as_text = TRUE)
  expect_setequal(
    list.files(base),
    c("saved_model.pbtxt", "variables", "assets", "mine.txt")
  )
  expect_s3_class(load_savedmodel(base), "runhooks_saved_model")
  expect_error(
    export_savedmodel(exported$model, base, overwrite = FALSE, versioned = FALSE), "already exists",
    class = "runhooks_error_already_exists"
  )
  first <- export_savedmodel(exported$model, file.path(base, "v"), overwrite = FALSE)
  second <- export_savedmodel(exported$model, file.path(base, "v"), overwrite = FALSE)
  expect_match(basename(first), "^[0-9]{10}$")
  expect_false(first == second)
  expect_setequal(list.files(file.path(base, "v")), basename(c(first, second)))
})

test_that("an empty path is refused", {
  model <- mtcars_model(model_dir = withr::local_tempdir())
  train(model, mtcars_input())
  expect_error(export_savedmodel(model, ""), "non-empty path", class = "runhooks_error_invalid_argument")
})

test_that("an export replaces an older one, and no other folder", {
  exported <- trained("linear_regressor")
  base <- withr::local_tempfile()
  extra <- withr::local_tempfile(lines = "note")
  export_savedmodel(exported$model, base, assets_extra = list("a/note.txt" = extra))
  others <- file.path(base, c("notes", "assets/mine", "variables/mine", "assets.extra/mine", "b/c/d"))
  dir.create(dirname(others[[5]]), recursive = TRUE)
  for (path in others) writeLines(basename(path), path)
  link <- withr::local_tempfile()
  file.symlink(base, link)
  for (place in c(base, link)) {
    export_savedmodel(exported$model, place)
    expect_equal(vapply(others, readLines, ""), basename(others), ignore_attr = TRUE)
    expect_false(file.exists(file.path(base, "assets.extra/a/note.txt")))
    expect_s3_class(load_savedmodel(place), "runhooks_saved_model")
    expect_identical(list.files(dirname(base), paste0("^", basename(base)), all.files = TRUE), basename(base))
  }
  # A folder that is not an export is left alone; an empty one is used.
  for (name in c("variables/mine", "assets/mine", "temp")) {
    folder <- withr::local_tempfile()
    dir.create(dirname(file.path(folder, name)), recursive = TRUE)
    writeLines("mine", file.path(folder, name))
    expect_error(
      export_savedmodel(exported$model, folder), "contains files that are not an export",
      class = "runhooks_error_already_exists"
    )
    expect_identical(list.files(folder, recursive = TRUE), name)
  }
  export_savedmodel(exported$model, withr::local_tempdir())
})

# Returns the name of a folder that a killed process leaves. The process id in the name is that of a
# process that has ended.
left_by_killed <- function(path) {
  gone <- system2("sh", c("-c", shQuote("echo $$")), stdout = TRUE)
  paste0(path, ".tmp", gone, "-0123456789abcdef")
}

test_that("the next export completes one that was killed between its steps", {
  exported <- trained("linear_regressor")
  here <- withr::local_tempdir()
  base <- file.path(here, "model")
  export_savedmodel(exported$model, base)
  writeLines("mine", file.path(base, "notes"))
  entries <- dir(base)
  ready <- left_by_killed(paste0(base, ".ready"))
  old <- left_by_killed(base)
  other <- left_by_killed(paste0(base, "2.ready"))
  dir.create(other)
  # Simulates a kill between two renames, so that neither folder has its final name.
  file.rename(base, ready)
  dir.create(old)
  error <- expect_error(load_savedmodel(base), class = "runhooks_error_not_found")
  expect_match(conditionMessage(error), basename(ready), fixed = TRUE)
  export_savedmodel(exported$model, base)
  expect_identical(readLines(file.path(base, "notes")), "mine")
  expect_setequal(dir(here), c("model", basename(other)))
  # Simulates a kill while the entries of a folder are replaced that cannot be renamed. The graph is
  # moved last.
  ready <- left_by_killed(file.path(base, "export.ready"))
  dir.create(ready)
  moved <- c("saved_model.pb", "variables")
  file.rename(file.path(base, moved), file.path(ready, moved))
  export_savedmodel(exported$model, base)
  expect_setequal(dir(base), entries)
  expect_s3_class(load_savedmodel(base), "runhooks_saved_model")
  dir.create(left_by_killed(paste0(base, ".ready")))
  export_savedmodel(exported$model, base)
  expect_s3_class(load_savedmodel(base), "runhooks_saved_model")
  expect_setequal(dir(here), c("model", basename(other)))
})

test_that("folders that others filled in the meantime are left alone if an export fails", {
  exported <- trained("linear_regressor")
  deep <- file.path(withr::local_tempdir(), "a", "b", "c")
  fills <- function() {
    dir.create(dirname(deep), recursive = TRUE)
    writeLines("mine", file.path(dirname(deep), "notes"))
    stop("no receiver")
  }
  expect_error(export_savedmodel(exported$model, deep, fills), "no receiver")
  expect_true(file.exists(file.path(dirname(deep), "notes")))
})

test_that("a failing export leaves the older one, and no temporary folder", {
  exported <- trained("linear_regressor")
  base <- withr::local_tempfile()
  export_savedmodel(exported$model, base)
  before <- tools::md5sum(list.files(base, recursive = TRUE, full.names = TRUE))
  stops <- function() stop("no receiver")
  expect_error(export_savedmodel(exported$model, base, stops), "no receiver")
  expect_identical(tools::md5sum(list.files(base, recursive = TRUE, full.names = TRUE)), before)
  deep <- file.path(withr::local_tempdir(), "a", "b")
  expect_error(export_savedmodel(exported$model, deep, stops), "no receiver")
  expect_false(dir.exists(dirname(deep)))
})

test_that("an export does not need the vocabulary's file", {
  exported <- trained("linear_regressor")
  path <- export_savedmodel(exported$model, withr::local_tempfile())
  expected <- predict(exported$model, exported$input)$predictions
  moved <- withr::local_tempfile()
  file.rename(vocabulary, moved)
  withr::defer(file.rename(moved, vocabulary))
  expect_lt(difference(predict(load_savedmodel(path), export_data)$predictions, expected), 1e-5)
})

test_that("custom models have the signatures that they declare", {
  model_fn <- function(features, labels, mode) {
    y <- tf$layers$dense(features$x, 1L)
    predictions <- list(y = y, twice = y * 2)
    if (mode == mode_keys()$PREDICT) {
      outputs <- list(
        serving_default = tf$estimator$export$RegressionOutput(y), # requires requests of strings
        both = tf$estimator$export$PredictOutput(predictions)
      )
      return(estimator_spec(mode, predictions = predictions, export_outputs = outputs))
    }
    loss <- tf$losses$mean_squared_error(labels, y)
    train_op <- tf$train$GradientDescentOptimizer(0.01)$minimize(
      loss, global_step = tf$train$get_global_step()
    )
    estimator_spec(mode, predictions = predictions, loss = loss, train_op = train_op)
  }
  model <- estimator(model_fn, config = config())
  x <- matrix(stats::rnorm(10), 5)
  data <- numpy_input_fn(list(x = x), matrix(1:5, 5), batch_size = 5L, shuffle = FALSE)
  suppressMessages(train(model, data, steps = 2))
  expect_error(export_savedmodel(model, withr::local_tempfile()), "serving_input_receiver_fn")
  receiver <- function() {
    x <- tf$placeholder(tf$float64, shape(NULL, 2L))
    tf$estimator$export$ServingInputReceiver(list(x = x), list(x = x))
  }
  loaded <- load_savedmodel(export_savedmodel(model, withr::local_tempfile(), receiver))
  expect_equal(names(loaded$signatures), "both")
  answers <- predict(loaded, list(x = x))
  expect_equal(unlist(answers$twice), 2 * unlist(answers$y), tolerance = 1e-6)
  expect_lt(difference(answers$y, predict(model, data)$y), 1e-5)
})

test_that("classes of factors are served by their labels", {
  data <- data.frame(x = stats::rnorm(20), kind = factor(rep(c("no", "yes"), 10)))
  model <- linear_classifier(column_numeric("x"), config = config())
  suppressMessages(train(model, input_fn(kind ~ x, data)))
  spec <- tf$feature_column$make_parse_example_spec(column_numeric("x"))
  receiver <- tf$estimator$export$build_parsing_serving_input_receiver_fn(spec)
  loaded <- load_savedmodel(export_savedmodel(model, withr::local_tempfile(), receiver))
  expect_equal(as.vector(predict(loaded, data)$classes[[1]]), c("no", "yes"))
})

test_that("models that cannot be exported are errors", {
  model <- linear_regressor(column_numeric("x"))
  path <- withr::local_tempfile()
  expect_error(export_savedmodel(model, path), "needs a trained model")
  expect_false(file.exists(path))
  exported <- trained("linear_regressor")
  expect_error(export_savedmodel(exported$model, path, as_txt = TRUE), "as_txt")
  outside <- list("../a" = vocabulary)
  expect_error(export_savedmodel(exported$model, path, assets_extra = outside), "inside")
  expect_error(export_savedmodel(exported$model, path, function() 1), "ServingInputReceiver")
  lacks <- tf$estimator$export$build_parsing_serving_input_receiver_fn(
    list(x = tf$FixedLenFeature(1L, tf$float32))
  )
  expect_error(export_savedmodel(exported$model, path, lacks), "not in features")
})
