tensor_slices_dataset(c("a", "b", "a")) |> dataset_unique() |> dataset_collect()
