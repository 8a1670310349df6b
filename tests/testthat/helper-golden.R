# Compares our results with golden files, which real TensorFlow computed.

golden_path <- function(...) testthat::test_path("golden", ...)

# Golden folders are packed as tgz: source packages limit paths to 100 bytes, and R CMD check
# mistakes some checkpoints for executables.
golden_unpacked <- function(folder, ..., frame = parent.frame()) {
  dir <- withr::local_tempdir(.local_envir = frame)
  utils::untar(golden_path(paste0(folder, ".tgz")), exdir = dir)
  file.path(dir, basename(folder), ...)
}

golden_saved_models <- function(..., frame = parent.frame()) {
  golden_unpacked("files/saved_models", ..., frame = frame)
}

read_golden <- function(...) {
  decode <- function(x) {
    if (is.list(x)) return(lapply(x, decode))
    special <- c("NaN" = NaN, "Inf" = Inf, "-Inf" = -Inf)
    if (is.character(x) && length(x) == 1 && x %in% names(special)) special[[x]] else x
  }
  decode(jsonlite::fromJSON(golden_path(...), simplifyVector = FALSE))
}

canned_cases <- function() list.files(golden_path("canned"))

golden_checkpoint <- function(name, model_dir) {
  files <- list.files(golden_path("canned", name), "^0[.]", full.names = TRUE)
  file.copy(files, file.path(model_dir, paste0("model.ckpt-", basename(files))))
  writeLines('model_checkpoint_path: "model.ckpt-0"', file.path(model_dir, "checkpoint"))
}

# Converts a specification of case.json to a column, including nested columns.
golden_column <- function(spec) {
  if (!is.list(spec)) return(spec)
  if (is.null(spec$type)) return(lapply(spec, golden_column))
  arguments <- lapply(spec[setdiff(names(spec), c("type", "normalizer_fn"))], golden_column)
  first <- names(arguments) == "key"
  names(arguments)[first] <- ""
  if (!is.null(spec$normalizer_fn)) {
    arguments$normalizer_fn <- eval(parse(text = spec$normalizer_fn))
  }
  if (!is.null(spec$vocabulary_file)) {
    arguments$vocabulary_file <- golden_path("data", spec$vocabulary_file)
  }
  do.call(spec$type, arguments)
}

optimizer_classes <- c(
  SGD = "GradientDescent", Momentum = "Momentum", Adagrad = "Adagrad", Adam = "Adam",
  RMSProp = "RMSProp", Adadelta = "Adadelta", Ftrl = "Ftrl", ProximalAdagrad = "ProximalAdagrad",
  AdagradDA = "AdagradDA", ProximalGradientDescent = "ProximalGradientDescent"
)

golden_optimizer <- function(spec) {
  if (is.null(spec) || is.character(spec)) return(spec)
  constructor <- tf$train[[paste0(optimizer_classes[[spec$name]], "Optimizer")]]
  arguments <- spec[setdiff(names(spec), c("type", "name", "schedule"))]
  if (is.null(spec$schedule)) return(do.call(constructor, arguments))
  function() {
    decay <- tf$train[[spec$schedule[[1]]]]
    arguments$learning_rate <- do.call(
      decay, c(list(arguments$learning_rate, tf$train$get_global_step()), spec$schedule[[2]])
    )
    do.call(constructor, arguments)
  }
}

golden_head <- function(spec) do.call(spec$type, lapply(spec[names(spec) != "type"], unlist))

golden_argument <- function(value, name) {
  if (grepl("feature_columns$", name)) return(lapply(value, golden_column))
  if (grepl("optimizer$", name)) return(golden_optimizer(value))
  if (name == "head") return(golden_head(value))
  unlist(value)
}

golden_model <- function(case, model_dir, ...) {
  args <- Map(golden_argument, case$args, names(case$args))
  args$config <- run_config(tf_random_seed = 1, ...)
  do.call(case$estimator, c(args, list(model_dir = model_dir)))
}

golden_data <- function(case) {
  table <- read.csv(
    golden_path("data", case$data), check.names = FALSE, colClasses = "character",
    na.strings = character(), quote = "", encoding = "UTF-8"
  )
  column <- function(field) {
    values <- if (is.null(field$split)) {
      as.matrix(table[unlist(field$columns)])
    } else {
      split_values(table[[field$columns[[1]]]], field)
    }
    type <- switch(field$dtype, string = "character", int32 = , int64 = "integer", "double")
    storage.mode(values) <- type
    if (ncol(values) == 1 && is.null(field$split)) as.vector(values) else unname(values)
  }
  fields <- c(case$features, list(case$label))
  stats::setNames(lapply(fields, column), vapply(fields, function(field) field$name, ""))
}

