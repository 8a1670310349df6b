# Feature specifications, as in tfdatasets: steps that create feature columns for a dataset.

#' Specify feature columns by steps
#'
#' A feature specification describes how to create feature columns for the components of a dataset,
#' as in the package tfdatasets. Steps add columns. `fit()` reads the dataset once to determine
#' vocabularies and scales. `dense_features()` returns the columns for a model.
#'
#' @details
#' | step | column |
#' |---|---|
#' | `step_numeric_column()` | [column_numeric()] |
#' | `step_bucketized_column()` | [column_bucketized()] of a numeric column |
#' | `step_categorical_column_with_...()` | the function of this name; see [categorical_columns] |
#' | `step_indicator_column()` | [column_indicator()] of a categorical column |
#' | `step_embedding_column()` | [column_embedding()] of a categorical column |
#' | `step_shared_embeddings_column()` | [column_shared_embedding()] of categorical columns |
#' | `step_crossed_column()` | [column_crossed()] of categorical or bucketized columns |
#' | `step_remove_column()` | removes columns |
#'
#' The name of a step that transforms another column combines both names, such as `bucketized_age`,
#' unless the argument in `...` is named.
#'
#' @param dataset A dataset of records or a data frame; batches are read faster than single rows.
#' @param x,y Features and response: tidyselect selections, or a formula such as `y ~ .` as `x`.
#' @param spec The value of `feature_spec()` or of a step.
#' @param ... Names of columns of the dataset or of earlier steps; helpers such as [starts_with()],
#'   `all_numeric()`, `all_nominal()` and `has_type()` select several. In `step_crossed_column()`
#'   and `step_shared_embeddings_column()` each argument is one column, such as `c(a, b)`.
#' @param object For `fit()`, the specification.
#' @return `feature_spec()`, the steps and `fit()`: a specification. Its member `features()` returns
#'   all columns, and `dense_features()` those that are input of a model. `dataset_use_spec()`: a
#'   dataset of tuples of features and response.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid, a column has no step that it
#'     needs, or the specification is not fitted yet.
#' @family feature columns
#' @export
#' @examples
#' cars <- transform(mtcars, cyl = as.character(cyl))
#' spec <- feature_spec(cars, mpg ~ wt + hp + cyl) %>%
#'   step_numeric_column(all_numeric(), normalizer_fn = scaler_standard()) %>%
#'   step_categorical_column_with_vocabulary_list(cyl) %>%
#'   step_indicator_column(cyl) %>%
#'   fit()
#' spec
#' model <- linear_regressor(dense_features(spec))
#' train(model, function() {
#'   tensor_slices_dataset(cars) %>% dataset_use_spec(spec) %>% dataset_batch(8)
#' })
#'
#' towns <- data.frame(
#'   y = c(1, 0, 1), age = c(20, 35, 50), zone = c(0L, 2L, 1L), town = c("Ulm", "Bonn", "Ulm"),
#'   job = c("cook", "pilot", "cook")
#' )
#' jobs <- tempfile()
#' writeLines(c("cook", "pilot"), jobs)
#' feature_spec(towns, y ~ .) %>%
#'   step_numeric_column(age, normalizer_fn = scaler_min_max()) %>%
#'   step_bucketized_column(age, boundaries = c(30, 40)) %>%
#'   step_categorical_column_with_identity(has_type("int32"), num_buckets = 3) %>%
#'   step_categorical_column_with_hash_bucket(town, hash_bucket_size = 10) %>%
#'   step_categorical_column_with_vocabulary_file(job, vocabulary_file = jobs) %>%
#'   step_embedding_column(zone, dimension = 2) %>%
#'   step_shared_embeddings_column(c(job, town), dimension = 2) %>%
#'   step_crossed_column(c(bucketized_age, zone), hash_bucket_size = 20) %>%
#'   step_remove_column(zone) %>%
#'   fit()
#'
#' feature_spec(towns, y ~ town + job) %>%
#'   step_categorical_column_with_vocabulary_list(all_nominal()) %>%
#'   step_indicator_column(all_nominal()) %>%
#'   fit()
feature_spec <- function(dataset, x, y = NULL) {
  if (is.data.frame(dataset)) dataset <- dataset_batch(tensor_slices_dataset(dataset), 1000)
  check_dataset(dataset)
  selection <- record_selection(
    dataset, substitute(x), rlang::enquo(x), substitute(y), rlang::enquo(y), c("x", "y"),
    parent.frame()
  )
  types <- vapply(output_types(dataset)[selection$features], dtype_name, "")
  structure(
    list(
      dataset = dataset, x = selection$features, y = selection$response, types = types,
      steps = list(), fitted = FALSE
    ),
    class = "FeatureSpec"
  )
}

