skip_if_not_installed("processx")

test_that("a script's first step loads neither tibble nor tidyselect nor Rcpp's namespace", {
  script <- "
    library(runhooks)
    model <- linear_regressor(feature_columns(column_numeric('drat'), column_numeric('cyl')))
    train(model, input_fn(mtcars, features = c('drat', 'cyl'), response = 'mpg'), steps = 1)
    cat(intersect(c('tibble', 'tidyselect', 'vctrs', 'Rcpp'), loadedNamespaces()))
  "
  output <- processx::run(child_rscript(), c("-e", script), env = child_env())
  expect_identical(output$stdout, "")
})

test_that("a custom model does not load Matrix unless its columns need it", {
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

test_that("library(runhooks) prints nothing and masks nothing of R's base packages", {
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

test_that("neither library() nor training a canned model registers S4 methods", {
  script <- "
    library(runhooks)
    known <- function() length(methods::findMethods('%*%', classes = 'tensorflow.tensor'))
    cat(ls(asNamespace('runhooks'), all.names = TRUE, pattern = '^[.]__[CT]__'), known(), '')
    model <- linear_regressor(mpg ~ wt + cyl, data = mtcars)
    train(model, steps = 1)
    invisible(evaluate(model, input_fn(mpg ~ wt + cyl, mtcars)))
    cat(known(), '')
    x <- input_fn(mtcars, 'wt', 'mpg')(NULL)()[[1]]$wt
    cat(known() > 0)
  "
  result <- processx::run(child_rscript(), c("-e", script), env = child_env())
  expect_identical(result$stdout, " 0 0 TRUE")
})

test_that("S4 methods of tensors are registered when a user gets the first tensor", {
  script <- "
    library(runhooks)
    model <- linear_regressor(column_numeric('wt'))
    seen <- NULL
    hook <- session_run_hook(begin = function() {
      x <- tf$get_default_graph()$get_operation_by_name('IteratorGetNext')$outputs[[1]]
      seen <<- capture.output(show(tf$reshape(x, c(-1L, 1L)) %*% matrix(1)))
    })
    train(model, input_fn(mtcars, 'wt', 'mpg'), hooks = hook, steps = 1)
    cat(seen)
  "
  result <- processx::run(child_rscript(), c("-e", script), env = child_env())
  expect_match(result$stdout, "MatMul")
})
