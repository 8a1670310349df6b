# Properties of all pipelines, tested on random compositions of all kinds of sources and
# transformations. RUNHOOKS_PROPERTIES is the number of compositions (1000 for a release), and
# RUNHOOKS_SEED repeats them.

compositions <- function(what) {
  n <- as.numeric(Sys.getenv("RUNHOOKS_PROPERTIES", "25"))
  property_seed(what) + seq_len(n)
}

# Runs code on iterators in a seeded graph, where two iterators of one dataset have the same order.
in_seeded_graph <- function(make, run) {
  with(tf$Graph()$as_default(), {
    tf$set_random_seed(7)
    built <- iterators_in_graph(make())
    with(tf$Session() %as% session, run(session, built))
  })
}

# Returns up to `n` results of an iterator: elements, or the classes of the errors that were raised.
outcomes <- function(session, value, n) {
  lapply(seq_len(n), function(i) {
    tryCatch(
      session$run(value), runhooks_error_out_of_range = function(e) "the end",
      error = function(e) class(e)
    )
  })
}

sources_at_hand <- function(frame = parent.frame()) {
  skip_if_not_installed("RSQLite", "2.0") # one source is a database
  folder <- withr::local_tempdir(.local_envir = frame)
  for (version in 1:2) {
    dir.create(file.path(folder, version))
    write_versions(file.path(folder, version), version)
  }
  database <- DBI::dbConnect(RSQLite::SQLite(), file.path(folder, "base"))
  withr::defer(suppressWarnings(DBI::dbDisconnect(database)), frame)
  for (version in 1:2) {
    DBI::dbWriteTable(database, paste0("data", version), data.frame(x = version * 100 + 1:20 / 2))
  }
  list(folder = folder, database = database)
}

test_that("two iterators of a dataset are independent", {
  hand <- sources_at_hand()
  for (seed in compositions("two iterators")) {
    make <- function() composition(seed, hand)
    alone <- in_seeded_graph(
      function() list(make()), function(session, built) outcomes(session, built$values[[1]], 24)
    )
    turns <- withr::with_seed(seed, sample(rep(1:2, each = 24)))
    both <- in_seeded_graph(function() rep(list(make()), 2), function(session, built) {
      seen <- list(list(), list())
      for (i in turns) {
        seen[[i]] <- c(seen[[i]], outcomes(session, built$values[[i]], 1))
      }
      seen
    })
    expect_identical(both[[1]], alone, info = paste("seed", seed))
    expect_identical(both[[2]], alone, info = paste("seed", seed))
  }
})

test_that("a position in other data is an error, or restarts on request", {
  hand <- sources_at_hand()
  path <- file.path(withr::local_tempdir(), "input.ckpt")
  for (seed in compositions("other data")) {
    info <- paste("seed", seed)
    stop_at <- withr::with_seed(seed, sample(0:9, 1))
    rest <- in_seeded_graph(function() list(composition(seed, hand)), function(session, built) {
      outcomes(session, built$values[[1]], stop_at)
      built$saver$save(session, path)
      outcomes(session, built$values[[1]], 12)
    })
    same <- in_seeded_graph(function() list(composition(seed, hand)), function(session, built) {
      built$saver$restore(session, path)
      outcomes(session, built$values[[1]], 12)
    })
    expect_identical(same, rest, info = info)
    # A generator is only identified by its declared types, so other data of the same types are not
    # detected.
    if (source_of(seed) %in% c("generator", "maker")) next
    other <- function() list(composition(seed, hand, version = 2))
    error <- expect_error(
      in_seeded_graph(other, function(session, built) built$saver$restore(session, path)),
      "Saved: .*Now: ", class = "runhooks_error_failed_precondition", info = info
    )
    anew <- in_seeded_graph(other, function(session, built) {
      outcomes(session, built$values[[1]], 12)
    })
    begun <- with(tf$Graph()$as_default(), {
      tf$set_random_seed(7)
      built <- iterators_in_graph(other(), on_other_data = "begin")
      with(tf$Session() %as% session, {
        expect_message(built$saver$restore(session, path), "starts at the first element")
        outcomes(session, built$values[[1]], 12)
      })
    })
    expect_identical(begun, anew, info = info)
  }
})

test_that("an error keeps its class and is raised with its element, whatever queues follow", {
  hand <- sources_at_hand()
  for (seed in compositions("errors")) {
    seen <- lapply(c(FALSE, TRUE), function(queued) {
      in_seeded_graph(
        function() list(failing_composition(seed, hand, queued)),
        function(session, built) outcomes(session, built$values[[1]], 16)
      )
    })
    expect_identical(seen[[2]], seen[[1]], info = paste("seed", seed))
    failed <- vapply(seen[[1]], function(x) is.character(x) && "test_broken" %in% x, NA)
    expect_true(any(failed), info = paste("seed", seed))
  }
})

test_that("killed pipelines of every kind of source resume with the remaining elements", {
  skip_if_not_installed("callr", "3.0") # starts the process
  skip_on_os("windows") # no signals there
  hand <- sources_at_hand()
  seeds <- compositions("killed")
  folder <- withr::local_tempdir()
  # The child process saves its position, writes the next elements, and kills itself.
  expect_error(callr::r(
    function(helpers, inside_library, seeds, hand, folder) {
      library(runhooks)
      for (helper in helpers) source(helper, local = TRUE)
      hand$database <- DBI::dbConnect(RSQLite::SQLite(), file.path(hand$folder, "base"))
      with(tf$Graph()$as_default(), {
        built <- iterators_in_graph(lapply(seeds, composition, hand))
        with(tf$Session() %as% session, {
          stops <- withr::with_seed(seeds[[1]], sample(0:12, length(seeds), replace = TRUE))
          for (i in seq_along(seeds)) take_elements(session, built$values[[i]], stops[[i]])
          built$saver$save(session, file.path(folder, "input.ckpt"))
          rest <- lapply(built$values, function(value) take_elements(session, value, 12))
          saveRDS(rest, file.path(folder, "rest.rds"))
          tools::pskill(Sys.getpid(), tools::SIGKILL)
        })
      })
    },
    list(
      normalizePath(test_path(c("helper-inside.R", "helper-datasets.R"))), inside_library, seeds,
      list(folder = hand$folder), folder
    )
  ), "killed")
  with(tf$Graph()$as_default(), {
    built <- iterators_in_graph(lapply(seeds, composition, hand))
    with(tf$Session() %as% session, {
      built$saver$restore(session, file.path(folder, "input.ckpt"))
      rest <- readRDS(file.path(folder, "rest.rds"))
      for (i in seq_along(seeds)) {
        expect_identical(
          take_elements(session, built$values[[i]], 12), rest[[i]],
          info = paste("seed", seeds[[i]])
        )
      }
    })
  })
})

test_that("every kind of dataset of the core is in the compositions or is listed here", {
  drawn <- vapply(1:400, source_of, "")
  expect_setequal(unique(drawn), names(composition_sources))
})
