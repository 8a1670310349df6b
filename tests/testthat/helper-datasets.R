# Random pipelines: the same seed gives the same pipeline in every process.

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

# Creates iterators of the pipelines with these seeds in the default graph, and a saver of all of
# them.
pipelines_in_graph <- function(seeds) iterators_in_graph(lapply(seeds, random_pipeline))

iterators_in_graph <- function(datasets, on_other_data = "stop") {
  iterators <- lapply(datasets, make_iterator_one_shot)
  for (iterator in iterators) {
    saveable <- make_saveable_from_iterator(iterator, on_other_data)
    tf$add_to_collection("saveable_objects", saveable)
  }
  list(values = lapply(iterators, iterator_get_next), saver = saver_of_graph())
}

# Returns a dataset of each kind of source, on the files that write_sources() writes to `folder`.
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
  writeLines(paste0(1:9, ",\"", letters[1:9], "\"\"\""), at("fields")) # one line per record
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

# Creates a saver of the iterators. It needs at least one variable, so the global step is created.
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

take_elements <- function(session, value, n) {
  taken <- list()
  while (length(taken) < n) {
    element <- tryCatch(session$run(value), runhooks_error_out_of_range = function(e) NULL)
    if (is.null(element)) break
    taken <- c(taken, list(element))
  }
  taken
}

# --- compositions of all kinds of sources: the same seed gives the same pipeline in every process.
# `version` selects one of two data sets of the same types and sizes.

composition <- function(seed, hand, version = 1) {
  draw <- function(...) sample(..., size = 1)
  withr::with_seed(seed, {
    dataset <- composition_sources[[draw(length(composition_sources))]](hand, version)
    for (step in seq_len(draw(5))) dataset <- composition_step(dataset, draw)
    dataset
  })
}

source_of <- function(seed) {
  withr::with_seed(seed, names(composition_sources)[sample(length(composition_sources), size = 1)])
}

composition_sources <- list(
  range = function(hand, version) {
    dataset_map(range_dataset(version, version + 14), ~ tf$cast(.x, "float32"))
  },
  slices = function(hand, version) tensor_slices_dataset(version * 100 + 1:18),
  frame = function(hand, version) {
    frame <- data.frame(x = version * 100 + 1:12, w = letters[1:12])
    dataset_map(tensor_slices_dataset(frame), function(row) tf$cast(row$x, "float32"))
  },
  words = function(hand, version) {
    words <- paste0(version, 1:10)
    dataset_map(tensor_slices_dataset(words), ~ tf$string_to_number(.x))
  },
  whole = function(hand, version) {
    dataset_flat_map(tensors_dataset(version * 10 + 1:9), tensor_slices_dataset)
  },
  lines = function(hand, version) numbers_in_files(hand, version, text_line_dataset),
  zipped = function(hand, version) {
    paths <- file.path(hand$folder, version, "zipped")
    dataset_map(text_line_dataset(paths, "GZIP"), ~ tf$string_to_number(.x))
  },
  fixed = function(hand, version) {
    numbers_in_files(hand, version, function(files) fixed_length_record_dataset(files, 4), "fixed")
  },
  csv = function(hand, version) {
    path <- file.path(hand$folder, version, "table.csv")
    spec <- csv_record_spec(path)
    dataset_map(text_line_dataset(path, record_spec = spec), ~ tf$cast(.x$x, "float32"))
  },
  listed = function(hand, version) {
    files <- file_list_dataset(file.path(hand$folder, version, "lines*"), seed = 4)
    dataset_map(dataset_flat_map(files, text_line_dataset), ~ tf$string_to_number(.x))
  },
  turns = function(hand, version) {
    lines <- read_files(
      file.path(hand$folder, version, "lines*"), text_line_dataset, parallel_files = 2
    )
    dataset_map(lines, ~ tf$string_to_number(.x))
  },
  sql = function(hand, version) {
    query <- paste0("SELECT x FROM data", version, " ORDER BY x")
    dataset_map(sql_dataset(hand$database, query, chunk_size = 6), ~ tf$cast(.x$x, "float32"))
  },
  generator = function(hand, version) {
    at <- 0
    generator_dataset(
      function() {
        at <<- at + 1
        if (at <= 16) at + version * 100
      },
      save = function() at, restore = function(state) at <<- state
    )
  },
  maker = function(hand, version) {
    generator_dataset(function() {
      at <- 0
      list(
        generator = function() {
          at <<- at + 1
          if (at <= 11) at + version * 100
        },
        save = function() at, restore = function(state) at <<- state
      )
    })
  },
  sampled = function(hand, version) {
    sample_from_datasets(list(
      tensor_slices_dataset(as.numeric(1:9)), tensor_slices_dataset(version * 100 + 1:5)
    ))
  },
  side_by_side = function(hand, version) {
    both <- zip_datasets(tensor_slices_dataset(version + 1:8), tensor_slices_dataset(1:9 * 10))
    dataset_map(both, ~ .x + .y)
  },
  arrow = function(hand, version) {
    rows <- arrow_dataset(function() cpp_test_arrow_stream(3, -1))
    rows <- dataset_map(rows, ~ tf$cast(.x$n, "float32"))
    # The test streams always have the same content, so this source adds rows that depend on
    # `version`.
    dataset_concatenate(rows, tensor_slices_dataset(version * 100 + 1:3))
  }
)

