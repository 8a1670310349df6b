dataset_collect(range_dataset(0, 5))
