# Costs of a step: the linear regressor of mtcars (drat, cyl; batches of 8, shuffled), 100,000 steps
# each, with and without hooks, compared with the same loop in C++ and with bare R closures. Prints
# medians over several rounds, and their ratios.
#   Rscript bench/step.R [steps] [rounds]
library(runhooks)

arguments <- as.integer(commandArgs(TRUE))
steps <- if (length(arguments) >= 1) arguments[[1]] else 100000L
rounds <- if (length(arguments) >= 2) arguments[[2]] else 5L

Rcpp::sourceCpp("bench/floor.cpp", rebuild = TRUE, cacheDir = tempfile("floor"))
features <- as.matrix(mtcars[c("drat", "cyl")])
rate <- min(0.2, 1 / sqrt(2)) # TensorFlow's default for two columns

input <- function(...) {
  input_fn(
    mtcars, response = "mpg", features = c("drat", "cyl"), batch_size = 8L, num_epochs = NULL, ...
  )
}
# Keeps only the checkpoint saver of the hooks that train() adds, at the start and the end.
new_model <- function() {
  linear_regressor(
    feature_columns(column_numeric("drat"), column_numeric("cyl")), model_dir = tempfile("bench"),
    config = run_config(
      save_checkpoints_steps = 1e9, log_step_count_steps = NULL, save_summary_steps = 0
    )
  )
}

# --- the C++ loop is the same model, so it must end with the same numbers
model <- new_model()
train(model, input(shuffle = FALSE), steps = 1000)
ours <- unlist(variable_value(model)[paste0(
  "linear/linear_model/", c("bias_weights", "drat/weights", "cyl/weights")
)])
stopifnot(all.equal(
  unname(ours), floor_loop(features, mtcars$mpg, 1000L, FALSE, rate)[1:3], tolerance = 1e-3
))

# --- hooks
loss <- "linear/head/weighted_loss/Sum:0"
storing_hook <- function() {
  losses <- numeric(steps)
  i <- 0L
  session_run_hook(
    before_run = function(context) session_run_args(loss = loss),
    after_run = function(context, values) {
      i <<- i + 1L
      losses[[i]] <<- values$results$loss
    }
  )
}
constant_hook <- function() {
  args <- session_run_args(loss = loss)
  session_run_hook(
    before_run = function(context) args, after_run = function(context, values) NULL
  )
}
built_in <- function() {
  list(
    hook_history_saver(), hook_progress_bar(), hook_stop_at_step(last_step = 1e9),
    hook_nan_tensor(loss), hook_step_counter(output_dir = tempfile("events")),
    hook_logging_tensor(list(loss = loss), every_n_secs = 600),
    hook_checkpoint_saver(tempfile("checkpoints"), save_secs = 600)
  )
}

run <- function(hooks) {
  model <- new_model()
  function() utils::capture.output(train(model, input(), steps = steps, hooks = hooks()))
}
bare_hook <- function(hook) {
  context <- new.env()
  values <- list(results = list(loss = 1), options = NULL, run_metadata = NULL)
  function() {
    fresh <- hook()
    call_hook(fresh$before_run, fresh$after_run, context, values, steps)
  }
}

variants <- list(
  "the loop by hand, C++ (the floor)" = function() {
    floor_loop(features, mtcars$mpg, steps, TRUE, rate)
  },
  "no R hook" = run(function() NULL),
  "one R hook: fetches the loss, stores it" = run(storing_hook),
  "five of them" = run(function() replicate(5, storing_hook(), simplify = FALSE)),
  "one R hook: its args never change" = run(constant_hook),
  "all the built-in hooks" = run(built_in),
  "bare: one empty closure" = function() call_closure(function() NULL, steps),
  "bare: the closures of the storing hook" = bare_hook(storing_hook),
  "bare: the closures of the constant hook" = bare_hook(constant_hook)
)

tf$logging$set_verbosity("ERROR")
times <- vapply(seq_len(rounds), function(round) {
  vapply(variants, function(variant) {
    gc(FALSE)
    system.time(variant(), gcFirst = FALSE)[["elapsed"]]
  }, 0)
}, numeric(length(variants)))
us <- apply(times, 1, stats::median) / steps * 1e6
floor_us <- us[[1]]
closure_us <- us[["bare: one empty closure"]]

cat(sprintf("%d steps, %d rounds, medians\n", steps, rounds))
cat(sprintf("%-42s %9s %11s %12s\n", "", "us a step", "x the floor", "x a closure"))
cat(sprintf("%-42s %9.2f %11.1f %12.1f\n", names(us), us, us / floor_us, us / closure_us), sep = "")
plain <- us[["no R hook"]]
storing <- us[["one R hook: fetches the loss, stores it"]]
stored <- us[["bare: the closures of the storing hook"]]
cat(sprintf(
  "a storing hook: %.2f times its bare closures, %.2f beyond the loop without it\n",
  storing / stored, (storing - plain) / stored
))
cat(sprintf(
  "a hook beyond the loop without it: storing %+.2f us (bare %.2f), constant %+.2f us (bare %.2f)\n",
  us[["one R hook: fetches the loss, stores it"]] - plain,
  us[["bare: the closures of the storing hook"]],
  us[["one R hook: its args never change"]] - plain,
  us[["bare: the closures of the constant hook"]]
))

# --- costs of a call besides its steps: checkpoints with graphs, graph.pbtxt, an event file
call_ms <- function(model) {
  one <- function() system.time(train(model, input(), steps = 1), gcFirst = FALSE)[["elapsed"]]
  utils::capture.output(times <- replicate(21, one()))
  stats::median(times) * 1e3
}
usual_model <- linear_regressor(
  feature_columns(column_numeric("drat"), column_numeric("cyl")), model_dir = tempfile("bench")
)
cat(sprintf("train(steps = 1), the usual run_config(): %.1f ms a call\n", call_ms(usual_model)))

# --- TensorFlow's estimator, if installed
python <- suppressWarnings(system2("sh", "tools/tf_python.sh", stdout = TRUE, stderr = FALSE))
if (length(python)) {
  lines <- system2(
    python[[1]], c("bench/step_tf.py", format(plain)), stdout = TRUE, stderr = FALSE
  )
  writeLines(grep("^TensorFlow", lines, value = TRUE))
} else {
  cat("no Python with TensorFlow (set RUNHOOKS_TF_PYTHON): its estimator is not measured\n")
}
