# Extreme small inputs: time and peak memory of each at full and half size, to see whether it is
# linear, or the error that names a limit. Each runs in a new process: `Rscript bench/limits.R [part
# of a name]`.

given <- commandArgs(TRUE)
only <- if (length(given)) given[[1]] else ""

node <- function(name, op, ...) {
  sprintf('node { name: "%s" op: "%s" %s }', name, op, paste0(..., collapse = " "))
}
attr <- function(key, value) sprintf(' attr { key: "%s" value { %s } }', key, value)
input <- function(name) sprintf(' input: "%s"', name)
graph_of <- function(nodes) {
  writeLines(nodes, "graph.pbtxt")
  with(tf$Graph()$as_default(), tf$import_graph_def("graph.pbtxt", name = ""))
}
float <- attr("T", "type: DT_FLOAT")
feeds <- c(
  node("x", "Placeholder", attr("dtype", "type: DT_FLOAT")),
  node("p", "Placeholder", attr("dtype", "type: DT_BOOL"))
)
split <- function(name, count) {
  node(name, "Split", input("zero"), input("x"), float, attr("num_split", sprintf("i: %d", count)))
}
zero <- node("zero", "Const", attr("dtype", "type: DT_INT32"),
  attr("value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 }"))

# Functions of the size.
limits <- list(
  "Switches behind Identities, read" = list(n = 8000, run = function(n) {
    chain <- c("x", paste0("i", seq_len(n)))
    graph_of(c(
      feeds,
      vapply(seq_len(n), function(i) node(paste0("i", i), "Identity", input(chain[[i]]), float), ""),
      vapply(seq_len(n), function(i) {
        node(paste0("s", i), "Switch", input(paste0("i", n)), input("p"), float)
      }, "")
    ))
  }),
  "conditionals, read" = list(n = 10000, run = function(n) {
    graph_of(c(feeds, unlist(lapply(seq_len(n), function(i) {
      before <- if (i == 1) "x" else paste0("m", i - 1)
      name <- function(what) paste0(what, i)
      c(
        node(name("s"), "Switch", input(before), input("p"), float),
        node(name("f"), "Neg", input(name("s")), float),
        node(name("t"), "Abs", input(paste0(name("s"), ":1")), float),
        node(name("m"), "Merge", input(name("f")), input(name("t")), float, attr("N", "i: 2"))
      )
    }))))
  }),
  "conditionals, made, run, written" = list(n = 2000, run = function(n) {
    with(tf$Graph()$as_default(), {
      p <- tf$placeholder("bool", list())
      y <- tf$constant(1)
      for (i in seq_len(n)) y <- tf$cond(p, function() y + 1, function() y * 2)
      with(tf$Session() %as% session, session$run(y, dict(p = TRUE)))
      tf$train$export_meta_graph("graph.meta")
    })
  }),
  "Splits into 100,000 outputs, read" = list(n = 400, run = function(n) {
    graph_of(c(feeds, zero, vapply(seq_len(n), function(i) split(paste0("s", i), 100000L), "")))
  }),
  "Splits into 1,000 outputs, read" = list(n = 400, run = function(n) {
    graph_of(c(feeds, zero, vapply(seq_len(n), function(i) split(paste0("s", i), 1000L), "")))
  }),
  "constants of 16 MB from one element, read" = list(n = 1500, run = function(n) {
    graph_of(vapply(seq_len(n), function(i) {
      node(paste0("c", i), "Const", attr("dtype", "type: DT_FLOAT"), attr(
        "value", "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 4000000 } } float_val: 1 }"
      ))
    }, ""))
  }),
  "events, read" = list(n = 200000, run = function(n) {
    # A record of one scalar, many times.
    writer <- tf$summary$FileWriter("events")
    with(tf$Session() %as% session, {
      writer$add_summary(session$run(tf$summary$scalar("a", tf$constant(1))), 1)
    })
    writer$close()
    file <- list.files("events", full.names = TRUE)
    bytes <- readBin(file, "raw", file.size(file))
    first <- 16 + sum(as.integer(bytes[1:4]) * 256^(0:3)) # length of the version record
    writeBin(c(bytes[seq_len(first)], rep(bytes[-seq_len(first)], n)), file)
    nrow(as.data.frame(runhooks:::cpp_read_events(file)))
  }),
  "a gzip of one line, MB" = list(n = 600, run = function(n) {
    zeros <- gzfile("zeros.gz", "wb")
    writeBin(raw(2^20), zeros)
    close(zeros)
    bytes <- readBin("zeros.gz", "raw", file.size("zeros.gz"))
    writeBin(rep(bytes, n), "bomb.gz")
    dataset_collect(text_line_dataset("bomb.gz", "GZIP"))
  }),
  "a gzip of many lines, MB" = list(n = 60, run = function(n) {
    lines <- gzfile("lines.gz", "wb")
    writeLines(rep(strrep("a", 1023), 1024), lines)
    close(lines)
    bytes <- readBin("lines.gz", "raw", file.size("lines.gz"))
    writeBin(rep(bytes, n), "many.gz")
    length(dataset_collect(dataset_batch(text_line_dataset("many.gz", "GZIP"), 1024)))
  }),
  "num_parallel_calls" = list(n = 1e6, run = function(n) {
    dataset_collect(dataset_map(range_dataset(0, 3), function(x) x, num_parallel_calls = n))
  }),
  "num_parallel_calls that are allowed" = list(n = 1024, run = function(n) {
    dataset_collect(dataset_map(range_dataset(0, 3), function(x) x, num_parallel_calls = n))
  }),
  "cycle_length of an interleave" = list(n = 1e9, run = function(n) {
    dataset_collect(dataset_interleave(range_dataset(0, 2), function(x) range_dataset(0, 2), n))
  }),
  "lists nested, fetched" = list(n = 1e5, run = function(n) {
    x <- tf$constant(1)
    for (i in seq_len(n)) x <- list(x)
    tf$Session()$run(x)
  }),
  "lists nested, fed" = list(n = 1e5, run = function(n) {
    x <- 1
    for (i in seq_len(n)) x <- list(x)
    tf$constant(x)
  }),
  "datasets nested" = list(n = 1e5, run = function(n) {
    d <- range_dataset(0, 3)
    for (i in seq_len(n)) d <- dataset_take(d, 2)
  }),
  "a text graph nested" = list(n = 1e5, run = function(n) {
    writeLines(paste("node {", strrep("attr { value { list { func { ", n)), "deep.pbtxt")
    with(tf$Graph()$as_default(), tf$import_graph_def("deep.pbtxt"))
  }),
  "tf$add_n() of numbers" = list(n = 1e5, run = function(n) {
    with(tf$Graph()$as_default(), {
      sum <- tf$add_n(seq_len(n))
      with(tf$Session() %as% session, session$run(sum))
    })
  }),
  "tf$add_n() of tensors" = list(n = 1e5, run = function(n) {
    with(tf$Graph()$as_default(), {
      x <- tf$constant(1)
      sum <- tf$add_n(rep(list(x), n))
      with(tf$Session() %as% session, session$run(sum))
    })
  })
)

