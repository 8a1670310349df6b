# Runs the pipelines of datasets.py, element by element: Rscript datasets.R <folder>.
suppressPackageStartupMessages(library(runhooks))
folder <- commandArgs(TRUE)[[1]]
cases <- jsonlite::read_json(file.path(folder, "pipelines.json"))
limit <- 60
set.seed(cases$seed)

# --- sources

numbers <- function(x) vapply(x, as.numeric, 0)
texts <- function(x) vapply(x, as.character, "")

sources <- list(
  range = function(s) range_dataset(s$start, s$stop, s$step),
  slices = function(s) tensor_slices_dataset(numbers(s$numbers)),
  rows = function(s) {
    rows <- do.call(rbind, lapply(s$numbers, numbers))
    tensor_slices_dataset(list(np_array(rows, "int32"), texts(s$words)))
  },
  text = function(s) text_line_dataset(texts(s$paths)),
  records = function(s) tfrecord_dataset(s$path, if (nzchar(s$compression)) s$compression),
  fixed = function(s) fixed_length_record_dataset(s$path, 3, header_bytes = 2),
  csv = function(s) {
    tf$data$experimental$CsvDataset(s$path, list(-1, "none", 5L), header = TRUE)
  },
  sample = function(s) {
    parts <- lapply(seq_along(s$sizes), function(i) {
      range_dataset(100 * (i - 1), 100 * (i - 1) + s$sizes[[i]])
    })
    sample_from_datasets(parts, if (!is.null(s$weights)) numbers(s$weights), seed = s$seed)
  }
)

# --- transformations; functions take the components of an element, one argument each

one_or_all <- function(parts) if (length(parts) == 1) parts[[1]] else parts
is_text <- function(x) x$dtype$name == "string"
count_of <- function(dataset) {
  types <- output_types(dataset)
  if (inherits(types, "tensorflow.dtype")) 1 else length(types)
}
# A function with as many arguments as elements have components.
with_arity <- function(dataset, f) {
  switch(count_of(dataset),
    function(x) f(list(x)), function(x, y) f(list(x, y)), function(x, y, z) f(list(x, y, z))
  )
}
again <- function(dataset, n) {
  with_arity(dataset, function(parts) dataset_repeat(tensors_dataset(one_or_all(parts)), n))
}

# Tensors in place of numbers on request; functions capture them.
outside <- function(x) tf$placeholder_with_default(tf$constant(x, dtype = "int64"), shape())
few <- function(s) if (isTRUE(s$tensors)) outside(s$few) else s$few
more <- function(s) if (isTRUE(s$tensors)) outside(s$more) else s$more

steps <- list(
  shifted = function(d, s) {
    by <- outside(s$few)
    dataset_map(d, with_arity(d, function(parts) {
      one_or_all(lapply(parts, function(x) if (is_text(x)) x else x + tf$cast(by, x$dtype)))
    }))
  },
  nested = function(d, s) {
    by <- outside(s$few)
    n <- few(s)
    dataset_flat_map(d, with_arity(d, function(parts) {
      dataset_map(range_dataset(0, n), function(y) c(parts, list(y * by)))
    }))
  },
  take = function(d, s) dataset_take(d, more(s)),
  skip = function(d, s) dataset_skip(d, few(s)),
  `repeat` = function(d, s) dataset_repeat(d, few(s)),
  shard = function(d, s) dataset_shard(d, few(s), few(s) - 1L),
  concatenate = function(d, s) dataset_concatenate(d, dataset_take(d, few(s))),
  batch = function(d, s) dataset_batch(d, few(s), s$drop),
  padded_batch = function(d, s) dataset_padded_batch(d, few(s), drop_remainder = s$drop),
  zip = function(d, s) zip_datasets(d, dataset_skip(d, few(s))),
  interleave = function(d, s) dataset_interleave(d, again(d, 3), few(s), 1 + s$more %% 3),
  window = function(d, s) {
    batches <- with_arity(d, function(parts) {
      do.call(if (length(parts) == 1) identity else zip_datasets,
        lapply(parts, dataset_batch, s$few))
    })
    dataset_flat_map(dataset_window(d, s$few, s$shift, s$stride, s$drop), batches)
  },
  filter = function(d, s) {
    least <- tf$cast(few(s), "float32")
    dataset_filter(d, with_arity(d, function(parts) {
      x <- parts[[1]]
      if (is_text(x)) return(tf$reduce_any(tf$not_equal(x, "b")))
      tf$reduce_max(tf$cast(x, "float32")) > least
    }))
  },
  map = function(d, s) {
    dataset_map(d, with_arity(d, function(parts) {
      one_or_all(lapply(parts, function(x) if (is_text(x)) x else x * 2L + 1L))
    }))
  },
  flat_map = function(d, s) dataset_flat_map(d, again(d, few(s))),
  shuffle = function(d, s) dataset_shuffle(d, more(s), s$seed, !s$drop),
  shuffle_and_repeat = function(d, s) dataset_shuffle_and_repeat(d, more(s), few(s), s$seed),
  prefetch = function(d, s) dataset_prefetch(d, few(s)),
  cache = function(d, s) dataset_cache(d)
)

# --- results

