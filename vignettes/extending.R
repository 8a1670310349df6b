## ---- include = FALSE---------------------------------------------------------
knitr::opts_chunk$set(collapse = TRUE, comment = "#>")
# the real files, where the page is knitted within the sources
file_of <- function(path) {
  file <- file.path("..", path)
  if (!file.exists(file)) return(sprintf("(`%s` of the sources.)", path))
  language <- if (grepl("[.]R$", path)) "r" else "cpp"
  paste(c(sprintf("`%s`:\n\n```%s", path, language), readLines(file), "```"), collapse = "\n")
}

## ---- echo = FALSE, results = "asis"------------------------------------------
cat(file_of("src/ops/linalg/cross.cpp"))

## -----------------------------------------------------------------------------
library(runhooks)
a <- tf$constant(matrix(c(1, 0, 0, 0, 1, 0), 2, byrow = TRUE))
b <- tf$constant(matrix(c(0, 1, 0, 0, 0, 1), 2, byrow = TRUE))
product <- tf$cross(a, b)
session <- tf$Session()
session$run(list(product, tf$gradients(product, a)[[1]]))
session$close()

## ---- echo = FALSE, results = "asis"------------------------------------------
cat(file_of("src/training/add_sign.cpp"))

## -----------------------------------------------------------------------------
cars <- data.frame(scale(mtcars[c("wt", "hp")]), mpg = mtcars$mpg)
model <- linear_regressor(
  mpg ~ wt + hp, cars, optimizer = tf$contrib$opt$AddSignOptimizer(0.005)
)
train(model, steps = 500, batch_size = 32)
c(here = evaluate(model, cars)$average_loss, lm = mean(resid(lm(mpg ~ wt + hp, cars))^2))

## ---- echo = FALSE, results = "asis"------------------------------------------
cat(file_of("src/hooks/stop_after_n_evals_hook.cpp"))

## -----------------------------------------------------------------------------
args(hook_stop_after_n_evals)
evaluate(model, input_fn(mpg ~ wt + hp, cars, batch_size = 4), hooks = hook_stop_after_n_evals(2))

## ---- echo = FALSE, results = "asis"------------------------------------------
cat(file_of("src/columns/cyclic_column.cpp"))

## -----------------------------------------------------------------------------
column_cyclic("hour", period = 24)

## ---- echo = FALSE, results = "asis"------------------------------------------
cat(file_of("tests/testthat/test-column_cyclic.R"))

