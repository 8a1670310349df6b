# Builds the models of TensorFlow's exports from the specifications of tests/golden/make_exports.py.

export_column <- function(spec, vocabulary) {
  dtype <- if (isTRUE(spec$is_string)) tf$string else tf$int64
  inner <- function(x) export_column(x, vocabulary)
  switch(spec$kind,
    numeric = column_numeric(
      spec$key, shape = unlist(spec$shape), default_value = spec$default
    ),
    bucketized = column_bucketized(inner(spec$source), unlist(spec$boundaries)),
    identity = column_categorical_with_identity(
      spec$key, num_buckets = spec$buckets, default_value = spec$default
    ),
    hashed = column_categorical_with_hash_bucket(
      spec$key, hash_bucket_size = spec$buckets, dtype = dtype
    ),
    list = column_categorical_with_vocabulary_list(
      spec$key, vocabulary_list = unlist(spec$words), dtype = dtype,
      default_value = spec$default, num_oov_buckets = spec$oov
    ),
    file = column_categorical_with_vocabulary_file(
      spec$key, vocabulary_file = vocabulary, vocabulary_size = spec$size,
      num_oov_buckets = spec$oov, default_value = if (spec$oov == 0) spec$default
    ),
    weighted = column_categorical_weighted(inner(spec$column), spec$weights),
    crossed = column_crossed(
      lapply(spec$keys, function(key) if (is.character(key)) key else inner(key)),
      hash_bucket_size = spec$buckets, hash_key = spec$hash_key
    ),
    indicator = column_indicator(inner(spec$column)),
    embedding = column_embedding(
      inner(spec$column), dimension = spec$dimension, combiner = spec$combiner,
      max_norm = spec$max_norm
    ),
    shared = column_shared_embedding(
      lapply(spec$columns, inner), dimension = spec$dimension, combiner = spec$combiner
    )
  )
}

# Creates one column per name, as tests/golden/make_exports.py does.
export_columns <- function(specs, vocabulary) {
  made <- lapply(specs, export_column, vocabulary)
  is_one <- vapply(made, inherits, NA, "runhooks_feature_column")
  made[is_one] <- lapply(made[is_one], list)
  made <- do.call(c, made)
  made[!duplicated(vapply(made, function(column) column$name, ""))]
}

# Creates the estimator of a case, which continues a copy of TensorFlow's checkpoint.
export_model <- function(folder, case, vocabulary) {
  model <- case$model
  dir <- tempfile("model")
  dir.create(dir)
  file.copy(list.files(folder, "^(model[.]ckpt|checkpoint)", full.names = TRUE), dir)
  wide <- export_columns(model$linear, vocabulary)
  deep <- export_columns(model$dnn, vocabulary)
  own <- switch(model$family,
    linear = list(feature_columns = wide),
    baseline = list(),
    dnn = list(feature_columns = deep, hidden_units = c(4, 3)),
    list(linear_feature_columns = wide, dnn_feature_columns = deep, dnn_hidden_units = 3)
  )
  make <- paste0(model$family, "_", model$kind)
  list(
    model = do.call(make, c(own, lapply(model$head, unlist), list(model_dir = dir))),
    columns = c(wide, deep)
  )
}

# Returns two functions for the argument `serving_input_receiver_fn`: one for raw tensors and one
# that parses examples. The receiver of a model without columns feeds the length of each example.
export_receivers <- function(case, columns) {
  if (length(columns) == 0) {
    return(list(raw = NULL, parsing = function() {
      examples <- tf$placeholder(tf$string, shape(NULL), name = "input_example_tensor")
      features <- list(rows = tf$cast(tf$strings$length(examples), tf$float32))
      tf$estimator$export$ServingInputReceiver(features, list(examples = examples))
    }))
  }
  spec <- tf$feature_column$make_parse_example_spec(columns)
  list(
    raw = NULL, parsing = tf$estimator$export$build_parsing_serving_input_receiver_fn(spec)
  )
}

# Describes our export in the form in which make_exports.py describes TensorFlow's.
look_at_export <- function(path) {
  loaded <- load_savedmodel(path)
  text <- readLines(file.path(path, "saved_model.pbtxt"))
  at <- grep("^  collection_def \\{", text)
  list(
    signatures = lapply(loaded$signatures, function(x) {
      list(
        method_name = x$method_name, inputs = lapply(x$inputs, `[`, c("dtype", "shape")),
        outputs = lapply(x$outputs, `[`, c("dtype", "shape"))
      )
    }),
    collections = stats::setNames(
      as.list(sub("^ *([a-z_0-9]+) .*", "\\1", text[at + 3])),
      sub('.*"(.*)".*', "\\1", text[at + 1])
    ),
    asset_file_def = any(grepl("^  asset_file_def", text)),
    files = sort(list.files(path, recursive = TRUE), method = "radix")
  )
}

array_of_case <- function(x) {
  values <- unlist(x$values)
  shape <- unlist(x$shape)
  if (length(shape) < 2) return(values)
  aperm(array(values, rev(shape)), rev(seq_along(shape)))
}

