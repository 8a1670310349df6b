range_dataset(0, 3) |>
  dataset_shuffle_and_repeat(3, 2, seed = 1) |>
  dataset_batch(6) |>
  dataset_collect()
