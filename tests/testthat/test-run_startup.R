skip_if_not_installed("processx")

test_that("a script's way to its first step loads neither tibble nor tidyselect", {
  script <- "
    library(runhooks)
    model <- linear_regressor(feature_columns(column_numeric('drat'), column_numeric('cyl')))
    train(model, input_fn(mtcars, features = c('drat', 'cyl'), response = 'mpg'), steps = 1)
    cat(intersect(c('tibble', 'tidyselect', 'vctrs'), loadedNamespaces()))
  "
  output <- processx::run(child_rscript(), c("-e", script), env = child_env())
  expect_identical(output$stdout, "")
})
