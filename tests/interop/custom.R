# The custom models of custom.py with the same model functions in R, from the same checkpoints.
#   Rscript custom.R FOLDER [models]
# Losses, variables by name, metrics and predictions must agree to 1e-5.
suppressPackageStartupMessages(library(runhooks))
arguments <- commandArgs(TRUE)
folder <- arguments[[1]]
there <- jsonlite::fromJSON(file.path(folder, "custom.json"))
tf$logging$set_verbosity(tf$logging$ERROR)
steps <- 20
batch <- 16
rows <- 64

source("tests/interop/waves.R")
x <- list(x = floats(waves(c(rows, 6), 0.7)))
y <- floats(waves(rows, 1.3))
class <- whole(rows, 2.1, 3)
image <- list(image = floats(waves(c(rows, 12, 12, 2), 0.31)))
tokens <- list(tokens = whole(c(rows, 7), 0.9, 20))

input <- function(features, labels, epochs) {
  function() {
    tensor_slices_dataset(list(features, labels)) %>%
      dataset_repeat(epochs) %>%
      dataset_batch(batch)
  }
}

step <- function() tf$train$get_global_step()

classify <- function(mode, logits, labels, optimizer, extra_loss = NULL) {
  classes <- tf$argmax(logits, 1L)
  predictions <- list(classes = classes, probabilities = tf$nn$softmax(logits))
  if (mode == "infer") return(estimator_spec(mode, predictions = predictions))
  loss <- tf$losses$sparse_softmax_cross_entropy(labels, logits)
  if (!is.null(extra_loss)) loss <- loss + extra_loss
  with(tf$control_dependencies(tf$get_collection(tf$GraphKeys$UPDATE_OPS)), {
    train <- optimizer$minimize(loss, global_step = step())
  })
  estimator_spec(mode,
    predictions = predictions, loss = loss, train_op = train,
    eval_metric_ops = list(accuracy = tf$metrics$accuracy(labels, classes))
  )
}

regress <- function(mode, output, labels, train_of,
                    loss_of = tf$losses$mean_squared_error) {
  predictions <- list(y = output)
  if (mode == "infer") return(estimator_spec(mode, predictions = predictions))
  loss <- loss_of(labels, output)
  estimator_spec(mode,
    predictions = predictions, loss = loss, train_op = train_of(loss),
    eval_metric_ops = list(
      rmse = tf$metrics$root_mean_squared_error(labels, output),
      mae = tf$metrics$mean_absolute_error(labels, output)
    )
  )
}

# In the folder of this file.
script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(script), "custom_models.R"))
source(file.path(dirname(script), "custom_more.R"))
models <- c(models, more_models)
data_of <- c(data_of, more_data)

# In row-major order.
flat <- function(x) if (is.null(dim(x))) as.vector(x) else as.vector(aperm(x))

run <- function(name) {
  model_dir <- file.path(folder, paste0(name, "_here"))
  unlink(model_dir, recursive = TRUE)
  dir.create(model_dir)
  first <- list.files(file.path(folder, name), "^model.ckpt-0[.]", full.names = TRUE)
  stopifnot(length(first) > 0, file.copy(first, model_dir))
  writeLines('model_checkpoint_path: "model.ckpt-0"', file.path(model_dir, "checkpoint"))
  data <- data_of[[name]]
  model <- estimator(
    models[[name]], model_dir,
    config = run_config(save_summary_steps = NULL, save_checkpoints_steps = 1000),
    params = if (length(data) > 2) data[[3]]()
  )
  losses <- c()
  # The outputs of the model function, which the estimator orders last.
  keep <- session_run_hook(
    before_run = function(context) {
      all <- context$session$graph$get_collection("losses")
      session_run_args(all[[length(all)]])
    },
    after_run = function(context, values) losses <<- c(losses, values$results)
  )
  train(model, input(data[[1]], data[[2]], NULL), steps = steps, hooks = keep)
  metrics <- evaluate(model, input(data[[1]], data[[2]], 1))
  predictions <- predict(model, input(data[[1]], data[[2]], 1), simplify = FALSE)
  names <- variable_names(model)
  list(
    losses = losses, metrics = as.list(metrics),
    variables = lapply(setNames(nm = names), function(n) flat(variable_value(model, n)[[1]])),
    predictions = predictions
  )
}

compare <- function(what, here, there) {
  here <- as.numeric(unlist(here))
  there <- as.numeric(unlist(there))
  if (length(here) != length(there)) {
    cat(sprintf("  %s: %d numbers here, %d there\n", what, length(here), length(there)))
    return(FALSE)
  }
  if (length(here) == 0) {
    cat(sprintf("  %s: nothing to compare\n", what))
    return(FALSE)
  }
  # The tolerance of the goldens, element by element.
  error <- max(abs(here - there) / (1 + abs(there)))
  good <- is.finite(error) && error <= 1e-5
  if (!good) cat(sprintf("  %s: differs by %.1e\n", what, error))
  good
}

wanted <- if (length(arguments) > 1) arguments[-1] else names(there)
bad <- 0
for (name in wanted) {
  cat(name, "\n")
  here <- tryCatch(run(name), error = function(e) {
    cat("  ", conditionMessage(e), "\n")
    NULL
  })
  if (is.null(here)) {
    bad <- bad + 1
    next
  }
  theirs <- there[[name]]
  missing <- setdiff(names(theirs$variables), names(here$variables))
  more <- setdiff(names(here$variables), names(theirs$variables))
  if (length(c(missing, more))) cat("  only there:", missing, "; only here:", more, "\n")
  good <- c(
    length(c(missing, more)) == 0, compare("losses", here$losses, theirs$losses),
    vapply(intersect(names(theirs$variables), names(here$variables)), function(n) {
      compare(n, here$variables[[n]], theirs$variables[[n]])
    }, NA),
    vapply(names(theirs$metrics), function(n) compare(n, here$metrics[[n]], theirs$metrics[[n]]), NA)
  )
  rows_of <- function(key) {
    lapply(here$predictions, function(row) flat(if (key %in% names(row)) row[[key]] else unlist(row)))
  }
  good <- c(good, vapply(names(theirs$predictions), function(n) {
    compare(paste("prediction", n), rows_of(n), theirs$predictions[[n]])
  }, NA))
  bad <- bad + any(!good)
}
cat(sprintf("custom: %d models, %d differ\n", length(wanted), bad))
quit(save = "no", status = as.integer(bad > 0))
