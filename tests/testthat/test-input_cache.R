# An input function reuses its converted data, and converts them again when the result may differ.

words_of <- function(expr) {
  messages <- character()
  value <- withCallingHandlers(expr, message = function(m) {
    messages <<- c(messages, conditionMessage(m))
    invokeRestart("muffleMessage")
  })
  list(value = value, said = messages)
}

# Counts how often `expr` converts columns to the schema of a model.
times_made <- function(expr) {
  times <- 0
  core <- asNamespace("runhooks")
  count <- bquote(.(function() times <<- times + 1)())
  suppressMessages(trace("encoded_rows", count, where = core, print = FALSE))
  on.exit(suppressMessages(untrace("encoded_rows", where = core)))
  force(expr)
  times
}

species_model <- function(folder = withr::local_tempdir(.local_envir = parent.frame()), ...) {
  column <- column_categorical_with_identity("Species", num_buckets = 3)
  linear_regressor(list(column, column_numeric("Petal.Width")), model_dir = folder, ...)
}
species_input <- function(data = iris, ...) {
  input_fn(data, c("Species", "Petal.Width"), "Sepal.Length", ...)
}

test_that("repeated evaluations convert data once, and repeat messages about factors", {
  model <- species_model()
  input <- species_input()
  first <- words_of(train(model, input))
  expect_equal(times_made(one <- words_of(evaluate(model, input))), 1)
  expect_equal(times_made(two <- words_of(evaluate(model, input))), 0)
  expect_identical(two, one)
  expect_match(one$said, "factor levels of 'Species' have been encoded", all = FALSE)
  expect_equal(times_made(words_of(predict(model, input))), 1)
  expect_identical(words_of(evaluate(model, input)), words_of(evaluate(model, species_input())))
})

test_that("the cache distinguishes models, trainings and levels", {
  model <- species_model()
  input <- species_input()
  suppressMessages({
    train(model, input)
    expect_equal(times_made(evaluate(model, input)), 1)
    # The cached data of this model contain labels that are the classes of a factor.
    sorts <- linear_classifier(column_numeric("Petal.Width"), n_classes = 3, model_dir = withr::local_tempdir())
    kinds <- input_fn(iris, "Petal.Width", "Species")
    train(sorts, kinds)
    expect_equal(times_made(evaluate(sorts, kinds)), 1)
    expect_equal(times_made(evaluate(model, input)), 0)
    # The same input is converted again for a model in another folder, whose training had another
    # order of levels.
    turned <- transform(iris, Species = factor(as.character(Species), levels = rev(levels(Species))))
    other <- species_model()
    train(other, species_input(turned))
    expect_equal(times_made(here <- evaluate(other, input)), 1)
    expect_identical(here, evaluate(other, species_input()))
    # Data with a level that the model does not know give a warning in each call.
    more <- rbind(iris[1:60, ], transform(iris[1:3, ], Species = "other"))
    small <- species_model()
    train(small, species_input(droplevels(iris[1:60, ])))
    few <- species_input(more)
    expect_warning(evaluate(small, few), class = "runhooks_warning_new_levels")
    expect_warning(evaluate(small, few), class = "runhooks_warning_new_levels")
  })
})

test_that("invalid data are an error each time, and a changed folder is detected", {
  folder <- withr::local_tempdir()
  model <- species_model(folder)
  input <- species_input()
  suppressMessages({
    train(model, input)
    evaluate(model, input)
    odd <- species_input(transform(iris, Species = 7L))
    for (i in 1:2) expect_error(evaluate(model, odd), class = "runhooks_error_invalid_argument")
    unlink(list.files(folder, full.names = TRUE), recursive = TRUE)
    turned <- transform(iris, Species = factor(as.character(Species), levels = rev(levels(Species))))
    train(model, species_input(turned))
    expect_identical(evaluate(model, input), evaluate(model, species_input()))
  })
})

test_that("a saved input function gives the same results, and large data are not cached", {
  model <- species_model()
  input <- species_input()
  suppressMessages({
    train(model, input)
    here <- evaluate(model, input)
    file <- withr::local_tempfile()
    before <- length(serialize(species_input(), NULL))
    expect_equal(length(serialize(input, NULL)), before, tolerance = 0.01)
    saveRDS(input, file)
    expect_identical(evaluate(model, readRDS(file)), here)
    many <- species_input(iris[rep(1:150, 300), ])
    expect_equal(times_made(evaluate(model, many)), 1)
    expect_equal(times_made(evaluate(model, many)), 1)
  })
})

test_that("a model caches only its last evaluation data, and inputs keep no model alive", {
  input <- species_input()
  gone <- 0
  watched <- function(x) {
    mark <- new.env()
    reg.finalizer(mark, function(e) gone <<- gone + 1)
    structure(x, mark = mark)
  }
  suppressMessages({
    model <- species_model()
    train(model, input)
    for (i in 1:4) {
      data <- iris
      data$Petal.Width <- watched(data$Petal.Width)
      evaluate(model, species_input(data))
    }
    rm(data)
    for (i in 1:3) gc()
    expect_gte(gone, 3)
    other <- species_model()
    train(other, input)
    evaluate(other, input)
    marked <- new.env()
    reg.finalizer(marked, function(e) gone <<- -1)
    attr(other$spec, "mark") <- marked
    evaluate(other, input)
    rm(other, marked)
    for (i in 1:3) gc()
    expect_equal(gone, -1)
  })
})