components_of <- function(x) {
  if (is.list(x)) do.call(c, lapply(unname(x), components_of)) else list(x)
}
plain <- function(x) {
  shape <- if (is.null(dim(x))) integer() else dim(x)
  values <- if (length(shape) > 1) as.vector(aperm(x)) else as.vector(x)
  list(shape = as.integer(shape), values = values)
}

# NULL stands for an error. With `goes_on`, elements after the error follow.
elements_of <- function(make, graph_seed = NULL, goes_on = FALSE) {
  found <- list()
  error <- NULL
  with(tf$Graph()$as_default(), {
    if (!is.null(graph_seed)) tf$set_random_seed(graph_seed)
    dataset <- make()
    # Tests both kinds of iterators.
    waits <- stats::runif(1) < 0.5
    iterator <- if (waits) make_iterator_initializable(dataset) else make_iterator_one_shot(dataset)
    value <- iterator_get_next(iterator)
    with(tf$Session() %as% session, tryCatch({
      if (waits) session$run(iterator_initializer(iterator))
      while (length(found) < limit && (goes_on || is.null(error))) {
        element <- tryCatch(lapply(components_of(session$run(value)), plain),
          runhooks_error = function(e) {
            if (inherits(e, "runhooks_error_out_of_range")) stop(e)
            if (is.null(error)) error <<- conditionMessage(e)
            NULL
          }
        )
        found <- c(found, list(element))
      }
    },
      runhooks_error_out_of_range = function(e) NULL,
      runhooks_error = function(e) error <<- conditionMessage(e)
    ))
  })
  list(elements = found, error = error)
}

wanted_part <- function(part) {
  values <- if (length(part$values)) unlist(part$values) else NULL
  list(shape = as.integer(unlist(part$shape)), values = values)
}

same_part <- function(found, wanted) {
  if (!identical(found$shape, wanted$shape)) return(FALSE)
  if (length(wanted$values) == 0) return(length(found$values) == 0)
  if (is.character(found$values)) {
    return(identical(lapply(found$values, charToRaw), lapply(wanted$values, bytes_of)))
  }
  isTRUE(all.equal(as.numeric(found$values), as.numeric(wanted$values), tolerance = 0))
}
# Python wrote each byte as the character with that code.
bytes_of <- function(text) as.raw(utf8ToInt(enc2utf8(text)))

same_elements <- function(found, wanted) {
  length(found) == length(wanted) && all(mapply(function(f, w) {
    length(f) == length(w) && all(mapply(function(x, y) same_part(x, wanted_part(y)), f, w))
  }, found, wanted))
}

show_element <- function(element) {
  if (is.null(element)) return("an error")
  paste(vapply(element, function(part) {
    paste0("[", paste(unlist(part$shape), collapse = ","), "](",
      paste(unlist(part$values), collapse = " "), ")")
  }, ""), collapse = " ; ")
}

failed <- 0
compare <- function(found, wanted, what) {
  good <- same_elements(found$elements, wanted$elements) &&
    is.null(found$error) == is.null(wanted$error)
  if (good) return()
  failed <<- failed + 1
  cat("datasets: differs: ", what, "\n", sep = "")
  count <- max(length(found$elements), length(wanted$elements))
  for (i in seq_len(count)) {
    at <- function(x) if (i <= length(x)) show_element(x[[i]]) else "(none)"
    if (at(found$elements) == at(wanted$elements)) next
    cat("  element ", i, "\n    here:  ", at(found$elements), "\n    there: ", at(wanted$elements),
      "\n", sep = "")
    break
  }
  cat("  error here: ", found$error, "\n  error there: ", wanted$error, "\n", sep = "")
}

describe <- function(case) {
  steps <- vapply(case$steps, function(s) {
    paste0(s$kind, "(few = ", s$few, ", more = ", s$more, ", drop = ", s$drop, ", seed = ", s$seed,
      ")")
  }, "")
  paste(c(case$source$kind, steps), collapse = " |> ")
}

for (case in cases$pipelines) {
  found <- elements_of(function() {
    Reduce(function(d, s) steps[[s$kind]](d, s), case$steps, sources[[case$source$kind]](case$source))
  }, case$graph_seed, goes_on = TRUE)
  compare(found, case, describe(case))
}

# --- delimited text

# An intended difference: a byte order mark is dropped here.
has_mark <- function(case) startsWith(case$text, "\u00ef\u00bb\u00bf")
for (case in cases$csv) {
  if (has_mark(case)) next
  defaults <- Map(function(type, value) {
    switch(type, int = as.integer(value), float = as.numeric(value), str = value, tf[[type]])
  }, texts(case$types), case$defaults)
  options <- case$options
  if (!is.null(options$select_cols)) options$select_cols <- numbers(options$select_cols)
  found <- elements_of(function() {
    do.call(tf$data$experimental$CsvDataset, c(list(case$path, unname(defaults)), options))
  })
  compare(found, case, paste("CSV", encodeString(case$text, quote = "'")))
}

apart <- sum(vapply(cases$pipelines, function(case) isTRUE(case$is_apart), NA))
cat("datasets: ", length(cases$pipelines), " pipelines (", apart,
  " with TensorFlow's steps apart) and ", length(cases$csv), " delimited texts (seed ",
  cases$seed, "), ", failed, " differ\n", sep = "")
quit(save = "no", status = failed > 0)
