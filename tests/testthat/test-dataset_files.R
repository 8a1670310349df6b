lines_file <- function(text, name = "lines", env = parent.frame()) {
  path <- file.path(withr::local_tempdir(.local_envir = env), name)
  writeBin(charToRaw(text), path)
  path
}

values <- function(dataset, n = Inf) unlist(dataset_collect(dataset, n))

test_that("lines of text are read with any line ending", {
  path <- lines_file("\xef\xbb\xbfone\r\ntwo\n\nlast")
  expect_identical(values(text_line_dataset(path)), c("one", "two", "", "last"))
  expect_identical(output_types(text_line_dataset(path))$name, "string")
  expect_identical(values(text_line_dataset(c(path, path)), 5)[5], "one")
  ahead <- text_line_dataset(path, parallel_records = 2)
  expect_identical(values(ahead), c("one", "two", "", "last"))
  zipped <- withr::local_tempfile()
  con <- gzfile(zipped, "wb")
  writeLines(c("a", "b"), con)
  close(con)
  expect_identical(values(text_line_dataset(zipped, "GZIP")), c("a", "b"))
  expect_error(values(text_line_dataset(zipped)), "is compressed")
  expect_error(values(text_line_dataset(path, "GZIP")), class = "runhooks_error_data_loss")
})

test_that("missing files and invalid arguments are errors", {
  missing <- text_line_dataset("/nowhere/at/all") # lint: allow path
  expect_error(dataset_collect(missing), "/nowhere/at/all", # lint: allow path
    class = "runhooks_error_not_found")
  expect_error(text_line_dataset(3), "`filenames` must be paths of files")
  expect_error(text_line_dataset(character()), "`filenames` must be paths of files")
  expect_error(text_line_dataset("a", "BZIP"), "must be \"\", \"GZIP\" or \"ZLIB\"")
  expect_error(text_line_dataset("a", on_error = "ignore"), "on_error")
  expect_error(text_line_dataset("a", parallel_records = 0), "positive whole")
  expect_error(fixed_length_record_dataset("a", 0), "record_bytes")
})

test_that("records of fixed length", {
  path <- lines_file("headaaabbbcccend")
  records <- fixed_length_record_dataset(path, 3, header_bytes = 4, footer_bytes = 3)
  expect_identical(values(records), c("aaa", "bbb", "ccc"))
  expect_error(values(fixed_length_record_dataset(path, 3)),
    "body length 16 bytes, which is not an exact multiple of the record length (3 bytes)",
    fixed = TRUE)
  expect_error(values(fixed_length_record_dataset(path, 3, header_bytes = 99)), "below 0")
})

test_that("records of TensorFlow's files", {
  path <- testthat::test_path("golden", "files", "tfrecord", "examples.tfrecord")
  records <- dataset_collect(tfrecord_dataset(path))
  expect_gt(length(records), 1)
  expect_identical(dataset_collect(tfrecord_dataset(paste0(path, ".gz"), "GZIP")), records)
  expect_identical(dataset_collect(tfrecord_dataset(paste0(path, ".zlib"), "ZLIB")), records)
  expect_true(all(vapply(records, is.raw, NA) | vapply(records, is.character, NA)))
  both <- tfrecord_dataset(c(path, path), num_parallel_reads = 2)
  expect_identical(dataset_collect(both), rep(records, each = 2))
  bytes <- readBin(path, "raw", file.size(path))
  bytes[[14]] <- xor(bytes[[14]], as.raw(1))
  damaged <- lines_file("")
  writeBin(bytes, damaged)
  expect_error(dataset_collect(tfrecord_dataset(damaged)),
    paste0("Record 1 of '", damaged, "' cannot be read: Corrupted record at 0"),
    class = "runhooks_error_data_loss", fixed = TRUE)
  writeBin(readBin(path, "raw", file.size(path) - 1), damaged)
  expect_error(dataset_collect(tfrecord_dataset(damaged)), "Truncated record",
    class = "runhooks_error_data_loss")
})

test_that("lists of files, and interleaved files", {
  folder <- withr::local_tempdir()
  for (i in 1:4) writeLines(paste0(i, letters[1:3]), file.path(folder, paste0(i, ".txt")))
  pattern <- file.path(folder, "*.txt")
  listed <- basename(values(file_list_dataset(pattern, shuffle = FALSE)))
  expect_identical(listed, paste0(1:4, ".txt"))
  shuffled <- basename(values(file_list_dataset(pattern, seed = 2)))
  expect_setequal(shuffled, listed)
  expect_identical(basename(values(file_list_dataset(pattern, seed = 2))), shuffled)
  expect_error(file_list_dataset(file.path(folder, "*.csv")), "No files matched",
    class = "runhooks_error_not_found")
  all <- values(read_files(pattern, text_line_dataset))
  expect_identical(all, paste0(rep(1:4, each = 3), letters[1:3]))
  turns <- values(read_files(pattern, text_line_dataset, parallel_files = 2))
  expect_identical(turns[1:6], c("1a", "2a", "1b", "2b", "1c", "2c"))
  blocks <- read_files(pattern, text_line_dataset, parallel_files = 2, parallel_interleave = 2)
  expect_identical(values(blocks)[1:5], c("1a", "1b", "2a", "2b", "1c"))
  shard <- read_files(pattern, text_line_dataset, num_shards = 2, shard_index = 1)
  expect_identical(values(shard), paste0(rep(c(2, 4), each = 3), letters[1:3]))
  expect_error(read_files(pattern, text_line_dataset, num_shards = 2), "or neither")
})

