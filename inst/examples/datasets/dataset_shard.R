range_dataset(0, 5) |> dataset_shard(2, 1) |> dataset_collect()
