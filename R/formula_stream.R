# Streams as data of formula models: datasets, database tables and Arrow objects. Small data become
# a data frame. For others, one pass computes statistics, and terms are computed in chunks.

is_formula_data <- function(x) is.data.frame(x) || is_streamed(x)

is_streamed <- function(x) inherits(x, c("runhooks_stream", "tf_dataset", streamed_classes))

streamed_classes <- c("ArrowObject", "nanoarrow_array_stream", "tbl_sql")

# Converts data to a stream, whose `rows` are a dataset of single records. If the data are tuples
# (record, label), the label gets the name `response`.
as_stream <- function(x, response = NULL, call = parent.frame()) {
  if (inherits(x, "runhooks_stream")) return(x)
  if (inherits(x, "tbl_sql")) x <- table_dataset(x)
  x <- with_na_values(if (is_dataset(x)) x else arrow_dataset(x))
  form <- record_form(x, response, call)
  info <- cpp_dataset_info(x$handle)
  if (info$is_endless) {
    abort_runhooks(
      c(
        "The data never end, because they repeat without a limit.",
        i = "Remove {.fn dataset_repeat} (in {.fn make_csv_dataset}: use {.code num_epochs = 1});
             {.fn train} repeats the data."
      ),
      call = call
    )
  }
  dims <- info$dims[unlist(form)]
  is_batched <- all(lengths(dims) > 0) && length(unique(vapply(dims, `[[`, 0, 1))) == 1
  is_nested <- is_batched_twice(info, form)
  widths <- if (is_nested) vapply(dims, `[[`, 0, 2)
  if (is_nested && !anyNA(widths)) check_batched_once(widths, call)
  x <- tf_dataset(x$handle, form)
  rows <- if (is_batched) dataset_flat_map(x, tensor_slices_dataset) else x
  sizes <- if (is_batched) lapply(dims, `[`, -1) else dims
  widths <- vapply(sizes, function(d) prod(as.numeric(d)), 0)
  structure(
    list(
      rows = rows, names = names(form), widths = setNames(widths, names(form)), is_twice = is_nested
    ),
    class = "runhooks_stream"
  )
}

# TRUE if the dataset may have been batched twice by mistake, so that each column is a matrix. If it
# was, all columns have the same width in each chunk.
is_batched_twice <- function(info, form) {
  batches <- gregexpr("\\b(Padded)?Batch\\(", info$description)[[1]]
  length(batches) > 1 && all(lengths(info$dims[unlist(form)]) == 2)
}

check_batched_once <- function(widths, call = user_frame()) {
  if (length(unique(widths)) > 1 || widths[[1]] == 1) return(invisible())
  abort_runhooks(
    c(
      "The elements are batches of batches; is there one {.fn dataset_batch} too many?",
      x = "Each of the columns has {widths[[1]]} values in each row of a batch."
    ),
    call = call
  )
}

record_form <- function(dataset, response, call) {
  form <- dataset$form
  is_pair <- is.list(form) && is.null(names(form)) && length(form) == 2 && is.list(form[[1]]) &&
    !is.list(form[[2]])
  if (is_pair && length(response) == 1) form <- c(form[[1]], setNames(form[2], response))
  good <- is.list(form) && length(form) > 0 && !is.null(names(form)) && all(nzchar(names(form))) &&
    !any(vapply(form, is.list, NA))
  if (good) {
    check_unique_names(names(form), call)
    return(form)
  }
  abort_runhooks(
    c(
      "With a formula, the elements of a dataset must be records: named lists of columns.",
      x = "They are {describe_structure(dataset$form, cpp_dataset_info(dataset$handle)$dtypes)}.",
      i = "Convert them with {.fn dataset_map} and a function that returns a named list."
    ),
    call = call
  )
}

table_dataset <- function(x) {
  from <- function(name) getExportedValue("dbplyr", name)
  sql_dataset(from("remote_con")(x), as.character(from("sql_render")(x)))
}

data_names <- function(data) if (inherits(data, "runhooks_stream")) data$names else names(data)

max_values_in_memory <- function() {
  limit <- getOption("runhooks.values_in_memory", 1e6)
  good <- is_number(limit) && limit >= 0
  check_arg(
    good, limit, "a number of values, 0 or more", "options(runhooks.values_in_memory = )",
    parent.frame()
  )
  limit
}

values_of_row <- function(stream, columns) {
  widths <- stream$widths[columns]
  max(1, sum(ifelse(is.na(widths), 1, widths)))
}

