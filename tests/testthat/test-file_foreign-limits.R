# Small files that require much memory are errors that name the limit, and use less than a gigabyte.
set.seed(1)

skip_on_cran()
skip_if_not_installed("processx")
skip_if_not(file.exists("/proc/self/status"), "no /proc to measure memory")

# Returns the error of each line of a script, and the peak memory of the process in MB.
attacked <- function(lines) {
  folder <- withr::local_tempdir()
  script <- file.path(folder, "script.R")
  writeLines(c(
    "suppressMessages(library(runhooks))",
    sprintf("setwd('%s')", folder),
    "node <- function(name, op, ...) {",
    "  sprintf('node { name: \"%s\" op: \"%s\" %s }', name, op, paste(..., collapse = ' '))",
    "}",
    "attr <- function(key, value) sprintf('attr { key: \"%s\" value { %s } }', key, value)",
    "import <- function(nodes) {",
    "  writeLines(nodes, 'graph.pbtxt')",
    "  with(tf$Graph()$as_default(), tf$import_graph_def('graph.pbtxt', name = ''))",
    "}",
    "said <- function(expr) {",
    "  text <- tryCatch({expr; 'no error'}, error = function(e) paste(class(e)[[1]], conditionMessage(e)))",
    "  cat(gsub('\\n', ' ', text), '\\n')",
    "}",
    sprintf("said(%s)", lines),
    "status <- readLines('/proc/self/status')",
    "cat(gsub('[^0-9]', '', grep('VmHWM', status, value = TRUE)))"
  ), script)
  run <- processx::run(child_rscript(), script, env = child_env(), timeout = 300)
  output <- strsplit(run$stdout, "\n")[[1]]
  list(said = output[seq_along(lines)], peak = as.numeric(output[length(lines) + 1]) / 1024)
}

test_that("small files that expand a lot need less than a gigabyte", {
  ended <- attacked(c(
    # A graph with 1,500 constants of 16 MB each.
    "import(vapply(1:1500, function(i) node(paste0('c', i), 'Const', attr('dtype', 'type: DT_FLOAT'),
      attr('value', 'tensor { dtype: DT_FLOAT tensor_shape { dim { size: 4000000 } } float_val: 1 }')
    ), ''))",
    # A graph with 400 operations of 100,000 outputs each.
    "import(c(
      node('x', 'Placeholder', attr('dtype', 'type: DT_FLOAT')),
      node('a', 'Const', attr('dtype', 'type: DT_INT32'),
        attr('value', 'tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 }')),
      vapply(1:400, function(i) node(paste0('s', i), 'Split', 'input: \"a\" input: \"x\"',
        attr('T', 'type: DT_FLOAT'), attr('num_split', 'i: 100000')), '')))",
    # A line of 320 MB, compressed to 320 kB.
    "{
      zeros <- gzfile('zeros.gz', 'wb')
      writeBin(raw(2^24), zeros)
      close(zeros)
      bytes <- readBin('zeros.gz', 'raw', file.size('zeros.gz'))
      writeBin(rep(bytes, 20), 'bomb.gz')
      dataset_collect(text_line_dataset('bomb.gz', 'GZIP'))
    }",
    "dataset_collect(dataset_interleave(range_dataset(0, 2), function(x) range_dataset(0, 2), 1e9))",
    "dataset_collect(tfrecord_dataset('nowhere', num_parallel_reads = 1e9))"
  ))
  expect_match(ended$said[[1]], "resource_exhausted .*take more than 512 MB")
  expect_match(ended$said[[2]], "more than [0-9]* outputs")
  expect_match(ended$said[[3]], "data_loss .*longer than 268435456 bytes")
  expect_match(ended$said[[4]], "no error")
  expect_match(ended$said[[5]], "not_found")
  expect_lt(ended$peak, 1024)
})