numbers_in_files <- function(hand, version, reader, name = "lines") {
  files <- file.path(hand$folder, version, paste0(name, 1:2))
  dataset_map(reader(files), ~ tf$string_to_number(.x))
}

write_versions <- function(folder, version) {
  at <- function(name) file.path(folder, name)
  for (i in 1:2) {
    numbers <- version * 1000 + i * 100 + 1:7
    writeLines(as.character(numbers), at(paste0("lines", i)))
    writeBin(charToRaw(paste(numbers, collapse = "")), at(paste0("fixed", i)))
  }
  writeLines(c("x,w", paste0(version * 100 + 1:13 / 2, ",", letters[1:13])), at("table.csv"))
  zipped <- gzfile(at("zipped"), "wb")
  writeLines(as.character(version * 1000 + 1:9), zipped)
  close(zipped)
}

composition_step <- function(dataset, draw) {
  few <- draw(4)
  scalar <- identical(output_shapes(dataset), integer())
  switch(draw(15),
    dataset_take(dataset, 5 + draw(20)), dataset_skip(dataset, few), dataset_repeat(dataset, few),
    dataset_shuffle(dataset, draw(12)), dataset_shuffle_and_repeat(dataset, draw(12), few),
    dataset_map(dataset, function(x) x * 2 + tf$random_uniform(tf$shape(x)), few),
    dataset_map(dataset, ~ .x + 1, few), dataset_filter(dataset, ~ tf$reduce_max(.x) > few),
    dataset_map(dataset, on_values(function(x) x / 2, "float32")),
    dataset_interleave(dataset, function(x) dataset_repeat(tensors_dataset(x), 3), few, 2),
    dataset_prefetch(dataset, few), dataset_shard(dataset, 2, draw(0:1)), dataset_cache(dataset),
    dataset_concatenate(dataset, dataset),
    if (scalar) dataset_padded_batch(dataset, few) else dataset
  )
}

# Creates a pipeline with a source or function that fails at its fifth element. `queued` adds queues
# after it, which must not change the observed results.
failing_composition <- function(seed, hand, queued) {
  draw <- function(...) sample(..., size = 1)
  withr::with_seed(seed, {
    dataset <- failing_sources[[draw(length(failing_sources))]]()
    for (step in seq_len(draw(4))) {
      dataset <- failing_step(dataset, draw)
      if (queued) dataset <- dataset_map(dataset, ~ .x, 3)
      if (queued) dataset <- dataset_prefetch(dataset, 2)
    }
    dataset
  })
}

broken <- function() rlang::abort("broken", class = "test_broken")

failing_sources <- list(
  maker = function() {
    generator_dataset(function() {
      at <- 0
      function() {
        at <<- at + 1
        if (at == 5) broken() else if (at < 30) at
      }
    })
  },
  positioned = function() {
    at <- 0
    generator_dataset(
      function() {
        at <<- at + 1
        if (at == 5) stop(structure(
          class = c("test_broken", "error", "condition"), list(message = "broken", call = NULL)
        ))
        if (at < 30) at
      },
      save = function() at, restore = function(state) at <<- state
    )
  },
  function_of_values = function() {
    fails <- on_values(function(x) if (x == 5) broken() else x, "float32")
    dataset_map(tensor_slices_dataset(as.numeric(1:25)), fails)
  }
)

failing_step <- function(dataset, draw) {
  few <- draw(2:4)
  switch(draw(8),
    dataset_take(dataset, 20 + draw(9)), dataset_map(dataset, ~ .x + 1),
    # No random transformations: a queue reads ahead, so it would draw numbers for elements that
    # `dataset_take()` drops.
    dataset_map(dataset, function(x) x + tf$sin(x), few),
    dataset_filter(dataset, ~ tf$reduce_max(.x) > 0), dataset_batch(dataset, few),
    dataset_shuffle(dataset, few), dataset_repeat(dataset, 2), dataset_shard(dataset, 2, draw(0:1))
  )
}
