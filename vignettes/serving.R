## ---- include = FALSE---------------------------------------------------------
knitr::opts_chunk$set(collapse = TRUE, comment = "#>")

## -----------------------------------------------------------------------------
library(runhooks)
set.seed(1)
words <- column_categorical_with_vocabulary_list("gear", vocabulary_list = c("three", "four"))
columns <- feature_columns(column_numeric("wt"), words)
cars <- data.frame(
  mpg = mtcars$mpg, wt = mtcars$wt, gear = c("three", "four", "five")[mtcars$gear - 2]
)
model <- linear_regressor(columns, optimizer = tf$train$AdamOptimizer(1))
model %>% train(input_fn(cars, features = c(wt, gear), response = mpg, num_epochs = 1500))
model %>% evaluate(input_fn(cars, features = c(wt, gear), response = mpg))

## -----------------------------------------------------------------------------
path <- export_savedmodel(model, tempfile("raw"))
list.files(path, recursive = TRUE)
loaded <- load_savedmodel(path)
loaded
predict(loaded, data.frame(wt = c(2.5, 3), gear = c("four", "three")))

## -----------------------------------------------------------------------------
spec <- tf$feature_column$make_parse_example_spec(columns)
spec
receiver <- tf$estimator$export$build_parsing_serving_input_receiver_fn(spec)
path <- export_savedmodel(model, tempfile("exports"), receiver, overwrite = FALSE)

## -----------------------------------------------------------------------------
loaded <- load_savedmodel(path)
loaded
predict(loaded, data.frame(wt = 2.5, gear = "four"))

## -----------------------------------------------------------------------------
file <- tempfile(fileext = ".tfrecord")
write_tfrecord(cars, file)

