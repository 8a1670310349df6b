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
