# Named pipes in place of files are an error by default. With `stream = TRUE` they are read as bytes
# arrive.
set.seed(1)

skip_on_cran()
skip_on_os("windows")
skip_if(!nzchar(Sys.which("mkfifo")), "the system cannot make named pipes")

values <- function(dataset, n = Inf) unlist(dataset_collect(dataset, n))

# Creates a named pipe, to which a shell writes the output of `command`.
local_pipe <- function(command = NULL, env = parent.frame()) {
  path <- file.path(withr::local_tempdir(.local_envir = env), "pipe")
  system2("mkfifo", shQuote(path))
  if (!is.null(command)) write_pipe(path, command, env)
  path
}
write_pipe <- function(path, command, env = parent.frame()) {
  skip_if_not_installed("processx")
  writer <- processx::process$new("sh", c("-c", paste0("{ ", command, " ; } > '", path, "'")))
  withr::defer(writer$kill(), envir = env)
}

test_that("pipes are errors without `stream = TRUE`", {
  pipe <- local_pipe()
  for (dataset in list(
    text_line_dataset(pipe), tfrecord_dataset(pipe), fixed_length_record_dataset(pipe, 3)
  )) {
    expect_error(dataset_collect(dataset), "pipe': it is a pipe, not a regular file",
      class = "runhooks_error_failed_precondition")
  }
  expect_error(csv_record_spec(pipe), "it is a pipe, not a regular file")
  expect_error(text_line_dataset(pipe, stream = 1), "`stream` must be TRUE or FALSE, not 1")
  folder <- dirname(pipe)
  expect_error(values(text_line_dataset(folder, stream = TRUE)), "Cannot read")
  missing <- file.path(folder, "missing")
  expect_error(values(text_line_dataset(missing, stream = TRUE)), "missing",
    class = "runhooks_error_not_found")
})

test_that("`stream = TRUE` reads lines, records and chunks as they arrive", {
  lines <- function(command, ...) values(text_line_dataset(local_pipe(command), ..., stream = TRUE))
  expect_identical(lines("printf 'a\\nb'; sleep 0.1; printf 'c\\n\\nlast'"), c("a", "bc", "", "last"))
  expect_null(lines(":"))
  expect_identical(lines("seq 1 30000"), as.character(1:30000))
  expect_identical(lines("seq 1 3000 | gzip", "GZIP"), as.character(1:3000))
  # The first line can be read while the writer still sleeps.
  waits <- local_pipe("printf 'a\\n'; sleep 60")
  expect_identical(values(text_line_dataset(waits, stream = TRUE), 1), "a")
  long <- lines("head -c 1000000 /dev/zero | tr '\\0' 'x'; printf '\\nend\\n'") # lint: allow path
  expect_identical(nchar(long), c(1000000L, 3L))

  pieces <- function(command, ...) {
    values(fixed_length_record_dataset(local_pipe(command), 3, ..., stream = TRUE))
  }
  expect_identical(pieces("printf headaaabbb", 4), c("aaa", "bbb"))
  expect_identical(pieces("printf 'aaabb'; sleep 0.05; printf 'bend'", 0, 3), c("aaa", "bbb"))
  expect_error(pieces("printf aaab"), "After 1 records of 3 bytes .* ends with 1 bytes")
  expect_error(pieces("printf a", 4), "after a header of 4")

  path <- withr::local_tempfile()
  write_tfrecord(data.frame(x = 1:3), path)
  plain <- dataset_collect(tfrecord_dataset(path))
  through <- function(command, ...) {
    dataset_collect(tfrecord_dataset(local_pipe(command), ..., stream = TRUE))
  }
  expect_identical(through(sprintf("cat '%s'", path)), plain)
  expect_identical(through(sprintf("cat '%s'", path), num_parallel_reads = 1), plain)
  expect_identical(through(sprintf("gzip < '%s'", path), "GZIP"), plain)
  expect_error(through(sprintf("head -c 20 '%s'", path)), "Truncated record at 0",
    class = "runhooks_error_data_loss")
})