# Splits strings that contain several values of a field, and pads them to the field's width.
split_values <- function(texts, field) {
  parts <- strsplit(texts, field$split, fixed = TRUE)
  t(vapply(parts, function(x) c(x, rep(as.character(field$pad), field$width - length(x))),
    character(field$width)
  ))
}

golden_input <- function(case, data, rows = NULL, ...) {
  if (!is.null(rows)) {
    data <- lapply(data, function(x) if (is.matrix(x)) x[rows, , drop = FALSE] else x[rows])
  }
  features <- vapply(case$features, function(field) field$name, "")
  input_fn(
    data,
    features = tidyselect::all_of(features),
    response = tidyselect::all_of(case$label$name),
    shuffle = FALSE,
    ...
  )
}

golden_scenario <- function(group, name) {
  scenarios <- read_golden("hooks", paste0(group, ".json"))$scenarios
  Find(function(scenario) scenario$name == name, scenarios)
}

# Creates the linear model y = w * x + b of the hook goldens, which starts at w = b = 0. Its loss is
# the mean.
toy_model <- function(model_dir = withr::local_tempdir(.local_envir = parent.frame()), ...) {
  linear_regressor(
    column_numeric("x"), model_dir = model_dir, loss_reduction = "mean",
    optimizer = tf$train$GradientDescentOptimizer(0.01), config = run_config(...)
  )
}

# Creates the model's input. Each call of train() starts at the first row, as the goldens' input
# does.
toy_input <- function(...) {
  data <- data.frame(x = c(1, 2, 3, 4), y = c(3, 5, 7, 9))
  input_fn(
    data, features = x, response = y, batch_size = 2, shuffle = FALSE, resume = FALSE, ...
  )
}

# Returns the scalars in a golden's list of events, as rows of step, tag and value.
golden_scalars <- function(events) {
  rows <- list()
  for (event in events) {
    for (value in event$values) {
      if (value$kind != "simple_value") next
      rows[[length(rows) + 1]] <- data.frame(
        step = event$step, tag = value$tag, value = value$simple_value
      )
    }
  }
  do.call(rbind, rows)
}

# Trains, evaluates and predicts a case, and returns the results in the form of expected.json.
run_case <- function(name) {
  case <- read_golden("canned", name, "case.json")
  model_dir <- withr::local_tempdir()
  golden_checkpoint(name, model_dir)
  model <- golden_model(case, model_dir, save_summary_steps = 1)
  data <- golden_data(case)
  losses <- c()
  record <- session_run_hook(
    before_run = function(context) session_run_args(context$session$graph$get_collection("losses")),
    after_run = function(context, values) {
      losses <<- c(losses, values$results[[1]][[length(values$results[[1]])]])
    }
  )
  ask <- function() {
    predict(
      model, golden_input(case, data, 1:12, batch_size = case$eval_batch_size), simplify = FALSE,
      predict_keys = unlist(prediction_keys())
    )
  }
  predict_init <- ask()
  train(
    model,
    golden_input(case, data, batch_size = case$batch_size, num_epochs = NULL),
    steps = case$steps,
    hooks = record
  )
  list(
    loss = losses,
    eval = evaluate(
      model, golden_input(case, data, batch_size = case$eval_batch_size), simplify = FALSE
    ),
    predict = ask(),
    predict_init = predict_init,
    variables = variable_value(model),
    summaries = as.data.frame(read_events(model_dir))
  )
}

# Returns the largest error of two vectors by a measure. Strings have error 0 or Inf.
largest_error <- function(actual, expected, measure) {
  actual <- unlist(actual)
  expected <- unlist(expected)
  if (length(actual) != length(expected)) return(Inf)
  if (is.character(expected)) return(if (identical(actual, expected)) 0 else Inf)
  actual <- as.numeric(actual)
  expected <- as.numeric(expected)
  max(abs(actual - expected) / measure(expected))
}

# The error is |a - b| relative to |b|. Values below 1e-3 of the largest one are relative to that
# bound.
relative_measure <- function(expected) pmax(abs(expected), 1e-3 * max(abs(expected)), 1e-30)
relative_error <- function(actual, expected) largest_error(actual, expected, relative_measure)
# The error is relative to 1 + |b|: training in float32 leaves rounding errors in values near zero.
mixed_measure <- function(expected) 1 + abs(expected)

