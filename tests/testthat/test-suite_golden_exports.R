# Compares our exports with TensorFlow's. golden/exports.tgz contains models that TensorFlow 1.15
# trained, descriptions of their exports and the exports' answers (tests/golden/make_exports.py).
set.seed(1)

exports <- golden_unpacked("exports", frame = testthat::teardown_env())
export_cases <- list.dirs(exports, recursive = FALSE)

# TensorFlow's SavedModels of some cases are packed next to them.
unpacked_case <- function(folder, frame = parent.frame()) {
  dir <- withr::local_tempdir(.local_envir = frame)
  utils::untar(file.path(exports, "theirs.tgz"), exdir = dir)
  made <- file.path(dir, basename(folder))
  dir.create(made, showWarnings = FALSE)
  file.copy(list.files(folder, full.names = TRUE), made)
  made
}

test_that("there is a case for each canned estimator", {
  families <- sub("_[0-9]$", "", basename(export_cases))
  expected <- outer(c("linear", "dnn", "combined", "baseline"), c("classifier", "regressor"),
    paste, sep = "_"
  )
  expect_setequal(families, expected)
})

for (folder in export_cases) {
  test_that(paste("an export looks and answers like TensorFlow's:", basename(folder)), {
    vocabulary <- file.path(exports, "words.txt")
    expect_equal(export_problems(unpacked_case(folder), vocabulary), character())
  })
}

test_that("the goldens include TensorFlow's exports", {
  found <- utils::untar(file.path(exports, "theirs.tgz"), list = TRUE)
  expect_length(grep("saved_model.pb$", found), 4)
})

test_that("a wrong answer is detected", {
  case <- unpacked_case(file.path(exports, "linear_regressor_2"))
  words <- readLines(file.path(exports, "words.txt"))
  other <- withr::local_tempfile(lines = rev(words))
  problems <- export_problems(case, other)
  expect_match(problems, "ours answers predict predictions off by", all = FALSE)
  expect_false(any(grepl("theirs answers", problems)))
})

golden_outputs <- jsonlite::read_json(golden_path("export_outputs.json"))

# Creates a model with the export_outputs that tests/golden/make_export_outputs.py describes.
model_with_outputs <- function(outputs) {
  make <- function(given, tensors) {
    expected <- given[[2]]
    named <- if (is.character(expected)) {
      tensors[[expected]]
    } else {
      lapply(expected, function(x) tensors[[x]])
    }
    kinds <- tf$estimator$export
    if (given[[1]] == "PredictOutput") return(kinds$PredictOutput(named))
    do.call(if (given[[1]] == "RegressionOutput") kinds$RegressionOutput else
      kinds$ClassificationOutput, named)
  }
  estimator(function(features, labels, mode) {
    x <- tf$cast(features$x, tf$float32)
    y <- tf$layers$dense(x, 1L)
    p <- tf$nn$softmax(tf$layers$dense(x, 3L))
    tensors <- list(y = y, p = p, k = tf$argmax(p, 1L), c = tf$as_string(p))
    estimator_spec(
      mode, predictions = tensors[c("y", "k")], loss = tf$reduce_mean(y),
      train_op = tf$assign_add(tf$train$get_global_step(), 1L),
      export_outputs = if (!is.null(outputs)) lapply(outputs, make, tensors)
    )
  }, config = run_config(tf_random_seed = 1))
}

receivers_of_outputs <- list(
  numbers = function() {
    x <- tf$placeholder(tf$float32, shape(NULL, 2L), name = "x")
    tf$estimator$export$ServingInputReceiver(list(x = x), list(x = x))
  },
  strings = tf$estimator$export$build_parsing_serving_input_receiver_fn(
    list(x = tf$FixedLenFeature(2L, tf$float32))
  )
)

for (name in names(golden_outputs)) {
  test_that(paste("export_outputs make TensorFlow's signatures:", name), {
    golden <- golden_outputs[[name]]
    model <- model_with_outputs(golden$outputs)
    data <- numpy_input_fn(list(x = matrix(1:4 / 2, 2)), matrix(1:2, 2), shuffle = FALSE)
    suppressMessages(train(model, data, steps = 1))
    for (kind in names(receivers_of_outputs)) {
      path <- withr::local_tempfile()
      export <- function() {
        suppressMessages(export_savedmodel(model, path, receivers_of_outputs[[kind]], as_text = TRUE))
      }
      theirs <- golden[[kind]]
      if (!is.null(theirs$error)) {
        expect_error(export(), sub("[.].*", "", theirs$error), info = kind)
      } else if (length(theirs) == 0) {
        # For such outputs TensorFlow writes a model without signatures; here it is an error.
        expect_error(export(), "No signature of the model", info = kind)
      } else {
        export()
        problems <- signature_problems(look_at_export(path)$signatures, theirs)
        expect_equal(problems, character(), info = kind)
      }
    }
  })
}
