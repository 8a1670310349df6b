# Cases of bench/waits.R: checkpoints, data files, rows in memory, and a long run.

# Runs a pipeline to its end; the elements never reach R.
drained <- function(dataset) {
  with(tf$Graph()$as_default(), {
    value <- iterator_get_next(make_iterator_one_shot(dataset))
    op <- do.call(tf$group, unname(if (is.list(value)) value else list(value)))
    with(tf$Session() %as% session, until_out_of_range(session$run(op)))
  })
}
# MB per second of `call` on a checkpoint of 200 MB, and of copying it.
of_checkpoint <- function(call) {
  with(tf$Graph()$as_default(), {
    for (i in 1:10) tf$get_variable(paste0("v", i), shape = c(1000L, 5000L))
    saver <- tf$train$Saver()
    with(tf$Session() %as% session, {
      session$run(tf$global_variables_initializer())
      prefix <- saver$save(session, tempfile(), write_meta_graph = FALSE)
      data <- paste0(prefix, ".data-00000-of-00001")
      best <- function(run) min(replicate(3, clock(run())))
      figures(
        200 / best(function() call(saver, session, prefix)),
        200 / best(function() file.copy(data, tempfile()))
      )
    })
  })
}
write_numbers <- function(mb) {
  set.seed(1)
  block <- replicate(9, sprintf("%.5f", stats::runif(20000, -100, 100)))
  words <- sample(paste0("word", 1:20), 20000, TRUE)
  text <- paste(do.call(paste, c(asplit(block, 2), sep = ",")), words, sep = ",")
  path <- tempfile(fileext = ".csv")
  con <- file(path, "wb")
  writeLines(paste(c(paste0("x", 1:9), "word"), collapse = ","), con)
  for (i in seq_len(ceiling(mb * 1e6 / sum(nchar(text) + 1)))) writeLines(text, con)
  close(con)
  path
}

lines <- c(lines, list(
  "a checkpoint of 200 MB: save" = line("MB/s", "file.copy()", "TensorFlow", function() {
    of_checkpoint(function(saver, session, prefix) {
      saver$save(session, tempfile(), write_meta_graph = FALSE)
    })
  }),
  "a checkpoint of 200 MB: restore" = line("MB/s", "file.copy()", "TensorFlow", function() {
    of_checkpoint(function(saver, session, prefix) saver$restore(session, prefix))
  }),
  "CSV of 10 columns to batches of 4,096" = line("MB/s", "fread()", "300", function() {
    path <- write_numbers(100)
    mb <- file.size(path) / 1e6
    drained(make_csv_dataset(path, 4096, num_epochs = 1, shuffle = FALSE))
    ours <- mb / clock(drained(make_csv_dataset(path, 4096, num_epochs = 1, shuffle = FALSE)))
    if (!requireNamespace("data.table", quietly = TRUE)) return(figures(ours))
    read <- function() data.table::fread(path, nThread = 2, showProgress = FALSE)
    read()
    figures(ours, mb / clock(read()))
  }),
  "TFRecords of features to batches of 1,024" = line("million/s", "", "1.5", function() {
    golden <- "tests/testthat/golden/files/tfrecord/examples.tfrecord"
    count <- length(dataset_collect(tfrecord_dataset(golden)))
    path <- tempfile(fileext = ".tfrecord")
    times <- ceiling(1e6 / count)
    writeBin(rep(readBin(golden, "raw", file.size(golden)), times), path)
    features <- list(
      age = tf$VarLenFeature(tf$int64), name = tf$VarLenFeature(tf$string),
      score = tf$VarLenFeature(tf$float32)
    )
    parsed <- function() {
      batches <- dataset_batch(tfrecord_dataset(path), 1024)
      dataset_prefetch(dataset_map(batches, function(record) {
        lapply(tf$parse_example(record, features), function(column) column$values)
      }), 2)
    }
    drained(parsed())
    figures(count * times / 1e6 / clock(drained(parsed())))
  }),
  "2 M rows of 10 columns shuffled, batches of 1,024" = line(
    "million/s", "not shuffled", "40", function() {
      rows <- tensor_slices_dataset(as.data.frame(matrix(stats::runif(2e7), 2e6)))
      batches <- function(data) dataset_batch(dataset_repeat(data, 3), 1024)
      shuffled <- function() drained(batches(dataset_shuffle(rows, 10000)))
      shuffled()
      figures(6 / clock(shuffled()), 6 / clock(drained(batches(rows))))
    }
  ),
  "10 M steps: last million against the first" = line("us a step", "the first", "1", function() {
    model <- of_cars()
    train(model, cars(), steps = 1000)
    million <- function(from) {
      gc() # frees the history of the previous training
      clock(train(model, cars(), max_steps = from + 1e6))
    }
    first <- million(1000)
    train(model, cars(), max_steps = 9e6)
    figures(million(9e6), first)
  }),
  "memory after 10,000 steps with a hook and 200 evaluations" = line(
    "MB", "after 1,000 and 20", "flat", function() {
      model <- of_cars()
      rows <- input_fn(mtcars, features = c("drat", "cyl"), response = "mpg")
      resume_unwind <- function(times) {
        for (i in seq_len(times)) {
          train(model, cars(), steps = 50, hooks = step_hook())
          evaluate(model, rows)
        }
        gc()
        memory_mb("VmRSS")
      }
      early <- resume_unwind(20)
      figures(resume_unwind(180), early)
    }
  )
))
