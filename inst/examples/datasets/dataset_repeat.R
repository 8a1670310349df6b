range_dataset(0, 3) |> dataset_repeat(2) |> dataset_collect()