measure_of <- function(name) if (startsWith(name, "lin_reg")) relative_measure else mixed_measure

# Cases that need a wider bound than 1e-5, with the reason.
wider_bounds <- c(
  # Gradients through the moments of small batches cancel, so float32 rounding moves the variables
  # of TensorFlow and ours away from the exact ones (tests/golden/rounding_of_batch_norm.py).
  dnn_reg_batch_norm = 2.03e-4
)
bound_of <- function(name) if (name %in% names(wider_bounds)) wider_bounds[[name]] else 1e-5

row_major <- function(x) if (length(dim(x)) > 1) as.vector(aperm(x)) else as.vector(x)

# Returns the largest error of each part of a case; Inf if names differ.
case_errors <- function(name) {
  actual <- run_case(name)
  expected <- read_golden("canned", name, "expected.json")
  error <- function(a, b) largest_error(a, b, measure_of(name))
  c(
    loss = error(actual$loss, expected$loss),
    variables = error_by_name(actual$variables, expected$variables$final, function(a, b) {
      variable_error(row_major(a), b, error)
    }),
    eval = error_by_name(actual$eval, expected$eval, error),
    predict = prediction_error(actual$predict, expected$predict, error),
    predict_init = prediction_error(actual$predict_init, expected$predict_init, error),
    summaries = summary_error(actual$summaries, expected, error)
  )
}

error_by_name <- function(actual, expected, error) {
  if (!setequal(names(actual), names(expected))) return(Inf)
  max(mapply(error, actual[names(expected)], expected))
}

# Returns the error of a variable. For large variables the goldens hold only the first elements, the
# sum and the norm.
variable_error <- function(x, expected, error) {
  if (!is.null(expected$values)) return(error(x, expected$values))
  max(
    error(x[1:20], expected$first20), error(sum(x), expected$sum),
    error(sqrt(sum(x^2)), expected$l2)
  )
}

prediction_error <- function(actual, expected, error) {
  columns <- lapply(setNames(nm = names(actual[[1]])), function(key) {
    unlist(lapply(actual, function(row) row_major(row[[key]])))
  })
  error_by_name(columns, expected, error)
}

# Returns the error of the summaries. TensorFlow may read some tags before or after the step's
# update, so only their names are compared.
summary_error <- function(events, expected, error) {
  unordered <- names(expected$summaries_before_or_after_update)
  # Only our summaries include a learning rate that changes.
  tags <- setdiff(unique(events$tag), c("global_step/sec", "learning_rate"))
  if (!setequal(tags, c(names(expected$summaries), unordered))) return(Inf)
  max(vapply(names(expected$summaries), function(tag) {
    rows <- events[events$tag == tag, ]
    points <- expected$summaries[[tag]]
    steps <- vapply(points, function(point) as.numeric(point[[1]]), 0)
    if (!identical(as.numeric(rows$step), steps)) return(Inf)
    error(rows$value, lapply(points, `[[`, 2))
  }, 0))
}

golden_errors <- function() {
  names <- canned_cases()
  errors <- vapply(names, function(name) max(case_errors(name)), 0)
  data.frame(case = names, largest_relative_error = errors, row.names = NULL)
}

# --- figures of golden/unit

# Converts a golden array (nested lists in row-major order) to an R array.
golden_array <- function(x) {
  if (!is.list(x)) return(x)
  parts <- lapply(x, golden_array)
  dims <- dim(parts[[1]])
  flat <- array(unlist(parts), c(dims, length(parts)))
  if (is.null(dims)) flat else aperm(flat, c(length(dims) + 1, seq_along(dims)))
}

# Expects |a - b| <= 1e-5 + 1e-5 |b|, and NaN for NaN.
expect_close <- function(actual, expected, label, tolerance = 1e-5) {
  a <- as.numeric(row_major(actual))
  b <- suppressWarnings(as.numeric(unlist(expected)))
  same <- length(a) == length(b) && identical(is.nan(a), is.nan(b))
  finite <- is.finite(b)
  same <- same && identical(a[!finite], b[!finite])
  error <- if (same) {
    max(0, abs(a - b)[finite] - tolerance * (1 + abs(b)[finite]))
  } else {
    Inf
  }
  expect_lte(error, 0, label = paste("the error above the tolerance of", label))
}

run_all <- function(graph, fetches) {
  session <- with_graph(graph, tf$Session())
  on.exit(session$close())
  session$run(fetches)
}
