# Ctrl-C, closing the session, quitting R and forking end a dataset that searches without end.
# Reading an iterator from inside its own element is an error.

skip_on_cran()
skip_if_not_installed("processx")

source(test_path("endless_datasets.R"), local = TRUE)

# Returns R code that reads each dataset in turn, and writes to `diary` when it begins and ends.
reader_of <- function(cases, diary) {
  c(
    "library(runhooks)",
    sprintf("say <- function(...) cat(paste(..., '\\n'), file = '%s', append = TRUE)", diary),
    sprintf("for (case in list(%s)) with(tf$Graph()$as_default(), {",
      paste(vapply(cases, function(x) paste0("quote(", deparse1(x, "\n"), ")"), ""), collapse = ", ")),
    "  value <- iterator_get_next(make_iterator_one_shot(eval(case)))",
    "  session <- tf$Session()",
    "  ended <- tryCatch(",
    "    {say('begins'); session$run(value); 'an element'}, interrupt = function(e) 'interrupted'",
    "  )",
    "  say(ended, format(as.numeric(Sys.time()), digits = 17))",
    "  session$close()",
    "  rm(session, value)",
    "  gc()",
    "  say('closed')",
    "})",
    "say('done')"
  )
}

# Waits for line `n` of the diary and returns it, or NA if it does not appear in time.
diary_line <- function(process, diary, n, seconds = 120) {
  deadline <- Sys.time() + seconds
  while (Sys.time() < deadline) {
    is_alive <- process$is_alive()
    lines <- if (file.exists(diary)) readLines(diary, warn = FALSE)
    if (length(lines) >= n) return(lines[[n]])
    if (!is_alive) break
    Sys.sleep(0.01)
  }
  NA_character_
}

test_that("Ctrl-C ends a dataset that finds no element, and its session closes", {
  skip_on_os("windows")
  diary <- withr::local_tempfile()
  script <- withr::local_tempfile(lines = reader_of(endless_datasets, diary), fileext = ".R")
  process <- processx::process$new(child_rscript(), script, env = child_env())
  withr::defer(process$kill())
  read <- 0
  next_line <- function() {
    read <<- read + 1
    diary_line(process, diary, read)
  }
  for (name in names(endless_datasets)) {
    line <- next_line()
    expect_match(line, "^begins", info = name)
    Sys.sleep(0.1) # it is searching
    at <- as.numeric(Sys.time())
    process$interrupt()
    line <- next_line()
    expect_match(line, "^interrupted", info = name)
    if (is.na(line)) break
    # The search ends a tenth of a second after Ctrl-C; 2 s are tolerance for a busy machine.
    expect_lt(as.numeric(strsplit(line, " ")[[1]][[2]]) - at, 2, label = name)
    line <- next_line()
    expect_match(line, "^closed", info = name)
  }
  line <- next_line()
  expect_match(line, "^done")
})

test_that("R quits while a thread searches for an element", {
  script <- "
    library(runhooks)
    endless <- dataset_skip(dataset_map(dataset_filter(range_dataset(0, 1e15), ~ .x != 0), ~ .x), 1e15)
    first <- dataset_concatenate(range_dataset(0, 1), endless)
    value <- iterator_get_next(make_iterator_one_shot(dataset_prefetch(first, 2)))
    session <- tf$Session()
    cat('first', session$run(value), '\\n')"
  result <- processx::run(
    child_rscript(), c("-e", script), env = child_env(), timeout = 120, error_on_status = FALSE
  )
  expect_equal(result$status, 0)
  expect_match(result$stdout, "first 0")
})

# Calls `act(session, all)` inside an R function that produces an element.
read_within <- function(make, act) {
  with_graph(tf$Graph(), {
    parts <- list()
    dataset <- make(function(x) {
      act(parts)
      x
    })
    iterator <- make_iterator_initializable(dataset)
    tf$add_to_collection("saveable_objects", make_saveable_from_iterator(iterator))
    step <- tf$train$get_or_create_global_step()
    session <- tf$Session()
    parts <- list(
      value = iterator_get_next(iterator), begin = iterator_initializer(iterator),
      saver = tf$train$Saver(), session = session
    )
    on.exit(session$close())
    session$run(list(step$initializer, parts$begin))
    session$run(parts$value)
  })
}

test_that("a function that produces an element cannot read, begin, save or restore its iterator", {
  folder <- withr::local_tempdir()
  saved <- with_graph(tf$Graph(), {
    step <- tf$train$get_or_create_global_step()
    with(tf$Session() %as% session, {
      session$run(step$initializer)
      tf$train$Saver()$save(session, file.path(folder, "plain"))
    })
  })
  makes <- list(
    generator = function(f) generator_dataset(function() f(1), "float32", list()),
    on_values = function(f) dataset_map(range_dataset(0, 9), on_values(f, "int64")),
    parallel = function(f) {
      dataset_map(generator_dataset(function() f(1), "float32", list()), ~ .x + 1, 2)
    }
  )
  acts <- list(
    read = function(all) all$session$run(all$value), begin = function(all) all$session$run(all$begin),
    save = function(all) all$saver$save(all$session, file.path(folder, "own"))
  )
  for (make in names(makes)) {
    for (act in names(acts)) {
      expect_error(
        read_within(makes[[make]], acts[[act]]), "The iterator is producing an element",
        class = "runhooks_error_failed_precondition", info = paste(make, act)
      )
    }
    other <- function(all) dataset_collect(dataset_take(range_dataset(0, 5), 2))
    expect_no_error(read_within(makes[[make]], other))
  }
})

test_that("a forked child ends, whether its parent has a session with threads or has closed one", {
  skip_on_os("windows")
  script <- "
    library(runhooks)
    options(runhooks.threads = 2)
    read <- function() {
      mapped <- dataset_map(dataset_repeat(range_dataset(0, 100)), ~ .x + 1, 2)
      value <- iterator_get_next(make_iterator_one_shot(dataset_prefetch(mapped, 2)))
      session <- tf$Session()
      list(first = session$run(value), session = session, value = value)
    }
    in_children <- function(f) {
      as.character(unlist(parallel::mclapply(1:2, function(i) {
        gc()
        tryCatch(f(), error = function(e) class(e)[[1]])
      }, mc.cores = 2)))
    }
    alone <- function() with(tf$Graph()$as_default(), read()$first)
    held <- read()
    cat('held:', in_children(alone), '\\n')
    cat('continued:', in_children(function() held$session$run(held$value)), '\\n')
    cat('closed:', in_children(function() {
      held$session$close()
      rm(held, envir = globalenv())
      gc()
      alone()
    }), '\\n')
    cat('parent:', held$session$run(held$value), '\\n')
    rm(held)
    tf$reset_default_graph()
    cat('dropped:', in_children(alone), '\\n')"
  result <- processx::run(
    child_rscript(), c("-e", script), env = child_env(), timeout = 180, error_on_status = FALSE,
    stderr_to_stdout = TRUE
  )
  expect_false(result$timeout)
  expect_match(result$stdout, "held: 1 1")
  expect_match(result$stdout, "continued: (runhooks_error_failed_precondition ?){2}")
  expect_match(result$stdout, "closed: 1 1")
  expect_match(result$stdout, "parent: 2")
  expect_match(result$stdout, "dropped: 1 1")
})
