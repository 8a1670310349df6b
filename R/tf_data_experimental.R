# tf$data$experimental: sources, and functions for the method apply() of datasets.

data_experimental_symbols <- function() {
  functions <- c(
    experimental_sources(), experimental_transformations(),
    list(
      get_single_element = function(dataset) {
        check_dataset(dataset)
        iterator_get_next(make_iterator_one_shot(dataset))
      },
      TFRecordWriter = dataset_record_writer,
      OptimizationOptions = data_options, ThreadingOptions = data_options,
      DistributeOptions = data_options, StatsOptions = data_options
    )
  )
  info <- list(
    Options = data_options,
    get_output_types = function(dataset_or_iterator) output_types(dataset_or_iterator),
    get_output_shapes = function(dataset_or_iterator) output_shapes(dataset_or_iterator)
  )
  c(
    setNames(functions, paste0("data.experimental.", names(functions))),
    setNames(functions, paste0("contrib.data.", names(functions))),
    setNames(info, paste0("data.", names(info))),
    list(
      contrib.data.AUTOTUNE = -1L, contrib.data.sample_from_datasets = sample_from_datasets,
      contrib.data.read_batch_features = batched_features_dataset,
      contrib.learn.read_batch_features = batched_features_dataset
    )
  )
}

experimental_sources <- function() {
  list(
    Counter = function(start = 0, step = 1, dtype = "int64") {
      check_number(step)
      numbers <- range_dataset(start, if (step < 0) -2^53 else 2^53, step)
      if (dtype_name(dtype) == "int64") return(numbers)
      dataset_map(numbers, function(n) tf$cast(n, dtype))
    },
    RandomDataset = function(seed = NULL) {
      dataset_map(dataset_repeat(range_dataset(0, 1)), function(n) {
        tf$random_uniform(list(), 0, 2^32, "int64", seed)
      })
    },
    SqlDataset = function(driver_name, data_source_name, query, output_types) {
      check_one_of(driver_name, "sqlite")
      names <- paste0("column", seq_along(output_types))
      rows <- sqlite_dataset(data_source_name, query, sql_record_spec(names, output_types))
      dataset_map(rows, function(record) unname(record))
    },
    choose_from_datasets = choose_from_datasets,
    make_batched_features_dataset = batched_features_dataset
  )
}

experimental_transformations <- function() {
  list(
    take_while = function(predicate) {
      function(dataset) {
        predicate <- tensor_function(dataset, predicate, "predicate")
        args <- list(dataset = dataset, predicate = predicate$handle)
        new_dataset("TakeWhileDataset", "take_while", args)
      }
    },
    batch_and_drop_remainder = function(batch_size) {
      function(dataset) dataset_batch(dataset, batch_size, drop_remainder = TRUE)
    },
    padded_batch_and_drop_remainder = function(batch_size, padded_shapes, padding_values = NULL) {
      function(dataset) {
        dataset_padded_batch(dataset, batch_size, padded_shapes, padding_values, TRUE)
      }
    },
    # TensorFlow's choice of the device and the measurements of its runtime do not change values
    copy_to_device = function(target_device, source_device = "/cpu:0") identity,
    latency_stats = function(tag) identity,
    bytes_produced_stats = function(tag) identity
  )
}

choose_from_datasets <- function(datasets, choice_dataset) {
  good <- is.list(datasets) && !is_dataset(datasets) && length(datasets) > 0 &&
    all(vapply(datasets, is_dataset, NA))
  check_arg(good, datasets, "a list of datasets", "datasets", environment())
  check_dataset(choice_dataset)
  form <- datasets[[1]]$form
  if (!all(vapply(datasets, function(x) identical(x$form, form), NA))) {
    abort_runhooks("The elements of {.arg datasets} have different structures.")
  }
  args <- list(
    datasets = unname(lapply(datasets, function(x) x$handle)),
    choice_dataset = choice_dataset$handle
  )
  tf_dataset(cpp_dataset("ChooseFromDatasets", args, "choose_from_datasets()"), form)
}

# Batches of parsed tf.train.Example records, with a label if `label_key` names one.
batched_features_dataset <- function(file_pattern, batch_size, features, reader = tfrecord_dataset,
                                     label_key = NULL, reader_args = NULL, num_epochs = NULL,
                                     shuffle = TRUE, shuffle_buffer_size = 10000,
                                     shuffle_seed = NULL, prefetch_buffer_size = 1,
                                     reader_num_threads = 1, parser_num_threads = 2,
                                     sloppy_ordering = FALSE, drop_final_batch = FALSE) {
  check_string(label_key, null = TRUE)
  check_flag(shuffle)
  check_flag(drop_final_batch)
  if (!is.null(label_key) && !label_key %in% names(features)) {
    abort_runhooks("`label_key`: {label_key} not in `features`: {names(features)}.")
  }
  files <- expand_file_patterns(file_pattern)
  rows <- do.call(reader, c(list(files), as.list(reader_args)))
  rows <- if (shuffle) {
    dataset_shuffle_and_repeat(rows, shuffle_buffer_size, num_epochs, shuffle_seed)
  } else {
    dataset_repeat(rows, num_epochs)
  }
  batches <- dataset_batch(rows, batch_size, drop_remainder = drop_final_batch)
  parsed <- dataset_map(batches, function(serialized) {
    record <- tf$parse_example(serialized, features)
    if (is.null(label_key)) return(record)
    list(record[setdiff(names(record), label_key)], record[[label_key]])
  })
  dataset_prefetch(parsed, prefetch_buffer_size)
}

# write() returns an operation that reads a dataset of strings and writes a record for each.
dataset_record_writer <- function(filename, compression_type = NULL) {
  check_path(filename)
  check_string(compression_type, null = TRUE)
  self <- new.env(parent = emptyenv())
  self$write <- function(dataset) {
    check_dataset(dataset)
    write <- function() {
      records <- lapply(dataset_collect(dataset), function(record) raw_values(record)[[1]])
      compression <- if (is.null(compression_type)) "" else compression_type
      cpp_write_tfrecord(unname(records), path.expand(filename), compression)
      TRUE
    }
    py_func(write, list(), "bool")$op
  }
  with_checked_members(self)
}

# Options of the runtime, which do not change values here. Scripts set any member.
data_options <- function() {
  structure(new.env(parent = emptyenv()), class = "tensorflow.data.Options")
}
