csv_file <- function(lines, env = parent.frame(), sep = "\n") {
  path <- withr::local_tempfile(fileext = ".csv", .local_envir = env)
  writeBin(charToRaw(paste0(lines, sep, collapse = "")), path)
  path
}

column <- function(dataset, name) unlist(lapply(dataset_collect(dataset), `[[`, name))

test_that("specifications infer names and types from a file", {
  path <- csv_file(c("i,l,f,d,s,e", "1,3000000000,1.5,1e300,a,", ",,,,,", "-2,4,+2,3,4,"))
  spec <- csv_record_spec(path)
  expect_identical(spec$names, c("i", "l", "f", "d", "s", "e"))
  expect_identical(spec$types, c("int32", "int64", "float32", "float64", "string", "string"))
  expect_snapshot_text(print(spec))
  given <- csv_record_spec(path, skip = 1, names = letters[1:6], types = "ddddcc")
  expect_identical(given$types, c("float32", "float32", "float32", "float32", "string", "string"))
  expect_false(given$has_header)
  expect_error(csv_record_spec(path, types = "ddx"), "types")
  expect_error(csv_record_spec(path, types = "dd"), "has 2 elements, but there are 6 columns")
  expect_error(csv_record_spec(path, defaults = list(1)), "has 1 element, but there are 6 columns")
  expect_error(csv_record_spec(csv_file(c("a,b", "1"))), "has 1 field, but there are 2")
  expect_error(csv_record_spec(csv_file(c("a,b", "1,2", ""))), "It is a blank line")
  expect_error(csv_record_spec(csv_file(c("a,a", "1,2"))), "must have unique, non-empty names")
  expect_error(csv_record_spec(csv_file("", sep = "")), "has no records")
  expect_identical(tsv_record_spec(csv_file(c("a\tb", "1\tx")))$types, c("int32", "string"))
  expect_identical(delim_record_spec(csv_file(c("a;b", "1;x")), ";")$names, c("a", "b"))
})

test_that("records of delimited text", {
  path <- csv_file(c("x,w,n", "1.5,\"a,\"\"b\"\"\n\",", ",plain,7"), sep = "\r\n")
  spec <- csv_record_spec(path, defaults = list(-1, "none", 5L))
  records <- text_line_dataset(path, record_spec = spec)
  expect_identical(column(records, "w"), c("a,\"b\"\n", "plain"))
  expect_identical(column(records, "x"), c(1.5, -1))
  expect_identical(column(records, "n"), c(5L, 7L))
  expect_identical(output_types(records)$x$name, "float32")
  batch <- dataset_collect(dataset_batch(records, 2))[[1]]
  expect_identical(as.vector(batch$w), c("a,\"b\"\n", "plain"))
  decoded <- text_line_dataset(csv_file(c("x,w", "1,\"q\"", "2,r"))) %>%
    dataset_skip(1) %>%
    dataset_decode_delim(csv_record_spec(csv_file(c("x,w", "1,a"))))
  expect_identical(column(decoded, "w"), c("q", "r"))
  expect_identical(column(decoded, "x"), 1:2)
})

test_that("invalid fields are errors that name file, line and column", {
  path <- csv_file(c("x,w", "1,a", "2,\"b\nc\"", "oops,d", "4,e"))
  spec <- csv_record_spec(csv_file(c("x,w", "1,a")))
  records <- text_line_dataset(path, record_spec = spec)
  expect_length(dataset_collect(records, 2), 2)
  expect_error(dataset_collect(records), class = "runhooks_error_invalid_argument",
    paste0("Line 5 of '", path, "', column 'x': 'oops' is not a valid int32."), fixed = TRUE)
  short <- csv_file(c("x,w", "1,a", "2"))
  expect_error(dataset_collect(text_line_dataset(short, record_spec = spec)),
    paste0("Line 3 of '", short, "' has 1 fields; expected 2."), fixed = TRUE)
  lines <- text_line_dataset(csv_file(c("x,w", "1,a", "y,b"))) %>% dataset_skip(1)
  expect_error(dataset_collect(dataset_decode_delim(lines, spec)),
    "Line 3 of '.*', column 'x': 'y' is not a valid int32")
  expect_error(dataset_collect(dataset_decode_delim(dataset_batch(lines, 2), spec)), "needs a dataset whose elements are single strings")
  required <- csv_record_spec(path, types = "ic", defaults = list(tf$int32, ""))
  empty <- csv_file(c("x,w", ",a"))
  expect_error(dataset_collect(text_line_dataset(empty, record_spec = required)),
    "column 'x': the field is empty, and the column has no default")
  broken <- csv_file(c("x,w", "1,\"a", "2,b"))
  expect_error(dataset_collect(text_line_dataset(broken, record_spec = spec)),
    "Line 2 of .*, field 2: a quote is not closed", class = "runhooks_error_data_loss")
  stray <- csv_file(c("x,w", "1,a\"b"))
  expect_error(dataset_collect(text_line_dataset(stray, record_spec = spec)),
    "field 2: a quote inside an unquoted field")
  after <- csv_file(c("x,w", "1,\"a\"b"))
  expect_error(dataset_collect(text_line_dataset(after, record_spec = spec)),
    "field 2: a quote inside a quoted field is not doubled")
  other <- csv_file(c("x,z", "1,a"))
  expect_error(dataset_collect(text_line_dataset(other, record_spec = spec)),
    "has columns x, z; expected x, w", class = "runhooks_error_failed_precondition")
})