#' @export
`$.FeatureSpec` <- function(x, name) {
  if (name == "features") return(function() spec_features(x))
  if (name == "dense_features") return(function() dense_features(x))
  if (!name %in% names(x)) abort_no_member(x, name)
  unclass(x)[[name]]
}

check_column_spec <- function(spec, fitted = FALSE, call = parent.frame()) {
  check_arg(inherits(spec, "FeatureSpec"), spec, "the value of feature_spec()", "spec", call)
  if (fitted && !spec$fitted) {
    abort_runhooks(
      c("{.arg spec} is not fitted yet.", i = "Use {.code spec <- fit(spec)} first."), call = call
    )
  }
}

# --- selection

# While a step selects columns, `types` has the types of the columns, for has_type().
selection_state <- new.env(parent = emptyenv())
selection_state$types <- NULL

# Returns the names of the columns that a step selects, named by their new names if the user renames
# them.
spec_selection <- function(spec, quos, call) {
  previous <- selection_state$types
  on.exit(selection_state$types <- previous)
  selection_state$types <- spec$types
  names <- names(spec$types)
  columns <- setNames(as.list(seq_along(names)), names)
  quiet <- options(lifecycle_verbosity = "quiet")
  on.exit(options(quiet), add = TRUE)
  expr <- rlang::quo(c(!!!quos))
  selected <- tryCatch(
    tidyselect::eval_select(expr, columns),
    error = function(error) abort_selection(expr, names, "...", error, call)
  )
  setNames(names[selected], names(selected))
}

#' @rdname feature_spec
#' @param match Names of data types, such as `"float32"`.
#' @export
has_type <- function(match = "float32") {
  types <- selection_state$types
  if (!is.null(types)) return(names(types)[types %in% match])
  recipe_selector("has_type", match)
}

#' @rdname feature_spec
#' @export
all_numeric <- function() {
  if (is.null(selection_state$types)) return(recipe_selector("all_numeric"))
  has_type(c("float16", "float32", "float64", "int16", "int32", "int64", "half", "double"))
}

#' @rdname feature_spec
#' @export
all_nominal <- function() {
  if (is.null(selection_state$types)) return(recipe_selector("all_nominal"))
  has_type("string")
}

# Calls the selector of the same name in the package recipes, which this package may mask.
recipe_selector <- function(name, ...) {
  if (isNamespaceLoaded("recipes")) return(getExportedValue("recipes", name)(...))
  abort_runhooks("{.fn {name}} works only in the steps of {.fn feature_spec}.")
}

# --- steps

# Adds a step. `make_column()` returns the column, given the columns of earlier steps and the
# statistics that `learner` has computed from the dataset column `from`.
add_step <- function(spec, name, type, make_column, from = character(), learner = NULL) {
  spec <- unclass(spec)
  step <- list(name = name, make = make_column, from = from, learn = learner)
  spec$steps <- c(spec$steps, list(step))
  spec$types[[name]] <- type
  spec$fitted <- FALSE
  structure(spec, class = "FeatureSpec")
}

# Adds a step for each selected column of the dataset.
step_of_dataset_column <- function(
  spec,
  quos,
  type,
  make_column,
  learner = NULL,
  call = parent.frame()
) {
  check_column_spec(spec, call = call)
  for (key in spec_selection(spec, quos, call)) {
    column_type <- if (is.null(type)) spec$types[[key]] else type
    spec <- local({
      key <- key
      make <- function(features, learned) make_column(key, learned)
      add_step(spec, key, column_type, make, key, learner)
    })
  }
  spec
}