# Calls `visit()` with consecutive chunks of at most `size` rows, as lists of columns. Returns the
# number of rows.
each_chunk <- function(stream, columns, visit, size = chunk_size(stream, columns)) {
  rows_before <- 0
  visit_chunk <- function(...) {
    chunk <- as_chunk(list(...), columns, stream$is_twice)
    add_row_position(visit(chunk), rows_before)
    rows_before <<- rows_before + n_rows(chunk[[1]])
    0L
  }
  chunks <- dataset_map(dataset_batch(stream$rows, size), function(record) {
    py_func(visit_chunk, unname(record[columns]), "int32", name = "look")
  })
  dataset_collect(chunks)
  invisible(rows_before)
}

chunk_size <- function(stream, columns) {
  min(8192, max(64, floor(2^19 / values_of_row(stream, columns))))
}

# Converts components of a dataset to columns. "" becomes NA, because datasets have no other missing
# string. Matrices with one column become vectors.
as_chunk <- function(values, names, is_twice = FALSE) {
  if (isTRUE(is_twice)) check_batched_once(vapply(values, NCOL, 0L))
  values <- lapply(values, function(x) {
    if (is.character(x)) x[!nzchar(x)] <- NA
    if (prod(dim(x)[-1]) == 1) as.vector(x) else x
  })
  setNames(values, names)
}

# Adds the position of a chunk to an error, because the error counts rows from the first of the
# chunk.
add_row_position <- function(expr, rows_before) {
  if (rows_before == 0) return(expr)
  withCallingHandlers(expr, error = function(e) {
    position <- format(rows_before + 1, big.mark = ",", scientific = FALSE)
    if (is.null(control_error_kind(e))) {
      stop(add_note(e, paste0("Row 1 is row ", position, " of the data.")))
    }
  })
}

first_chunk <- function(stream, columns, call) {
  first <- NULL
  stream$rows <- dataset_take(stream$rows, chunk_size(stream, columns))
  each_chunk(stream, columns, function(chunk) first <<- chunk)
  if (is.null(first)) abort_runhooks("The data have no rows.", call = call)
  first
}

# Returns the stream as a data frame, or NULL if it has more values than the option allows in
# memory.
frame_if_small <- function(stream, columns) {
  max_rows <- floor(max_values_in_memory() / values_of_row(stream, columns))
  if (max_rows < 1 || isTRUE(stream$total > max_rows)) return(NULL)
  chunks <- list()
  append_chunk <- function(chunk) chunks[[length(chunks) + 1]] <<- chunk
  stream$rows <- dataset_take(stream$rows, max_rows + 1)
  n <- each_chunk(stream, columns, append_chunk)
  if (n > max_rows) return(NULL)
  data <- lapply(setNames(nm = columns), function(name) {
    values <- lapply(chunks, `[[`, name)
    if (length(dim(values[[1]])) > 1) do.call(rbind, values) else unlist(values, use.names = FALSE)
  })
  structure(data, class = "data.frame", row.names = .set_row_names(n))
}

as_formula_data <- function(data, model, call = parent.frame()) {
  if (!is_streamed(data) || inherits(data, "runhooks_stream")) return(data)
  if (is.null(model$blueprint)) abort_streamed_without_formula(data, call)
  stream <- as_stream(data, model$blueprint$response_variables, call)
  frame_or_stream(stream, intersect(data_names(stream), model$blueprint$columns))
}

abort_streamed_without_formula <- function(data, call) {
  subject <- if (is_dataset(data)) "A dataset" else "Data that are read in chunks"
  abort_runhooks(
    c(
      paste(subject, "requires a model from a formula."),
      i = "For other models, use batches ({.fn dataset_batch}) with
           {.code input_fn(dataset, features = c(a, b), response = y)}."
    ),
    call = call
  )
}

abort_stream <- function(fun, stream, call) {
  rows <- if (is.null(stream$total)) "" else {
    paste0(" of ", format(stream$total, big.mark = ",", scientific = FALSE), " rows")
  }
  abort_runhooks(
    c(
      "{.fn {fun}} needs the rows in memory, but the data of this model are a stream{rows}.",
      i = "If they fit, set {.code options(runhooks.values_in_memory = )} to more than
           {format(max_values_in_memory(), big.mark = ',', scientific = FALSE)} values.",
      i = "{.fn predict} and {.fn evaluate} accept streams. {.code variable_value(model)} returns
           the weights."
    ),
    call = call
  )
}

