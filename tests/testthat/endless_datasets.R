# Datasets that search for their first element for ever, for tests of interrupts.
endless_datasets <- list(
  filter = quote(dataset_filter(range_dataset(0, 1e15), ~ .x < 0)),
  skip = quote(dataset_skip(dataset_repeat(tensor_slices_dataset(1:3)), 1e15)),
  skip_rows = quote(dataset_batch(dataset_skip(dataset_repeat(tensor_slices_dataset(mtcars)), 1e14), 4)),
  shard = quote(dataset_shard(range_dataset(0, 1e15), 1e14, 1e14 - 1)),
  flat_map = quote(dataset_flat_map(dataset_repeat(range_dataset(0, 3)), function(x) {
    dataset_filter(range_dataset(0, 5), ~ .x < 0)
  })),
  one_batch = quote(dataset_padded_batch(dataset_repeat(range_dataset(0, 3)), 1e13)),
  one_window = quote(dataset_flat_map(
    dataset_window(dataset_repeat(range_dataset(0, 3)), 1e13), function(w) w
  )),
  slow_steps = quote(dataset_filter(range_dataset(0, 1e15), function(x) {
    m <- tf$fill(list(200L, 200L), tf$cast(x, "float32"))
    tf$reduce_sum(tf$matmul(m, m)) < -1
  })),
  loop_of_random = quote(dataset_map(range_dataset(0, 3), function(x) {
    tf$while_loop(function(i) i < 2, function(i) tf$random_uniform(list()), list(tf$constant(0)))
  })),
  generator = quote(dataset_filter(generator_dataset(function() 1, "float32", list()), ~ .x < 0)),
  prefetched = quote(dataset_prefetch(dataset_filter(range_dataset(0, 1e15), ~ .x < 0), 2)),
  prefetched_loop = quote(dataset_prefetch(dataset_map(range_dataset(0, 3), function(x) {
    tf$while_loop(function(i) i < 2, function(i) tf$random_uniform(list()), list(tf$constant(0)))
  }), 2)),
  several_threads = quote(dataset_map(dataset_skip(range_dataset(0, 1e15), 1e15), ~ .x + 1, 2))
)
