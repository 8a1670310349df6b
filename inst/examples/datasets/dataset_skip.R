range_dataset(0, 5) |> dataset_skip(3) |> dataset_collect()