# Adds a step for each selected column of an earlier step.
step_of_earlier_column <- function(spec, quos, prefix, make_column, call = parent.frame()) {
  check_column_spec(spec, call = call)
  selected <- spec_selection(spec, quos, call)
  for (i in seq_along(selected)) {
    spec <- local({
      key <- selected[[i]]
      name <- names(selected)[[i]]
      if (name == key) name <- paste0(prefix, "_", key)
      add_step(spec, name, "float32", function(features, learned) {
        make_column(earlier_column(features, key, name))
      })
    })
  }
  spec
}

# Adds a step for each argument, which selects several columns of earlier steps.
step_of_earlier_columns <- function(spec, quos, prefix, type, make_column, call = parent.frame()) {
  check_column_spec(spec, call = call)
  for (i in seq_along(quos)) {
    spec <- local({
      keys <- unname(spec_selection(spec, unname(quos[i]), call))
      name <- names(quos)[[i]]
      if (name == "") name <- paste0(prefix, "_", paste(keys, collapse = "_"))
      add_step(spec, name, type, function(features, learned) make_column(features, keys, name))
    })
  }
  spec
}

earlier_column <- function(features, key, name) {
  if (!is.null(features[[key]])) return(features[[key]])
  abort_runhooks(
    c(
      "Step {.val {name}} needs a column {.val {key}}, which no earlier step makes.",
      i = "Add {.fn step_numeric_column} or a categorical step first."
    ),
    call = NULL
  )
}

#' @rdname feature_spec
#' @param shape,default_value,dtype See [column_numeric()] and [categorical_columns].
#' @param normalizer_fn A function of a tensor, or `scaler_standard()` or `scaler_min_max()`, which
#'   learn mean and standard deviation, or minimum and maximum. Default, `NULL`: none.
#' @export
step_numeric_column <- function(spec, ..., shape = 1L, default_value = NULL, dtype = tf$float32,
                                normalizer_fn = NULL) {
  learn <- if (inherits(normalizer_fn, "runhooks_scaler")) normalizer_fn
  step_of_dataset_column(spec, rlang::enquos(...), dtype_name(dtype), function(key, learned) {
    scale <- if (is.null(learn)) normalizer_fn else learn$normalizer(learned)
    column_numeric(
      key, shape = shape, default_value = default_value, dtype = dtype, normalizer_fn = scale
    )
  }, learn)
}

#' @rdname feature_spec
#' @export
scaler_standard <- function() {
  update <- function(state, x) {
    if (is.null(state)) state <- list(n = 0, mean = 0, squares = 0)
    n <- state$n + length(x)
    shift <- mean(x) - state$mean
    squares <- sum((x - mean(x))^2) + shift^2 * state$n * length(x) / n
    list(n = n, mean = state$mean + shift * length(x) / n, squares = state$squares + squares)
  }
  new_scaler(update, function(state) {
    list(state$mean, sqrt(state$squares / (state$n - 1)))
  })
}

#' @rdname feature_spec
#' @export
scaler_min_max <- function() {
  new_scaler(function(state, x) range(state, x), function(state) list(state[1], diff(state)))
}

# Creates a scaler. `update(state, x)` adds values to the statistics, and `center_and_scale(state)`
# returns center and scale.
new_scaler <- function(update, center_and_scale) {
  normalizer <- function(state) {
    scaling <- center_and_scale(state)
    function(x) {
      if (!x$dtype$is_floating) x <- tf$cast(x, tf$float32)
      (x - tf$constant(scaling[[1]], x$dtype)) / tf$constant(scaling[[2]], x$dtype)
    }
  }
  structure(list(update = update, normalizer = normalizer), class = "runhooks_scaler")
}

#' @rdname feature_spec
#' @param vocabulary_list The categories. Default, `NULL`: the values in the dataset, sorted.
#' @param num_oov_buckets See [categorical_columns].
#' @export
step_categorical_column_with_vocabulary_list <- function(spec, ..., vocabulary_list = NULL,
                                                         dtype = NULL, default_value = -1L,
                                                         num_oov_buckets = 0L) {
  type <- if (!is.null(dtype)) dtype_name(dtype)
  learn <- if (is.null(vocabulary_list)) {
    list(update = function(state, x) sort(unique(c(state, x)), method = "radix"))
  }
  step_of_dataset_column(spec, rlang::enquos(...), type, function(key, learned) {
    column_categorical_with_vocabulary_list(
      key, vocabulary_list = if (is.null(learn)) vocabulary_list else learned, dtype = dtype,
      default_value = default_value, num_oov_buckets = num_oov_buckets
    )
  }, learn)
}

