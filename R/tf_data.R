# tf$data: dataset functions under TensorFlow's names, and the methods of datasets.

data_symbols <- function() {
  c(
    list(
      data.Dataset.from_tensor_slices = tensor_slices_dataset,
      data.Dataset.from_tensors = tensors_dataset,
      data.Dataset.from_generator = function(generator, output_types, output_shapes = NULL,
                                             args = NULL) {
        abort_unsupported_arguments(args)
        generator_dataset(generator, output_types, output_shapes)
      },
      data.Dataset.range = function(start, stop = NULL, step = 1) {
        if (is.null(stop)) range_dataset(0, start, step) else range_dataset(start, stop, step)
      },
      data.Dataset.zip = function(datasets) zip_datasets(datasets),
      data.make_one_shot_iterator = make_iterator_one_shot,
      data.make_initializable_iterator = make_iterator_initializable,
      data.Iterator.from_structure = function(output_types, output_shapes = NULL,
                                              shared_name = NULL, output_classes = NULL) {
        make_iterator_from_structure(output_types, output_shapes, shared_name)
      },
      data.experimental.CheckpointInputPipelineHook = hook_checkpoint_input_pipeline,
      contrib.data.CheckpointInputPipelineHook = hook_checkpoint_input_pipeline,
      data.experimental.make_saveable_from_iterator = make_saveable_from_iterator,
      contrib.data.make_saveable_from_iterator = make_saveable_from_iterator,
      data.experimental.sample_from_datasets = sample_from_datasets,
      data.experimental.AUTOTUNE = -1L,
      data.experimental.cardinality = function(dataset) {
        check_dataset(dataset)
        tf$constant(cpp_dataset_cardinality(dataset$handle), "int64")
      },
      data.experimental.INFINITE_CARDINALITY = -1L,
      data.experimental.UNKNOWN_CARDINALITY = -2L
    ),
    file_symbols(),
    transformation_symbols()
  )
}

file_symbols <- function() {
  list(
    data.TextLineDataset = function(filenames, compression_type = NULL, buffer_size = NULL) {
      check_positive_whole(buffer_size, null = TRUE)
      text_line_dataset(filenames, compression_type)
    },
    data.TFRecordDataset = function(filenames, compression_type = NULL, buffer_size = NULL,
                                    num_parallel_reads = NULL) {
      tfrecord_dataset(filenames, compression_type, buffer_size, num_parallel_reads)
    },
    data.FixedLengthRecordDataset = fixed_length_record_dataset,
    data.Dataset.list_files = file_list_dataset,
    data.experimental.CsvDataset = tf_csv_dataset,
    contrib.data.CsvDataset = tf_csv_dataset,
    data.experimental.make_csv_dataset = make_csv_dataset,
    contrib.data.make_csv_dataset = make_csv_dataset
  )
}

# Functions that return a transformation, for `dataset$apply()`.
transformation_symbols <- function() {
  symbols <- list(
    ignore_errors = function() {
      function(dataset) {
        check_dataset(dataset)
        new_dataset("IgnoreErrorsDataset", "ignore_errors", list(dataset = dataset))
      }
    },
    unbatch = function() unbatch_dataset,
    unique = function() dataset_unique,
    enumerate_dataset = function(start = 0) {
      function(dataset) zip_datasets(range_dataset(start, 2^53), dataset)
    },
    parallel_interleave = function(map_func, cycle_length, block_length = 1, sloppy = FALSE,
                                   buffer_output_elements = NULL, prefetch_input_elements = NULL) {
      check_flag(sloppy)
      function(dataset) dataset_interleave(dataset, map_func, cycle_length, block_length)
    }
  )
  same_arguments <- c(
    "group_by_window", "bucket_by_sequence_length", "scan", "rejection_resample",
    "prefetch_to_device", "shuffle_and_repeat", "map_and_batch"
  )
  symbols <- c(symbols, lapply(setNames(nm = same_arguments), transformation_function))
  c(
    setNames(symbols, paste0("data.experimental.", names(symbols))),
    setNames(symbols, paste0("contrib.data.", names(symbols)))
  )
}

# For the name "scan", returns a function with the arguments of dataset_scan() except the dataset.
# This function returns the transformation, which is a function of the dataset.
transformation_function <- function(name) {
  function_name <- paste0("dataset_", name)
  arguments <- formals(function_name)
  call <- as.call(lapply(c(function_name, names(arguments)), as.name))
  as.function(c(arguments[-1], bquote(function(dataset) .(call))), topenv())
}

# Splits batches: each row of an element becomes an element.
unbatch_dataset <- function(dataset) {
  dataset_flat_map(dataset, function(...) {
    element <- list(...)
    tensor_slices_dataset(if (length(element) == 1) element[[1]] else element)
  })
}

# Returns the functions that are the methods of a dataset. Their first argument is the dataset.
dataset_methods <- function() {
  list(
    batch = dataset_batch, shuffle = dataset_shuffle, map = dataset_map, `repeat` = dataset_repeat,
    take = dataset_take, skip = dataset_skip, prefetch = dataset_prefetch, filter = dataset_filter,
    flat_map = dataset_flat_map, interleave = dataset_interleave, cache = dataset_cache,
    concatenate = dataset_concatenate, shard = dataset_shard, window = dataset_window,
    padded_batch = dataset_padded_batch, make_one_shot_iterator = make_iterator_one_shot,
    make_initializable_iterator = make_iterator_initializable
  )
}

#' @export
`$.tf_dataset` <- function(x, name) {
  if (name %in% c("handle", "form")) return(unclass(x)[[name]])
  if (name == "output_types") return(output_types(x))
  if (name == "output_shapes") return(output_shapes(x))
  # TensorFlow's options do not change values
  if (name == "with_options") return(function(options) x)
  if (name == "apply") return(function(transformation_func) transformation_func(x))
  method <- dataset_methods()[[name]]
  if (is.null(method)) abort_no_member(x, name, names(dataset_methods()))
  function(...) method(x, ...)
}
