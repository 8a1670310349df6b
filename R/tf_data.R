# tf$data: TensorFlow's names of datasets, and methods of datasets.

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
    applied_symbols()
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

applied_symbols <- function() {
  applied <- list(
    ignore_errors = function() {
      function(dataset) {
        check_dataset(dataset)
        new_dataset("IgnoreErrorsDataset", "ignore_errors", list(dataset = dataset))
      }
    },
    unbatch = function() unbatched,
    unique = function() dataset_unique,
    enumerate_dataset = function(start = 0) {
      function(dataset) zip_datasets(range_dataset(start, 2^53), dataset)
    },
    group_by_window = function(key_func, reduce_func, window_size = NULL,
                               window_size_func = NULL) {
      function(dataset) {
        dataset_group_by_window(dataset, key_func, reduce_func, window_size, window_size_func)
      }
    },
    bucket_by_sequence_length = function(element_length_func, bucket_boundaries, bucket_batch_sizes,
                                         padded_shapes = NULL, padding_values = NULL,
                                         pad_to_bucket_boundary = FALSE, no_padding = FALSE,
                                         drop_remainder = FALSE) {
      function(dataset) {
        dataset_bucket_by_sequence_length(
          dataset, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes,
          padding_values, pad_to_bucket_boundary, no_padding, drop_remainder
        )
      }
    },
    scan = function(initial_state, scan_func) {
      function(dataset) dataset_scan(dataset, initial_state, scan_func)
    },
    rejection_resample = function(class_func, target_dist, initial_dist = NULL, seed = NULL) {
      function(dataset) {
        dataset_rejection_resample(dataset, class_func, target_dist, initial_dist, seed)
      }
    },
    parallel_interleave = function(map_func, cycle_length, block_length = 1, sloppy = FALSE,
                                   buffer_output_elements = NULL, prefetch_input_elements = NULL) {
      check_flag(sloppy)
      function(dataset) dataset_interleave(dataset, map_func, cycle_length, block_length)
    },
    prefetch_to_device = function(device, buffer_size = NULL) {
      function(dataset) dataset_prefetch_to_device(dataset, device, buffer_size)
    },
    shuffle_and_repeat = function(buffer_size, count = NULL, seed = NULL) {
      function(dataset) dataset_shuffle_and_repeat(dataset, buffer_size, count, seed)
    },
    map_and_batch = function(map_func, batch_size, num_parallel_batches = NULL,
                             drop_remainder = FALSE, num_parallel_calls = NULL) {
      function(dataset) {
        dataset_map_and_batch(
          dataset, map_func, batch_size, num_parallel_batches, drop_remainder, num_parallel_calls
        )
      }
    }
  )
  c(
    setNames(applied, paste0("data.experimental.", names(applied))),
    setNames(applied, paste0("contrib.data.", names(applied)))
  )
}

# One element for each row of an element.
unbatched <- function(dataset) {
  dataset_flat_map(dataset, function(...) {
    element <- list(...)
    tensor_slices_dataset(if (length(element) == 1) element[[1]] else element)
  })
}

# The R functions of methods; their first argument is the dataset.
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
