# The random boosted trees of trees.py:
#   Rscript trees.R FOLDER
# Losses and predictions must match TensorFlow's, for a training from the start and for one that
# resumes TensorFlow's. trees.py reads the output in FOLDER/<i>/ours and FOLDER/<i>/export.
suppressPackageStartupMessages(library(runhooks))
folder <- commandArgs(TRUE)[[1]]
cases <- jsonlite::read_json(file.path(folder, "trees.json"))
tf$logging$set_verbosity(tf$logging$ERROR)

columns_of <- function(case) {
  lapply(case$columns, switch,
    bucketized = column_bucketized(column_numeric("x"), unlist(case$edges)),
    indicator = column_indicator(
      column_categorical_with_vocabulary_list("c", vocabulary_list = c("red", "green", "blue"))
    ),
    numeric = column_numeric("z")
  )
}

model_of <- function(case, dir) {
  make <- if (case$is_classifier) boosted_trees_classifier else boosted_trees_regressor
  args <- c(list(columns_of(case), model_dir = dir), case$args)
  if (case$weighted) args$weight_column <- "w"
  do.call(make, args)
}

input_of <- function(case, batch, epochs) {
  data <- as.data.frame(lapply(case$data, unlist), stringsAsFactors = FALSE)
  input_fn(
    data, features = c("x", "z", "w", "c"), response = if (case$is_classifier) "l" else "y",
    batch_size = batch, num_epochs = epochs, shuffle = FALSE, resume = FALSE
  )
}

quietly <- function(x) suppressWarnings(suppressMessages(x))

train_to <- function(case, model, steps) {
  losses <- c()
  record <- session_run_hook(
    before_run = function(context) session_run_args("loss"),
    after_run = function(context, values) losses <<- c(losses, values$results[[1]])
  )
  quietly(train(model, input_of(case, case$batch, NULL), steps = steps, hooks = record))
  losses
}

predicted <- function(case, model) {
  key <- if (case$is_classifier) "probabilities" else "predictions"
  rows <- predict(model, input_of(case, case$n, 1), simplify = FALSE, predict_keys = key)
  vapply(rows, function(row) unlist(row)[[length(unlist(row))]], 0)
}

far <- function(a, b) length(a) != length(b) || any(abs(a - b) > 1e-5 + 1e-4 * abs(b))

bad <- 0
for (case in cases) {
  place <- file.path(folder, case$number)
  differs <- function(what) {
    cat("model ", case$number, ": ", what, "\n", sep = "")
    bad <<- bad + 1
  }
  theirs <- model_of(case, file.path(place, "theirs"))
  train_to(case, theirs, case$steps - case$middle)
  if (far(predicted(case, theirs), unlist(case$predictions))) {
    differs("theirs, gone on with here, predicts otherwise")
  }
  run <- file.path(place, "ours_run")
  model <- model_of(case, run)
  losses <- train_to(case, model, case$middle)
  dir.create(file.path(place, "ours"))
  file.copy(list.files(run, full.names = TRUE), file.path(place, "ours"), recursive = TRUE)
  losses <- c(losses, train_to(case, model, case$steps - case$middle))
  if (far(losses, unlist(case$losses))) differs("losses")
  if (far(predicted(case, model), unlist(case$predictions))) differs("predictions")
  if (variable_value(model, "global_step")[[1]] != case$global_step) differs("global step")
  exported <- quietly(export_savedmodel(model, file.path(place, "exports")))
  file.rename(exported, file.path(place, "export"))
}

# Models that send missing values to either side, which TensorFlow's own trees cannot: writes
# exports and expected answers for trees.py.
gaps <- lapply(seq_len(max(3, length(cases) %/% 10)), function(i) {
  case <- cases[[(i - 1) %% length(cases) + 1]]
  data <- as.data.frame(lapply(case$data, unlist), stringsAsFactors = FALSE)
  set.seed(i)
  for (name in c("x", "z", "c")) {
    at <- sample(nrow(data), nrow(data) / 4)
    data[[name]][at] <- NA
    # Missing values have high labels for this column, low ones for that.
    data$y[at] <- data$y[at] + c(x = 3, z = -3, c = 1)[[name]]
  }
  model <- boosted_trees_regressor(
    y ~ x + z + c, data, n_trees = 4L, max_depth = 3L, learning_rate = 0.5,
    model_dir = file.path(folder, paste0("gaps", i))
  )
  quietly(train(model, data))
  exported <- quietly(export_savedmodel(model, file.path(folder, paste0("gaps_exports", i))))
  place <- file.path(folder, paste0("gaps_export", i))
  file.rename(exported, place)
  data$c[is.na(data$c)] <- "(missing)"
  sides <- unique(as.data.frame(model)$missing_goes_left[as.data.frame(model)$feature %in% c("x", "z")])
  if (length(sides) != 2) {
    cat("gaps ", i, ": what is missing goes to one side only\n", sep = "")
    bad <<- bad + 1
  }
  list(export = place, data = lapply(data[c("x", "z", "c")], as.list), predictions = predict(model, data)$.pred)
})
jsonlite::write_json(gaps, file.path(folder, "gaps.json"), auto_unbox = TRUE, digits = NA, na = "null")
# Trainings on data in memory, whose graph TensorFlow imports. Writes the expected predictions from
# the checkpoint, and after another layer that TensorFlow grows.
metas <- lapply(c(FALSE, TRUE), function(center_bias) {
  n <- 300
  data <- data.frame(
    c = sample(c("red", "green", "blue"), n, TRUE), x = ifelse(runif(n) < 0.1, NA, rnorm(n)), z = runif(n)
  )
  data$y <- as.integer(data$z + (data$c == "red") + rnorm(n) > 1)
  run <- file.path(folder, paste0("meta", center_bias))
  model <- boosted_trees_classifier(
    y ~ c + x + z, data, n_trees = 5L, max_depth = 3L, center_bias = center_bias, model_dir = run
  )
  quietly(train(model, data, steps = 7))
  place <- file.path(folder, paste0("meta_of_7_", center_bias))
  dir.create(place)
  file.copy(list.files(run, full.names = TRUE), place, recursive = TRUE)
  logits <- predict(model, data, type = "link")[[1]]
  quietly(train(model, data, steps = 1))
  list(
    folder = place, data = lapply(data, as.list), logits = logits,
    next_logits = predict(model, data, type = "link")[[1]]
  )
})
jsonlite::write_json(metas, file.path(folder, "metas.json"), auto_unbox = TRUE, digits = NA, na = "null")
cat("trees: ", bad, " of ", length(cases), " models differ here\n", sep = "")
if (bad > 0) quit(status = 1)