test_that("damaged records of a stream are skipped if their length is known", {
  path <- withr::local_tempfile()
  write_tfrecord(data.frame(x = 1:3), path)
  plain <- dataset_collect(tfrecord_dataset(path))
  bytes <- readBin(path, "raw", file.size(path))
  damaged <- withr::local_tempfile()
  bytes[[14]] <- xor(bytes[[14]], as.raw(1))
  writeBin(bytes, damaged)
  stream <- local_pipe(sprintf("cat '%s'", damaged))
  expect_warning(
    rest <- dataset_collect(tfrecord_dataset(stream, on_error = "skip", stream = TRUE)),
    "Skipped 1 record"
  )
  expect_identical(rest, plain[-1])
})

test_that("a CSV can be read from a pipe", {
  file <- withr::local_tempfile(lines = c("x,word", "1,a", "2,b"))
  spec <- csv_record_spec(file)
  stream <- local_pipe(sprintf("cat '%s'; seq -f '%%g,n' 3 2000", file))
  rows <- text_line_dataset(stream, record_spec = spec, stream = TRUE) %>%
    dataset_batch(3000) %>%
    dataset_collect()
  expect_identical(rows[[1]]$x, array(1:2000))
  expect_identical(c(rows[[1]]$word[1:3]), c("a", "b", "n"))
  twice <- dataset_repeat(text_line_dataset(file, record_spec = spec, stream = TRUE), 2)
  expect_length(dataset_collect(twice), 4)
})

test_that("a stream is read once, and its position cannot be saved", {
  stream <- text_line_dataset(local_pipe("seq 1 3"), stream = TRUE)
  expect_error(values(dataset_repeat(stream, 2)), "is a stream: it can be read only once",
    class = "runhooks_error_failed_precondition")
  kept <- dataset_repeat(dataset_cache(text_line_dataset(local_pipe("seq 1 3"), stream = TRUE)), 2)
  expect_identical(values(kept), rep(c("1", "2", "3"), 2))
  with_graph(tf$Graph(), {
    stream <- text_line_dataset(local_pipe("seq 1 3"), stream = TRUE)
    iterator <- make_iterator_one_shot(stream)
    tf$add_to_collection("saveable_objects", make_saveable_from_iterator(iterator))
    value <- iterator_get_next(iterator)
    step <- tf$train$get_or_create_global_step()
    saver <- tf$train$Saver()
    with(tf$Session() %as% session, {
      session$run(step$initializer)
      expect_identical(session$run(value), "1")
      prefix <- file.path(withr::local_tempdir(), "ckpt")
      expect_error(saver$save(session, prefix), "pipe' is a stream: its position cannot be saved")
    })
  })
})

test_that("Ctrl-C interrupts the wait for a pipe, also with a prefetch", {
  skip_if_not_installed("processx")
  for (ahead in list("NULL", "2")) {
    pipe <- local_pipe()
    diary <- withr::local_tempfile()
    script <- withr::local_tempfile(fileext = ".R", lines = sprintf("
      library(runhooks)
      say <- function(text) cat(text, '\\n', file = '%s', append = TRUE)
      stream <- text_line_dataset('%s', parallel_records = %s, stream = TRUE)
      say('begins')
      tryCatch(dataset_collect(stream), interrupt = function(e) say('interrupted'))
      rm(stream)
      gc()
      say('done')", diary, pipe, ahead))
    process <- processx::process$new(child_rscript(), script, env = child_env())
    withr::defer(process$kill())
    said <- function() if (file.exists(diary)) trimws(readLines(diary))
    deadline <- Sys.time() + 60
    while (length(said()) < 1 && Sys.time() < deadline) Sys.sleep(0.02)
    Sys.sleep(0.1) # it is waiting
    at <- Sys.time()
    process$interrupt()
    while (length(said()) < 3 && Sys.time() < at + 20) Sys.sleep(0.005)
    expect_identical(said(), c("begins", "interrupted", "done"))
    # A read ends a tenth of a second after the interrupt; 2 s are tolerance for a busy machine.
    expect_lt(as.numeric(Sys.time() - at, units = "secs"), 2)
  }
})
