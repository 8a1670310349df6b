# Trains models whose results must be the same in every locale: `Rscript locale_runs.R <results.rds>
# [LC_NUMERIC locale]`. Saves all text as UTF-8 bytes. This file must contain only ASCII.
library(runhooks)
arguments <- commandArgs(TRUE)
if (length(arguments) > 1) {
  # R warns about every LC_NUMERIC other than "C".
  stopifnot(suppressWarnings(Sys.setlocale("LC_NUMERIC", arguments[[2]])) == arguments[[2]])
  options(OutDec = ",")
}
stopifnot(nzchar(Sys.getenv("LC_ALL")), Sys.getlocale("LC_CTYPE") == Sys.getenv("LC_ALL"))
options(cli.unicode = FALSE, cli.num_colors = 1L)

size <- "gr\u00f6\u00dfe"
words <- c("gro\u00df", "klein", "\u00fcbrig")
colors <- c("rot", "gr\u00fcn", "Gelb", "\u00e4hnlich")
data <- data.frame(x = abs(sin(1:30)), y = cos(1:30), id = rep(c("I", "i", "B"), 10))
data[[size]] <- (1:30 %% 7) / 7
data[["f\u00e4rbe"]] <- colors[1:30 %% 4 + 1]
data[["k\u00fcche"]] <- words[1 + (1:30 %% 3)]

config <- function() run_config(tf_random_seed = 1, save_summary_steps = 2)
# Returns a new folder. In the C locale its name is ASCII, because R cannot use other letters there.
folder <- function() tempfile(if (Sys.getenv("LC_ALL") == "C") "model" else size)
weights <- function(model) {
  lapply(setNames(nm = variable_names(model)), function(name) variable_value(model, name))
}
logged <- function(expr) {
  lines <- character()
  withCallingHandlers(expr, runhooks_log = function(m) {
    lines <<- c(lines, conditionMessage(m))
    invokeRestart("muffleMessage")
  })
  sub("[0-9.]+ sec|: [0-9.e+]+\n", "", grep("loss", lines, value = TRUE))
}

# Converts text to this locale's encoding, like text from a file or a terminal.
native <- function(data) {
  words <- vapply(data, is.character, NA)
  data[words] <- lapply(data[words], enc2native)
  names(data) <- enc2native(names(data))
  data
}

formula_model <- function(data, formula, rows = data) {
  model <- linear_classifier(formula, data, model_dir = folder(), config = config())
  suppressMessages(train(model, data, steps = 5))
  list(
    classes = predict(model, rows, type = "class"), probabilities = predict(model, rows),
    coefficients = coef(model), weights = weights(model), vocabulary = model$spec$label_vocabulary
  )
}

canned_model <- function(data) {
  columns <- list(
    column_numeric(size),
    column_indicator(column_categorical_with_vocabulary_list("f\u00e4rbe", vocabulary_list = colors)),
    column_embedding(column_categorical_with_hash_bucket("id", hash_bucket_size = 5), 2)
  )
  model <- dnn_classifier(
    feature_columns = columns, hidden_units = 3, n_classes = 3, label_vocabulary = words,
    model_dir = folder(), config = config()
  )
  input <- input_fn(
    data, features = c(size, "f\u00e4rbe", "id"), response = "k\u00fcche", batch_size = 10,
    shuffle = FALSE
  )
  log <- logged(train(model, input, steps = 3))
  events <- read_events(model_dir(model))
  raw <- load_savedmodel(export_savedmodel(model, folder(), as_text = TRUE))
  list(
    log = log, weights = weights(model), predictions = predict(model, input),
    evaluation = evaluate(model, input, steps = 1),
    tags = setdiff(events$tag, grep("sec", events$tag, value = TRUE)),
    values = events$value[!grepl("sec", events$tag)],
    files = sub("[0-9]{10}.*", "", list.files(model_dir(model))),
    exported = predict(raw, data[c(size, "f\u00e4rbe", "id")]),
    signature = raw$signatures$predict$inputs
  )
}