stream_input <- function(model, stream, reading, is_limited, call) {
  is_training <- !is.null(is_limited)
  check_flag(reading$resume, "resume", call)
  check_shuffle(reading$shuffle, call)
  if (is.null(reading$batch_size)) {
    reading$batch_size <- if (is_training) model_traits(model$spec$type)$batch_size else 128
  }
  check_positive_whole(reading$batch_size, arg = "batch_size", call = call)
  if (!"num_epochs" %in% reading$supplied) {
    passes <- if (!is_training) 1 else if (!is_limited) {
      n <- if (is.null(stream$total)) count_rows(stream) else stream$total
      default_passes(model, n, reading$batch_size)
    }
    reading["num_epochs"] <- list(passes)
  }
  check_positive_whole(reading$num_epochs, null = TRUE, arg = "num_epochs", call = call)
  if (is_training && is_iterative_fit(model)) inform_batches(reading$batch_size)
  stream_input_fn(model, stream, reading)
}

count_rows <- function(stream) each_chunk(stream, stream$names[1], function(chunk) NULL)

# Reports that training on a stream does not reach the minimum of the loss, unlike training on a
# data frame.
inform_batches <- function(size) {
  cli::cli_inform(
    c(
      "The data are a stream, so each step uses {size} rows. The fit approaches the minimum of the
       loss, but does not reach it.",
      i = "With data in memory, each step uses all rows; see {.code ?runhooks_options}."
    ),
    class = "runhooks_message_stream"
  )
}

stream_input_fn <- function(model, stream, reading) {
  input <- function(estimator) {
    function() {
      mode <- the$reading$mode
      rows <- stream_features(stream, estimator, mode)
      shuffle <- reading$shuffle
      if (identical(shuffle, "auto")) shuffle <- identical(mode, "train")
      if (shuffle) rows <- dataset_shuffle(rows, shuffle_buffer_rows)
      if (!identical(reading$num_epochs, 1)) rows <- dataset_repeat(rows, reading$num_epochs)
      iterator <- make_iterator_one_shot(dataset_batch(rows, reading$batch_size))
      if (reading$resume && identical(mode, "train")) {
        tf$add_to_collection("saveable_objects", make_saveable_from_iterator(iterator, "begin"))
      }
      batch <- iterator_get_next(iterator)
      last <- length(batch)
      list(batch[-last], batch[[last]])
    }
  }
  info <- list(
    rows = stream$total, features = names(model$blueprint$keys),
    response = model$blueprint$response$name, batch_size = reading$batch_size,
    num_epochs = reading$num_epochs, is_stream = TRUE
  )
  structure(input, class = "runhooks_input_fn", about = info)
}

shuffle_buffer_rows <- 10000

stream_features <- function(stream, model, mode) {
  chunks <- dataset_batch(stream$rows, chunk_size(stream, stream$names))
  dataset_flat_map(feature_batches(chunks, stream$names, model, mode), tensor_slices_dataset)
}

# Converts batches of records to batches of features and, except for prediction, the response.
feature_batches <- function(batches, columns, model, mode, is_twice = FALSE) {
  has_response <- !identical(mode, "infer")
  types <- feature_types(model, has_response)
  inform <- first_omission_informer()
  rows_before <- 0
  compute <- function(...) {
    chunk <- as_chunk(list(...), columns, is_twice)
    n <- n_rows(chunk[[1]])
    values <- add_row_position(chunk_features(chunk, model, types, mode, inform), rows_before)
    rows_before <<- rows_before + n
    unname(values)
  }
  dataset_map(batches, function(record) {
    tensors <- py_func(
      compute, unname(record[columns]), lapply(unname(types), `[[`, "dtype"), name = "formula"
    )
    with_shape <- Map(function(tensor, type) {
      tf$ensure_shape(tensor, c(list(NULL), type$shape))
    }, tensors, types)
    setNames(with_shape, names(types))
  })
}