child <- function(name, n) {
  suppressMessages(library(runhooks))
  setwd(tempdir())
  base <- peak()
  began <- proc.time()
  said <- tryCatch(
    {
      limits[[name]]$run(n)
      ""
    },
    error = function(e) {
      kind <- sub("runhooks_error_", "", class(e)[[1]])
      paste0(kind, ": ", sub("\n.*", "", conditionMessage(e)))
    }
  )
  took <- proc.time() - began
  cat(sum(took[1:2]), peak() - base, said, sep = "\n")
}
peak <- function() {
  status <- readLines("/proc/self/status")
  as.numeric(gsub("[^0-9]", "", grep("VmHWM", status, value = TRUE))) / 1024
}

if (length(given) > 1) {
  child(names(limits)[[as.numeric(given[[1]])]], as.numeric(given[[2]]))
  quit()
}

script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
measured <- function(place, n) {
  run <- processx::run(
    file.path(R.home("bin"), "Rscript"), c(script, place, n), error_on_status = FALSE, timeout = 600
  )
  lines <- strsplit(run$stdout, "\n")[[1]]
  if (run$status != 0 || length(lines) < 2) {
    return(list(seconds = NA, mb = NA, said = paste("R ended with", run$status)))
  }
  list(seconds = as.numeric(lines[[1]]), mb = as.numeric(lines[[2]]),
    said = if (length(lines) > 2) lines[[3]] else "")
}
cat(sprintf("%-42s %10s %14s %14s\n", "what", "n", "s (of n / 2)", "MB (of n / 2)"))
for (place in grep(only, names(limits))) {
  n <- limits[[place]]$n
  half <- measured(place, n / 2)
  whole <- measured(place, n)
  cat(sprintf(
    "%-42s %10s %6.2f (%5.2f) %6.0f (%5.0f) %s\n", names(limits)[[place]],
    format(n, big.mark = ",", scientific = FALSE), whole$seconds, half$seconds, whole$mb, half$mb,
    substr(whole$said, 1, 90)
  ))
}
