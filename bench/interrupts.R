# Latency of Ctrl-C at each place where the user may wait: wall time from the signal to R's
# interrupt, and the processor time in between, which other load does not affect (its resolution is
# hundredths of a second). `Rscript bench/interrupts.R [part of a name] [rounds]`.

library(runhooks)
given <- commandArgs(TRUE)
only <- if (length(given)) given[[1]] else ""
rounds <- if (length(given) > 1) as.numeric(given[[2]]) else 3

# --- the cases: `before` prepares, `wait` is interrupted

reads <- function(dataset) {
  bquote({
    value <- iterator_get_next(make_iterator_one_shot(.(dataset)))
    session <- tf$Session()
  })
}
source("tests/testthat/endless_datasets.R") # and some that are slow in other ways
endless <- utils::modifyList(endless_datasets, list(
  interleave = quote(dataset_interleave(dataset_repeat(range_dataset(0, 3)), function(x) {
    dataset_filter(range_dataset(0, 5), ~ .x < 0)
  }, 4)),
  large_batch = quote(dataset_batch(dataset_repeat(tensor_slices_dataset(runif(1e5))), 1e8)),
  shuffle = quote(dataset_shuffle(dataset_repeat(range_dataset(0, 1e9)), 1e8)),
  unique = quote(dataset_unique(dataset_map(range_dataset(0, 1e12), ~ .x * 0)) %>% dataset_skip(1)),
  slow_steps = quote(dataset_filter(range_dataset(0, 1e15), function(x) {
    m <- tf$fill(list(1000L, 1000L), tf$cast(x, "float32"))
    tf$reduce_sum(tf$matmul(m, m)) < -1
  })),
  prefetched_shuffle = quote(dataset_prefetch(
    dataset_shuffle(dataset_repeat(range_dataset(0, 1e9)), 1e8), 2
  )),
  several_threads_of_loop = quote(dataset_map(range_dataset(0, 3), function(x) {
    tf$while_loop(function(i) i < 2, function(i) tf$random_uniform(list()), list(tf$constant(0)))
  }, 2))
))
places <- lapply(endless, function(d) list(before = reads(d), wait = quote(session$run(value))))