# Returns the first difference between a prediction of our export and TensorFlow's, or "".
answer_problem <- function(actual, expected) {
  actual <- do.call(rbind, lapply(actual, function(x) row_major(x)))
  if (!identical(length(actual), length(unlist(expected$values)))) return("another shape")
  actual <- as.vector(t(actual))
  expected <- unlist(expected$values)
  if (is.character(expected)) return(if (identical(actual, expected)) "" else "other words")
  error <- max(abs(as.numeric(actual) - as.numeric(expected)))
  if (error <= 1e-5) "" else paste("off by", format(error, digits = 2))
}

# Compares the predictions of our export with TensorFlow's, for rows or serialized examples.
answer_problems <- function(path, kind, case) {
  loaded <- load_savedmodel(path)
  data <- if (kind == "raw") {
    lapply(case$rows, array_of_case)
  } else {
    lapply(case$examples, jsonlite::base64_dec)
  }
  answers <- case[[kind]]$answers
  problems <- character()
  for (key in names(answers)) {
    given <- data
    inputs <- names(loaded$signatures[[key]]$inputs)
    # A signature with one feature may name its input differently.
    if (kind == "raw" && length(data) == 1 && length(inputs) == 1) names(given) <- inputs
    actual <- predict(loaded, given, key)
    keys <- setdiff(names(actual), ".pred_class")
    if (!setequal(keys, names(answers[[key]]))) problems <- c(problems, paste(key, "keys"))
    found <- vapply(names(answers[[key]]), function(output) {
      answer_problem(actual[[output]], answers[[key]][[output]])
    }, "")
    problems <- c(problems, paste(key, names(found), found)[nzchar(found)])
  }
  problems
}

difference_between <- function(what, a, b) {
  if (identical(a, b)) character() else paste0(what, ": ", toString(a), " and there ", toString(b))
}

signature_problems <- function(ours, theirs) {
  problems <- difference_between("signatures", sort(names(ours)), sort(names(theirs)))
  for (key in intersect(names(ours), names(theirs))) {
    a <- ours[[key]]
    b <- theirs[[key]]
    problems <- c(problems, difference_between(key, a$method_name, b$method_name))
    for (part in c("inputs", "outputs")) {
      label <- paste(key, part)
      known <- sort(names(b[[part]]))
      problems <- c(problems, difference_between(label, sort(names(a[[part]])), known))
      for (name in intersect(names(a[[part]]), known)) {
        shape <- as.integer(unlist(b[[part]][[name]]$shape))
        label <- paste(key, part, name)
        problems <- c(
          problems, difference_between(label, a[[part]][[name]]$dtype, b[[part]][[name]]$dtype),
          difference_between(
            label, as.integer(a[[part]][[name]]$shape), ifelse(shape < 0, NA_integer_, shape)
          )
        )
      }
    }
  }
  problems
}

look_problems <- function(ours, theirs) {
  # Conditionals and class look-ups of TensorFlow 1.15 have different operations here. TensorFlow
  # 2.x has no model_variables, and stores shared embeddings as tensors or as variables.
  collections_of <- function(x) {
    own <- "^(cond_context|table_initializer|model_variables)$|_shared_embedding$"
    x <- unlist(x$collections[!grepl(own, names(x$collections))])
    sort(paste(names(x), x), method = "radix")
  }
  # TensorFlow writes separate data files for reference and resource variables.
  files_of <- function(x) {
    x <- sub("pbtxt$", "pb", unlist(x$files))
    unique(sub("data-0000.-of-0000.$", "data", x))
  }
  c(
    signature_problems(ours$signatures, theirs$signatures),
    difference_between("collections", collections_of(ours), collections_of(theirs)),
    difference_between("asset_file_def", ours$asset_file_def, length(theirs$asset_file_def) > 0),
    difference_between("files", files_of(ours), files_of(theirs))
  )
}

# Describes all problems of one case. Our exports are written to the folder `keep`.
export_problems <- function(folder, vocabulary, keep = NULL) {
  case <- jsonlite::read_json(file.path(folder, "case.json"))
  made <- export_model(folder, case, vocabulary)
  on.exit(unlink(model_dir(made$model), recursive = TRUE))
  receivers <- export_receivers(case, made$columns)
  problems <- character()
  for (kind in c("raw", "parsing")) {
    path <- if (is.null(keep)) tempfile("export") else file.path(keep, kind)
    export_savedmodel(made$model, path, receivers[[kind]], as_text = TRUE)
    theirs <- file.path(folder, kind)
    found <- c(
      look_problems(look_at_export(path), case[[kind]]),
      sprintf("ours answers %s", answer_problems(path, kind, case)),
      if (dir.exists(theirs)) sprintf("theirs answers %s", answer_problems(theirs, kind, case))
    )
    problems <- c(problems, sprintf("%s: %s", kind, found))
  }
  problems
}
