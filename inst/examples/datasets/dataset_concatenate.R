range_dataset(0, 2) |> dataset_concatenate(range_dataset(7, 9)) |> dataset_collect()