step <- function(build) list(before = bquote({
  value <- .(build)
  session <- tf$Session()
}), wait = quote(repeat session$run(value)))
# `build` receives a placeholder `x` of float64, fed with `fed`. A step without side effects can end
# between two operations, and within long ones.
long_step <- function(fed, build) list(before = bquote({
  fed <- .(fed)
  x <- tf$placeholder("float64", list(NULL, NULL))
  value <- .(build)
  session <- tf$Session()
}), wait = quote(repeat session$run(value, dict(x = fed))))
square <- function(n) bquote(matrix(stats::runif(.(n)^2), .(n)))
chain <- quote({
  x <- tf$placeholder("float32", list())
  y <- x
  for (i in 1:150000) y <- y + 1
})
conditionals <- quote({
  p <- tf$placeholder("bool", list())
  y <- tf$constant(1)
  for (i in 1:6000) y <- tf$cond(p, function() y + 1, function() y * 2)
})
places <- c(places, list(
  while_loop = step(quote(tf$while_loop(
    function(i) i < 2, function(i) i * 0, list(tf$constant(0))
  ))),
  many_small_steps = step(quote(tf$constant(1) + 1)),
  r_function = step(quote(tf$py_func(function() repeat 1, list(), "float64"))),
  matmul = long_step(square(3000), quote({
    y <- tf$cast(x, "float32")
    for (i in 1:3) y <- tf$matmul(y, y)
    tf$reduce_sum(y)
  })),
  matmul_of_doubles = long_step(square(3000), quote(tf$reduce_sum(tf$matmul(x, x)))),
  convolution = long_step(square(4096), quote(tf$reduce_sum(tf$nn$conv2d(
    tf$reshape(tf$cast(x, "float32"), list(64L, 128L, 64L, 32L)), tf$ones(list(5L, 5L, 32L, 64L)),
    c(1L, 1L, 1L, 1L), "SAME"
  )))),
  elementwise = long_step(square(5000), quote(tf$reduce_sum(tf$lgamma(tf$sin(x))))),
  sorting = long_step(square(4000), quote(tf$reduce_sum(
    tf$nn$top_k(tf$reshape(x, list(1L, -1L)), 100000L)[[1]]
  ))),
  eigenvalues = long_step(square(1000), quote(tf$self_adjoint_eig(x + tf$transpose(x))[[1]])),
  inverse = long_step(square(2000), quote(tf$reduce_sum(tf$matrix_inverse(x)))),
  gathering = long_step(square(1000), quote(tf$reduce_sum(tf$gather(
    x, tf$zeros(list(20000L), "int32")
  )))),
  planning = list(before = bquote({
    .(chain)
    session <- tf$Session()
  }), wait = quote(repeat tf$Session()$run(y, dict(x = 1)))),
  planning_conditionals = list(before = bquote({
    .(conditionals)
  }), wait = quote(repeat tf$Session()$run(y, dict(p = TRUE)))),
  differentiating = list(before = chain, wait = quote(repeat tf$gradients(y, x))),
  writing_a_graph = list(before = chain, wait = quote(repeat {
    tf$train$write_graph(tf$get_default_graph(), tempdir(), "graph.pb", as_text = FALSE)
  })),
  lowering = list(before = conditionals, wait = quote(repeat {
    tf$train$export_meta_graph(file.path(tempdir(), "lowered.meta"))
  })),
  reading_a_graph = list(before = bquote({
    .(chain)
    tf$train$write_graph(tf$get_default_graph(), tempdir(), "read.pb", as_text = FALSE)
    path <- file.path(tempdir(), "read.pb")
  }), wait = quote(repeat with(tf$Graph()$as_default(), tf$import_graph_def(path)))),
  reading_conditionals = list(before = bquote({
    .(conditionals)
    tf$train$write_graph(tf$get_default_graph(), tempdir(), "read.pb", as_text = FALSE)
    path <- file.path(tempdir(), "read.pb")
  }), wait = quote(repeat with(tf$Graph()$as_default(), tf$import_graph_def(path)))),
  saving = list(before = quote({
    v <- tf$get_variable("v", list(20000000L), initializer = tf$zeros_initializer())
    session <- tf$Session()
    session$run(v$initializer)
    saver <- tf$train$Saver()
    path <- file.path(tempdir(), "saved")
  }), wait = quote(repeat saver$save(session, path))),
  restoring = list(before = quote({
    v <- tf$get_variable("v", list(20000000L), initializer = tf$zeros_initializer())
    session <- tf$Session()
    session$run(v$initializer)
    saver <- tf$train$Saver()
    path <- saver$save(session, file.path(tempdir(), "saved"))
  }), wait = quote(repeat saver$restore(session, path))),
  reading_lines = list(before = quote({
    path <- tempfile()
    writeLines(rep(strrep("a,1,2.5,b ", 10), 200000), path)
  }), wait = quote(repeat dataset_collect(text_line_dataset(path)))),
  compressed_lines = list(before = quote({
    path <- tempfile()
    file <- gzfile(path, "wb")
    for (i in 1:12) writeBin(raw(2^24), file)
    close(file)
  }), wait = quote(repeat try(dataset_collect(text_line_dataset(path, "GZIP")), silent = TRUE))),
  events = list(before = quote({
    writer <- tf$summary$FileWriter(tempdir())
    session <- tf$Session()
    summary <- session$run(tf$summary$scalar("a", tf$constant(1)))
    for (i in 1:50000) writer$add_summary(summary, i)
    writer$close()
    path <- list.files(tempdir(), "tfevents", full.names = TRUE)
  }), wait = quote(repeat runhooks:::cpp_read_events(path))),
  training = list(before = quote({
    model <- dnn_regressor(c(512, 512), column_numeric("x", shape = 256))
    data <- list(x = matrix(runif(20000 * 256), 20000), y = runif(20000))
    input <- input_fn(tensor_slices_dataset(data) %>% dataset_repeat() %>% dataset_batch(4096), x, y)
  }), wait = quote(train(model, input, steps = 100000))),
  predicting = list(before = quote({
    model <- dnn_regressor(c(512, 512), column_numeric("x", shape = 256))
    data <- list(x = matrix(runif(20000 * 256), 20000), y = runif(20000))
    rows <- tensor_slices_dataset(data) %>% dataset_repeat(1000) %>% dataset_batch(4096)
    train(model, input_fn(rows, x, y), steps = 1)
  }), wait = quote(predict(model, input_fn(rows, x, y))))
))
places <- places[grepl(only, names(places))]

