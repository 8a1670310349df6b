range_dataset(0, 5) |> dataset_batch(2) |> dataset_prefetch(1) |> dataset_collect()
