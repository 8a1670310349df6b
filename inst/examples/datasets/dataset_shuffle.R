range_dataset(0, 5) |> dataset_shuffle(5, seed = 1) |> dataset_batch(5) |> dataset_collect()