custom_model <- function(data) {
  model_fn <- function(features, labels, mode, params, config) {
    with(tf$name_scope("I"), hidden <- input_layer(features, column_numeric(size)))
    predicted <- tf$squeeze(tf$layers$dense(hidden, 1L), 1L)
    if (mode == "infer") return(estimator_spec(mode = mode, predictions = list(y = predicted)))
    loss <- tf$losses$mean_squared_error(labels, predicted, reduction = "SUM")
    step <- tf$train$AdagradOptimizer(0.5)$minimize(loss, global_step = tf$train$get_global_step())
    estimator_spec(mode = mode, loss = loss, train_op = step)
  }
  model <- estimator(model_fn, model_dir = folder(), config = config())
  input <- numpy_input_fn(setNames(list(data[[size]]), size), data$y, batch_size = 10, shuffle = FALSE)
  suppressMessages(train(model, input, steps = 3))
  list(weights(model), predict(model, input))
}

text_files <- function() {
  path <- tempfile(fileext = ".csv")
  lines <- c(
    paste0("x,", size, ",wort"), "0.30000000000000004441,1e-7,I",
    "1234567890.123456789012345,2.5,\u0131", "7,-0.125,gr\u00fcn"
  )
  writeBin(charToRaw(enc2utf8(paste0(paste(lines, collapse = "\n"), "\n"))), path)
  batches <- make_csv_dataset(path, 3, num_epochs = 1, shuffle = FALSE)
  defaults <- make_csv_dataset(
    path, 3, column_defaults = list(0.5, 1.25, "leer"), num_epochs = 1, shuffle = FALSE
  )
  list(dataset_collect(batches), dataset_collect(defaults))
}

operations <- function() {
  graph <- tf$Graph()
  with(graph$as_default(), {
    values <- list(
      text = tf$as_string(c(0.5, 1e-9)), number = tf$string_to_number(c("0.5", "1e-3")),
      lower = tf$strings$lower("INDEX \u00dc"), upper = tf$strings$upper("index \u00fc"),
      split = tf$strings$regex_replace("I\u0131i", "(?i)i", "x"),
      join = tf$strings$join(list("\u00e4", "\u4e2d"))
    )
    with(tf$Session() %as% session, values <- session$run(values))
  })
  message <- tryCatch(column_numeric(size, shape = -0.5), error = conditionMessage)
  list(
    values, def = format(graph$as_graph_def()), message = message,
    near = tryCatch(hook_stop_at_step(num_stepz = 1), error = conditionMessage)
  )
}

in_bytes <- function(x) {
  if (is.factor(x)) x <- list(levels = levels(x), codes = as.integer(x))
  if (is.symbol(x) || is.language(x) || is.function(x) || is.environment(x)) return(NULL)
  all <- if (is.character(x)) lapply(enc2utf8(as.vector(x)), charToRaw) else x
  if (is.list(x)) all <- lapply(seq_along(x), function(i) in_bytes(x[[i]]))
  all <- if (is.atomic(all)) as.vector(all) else all
  list(unname(all), if (!is.null(names(x))) lapply(enc2utf8(names(x)), charToRaw))
}

response <- stats::as.formula(call("~", as.name("k\u00fcche"), quote(.)))
written <- stats::as.formula(call(
  "~", as.name("k\u00fcche"), call("+", call("+", as.name(size), as.name("id")), quote(I(x^0.5 * 0 + y)))
))
results <- list(
  all_terms = suppressWarnings(formula_model(data, response)),
  terms = suppressWarnings(formula_model(data, written)),
  canned = canned_model(data), custom = custom_model(data), files = text_files(),
  operations = operations()
)
if (Sys.getenv("LC_ALL") != "C") { # the C locale cannot encode these letters
  results$canned_native <- canned_model(native(data))
  results$terms_native <- formula_model(native(data), written)
}
saveRDS(lapply(results, in_bytes), arguments[[1]])