#' @rdname feature_spec
#' @param hash_bucket_size,hash_key See [column_categorical_with_hash_bucket()] and
#'   [column_crossed()].
#' @export
step_categorical_column_with_hash_bucket <- function(spec, ..., hash_bucket_size,
                                                     dtype = tf$string) {
  step_of_dataset_column(spec, rlang::enquos(...), dtype_name(dtype), function(key, learned) {
    column_categorical_with_hash_bucket(key, hash_bucket_size = hash_bucket_size, dtype = dtype)
  })
}

#' @rdname feature_spec
#' @param num_buckets See [column_categorical_with_identity()].
#' @export
step_categorical_column_with_identity <- function(spec, ..., num_buckets, default_value = NULL) {
  step_of_dataset_column(spec, rlang::enquos(...), NULL, function(key, learned) {
    column_categorical_with_identity(key, num_buckets = num_buckets, default_value = default_value)
  })
}

#' @rdname feature_spec
#' @param vocabulary_file,vocabulary_size See [column_categorical_with_vocabulary_file()]. Default
#'   of the size, `NULL`: all lines of the file.
#' @export
step_categorical_column_with_vocabulary_file <- function(spec, ..., vocabulary_file,
                                                         vocabulary_size = NULL,
                                                         dtype = tf$string, default_value = NULL,
                                                         num_oov_buckets = 0L) {
  check_string(vocabulary_file)
  step_of_dataset_column(spec, rlang::enquos(...), dtype_name(dtype), function(key, learned) {
    column_categorical_with_vocabulary_file(
      key, vocabulary_file = vocabulary_file, vocabulary_size = vocabulary_size, dtype = dtype,
      default_value = default_value, num_oov_buckets = num_oov_buckets
    )
  })
}

#' @rdname feature_spec
#' @export
step_indicator_column <- function(spec, ...) {
  step_of_earlier_column(spec, rlang::enquos(...), "indicator", column_indicator)
}

#' @rdname feature_spec
#' @param dimension Width of the embedding, or a function of the number of categories that returns
#'   it.
#' @param combiner,initializer,ckpt_to_load_from,tensor_name_in_ckpt,max_norm,trainable See
#'   [column_embedding()].
#' @export
step_embedding_column <- function(spec, ..., dimension = function(x) as.integer(x^0.25),
                                  combiner = "mean", initializer = NULL, ckpt_to_load_from = NULL,
                                  tensor_name_in_ckpt = NULL, max_norm = NULL, trainable = TRUE) {
  step_of_earlier_column(spec, rlang::enquos(...), "embedding", function(column) {
    width <- if (is.function(dimension)) dimension(num_categories(column)) else dimension
    column_embedding(
      column, dimension = as.integer(width), combiner = combiner, initializer = initializer,
      ckpt_to_load_from = ckpt_to_load_from, tensor_name_in_ckpt = tensor_name_in_ckpt,
      max_norm = max_norm, trainable = trainable
    )
  })
}

num_categories <- function(column) {
  if (!is.null(column$vocabulary_list)) return(length(column$vocabulary_list))
  sizes <- unlist(column[c("hash_bucket_size", "number_buckets", "vocabulary_size")])
  if (length(sizes)) sizes[[1]] else 1
}

#' @rdname feature_spec
#' @param boundaries See [column_bucketized()].
#' @export
step_bucketized_column <- function(spec, ..., boundaries) {
  step_of_earlier_column(spec, rlang::enquos(...), "bucketized", function(column) {
    column_bucketized(column, boundaries = boundaries)
  })
}

#' @rdname feature_spec
#' @export
step_crossed_column <- function(spec, ..., hash_bucket_size, hash_key = NULL) {
  make <- function(features, keys, name) {
    columns <- lapply(keys, function(key) if (is.null(features[[key]])) key else features[[key]])
    column_crossed(columns, hash_bucket_size = hash_bucket_size, hash_key = hash_key)
  }
  step_of_earlier_columns(spec, rlang::enquos(...), "crossed", "string", make)
}

