# Members of `tf` for TensorFlow 1.x scripts that this package's R functions implement: estimators,
# heads, tf$compat, tf$logging, tf$Print(), checkpoints and old metrics.

script_symbols <- function() {
  c(
    estimator_symbols(), compat_symbols(), conditional_logging_symbols(), checkpoint_symbols(),
    streaming_symbols(),

    list(
      Print = tensor_print, contrib.training.HParams = new_hparams,
      TensorShape = function(dims) {
        is_valid <- is.null(dims) || is.list(dims) || is_atomic(dims)
        check_arg(is_valid, dims, "the dimensions of a shape", "dims", environment())
        do.call(shape, as.list(dims))
      },
      Dimension = function(value) {
        check_whole(value, null = TRUE)
        if (!is.null(value)) as.integer(value)
      },
      AggregationMethod.ADD_N = 0L, AggregationMethod.DEFAULT = 0L,
      test.get_temp_dir = function() tempdir(),
      test.is_gpu_available = function(cuda_only = FALSE, min_cuda_compute_capability = NULL) FALSE,
      test.gpu_device_name = function() "", test.is_built_with_cuda = function() FALSE
    )
  )
}

# Estimators and heads, whose R functions have TensorFlow's arguments.
estimator_symbols <- function() {
  models <- list(
    LinearRegressor = linear_regressor, LinearClassifier = linear_classifier,
    LinearEstimator = linear_estimator, DNNRegressor = dnn_regressor,
    DNNClassifier = dnn_classifier, DNNEstimator = dnn_estimator,
    DNNLinearCombinedRegressor = dnn_linear_combined_regressor,
    DNNLinearCombinedClassifier = dnn_linear_combined_classifier,
    DNNLinearCombinedEstimator = dnn_linear_combined_estimator,
    BaselineRegressor = baseline_regressor, BaselineClassifier = baseline_classifier,
    BaselineEstimator = baseline_estimator, BoostedTreesRegressor = boosted_trees_regressor,
    BoostedTreesClassifier = boosted_trees_classifier,
    BoostedTreesEstimator = boosted_trees_estimator
  )
  heads <- list(
    regression_head = regression_head, poisson_regression_head = poisson_regression_head,
    logistic_regression_head = logistic_regression_head,
    binary_classification_head = binary_class_head, multi_class_head = multi_class_head,
    multi_label_head = multi_label_head, multi_head = multi_head
  )
  classes <- c(
    "RegressionHead", "PoissonRegressionHead", "LogisticRegressionHead", "BinaryClassHead",
    "MultiClassHead", "MultiLabelHead", "MultiHead"
  )
  learn <- models[!grepl("^Baseline|^Boosted", names(models))]
  contrib_models <- models[endsWith(names(models), "Estimator")]
  c(
    setNames(models, paste0("estimator.", names(models))),
    setNames(contrib_models, paste0("contrib.estimator.", names(contrib_models))),
    setNames(learn, paste0("contrib.learn.", names(learn))),
    setNames(heads, paste0("contrib.estimator.", names(heads))),
    setNames(heads, paste0("estimator.", classes)),
    list(
      contrib.learn.RunConfig = run_config, contrib.learn.Estimator = estimator_with_tf_signature,
      contrib.learn.ModeKeys.TRAIN = "train", contrib.learn.ModeKeys.EVAL = "eval",
      contrib.learn.ModeKeys.INFER = "infer", estimator.inputs.pandas_input_fn = pandas_input_fn,
      estimator.add_metrics = add_metrics,
      estimator.classifier_parse_example_spec = classifier_parse_example_spec,
      estimator.regressor_parse_example_spec = regressor_parse_example_spec
    )
  )
}

# Strings are text in R, so these only convert bytes.
compat_symbols <- function() {
  as_text <- function(bytes_or_text, encoding = "utf-8") {
    if (is.raw(bytes_or_text)) return(text_of_bytes(bytes_or_text))
    check_string(bytes_or_text)
    bytes_or_text
  }
  list(
    compat.v1 = tf, compat.as_text = as_text, compat.as_str = as_text,
    compat.as_bytes = function(bytes_or_text, encoding = "utf-8") raw_values(bytes_or_text)[[1]],
    compat.as_str_any = function(value) if (is.raw(value)) text_of_bytes(value) else format(value),
    compat.dimension_value = function(dimension) dimension,
    compat.dimension_at_index = function(shape, index) {
      dims <- as.list(shape)
      is_valid <- is_whole(index) && index >= 0 && index < length(dims)
      check_arg(is_valid, index, "the index of a dimension, from 0", "index", environment())
      dims[[index + 1]]
    },
    disable_eager_execution = function() invisible(), disable_v2_behavior = function() invisible()
  )
}

conditional_logging_symbols <- function() {
  count <- new.env(parent = emptyenv())
  # Returns the number of earlier calls with this message.
  count_call <- function(msg) {
    key <- paste0(".", msg) # the message may be empty
    n <- count[[key]]
    count[[key]] <- if (is.null(n)) 1 else n + 1
    if (is.null(n)) 0 else n
  }
  symbols <- list(
    log_if = function(level, msg, condition, ...) {
      check_flag(condition)
      if (condition) tf$logging$log(level, msg, ...)
    },
    log_first_n = function(level, msg, n, ...) {
      check_string(msg)
      check_number(n)
      if (count_call(msg) < n) tf$logging$log(level, msg, ...)
    },
    log_every_n = function(level, msg, n, ...) {
      check_string(msg)
      check_positive_whole(n)
      if (count_call(msg) %% n == 0) tf$logging$log(level, msg, ...)
    },
    flush = function() invisible()
  )
  setNames(symbols, paste0("logging.", names(symbols)))
}