# Returns the types and shapes of the features that feature_batches() computes, and of the response.
feature_types <- function(model, has_response) {
  blueprint <- model$blueprint
  floats <- float_features(model_reads(model))
  types <- lapply(names(blueprint$features), function(name) {
    variables <- blueprint$variables[blueprint$features[[name]]]
    if (name %in% names(blueprint$crosses) || !is.null(variables[[1]]$levels)) {
      width <- if (length(variables) == 1) variables[[1]]$width else 1L
      return(list(dtype = "string", shape = if (width > 1) list(width)))
    }
    width <- max(vapply(variables, `[[`, 1L, "width"))
    key <- blueprint$keys[[name]]
    list(dtype = if (key %in% floats) "float32" else "float64", shape = if (width > 1) list(width))
  })
  names(types) <- unname(blueprint$keys[names(blueprint$features)])
  if (!is.null(blueprint$offset)) types[[blueprint$offset$name]] <- list(dtype = "float64")
  if (length(types) == 0) types$rows <- list(dtype = "float32")
  types <- types[sort_bytewise(names(types))]
  if (!has_response) return(types)
  if (!is.null(blueprint$weight)) types[[blueprint$weight]] <- list(dtype = "float64")
  width <- blueprint$response$width
  types[[length(types) + 1]] <- if (blueprint$response_as_strings) list(dtype = "string") else {
    list(dtype = "float64", shape = if (isTRUE(width > 1)) list(width))
  }
  names(types)[[length(types)]] <- blueprint$response$name
  types
}

chunk_features <- function(chunk, model, types, mode, inform) {
  blueprint <- model$blueprint
  has_response <- !identical(mode, "infer")
  call <- user_frame()
  frame <- evaluate_blueprint(blueprint, chunk, has_response, call)
  frame <- drop_incomplete_rows(blueprint, frame, call, inform, may_be_empty = TRUE)
  columns <- frame_features(blueprint, frame)
  if (length(columns) == 0) columns$rows <- numeric(sum(frame$rows))
  reads <- model_reads(model)
  check_feature_values(columns, reads)
  if (!is.null(blueprint$weight)) columns[[blueprint$weight]] <- frame$weight
  labels <- model_labels(model)
  if (has_response) {
    check_weights(columns, labels$reads)
    response <- if (blueprint$response_as_strings) as.character(frame$response) else frame$response
    columns[[length(types)]] <- as_labels(
      response, blueprint$response$name, NULL, labels, model$spec$type, mode
    )
    names(columns)[[length(types)]] <- blueprint$response$name
  }
  features <- names(types)[seq_len(length(types) - has_response)]
  ordered <- c(columns[features], if (has_response) columns[length(types)])
  Map(as_component, ordered, types)
}

# Converts values to an array for the core, so that a single row does not become a scalar.
as_component <- function(x, type) {
  if (is.character(x)) x[is.na(x)] <- "" else if (is.logical(x)) storage.mode(x) <- "double"
  if (is.factor(x)) x <- as.character(x)
  if (is.null(type$shape)) array(x, length(x)) else x
}

# Returns a function that reports only the first drop of rows.
first_omission_informer <- function() {
  is_reported <- FALSE
  function(missing) {
    if (is_reported) return(invisible())
    is_reported <<- TRUE
    columns <- names(missing)[vapply(missing, any, NA)] # nolint: used by cli
    cli::cli_inform(
      "Dropping rows of the stream because of NA in {.val {columns}}.",
      class = "runhooks_message_omitted"
    )
  }
}

# Creates an input function that computes the features of a formula from batches of records.
formula_batches <- function(dataset, features, response, model) {
  blueprint <- model$blueprint
  form <- record_form(dataset, response, user_frame())
  columns <- intersect(names(form), model$blueprint$columns)
  not_features <- c(blueprint$response_variables, if (length(response) == 0) blueprint$weight)
  missing <- setdiff(columns, c(features, response, not_features))
  if (length(missing)) abort_unselected(missing, model$formula)
  if (length(response) && !response %in% blueprint$response_variables) {
    abort_other_response(response, blueprint$response$name)
  }
  function() {
    mode <- the$reading$mode
    if (!identical(mode, "infer") && length(response) == 0) return(next_batch(dataset)[features])
    batches <- tf_dataset(with_na_values(dataset)$handle, form)
    is_twice <- is_batched_twice(cpp_dataset_info(dataset$handle), form)
    batch <- next_batch(feature_batches(batches, columns, model, mode, is_twice))
    if (identical(mode, "infer")) return(batch)
    last <- length(batch)
    list(batch[-last], batch[[last]])
  }
}

abort_unselected <- function(names, formula) {
  abort_runhooks(
    c(
      "{.arg features} lacks {.val {names}}, which the formula of the model reads.",
      i = "The formula is {.code {term_name(formula)}}. You can also pass the dataset directly,
           without {.fn input_fn}."
    ),
    call = user_frame()
  )
}

abort_other_response <- function(response, name) {
  abort_runhooks(
    "{.arg response} is {.val {response}}, but the model predicts {.val {name}}.",
    call = user_frame()
  )
}
