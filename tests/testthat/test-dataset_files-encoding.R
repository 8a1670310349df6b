latin1_file <- function(bytes, frame = parent.frame()) {
  file <- withr::local_tempfile(.local_envir = frame)
  writeBin(bytes, file)
  file
}

towns <- function(frame = parent.frame(), more = raw()) {
  bytes <- c(charToRaw("town,x\nM"), as.raw(0xfc), charToRaw("nchen,1\nUlm,2\n"), more)
  latin1_file(bytes, frame)
}

test_that("CSV datasets and lines convert single-byte encodings", {
  file <- towns()
  munich <- "M\u00fcnchen"
  rows <- dataset_collect(make_csv_dataset(
    file, batch_size = 2, num_epochs = 1, shuffle = FALSE, encoding = "latin1"
  ))
  expect_identical(as.vector(rows[[1]]$town), c(munich, "Ulm"))
  expect_true(validUTF8(rows[[1]]$town[[1]]))
  expect_identical(dataset_collect(csv_dataset(file, encoding = "ISO-8859-1"))[[1]]$town, munich)
  lines <- unlist(dataset_collect(text_line_dataset(file, encoding = "latin1")))
  expect_identical(lines[[2]], "M\u00fcnchen,1")
  batched <- dataset_collect(dataset_batch(text_line_dataset(file, encoding = "latin1"), 3))
  expect_identical(as.vector(batched[[1]]), lines)
  spec <- csv_record_spec(file, encoding = "latin1")
  decoded <- text_line_dataset(file, encoding = "latin1") %>%
    dataset_skip(1) %>%
    dataset_decode_delim(spec)
  expect_identical(dataset_collect(decoded)[[1]]$town, munich)
  records <- text_line_dataset(file, record_spec = spec)
  expect_identical(dataset_collect(records)[[1]]$town, munich)
  expect_output(print(records), "encoding = \"latin1\"")
})

test_that("encodings of headers, Windows and other languages are known", {
  file <- latin1_file(c(as.raw(0xc4), charToRaw(";\x80\n1;"), as.raw(0x80), charToRaw("\n")))
  spec <- delim_record_spec(file, ";", encoding = "windows-1252")
  expect_identical(spec$names, c("\u00c4", "\u20ac"))
  expect_identical(
    dataset_collect(text_line_dataset(file, record_spec = spec))[[1]], list(1L, "\u20ac") |>
      setNames(spec$names)
  )
  polish <- latin1_file(c(as.raw(0xb3), charToRaw("\n")))
  expect_identical(
    dataset_collect(text_line_dataset(polish, encoding = "ISO-8859-2"))[[1]], "\u0142"
  )
  expect_identical(
    dataset_collect(text_line_dataset(polish, encoding = "windows-1251"))[[1]], "\u0456"
  )
})

test_that("text that is not valid in the encoding is an error with file and line", {
  file <- towns(more = c(charToRaw("A"), as.raw(0x81), charToRaw(",3\nBonn,4\n")))
  read <- function(..., encoding = "windows-1252") {
    dataset_collect(make_csv_dataset(
      file, 1, num_epochs = 1, shuffle = FALSE, encoding = encoding, column_names = c("town", "x"),
      ...
    ))
  }
  spec <- csv_record_spec(names = c("town", "x"), types = "ci", skip = 1, encoding = "windows-1252")
  error <- rlang::catch_cnd(dataset_collect(text_line_dataset(file, record_spec = spec)))
  expect_s3_class(error, "runhooks_error_invalid_argument")
  expect_match(conditionMessage(error), "Line 4 of .*'town' is not valid windows-1252 .byte 0x81")
  lines <- text_line_dataset(file, encoding = "windows-1252")
  expect_error(dataset_collect(lines), "Line 4 of .* is not valid windows-1252")
  kept <- text_line_dataset(file, encoding = "windows-1252", on_error = "skip")
  suppressMessages(suppressWarnings(expect_length(dataset_collect(kept), 4)))
  skipped <- text_line_dataset(file, record_spec = spec, on_error = "skip")
  suppressMessages(suppressWarnings(expect_length(dataset_collect(skipped), 3)))
  expect_error(
    dataset_collect(text_line_dataset(file, encoding = "UTF-8")), "Line 2 .*not valid UTF-8"
  )
})

test_that("many rows are converted as few are", {
  words <- paste0(rep(c("f\u00fcr", "plain", "\u00e9t\u00e9"), 5000), seq_len(15000))
  bytes <- charToRaw(iconv(paste0("w,n\n", paste0(words, ",", 1:15000, collapse = "\n"), "\n"),
    "UTF-8", "latin1"))
  file <- latin1_file(bytes)
  read <- make_csv_dataset(file, 15000, num_epochs = 1, shuffle = FALSE, encoding = "latin1")
  expect_identical(as.vector(dataset_collect(read)[[1]]$w), words)
})

test_that("UTF-16 and unknown encodings are refused with advice", {
  file <- towns()
  refusal <- function(encoding) {
    conditionMessage(rlang::catch_cnd(text_line_dataset(file, encoding = encoding)))
  }
  for (encoding in c("UTF-16", "UTF-16LE", "UTF-32", "SHIFT-JIS", "GBK", "EUC-JP", "BIG5")) {
    expect_match(refusal(encoding), "single-byte.*Convert the file")
  }
  expect_match(refusal("no-such"), "not known")
  expect_error(text_line_dataset(file, encoding = 3), "encoding")
  expect_error(csv_record_spec(file, encoding = "UTF-16"), "UTF-16")
  wide <- latin1_file(iconv("a,b\n1,2\n", "UTF-8", "UTF-16", toRaw = TRUE)[[1]])
  expect_error(dataset_collect(text_line_dataset(wide)), "is UTF-16")
  expect_error(make_csv_dataset(wide, 1), "is UTF-16")
})

test_that("csv_dataset() reads records of several files", {
  folder <- withr::local_tempdir()
  for (i in 1:2) write.csv(mtcars[i, 1:3], file.path(folder, paste0(i, ".csv")), row.names = FALSE)
  rows <- dataset_collect(csv_dataset(file.path(folder, "*.csv")))
  expect_equal(vapply(rows, function(row) row$mpg, 0), c(21, 21))
  named <- csv_dataset(file.path(folder, "1.csv"), skip = 1, col_names = c("a", "b", "c"))
  expect_named(dataset_collect(named)[[1]], c("a", "b", "c"))
  typed <- csv_dataset(file.path(folder, "1.csv"), col_types = "cdd", col_defaults = list("", 0, 0))
  expect_identical(dataset_collect(typed)[[1]]$mpg, "21")
  expect_error(csv_dataset(file.path(folder, "x.csv")), "No files matched")
})