# A tensor that shows `data` on stderr when it is computed.
tensor_print <- function(input_, data, message = NULL, first_n = NULL, summarize = 3, name = NULL) {
  check_string(message, null = TRUE)
  check_whole(first_n, null = TRUE)
  check_whole(summarize, null = TRUE)
  if (is.null(summarize)) summarize <- 3
  shown <- 0
  limit <- if (is.null(first_n) || first_n < 0) Inf else first_n
  show <- function(...) {
    shown <<- shown + 1
    if (shown > limit) return(TRUE)
    parts <- vapply(list(...), printed_values, "", summarize)
    base::message(message, paste(parts, collapse = ""))
    TRUE
  }
  tensors <- lapply(as_tensor_list(data), as_tensor)
  input <- as_tensor(input_)
  done <- py_func(show, tensors, "bool", name = name)
  with(control_dependencies(list(done$op)), tf$identity(input))
}

printed_values <- function(x, summarize) {
  dims <- dim(x)
  values <- if (length(dims) > 1) as.vector(aperm(x)) else as.vector(x)
  few <- if (summarize < 0) values else utils::head(values, summarize)
  text <- if (is.double(few)) format(few, digits = 6, trim = TRUE, drop0trailing = TRUE) else few
  paste0("[", paste(text, collapse = " "), if (length(few) < length(values)) "...", "]")
}

# --- checkpoints

checkpoint_symbols <- function() {
  symbols <- list(
    NewCheckpointReader = function(filepattern) load_checkpoint(filepattern),
    get_checkpoint_mtimes = function(checkpoint_prefixes) {
      as.numeric(file.mtime(paste0(path.expand(as_strings(checkpoint_prefixes)), ".index")))
    },
    remove_checkpoint = function(checkpoint_prefix, checkpoint_format_version = NULL,
                                 meta_graph_suffix = "meta") {
      check_path(checkpoint_prefix)
      prefix <- path.expand(checkpoint_prefix)
      files <- list.files(dirname(prefix), full.names = TRUE)
      known <- paste0(prefix, c(".index", paste0(".", meta_graph_suffix)))
      invisible(unlink(files[files %in% known | startsWith(files, paste0(prefix, ".data-"))]))
    },
    checkpoints_iterator = checkpoints_iterator
  )
  c(
    setNames(symbols, paste0("train.", names(symbols))),
    list(
      contrib.training.checkpoints_iterator = checkpoints_iterator,
      contrib.framework.load_checkpoint = load_checkpoint
    )
  )
}

# Waits for checkpoints and returns each new one, for iter_next() and iterate().
checkpoints_iterator <- function(checkpoint_dir, min_interval_secs = 0, timeout = NULL,
                                 timeout_fn = NULL) {
  check_path(checkpoint_dir)
  check_number(min_interval_secs)
  check_number(timeout, null = TRUE)
  last <- NULL
  seen <- -Inf
  next_item <- function() {
    began <- now_in_seconds()
    repeat {
      newest <- latest_listed_checkpoint(checkpoint_dir)
      is_due <- now_in_seconds() - seen >= min_interval_secs
      if (is_due && !is.null(newest) && !identical(newest, last)) {
        last <<- newest
        seen <<- now_in_seconds()
        return(newest)
      }
      is_late <- !is.null(timeout) && now_in_seconds() - began >= timeout
      if (is_late && (is.null(timeout_fn) || isTRUE(timeout_fn()))) return(NULL)
      if (is_late) began <- now_in_seconds()
      Sys.sleep(min(c(1, timeout / 10)))
    }
  }
  structure(list(next_item = next_item, close = function() NULL), class = "runhooks_iterator")
}

now_in_seconds <- function() proc.time()[[3]]

pandas_input_fn <- function(x, y = NULL, batch_size = 128, num_epochs = 1, shuffle = NULL,
                            queue_capacity = 1000, num_threads = 1, target_column = "target") {
  check_arg(is.data.frame(x), x, "a data frame", "x", environment())
  plain_numpy_input_fn(as.list(x), y, batch_size, num_epochs, shuffle, queue_capacity, num_threads)
}

# The old names of tf$metrics take predictions first.
streaming_symbols <- function() {
  metric_names <- c(
    "accuracy", "auc", "precision", "recall", "mean_absolute_error", "mean_squared_error",
    "root_mean_squared_error"
  )
  predictions_first <- function(name) {
    force(name)
    function(predictions, labels, weights = NULL, ...) {
      tf$metrics[[name]](labels, predictions, weights, ...)
    }
  }
  c(
    setNames(
      lapply(metric_names, predictions_first), paste0("contrib.metrics.streaming_", metric_names)
    ),
    list(
      contrib.metrics.streaming_mean = function(values, weights = NULL, ...) {
        tf$metrics$mean(values, weights, ...)
      },
      contrib.metrics.accuracy = function(predictions, labels, weights = NULL, name = NULL) {
        is_right <- tf$cast(tf$equal(predictions, labels), "float32")
        if (is.null(weights)) return(tf$reduce_mean(is_right, name = name))
        weights <- tf$ones_like(is_right) * weights
        tf$divide(tf$reduce_sum(is_right * weights), tf$reduce_sum(weights), name = name)
      }
    )
  )
}