# --- a process per case

child <- function(place, diary, rounds) {
  c(
    "suppressMessages(library(runhooks))",
    "tf$logging$set_verbosity('ERROR')",
    "options(runhooks.progress = FALSE)",
    sprintf("say <- function(...) cat(paste(..., '\\n'), file = '%s', append = TRUE)", diary),
    "used <- function() sum(proc.time()[1:2])",
    "tryCatch({",
    deparse(place$before),
    sprintf("for (round in 1:%d) {", rounds),
    "  say('begins')",
    "  said <- tryCatch({", deparse(place$wait), "; 'ended by itself'}, interrupt = function(e) {",
    "    paste('interrupted', format(as.numeric(Sys.time()), digits = 17), used())",
    "  })",
    "  say(said)",
    "}",
    "}, error = function(e) say('failed', gsub('\\n', ' ', conditionMessage(e))))",
    "say('done')"
  )
}

processor_seconds <- function(pid) {
  fields <- strsplit(sub(".*\\) ", "", readLines(sprintf("/proc/%d/stat", pid))), " ")[[1]]
  sum(as.numeric(fields[12:13])) / 100
}
lines_of <- function(diary) if (file.exists(diary)) readLines(diary, warn = FALSE)
# Waits until the process has printed `n` lines; FALSE after the time limit.
said <- function(process, diary, n, seconds) {
  deadline <- Sys.time() + seconds
  while (length(lines_of(diary)) < n) {
    if (Sys.time() > deadline || !process$is_alive()) return(length(lines_of(diary)) >= n)
    Sys.sleep(0.002)
  }
  TRUE
}

set.seed(1)
measure <- function(name) {
  diary <- tempfile()
  script <- tempfile(fileext = ".R")
  writeLines(child(places[[name]], diary, rounds), script)
  process <- processx::process$new(
    file.path(R.home("bin"), "Rscript"), script, stdout = NULL, stderr = NULL
  )
  on.exit(process$kill())
  wall <- processor <- numeric()
  for (round in seq_len(rounds)) {
    if (!said(process, diary, 2 * round - 1, 300)) break
    if (grepl("^failed", utils::tail(lines_of(diary), 1))) break
    Sys.sleep(stats::runif(1, 0.1, 1))
    if (!process$is_alive()) break
    at <- as.numeric(Sys.time())
    used <- processor_seconds(process$get_pid())
    process$interrupt()
    if (!said(process, diary, 2 * round, 120)) break
    words <- strsplit(lines_of(diary)[[2 * round]], " ")[[1]]
    if (words[[1]] != "interrupted") break
    wall[[round]] <- as.numeric(words[[2]]) - at
    processor[[round]] <- as.numeric(words[[3]]) - used
  }
  note <- if (length(wall) < rounds) utils::tail(c("", lines_of(diary)), 1) else ""
  cat(sprintf(
    "%-22s wall %6.0f ms (most %6.0f)   processor %6.0f ms (most %6.0f) %s\n", name,
    1000 * stats::median(wall), 1000 * max(wall, -Inf), 1000 * stats::median(processor),
    1000 * max(processor, -Inf), note
  ))
}
for (name in names(places)) measure(name)
