range_dataset(0, 5) |> dataset_take(2) |> dataset_collect()