#' @rdname feature_spec
#' @param shared_embedding_collection_name See [column_shared_embedding()].
#' @export
step_shared_embeddings_column <- function(spec, ..., dimension, combiner = "mean",
                                          initializer = NULL,
                                          shared_embedding_collection_name = NULL,
                                          ckpt_to_load_from = NULL, tensor_name_in_ckpt = NULL,
                                          max_norm = NULL, trainable = TRUE) {
  make_column <- function(features, keys, name) {
    columns <- lapply(keys, function(key) earlier_column(features, key, name))
    column_shared_embedding(
      columns, dimension = dimension, combiner = combiner, initializer = initializer,
      shared_embedding_collection_name = shared_embedding_collection_name,
      ckpt_to_load_from = ckpt_to_load_from, tensor_name_in_ckpt = tensor_name_in_ckpt,
      max_norm = max_norm, trainable = trainable
    )
  }
  step_of_earlier_columns(spec, rlang::enquos(...), "shared_embeddings", "float32", make_column)
}

#' @rdname feature_spec
#' @export
step_remove_column <- function(spec, ...) {
  check_column_spec(spec)
  for (key in spec_selection(spec, rlang::enquos(...), environment())) {
    spec <- add_step(spec, key, spec$types[[key]], NULL)
  }
  spec
}

# --- fitted specifications

#' @rdname feature_spec
#' @rawNamespace S3method(fit, FeatureSpec)
#' @rawNamespace S3method(generics::fit, FeatureSpec)
fit.FeatureSpec <- function(object, dataset = NULL, ...) {
  if (is.null(dataset)) dataset <- object$dataset
  if (is.data.frame(dataset)) dataset <- dataset_batch(tensor_slices_dataset(dataset), 1000)
  check_dataset(dataset)
  learning <- Filter(function(step) !is.null(step$learn), object$steps)
  keys <- unique(unlist(lapply(learning, function(step) step$from)))
  learned <- vector("list", length(object$steps))
  if (length(keys)) {
    values <- dataset_map(dataset, function(record) record[keys])
    has_rows <- lengths(output_shapes(values)) > 0
    batches <- as_iterator(if (all(has_rows)) values else dataset_batch(values, 1000))
    on.exit(batches$close())
    while (!is.null(batch <- batches$next_item())) {
      for (i in seq_along(object$steps)) {
        step <- object$steps[[i]]
        if (is.null(step$learn)) next
        learned[[i]] <- step$learn$update(learned[[i]], as.vector(batch[[step$from]]))
      }
    }
  }
  spec <- unclass(object)
  spec$learned <- learned
  spec$fitted <- TRUE
  structure(spec, class = class(object))
}

spec_features <- function(spec) {
  check_column_spec(spec, fitted = TRUE)
  features <- list()
  for (i in seq_along(spec$steps)) {
    step <- spec$steps[[i]]
    result <- if (!is.null(step$make)) step$make(features, spec$learned[[i]])
    if (is.null(result)) {
      features[[step$name]] <- NULL
    } else if (is_column(result)) {
      features[[step$name]] <- result
    } else {
      features[paste0(step$name, seq_along(result))] <- result
    }
  }
  features
}

#' @rdname feature_spec
#' @export
dense_features <- function(spec) {
  check_column_spec(spec, fitted = TRUE)
  dense <- c(
    "NumericColumn", "BucketizedColumn", "IndicatorColumn", "EmbeddingColumn",
    "SharedEmbeddingColumn"
  )
  Filter(function(column) inherits(column, dense), spec_features(spec))
}

#' @rdname feature_spec
#' @export
dataset_use_spec <- function(dataset, spec) {
  check_dataset(dataset)
  check_column_spec(spec, fitted = TRUE)
  x <- spec$x
  y <- spec$y
  dataset_map(dataset, function(record) {
    if (length(y)) list(record[x], record[[y]]) else record[x]
  })
}

#' @export
print.FeatureSpec <- function(x, ...) {
  names <- vapply(x$steps, function(step) step$name, "")
  # lint: allow stdout
  cat(
    "<feature specification> ", if (x$fitted) "fitted" else "not fitted", "\n",
    "features: ", paste(x$x, collapse = ", "), "\n",
    if (length(x$y)) paste0("response: ", x$y, "\n"),
    "columns: ", paste(unique(names), collapse = ", "), "\n",
    sep = ""
  )
  invisible(x)
}