test_that("tf$data has TensorFlow's names for file sources", {
  path <- lines_file("aabbcc\n")
  expect_identical(values(tf$data$TextLineDataset(path)), "aabbcc")
  expect_identical(values(tf$data$TextLineDataset(path)$`repeat`(2)$batch(2)), c("aabbcc", "aabbcc"))
  fixed <- tf$data$FixedLengthRecordDataset(path, 2, footer_bytes = 1)
  expect_identical(values(fixed), c("aa", "bb", "cc"))
  listed <- tf$data$Dataset$list_files(path)
  expect_identical(values(listed), path)
  expect_identical(values(listed$flat_map(tf$data$TextLineDataset)), "aabbcc")
  records <- testthat::test_path("golden", "files", "tfrecord", "examples.tfrecord")
  expect_identical(dataset_collect(tf$data$TFRecordDataset(records)),
    dataset_collect(tfrecord_dataset(records)))
})

test_that("a file that disappears or changes during a pass is an error that names it", {
  folder <- withr::local_tempdir()
  paths <- file.path(folder, c("a", "b"))
  for (path in paths) writeLines(c("1", "2"), path)
  with(tf$Graph()$as_default(), {
    value <- iterator_get_next(make_iterator_one_shot(text_line_dataset(paths)))
    with(tf$Session() %as% session, {
      expect_identical(session$run(value), "1")
      unlink(paths[[2]])
      expect_identical(session$run(value), "2")
      expect_error(session$run(value), "b", class = "runhooks_error_not_found")
    })
  })
  writeBin(raw(1e6), paths[[1]])
  fixed <- fixed_length_record_dataset(paths[[1]], 1e5)
  with(tf$Graph()$as_default(), {
    value <- iterator_get_next(make_iterator_one_shot(fixed))
    with(tf$Session() %as% session, {
      session$run(value)
      writeBin(raw(1), paths[[1]])
      expect_error(session$run(value), "Record 2 of '.*' is truncated: the file has become shorter",
        class = "runhooks_error_data_loss")
    })
  })
})

test_that("damaged records are skipped and counted on request", {
  path <- testthat::test_path("golden", "files", "tfrecord", "examples.tfrecord")
  records <- dataset_collect(tfrecord_dataset(path))
  bytes <- readBin(path, "raw", file.size(path))
  bytes[[14]] <- xor(bytes[[14]], as.raw(1)) # damages the first record
  damaged <- withr::local_tempfile()
  writeBin(bytes, damaged)
  expect_warning(found <- dataset_collect(tfrecord_dataset(damaged, on_error = "skip")),
    "Skipped 1 record of '.*'. First error: Record 1 of")
  expect_identical(found, records[-1])
  writeBin(readBin(path, "raw", file.size(path) - 1), damaged) # truncates the file
  expect_warning(found <- dataset_collect(tfrecord_dataset(damaged, on_error = "skip")),
    paste0("Skipped 1 record of '.*'. First error: Record ", length(records)))
  expect_identical(found, head(records, -1))
})

test_that("resuming an iterator on a changed file is an error", {
  path <- withr::local_tempfile()
  writeLines(as.character(1:5), path)
  saved <- file.path(withr::local_tempdir(), "input.ckpt")
  in_session <- function(run) with(tf$Graph()$as_default(), {
    built <- iterators_in_graph(list(text_line_dataset(path)))
    with(tf$Session() %as% session, run(session, built))
  })
  in_session(function(session, built) {
    take_elements(session, built$values[[1]], 2)
    built$saver$save(session, saved)
  })
  writeLines(as.character(5:1), path)
  refused <- function(words) {
    expect_error(in_session(function(session, built) built$saver$restore(session, saved)),
      words, class = "runhooks_error_failed_precondition")
  }
  refused("belongs to other data.*Saved: 1 file of 10 bytes.*Now: 1 file of 10 bytes")
  writeLines(as.character(1:6), path) # appends a line
  refused("Saved: 1 file of 10 bytes.*Now: 1 file of 12 bytes")
  unlink(path)
  refused("not there: 1")
  # A changed byte in the middle of a larger file is also detected.
  bytes <- rep(charToRaw("12345678\n"), 50000)
  writeBin(bytes, path)
  in_session(function(session, built) {
    take_elements(session, built$values[[1]], 2)
    built$saver$save(session, saved)
  })
  bytes[[200001]] <- charToRaw("9")
  writeBin(bytes, path)
  refused("Saved: 1 file of 450000 bytes.*Now: 1 file of 450000 bytes")
})