test_that("an empty line is a record, as in TensorFlow", {
  one <- csv_file(c("x", "1", "", "2"))
  spec <- csv_record_spec(one, types = "i", defaults = list(7L))
  expect_identical(column(text_line_dataset(one, record_spec = spec), "x"), c(1L, 7L, 2L))
  two <- csv_file(c("x,w", "1,a", "", "2,b"))
  spec <- csv_record_spec(csv_file(c("x,w", "1,a")))
  expect_error(dataset_collect(text_line_dataset(two, record_spec = spec)),
    "Line 3 of .* has 1 fields; expected 2")
})

test_that("invalid records are skipped and counted on request", {
  path <- csv_file(c("x,w", "1,a", "oops,b", "3", "4,\"d", "5,e"))
  spec <- csv_record_spec(csv_file(c("x,w", "1,a")))
  records <- text_line_dataset(path, record_spec = spec, on_error = "skip")
  expect_warning(values <- column(records, "x"), "Skipped 3 records of '.*'. First error: Line 3")
  expect_identical(values, c(1L, 5L))
})

test_that("make_csv_dataset() gives batches", {
  path <- csv_file(c("x,w,y", paste0(1:5, ",", letters[1:5], ",", 1:5 / 2)))
  all <- function(...) {
    make_csv_dataset(path, 2, num_epochs = 1, shuffle = FALSE, ...) %>% dataset_collect()
  }
  batches <- all()
  expect_identical(lapply(batches, function(b) as.vector(b$x)), list(1:2, 3:4, 5L))
  expect_identical(as.vector(batches[[2]]$w), c("c", "d"))
  labelled <- all(label_name = "y", select_columns = c("y", "x"))
  expect_identical(names(labelled[[1]][[1]]), "x")
  expect_equal(as.vector(labelled[[1]][[2]]), c(0.5, 1))
  expect_identical(names(all(select_columns = 1:2)[[1]]), c("x", "w"))
  typed <- all(select_columns = "x", column_defaults = list(tf$float64), prefetch_buffer_size = 0)
  expect_identical(as.vector(typed[[1]]$x), c(1, 2))
  expect_identical(all(column_names = c("a", "b", "c"))[[1]]$a, batches[[1]]$x)
  shuffled <- make_csv_dataset(path, 5, num_epochs = 1, shuffle_seed = 1, num_parallel_reads = 2)
  expect_setequal(as.vector(dataset_collect(shuffled)[[1]]$x), 1:5)
  endless <- dataset_collect(make_csv_dataset(path, 2, shuffle = FALSE), 4)
  expect_identical(as.vector(endless[[3]]$x), c(5L, 1L))
  expect_error(all(label_name = "q"), "label_name")
  expect_error(all(select_columns = "q"), "select_columns")
  expect_error(all(header = FALSE), "need `column_names`")
  expect_error(all(column_defaults = list("q")), "has 1 element")
})

test_that("a model trains on CSV files", {
  path <- withr::local_tempfile()
  write.csv(mtcars, path, row.names = FALSE)
  cars <- make_csv_dataset(path, 8, label_name = "mpg", select_columns = c("mpg", "wt", "cyl"))
  model <- linear_regressor(list(column_numeric("wt"), column_numeric("cyl")))
  suppressMessages(train(model, function() cars, steps = 5))
  once <- make_csv_dataset(path, 32, num_epochs = 1, shuffle = FALSE)
  result <- suppressMessages(evaluate(model, input_fn(once, c("wt", "cyl"), "mpg")))
  expect_true(is.finite(result$loss))
})

test_that("tf$data$experimental$CsvDataset gives tuples like TensorFlow's", {
  path <- csv_file(c("a,b,c", "1,x,", "2,,3.5"))
  csv <- tf$data$experimental$CsvDataset
  rows <- dataset_collect(csv(path, list(0L, "none", 9), header = TRUE))
  expect_identical(rows, list(list(1L, "x", 9), list(2L, "none", 3.5)))
  some <- csv(csv_file(c("1,2,3", "4,5", "6,7,8,9")), list(0L, tf$float32), select_cols = c(0, 1))
  expect_identical(dataset_collect(some), list(list(1L, 2), list(4L, 5), list(6L, 7)))
  few <- csv(csv_file(c("1,2", "3")), list(0L), select_cols = 1)
  expect_error(dataset_collect(few), "Line 2 of '.*' has 1 fields; expected at least 2")
  expect_error(dataset_collect(csv(csv_file(c("1,2", "3")), list(0L, 0L))), "expected 2")
  expect_identical(unlist(dataset_collect(csv(csv_file("x|N|NA"), list("", 7L),
    field_delim = "|", na_value = "N", select_cols = 0:1))), c("x", "7"))
  expect_error(csv(path, list(0L), select_cols = c(0, 1)), "select_cols")
  expect_error(csv(path, list(0L, 0L), select_cols = c(1, 0)), "increasing")
})

test_that("names and types replace an example file, and empty names are numbered", {
  spec <- csv_record_spec(names = c("mpg", "cyl"), types = c("double", "integer"), skip = 1)
  expect_identical(spec$types, c("float32", "int32"))
  file <- csv_file(c("mpg,cyl", "21,6", "22.8,4"))
  rows <- dataset_collect(text_line_dataset(file, record_spec = spec))
  expect_equal(vapply(rows, `[[`, 1L, "cyl"), c(6L, 4L))
  expect_error(csv_record_spec(names = "a"), "`names` and `types`", class = "runhooks_error_invalid_argument")
  file <- withr::local_tempfile(fileext = ".csv")
  write.csv(mtcars[c("mpg", "cyl")], file)
  batch <- dataset_collect(make_csv_dataset(file, batch_size = 4, num_epochs = 1, shuffle = FALSE))[[1]]
  expect_named(batch, c("...1", "mpg", "cyl"))
  some <- make_csv_dataset(file, batch_size = 4, num_epochs = 1, select_columns = c("mpg", "cyl"))
  expect_named(dataset_collect(some)[[1]], c("mpg", "cyl"))
})
