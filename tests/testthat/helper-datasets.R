# Random pipelines, the same for the same seed in any process.

random_pipeline <- function(seed) {
  draw <- function(...) sample(..., size = 1)
  withr::with_seed(seed, {
    n <- draw(5:25)
    dataset <- switch(draw(3),
      dataset_map(range_dataset(0, n), ~ tf$cast(.x, "float32")),
      tensor_slices_dataset(as.numeric(seq_len(n)) / 2),
      sample_from_datasets(list(
        tensor_slices_dataset(as.numeric(1:9)), tensor_slices_dataset(as.numeric(101:105))
      ))
    )
    for (step in seq_len(draw(6))) dataset <- random_step(dataset, draw)
    dataset
  })
}

random_step <- function(dataset, draw) {
  few <- draw(4)
  own_state <- function() {
    at <- 0
    generator_dataset(
      function() {
        at <<- at + 1
        if (at <= 20) at
      },
      save = function() at, restore = function(state) at <<- state
    )
  }
  scalar <- length(output_shapes(dataset)) == 0
  switch(draw(16),
    dataset_take(dataset, draw(20)), dataset_skip(dataset, few), dataset_repeat(dataset, few),
    dataset_shuffle(dataset, draw(12)), dataset_shuffle_and_repeat(dataset, draw(12), few),
    dataset_map(dataset, function(x) x * 2 + tf$random_uniform(tf$shape(x)), few),
    dataset_map(dataset, ~ .x + 1, few), dataset_filter(dataset, ~ tf$reduce_max(.x) > few),
    dataset_flat_map(dataset, function(x) dataset_repeat(tensors_dataset(x), few)),
    dataset_interleave(dataset, function(x) dataset_repeat(tensors_dataset(x), 3), few, 2),
    dataset_prefetch(dataset, few), dataset_shard(dataset, 2, draw(0:1)), dataset_cache(dataset),
    dataset_concatenate(dataset, dataset),
    if (scalar) dataset_concatenate(dataset, own_state()) else dataset,
    if (scalar) dataset_padded_batch(dataset, few) else dataset
  )
}

# Iterators of the pipelines with these seeds in the default graph, and a saver of all of them.
pipelines_in_graph <- function(seeds) iterators_in_graph(lapply(seeds, random_pipeline))

iterators_in_graph <- function(datasets) {
  iterators <- lapply(datasets, make_iterator_one_shot)
  for (iterator in iterators) {
    tf$add_to_collection("saveable_objects", make_saveable_from_iterator(iterator))
  }
  list(values = lapply(iterators, iterator_get_next), saver = saver_of_graph())
}

# Each kind of source, on files in a folder that write_sources() has filled.
sources_in <- function(folder, frame = parent.frame()) {
  at <- function(...) file.path(folder, c(...))
  spec <- csv_record_spec(at("a.csv"))
  database <- DBI::dbConnect(RSQLite::SQLite(), at("base"))
  withr::defer(DBI::dbDisconnect(database), frame)
  list(
    lines = text_line_dataset(at("a.csv", "b.csv")),
    zipped = text_line_dataset(at("lines.gz"), "GZIP"),
    csv = text_line_dataset(at("a.csv", "b.csv"), record_spec = spec),
    csv_batches = dataset_batch(text_line_dataset(at("a.csv", "b.csv"), record_spec = spec), 4),
    decoded = dataset_decode_delim(text_line_dataset(at("fields")), spec),
    make_csv = make_csv_dataset(at("*.csv"), 3, shuffle_buffer_size = 5, num_parallel_reads = 2,
      num_epochs = 2),
    records = tfrecord_dataset(at("records")),
    records_zlib = tfrecord_dataset(at("records.zlib", "records.zlib"), "ZLIB"),
    fixed = fixed_length_record_dataset(at("fixed"), 3, header_bytes = 2),
    listed = file_list_dataset(at("*.csv")),
    turns = read_files(at("*.csv"), text_line_dataset, parallel_files = 2, parallel_interleave = 2),
    sql = sql_dataset(database, "SELECT * FROM data ORDER BY x", chunk_size = 4),
    arrow = arrow_dataset(function() cpp_test_arrow_stream(4, -1)),
    sparse = tensor_slices_dataset(Matrix::Matrix(diag(12), sparse = TRUE)),
    frame = dataset_batch(dataset_shuffle(tensor_slices_dataset(mtcars), 20), 3)
  )
}

write_sources <- function(folder) {
  at <- function(...) file.path(folder, ...)
  lines <- function(from) {
    c("x,w", paste0(seq(from, length.out = 9), ",\"", letters[1:9], "\n\"\"q\"\"\""))
  }
  for (name in c("a", "b")) writeLines(lines(match(name, letters) * 10), at(paste0(name, ".csv")))
  writeLines(paste0(1:9, ",\"", letters[1:9], "\"\"\""), at("fields")) # one line each
  zipped <- gzfile(at("lines.gz"), "wb")
  writeLines(paste("line", 1:20), zipped)
  close(zipped)
  golden <- testthat::test_path("golden", "files", "tfrecord", "examples.tfrecord")
  file.copy(golden, at("records"))
  file.copy(paste0(golden, ".zlib"), at("records.zlib"))
  writeBin(charToRaw(paste0("..", strrep("abc", 15))), at("fixed"))
  database <- DBI::dbConnect(RSQLite::SQLite(), at("base"))
  DBI::dbWriteTable(database, "data", data.frame(x = 1:15, w = letters[1:15]))
  DBI::dbDisconnect(database)
}

# A saver needs a variable, too.
saver_of_graph <- function() {
  step <- tf$train$get_or_create_global_step()
  saver <- tf$train$Saver()
  list(
    save = function(session, path) {
      session$run(step$initializer)
      saver$save(session, path)
    },
    restore = function(session, path) saver$restore(session, path)
  )
}

# At most n further elements, fewer where the data end.
take_elements <- function(session, value, n) {
  taken <- list()
  while (length(taken) < n) {
    element <- tryCatch(session$run(value), runhooks_error_out_of_range = function(e) NULL)
    if (is.null(element)) break
    taken <- c(taken, list(element))
  }
  taken
}