test_that("moved files count as the same data", {
  here <- withr::local_tempdir()
  folders <- file.path(here, c("before", "after"))
  dir.create(folders[[1]])
  for (i in 1:3) writeLines(paste0(i, ".", 1:4), file.path(folders[[1]], i))
  saved <- file.path(withr::local_tempdir(), "input.ckpt")
  sources <- function(folder) {
    files <- file.path(folder, 1:3)
    lapply(list(
      text_line_dataset(files), file_list_dataset(file.path(folder, "*"), seed = 3),
      dataset_shuffle(text_line_dataset(files), 5, seed = 2),
      read_files(file.path(folder, "*"), text_line_dataset, parallel_files = 2),
      dataset_flat_map(file_list_dataset(file.path(folder, "*"), seed = 1), text_line_dataset)
    ), identity)
  }
  in_session <- function(folder, run) with(tf$Graph()$as_default(), {
    built <- iterators_in_graph(sources(folder))
    with(tf$Session() %as% session, run(session, built))
  })
  rest <- in_session(folders[[1]], function(session, built) {
    for (value in built$values) take_elements(session, value, 2)
    built$saver$save(session, saved)
    lapply(built$values, function(value) take_elements(session, value, 20))
  })
  file.rename(folders[[1]], folders[[2]])
  moved <- in_session(folders[[2]], function(session, built) {
    built$saver$restore(session, saved)
    lapply(built$values, function(value) take_elements(session, value, 20))
  })
  rest[[2]] <- lapply(rest[[2]], function(path) sub("before", "after", path, fixed = TRUE))
  expect_identical(moved, rest)
})

test_that("text that is not UTF-8 is marked as bytes, with a warning that names the line", {
  folder <- withr::local_tempdir()
  path <- function(name) file.path(folder, name)
  write_latin1 <- function(lines, name) {
    text <- iconv(paste0(lines, "\n", collapse = ""), "UTF-8", "latin1", toRaw = TRUE)[[1]]
    writeBin(text, path(name))
    path(name)
  }
  munich <- "M\u00fcnchen"
  bytes <- iconv(munich, "UTF-8", "latin1")
  is_marked <- function(town) {
    expect_identical(Encoding(town), "bytes")
    expect_identical(charToRaw(town), charToRaw(bytes))
  }
  csv <- write_latin1(c("town,x", "Ulm,1", paste0(munich, ",2"), "Ulm,3"), "towns.csv")
  for (shuffle in c(FALSE, TRUE)) {
    expect_warning(
      rows <- dataset_collect(make_csv_dataset(
        csv, batch_size = 3, num_epochs = 1, shuffle = shuffle
      )),
      "Line 3 of '.*towns.csv', column 'town' is not valid UTF-8",
      class = "runhooks_warning_encoding"
    )
    towns <- rows[[1]]$town
    expect_setequal(Encoding(towns), c("unknown", "bytes"))
    is_marked(towns[Encoding(towns) == "bytes"])
  }
  long <- write_latin1(c("town,x", rep("Ulm,1", 500), rep(paste0(munich, ",2"), 300)), "long.csv")
  expect_warning(
    rows <- dataset_collect(make_csv_dataset(long, 800, num_epochs = 1, shuffle = FALSE)),
    "Line 502 of"
  )
  expect_identical(sum(Encoding(rows[[1]]$town) == "bytes"), 300L)

  lines <- write_latin1(c("Ulm", munich), "towns.txt")
  expect_warning(all <- dataset_collect(text_line_dataset(lines)), "Line 2 of '.*towns.txt'")
  is_marked(all[[2]])
  expect_warning(
    all <- dataset_collect(dataset_batch(text_line_dataset(lines), 2)), "Line 2 of '.*towns.txt'"
  )
  is_marked(all[[1]][2])

  marked <- `Encoding<-`(bytes, "bytes")
  records <- path("towns.tfrecord")
  write_tfrecord(data.frame(town = marked), records)
  spec <- list(town = tf$FixedLenFeature(shape(), tf$string))
  parsed <- dataset_map(tfrecord_dataset(records), ~ tf$parse_single_example(.x, spec))
  expect_silent(is_marked(as.vector(dataset_collect(parsed)[[1]]$town)))

  header <- write_latin1(c(paste0(munich, ",x"), "1,2"), "header.csv")
  expect_warning(
    rows <- dataset_collect(make_csv_dataset(header, 1, num_epochs = 1)),
    "header of .*header.csv", class = "runhooks_warning_encoding"
  )
  expect_identical(names(rows[[1]]), c(munich, "x"))
  utf8 <- path("utf8.csv")
  writeLines(enc2utf8(c("town,x", paste0(munich, ",1"))), utf8, useBytes = TRUE)
  expect_silent(rows <- dataset_collect(make_csv_dataset(utf8, 1, num_epochs = 1)))
  expect_identical(as.vector(rows[[1]]$town), munich)
})
