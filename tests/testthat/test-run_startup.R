skip_if_not_installed("processx")

test_that("a script's way to its first step loads neither tibble nor tidyselect nor Rcpp's namespace", {
  script <- "
    library(runhooks)
    model <- linear_regressor(feature_columns(column_numeric('drat'), column_numeric('cyl')))
    train(model, input_fn(mtcars, features = c('drat', 'cyl'), response = 'mpg'), steps = 1)
    cat(intersect(c('tibble', 'tidyselect', 'vctrs', 'Rcpp'), loadedNamespaces()))
  "
  output <- processx::run(child_rscript(), c("-e", script), env = child_env())
  expect_identical(output$stdout, "")
})

test_that("a model of one's own does not load Matrix for columns that are not of it", {
  script <- "
    library(runhooks)
    model_fn <- function(features, labels, mode, params, config) {
      loss <- tf$reduce_mean(tf$square(features))
      estimator_spec(mode = mode, loss = loss, train_op = tf$train$get_global_step()$assign_add(1L))
    }
    train(estimator(model_fn), input_fn(mtcars, c('drat', 'cyl'), 'mpg'), steps = 1)
    cat(intersect('Matrix', loadedNamespaces()))
  "
  output <- processx::run(child_rscript(), c("-e", script), env = child_env())
  expect_identical(output$stdout, "")
})

test_that("library(runhooks) prints nothing and masks nothing of R's own packages", {
  script <- "
    library(runhooks)
    all <- conflicts(detail = TRUE)
    theirs <- unlist(all[c('package:base', 'package:stats', 'package:methods', 'package:utils')])
    cat(intersect(all[['package:runhooks']], theirs))
  "
  said <- processx::run(
    child_rscript(), c("-e", script), env = child_env(), stderr_to_stdout = TRUE
  )$stdout
  expect_identical(said, "")
})

test_that("library() defines no S4 classes or methods, which take as long to load as all the rest", {
  script <- "
    library(runhooks)
    known <- function() length(methods::findMethods('%*%', classes = 'tensorflow.tensor'))
    cat(methods:::.hasS4MetaData(asNamespace('runhooks')), known(), '')
    x <- tf$constant(diag(2))
    cat(known() > 0)
  "
  result <- processx::run(child_rscript(), c("-e", script), env = child_env())
  expect_identical(result$stdout, "FALSE 0 TRUE")
})
