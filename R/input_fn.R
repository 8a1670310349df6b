# Input functions: how estimators read data.

# Global state of the package.
the <- new.env(parent = emptyenv())

# Describes a call of an input function: the mode, the shard of this process (see new_shard(); NULL:
# all data), and whether the tensors are invisible to user code.
new_reading <- function(mode = NULL, shard = NULL, internal_only = FALSE) {
  list(mode = mode, shard = shard, internal_only = internal_only)
}
the$reading <- new_reading()

with_reading <- function(reading, expr) {
  previous <- the$reading
  on.exit(the$reading <- previous)
  the$reading <- reading
  expr
}

the$user_code_depth <- 0L # see eval_user_code()

#' Create an input function from data in memory
#'
#' Describes how [train()], [evaluate()] and [predict()][predict.tf_estimator] read a data frame,
#' matrix or list, and returns an input function.
#'
#' The core reads large numeric data (32 MB and more, in 8 batches and more) in place and copies
#' other data. Do not modify the data in place, as `data.table::set()` does, before the training has
#' ended.
#'
#' @param object The data: a data frame; a matrix with column names, also from the Matrix package
#'   (its selected columns become dense); or a list of vectors, matrices or arrays with the same
#'   number of rows. Or a formula `response ~ a + b`. Or a recipe, whose predictors are the features
#'   and whose outcome is the response. Other objects are converted with `as.data.frame()`.
#' @param features,response Columns, selected as in tidyselect: bare names, strings, helpers,
#'   `-label`, or a character vector.
#' @param data For a formula: the data frame. For a recipe: the data to prepare, or `NULL` for the
#'   data of the recipe. The steps of the recipe are always estimated from the data of the recipe.
#' @param batch_size Number of rows in a batch. Batches continue across epochs; only the last batch
#'   can be shorter.
#' @param shuffle `"auto"`: shuffle the rows in each epoch, except for prediction. TRUE or FALSE:
#'   always or never.
#' @param num_epochs Number of passes over the data. `NULL`: no limit.
#' @param queue_capacity,num_threads Accepted for compatibility; they have no effect.
#' @param ... Further arguments have no effect; a message lists them.
#' @param resume `TRUE`: if the previous training stopped part-way through the data (because of
#'   `steps`, Ctrl-C or the end of the process), [train()] continues at the same row. `FALSE`: every
#'   [train()] call starts at the first row, as in TensorFlow.
#' @param auto_shard With several processes ([mpi_strategy()]), TRUE: each process reads its own
#'   share of the rows (of n processes, process k = 0, 1, ... reads every n-th row, starting with
#'   row k + 1). FALSE: each process reads all rows.
#' @param on_other_data What `resume` does if the previous training stopped part-way through
#'   different data, or read the data differently. `"begin"`: start at the first row and log this.
#'   `"stop"`: an error that describes both.
#' @return A function of the estimator. It returns a function without arguments that adds the next
#'   batch to the graph: `list(features, labels)`, or only the features if there is no response.
#'
#'   For a custom [estimator()], the features are one tensor `[batch, k]`, of type int32 if all
#'   columns are integers and float64 otherwise. For other estimators they are a named list of
#'   tensors `[batch]`, or `[batch, k]` for matrix columns. Integers are int32, logicals bool and
#'   strings string. Doubles are float64, or float32 if only numeric columns without a normalizer
#'   read them. Factors are int32 codes from 0, or strings if a feature column expects strings. A
#'   sparse matrix in a list is one feature, whose batches become float64 `[batch, k]`. A list
#'   column becomes a matrix whose shorter rows are padded with `""`, -1 or 0. `NA` becomes `""` in
#'   strings and -1 in factors, which categorical columns treat as missing.
#' @section Resuming: Checkpoints contain the position in the data: the row, the order of the rows
#'   and its seed. [train()] in the same directory continues at the next row, also in another
#'   process. Thus 26 steps and then 22 steps give the same result as 48 steps. This requires that
#'   data, batch size and number of epochs have not changed. A resumed pass contains only the
#'   remaining rows, so it can end before `steps`. [numpy_input_fn()] always starts at the first
#'   row.
#' @section Levels: The file `runhooks.data` in the model directory records the training schema: the
#'   type of each feature and the levels of factors. Later data are converted to this schema: factor
#'   codes follow the training levels, and unseen levels become missing unless the column has
#'   out-of-vocabulary buckets. Factors accept strings, and integers accept whole numbers. Without a
#'   vocabulary, a classifier uses the levels of the response as its classes.
#' @section Errors:
#'   * `runhooks_error_not_found`: a selected column does not exist.
#'   * `runhooks_error_invalid_argument`: two columns have the same name, a column contains dates,
#'     the data have no rows, `batch_size` is less than 1, or a number is NA, NaN or Inf. NA in a
#'     feature is an error only when the row is read, because `column_numeric(default_value = )` can
#'     replace it.
#' @family input functions
#' @export
#' @examples
#' cars <- input_fn(mtcars, response = mpg, features = c(drat, cyl), batch_size = 8)
#' same <- input_fn(mpg ~ drat + cyl, data = mtcars, batch_size = 8)
#' model <- linear_regressor(feature_columns(column_numeric("drat", "cyl")))
#' train(model, cars)
#' evaluate(model, cars)
input_fn <- function(object, ...) UseMethod("input_fn")

#' @rdname input_fn
#' @export
input_fn.default <- function(object, ...) {
  if (is_matrix_package(object)) return(input_fn_of_matrix(object, ...))
  data <- tryCatch(as.data.frame(object, stringsAsFactors = FALSE), error = function(e) NULL)
  if (is.null(data)) {
    abort_runhooks("{.arg object} must be data, not {describe_type(object)}.")
  }
  input_fn.data.frame(data, ...)
}

#' @rdname input_fn
#' @export
input_fn.data.frame <- function(object, features, response = NULL, batch_size = 128,
                                shuffle = "auto", num_epochs = 1, queue_capacity = 1000,
                                num_threads = 1, ..., resume = TRUE,
                                on_other_data = c("begin", "stop"), auto_shard = TRUE) {
  abort_abbreviated_arguments()
  if (!is.data.frame(object) && (is.null(names(object)) || any(names(object) == ""))) {
    abort_runhooks("Every element of {.arg object} needs a name.")
  }
  check_unique_names(names(object))
  features <- select_names(object, substitute(features), rlang::enquo(features), "features")
  response <- select_names(object, substitute(response), rlang::enquo(response), "response")
  warn_response_feature(features, response)
  inform_unused(...)
  new_input_fn(
    as.list(object), features, response, batch_size, shuffle, num_epochs, resume = resume,
    on_other_data = check_one_of(on_other_data, c("begin", "stop")), auto_shard = auto_shard
  )
}

#' @rdname input_fn
#' @export
input_fn.list <- input_fn.data.frame

#' @rdname input_fn
#' @export
input_fn.matrix <- function(object, ...) {
  if (is.null(colnames(object))) {
    abort_plain("cannot create input function from matrix without column names")
  }
  input_fn.data.frame(as.data.frame(object, stringsAsFactors = FALSE, optional = TRUE), ...)
}

input_fn_of_matrix <- function(object, features, response = NULL, ..., call = parent.frame()) {
  names <- colnames(object)
  if (is.null(names)) {
    abort_plain("cannot create input function from matrix without column names", call = call)
  }
  check_unique_names(names, call)
  stub <- setNames(as.list(seq_along(names)), names)
  features <- select_names(stub, substitute(features), rlang::enquo(features), "features", call)
  response <- select_names(stub, substitute(response), rlang::enquo(response), "response", call)
  warn_response_feature(features, response)
  columns <- lapply(setNames(nm = unique(c(features, response))), function(name) object[, name])
  input_fn.list(columns, features, if (length(response)) response, ...)
}

#' @rdname input_fn
#' @export
input_fn.formula <- function(object, data, ...) {
  if (missing(data)) abort_runhooks("{.arg data} is missing: a formula needs a data frame.")
  parsed <- expand_formula(object, data)
  input_fn(parsed$data, features = parsed$features, response = parsed$response, ...)
}

check_unique_names <- function(names, call = parent.frame()) {
  duplicates <- unique(names[duplicated(names)])
  if (length(duplicates) == 0) return(invisible())
  positions <- which(names == duplicates[[1]]) # nolint: used by cli
  abort_runhooks(
    c(
      "The data have {cli::qty(length(duplicates))}{?a column name/column names} twice:
       {.val {duplicates}}.",
      x = "{.val {duplicates[[1]]}} is the name of columns {positions}.",
      i = "Use {.fn make.unique} to rename them."
    ),
    call = call
  )
}

# Returns the names of the columns that the quosure `expr` selects. `literal` is its expression: for
# literal names, the package tidyselect, which is slow, need not be loaded.
select_names <- function(data, literal, expr, arg, call = parent.frame()) {
  literals <- strings_in_call(literal)
  if (!is.null(literals) && all(literals %in% names(data))) return(unique(literals))
  if (rlang::quo_is_missing(expr)) abort_runhooks("{.arg {arg}} is missing.", call = call)
  if (rlang::quo_is_null(expr)) return(character())
  variable_names <- column_names_in_variable(expr, names(data))
  if (!is.null(variable_names)) return(unique(variable_names))
  # tidyselect would warn about variables without all_of(), which scripts for tfestimators pass
  quiet <- options(lifecycle_verbosity = "quiet")
  on.exit(options(quiet))
  columns <- setNames(as.list(seq_along(data)), names(data))
  tryCatch(
    # renames such as c(new = old) are ignored
    names(columns)[tidyselect::eval_select(expr, columns)],
    error = function(error) abort_selection(expr, names(data), arg, error, call)
  )
}

# Returns the strings in an expression such as `"a"`, `c("a", "b")` or NULL; NULL for other
# expressions.
strings_in_call <- function(expr) {
  if (is.null(expr)) return(character())
  if (is.character(expr)) return(expr)
  if (!is.call(expr) || !identical(expr[[1]], quote(c))) return(NULL)
  args <- unname(as.list(expr)[-1])
  if (all(vapply(args, is.character, logical(1)))) unlist(args)
}

# If the expression is a variable that contains names of columns, returns these names; otherwise
# NULL.
column_names_in_variable <- function(expr, columns) {
  name <- rlang::quo_get_expr(expr)
  if (!is.symbol(name) || symbol_text(name) %in% columns) return(NULL)
  value <- get0(as.character(name), rlang::quo_get_env(expr))
  if (is.character(value) && !is.object(value) && all(value %in% columns)) as.vector(value)
}

inform_unused <- function(...) {
  unused <- names(list(...))
  if (length(unused) == 0) return(invisible())
  cli::cli_inform("{.fn input_fn} ignores {.arg {unused}}.")
}

new_input_fn <- function(
  data,
  features,
  response,
  batch_size,
  shuffle,
  num_epochs,
  as_matrix = TRUE,
  resume = FALSE,
  on_other_data = "begin",
  response_name = response,
  auto_shard = TRUE,
  call = parent.frame()
) {
  check_flag(resume, call = call)
  check_flag(auto_shard, call = call)
  check_positive_whole(batch_size, call = call)
  check_positive_whole(num_epochs, null = TRUE, call = call)
  check_shuffle(shuffle, call)
  if (length(features) == 0) abort_runhooks("{.arg features} selects no column.", call = call)
  if (length(response) > 1) {
    abort_runhooks(
      "{.arg response} must be one column, not {length(response)}: {.val {response}}.", call = call
    )
  }
  # canned models read features by name, custom models in the order of selection
  selected <- features
  features <- sort_bytewise(features)
  columns <- lapply(data[c(features, response)], flat_column)
  is_sparse_response <- names(columns) %in% response & vapply(columns, is_sparse_matrix, NA)
  columns[is_sparse_response] <- lapply(columns[is_sparse_response], function(x) {
    unname(Matrix::as.matrix(x))
  })
  finite <- check_columns(columns, response, call)
  options <- list(
    batch_size = batch_size, shuffle = shuffle, num_epochs = num_epochs, resume = resume,
    on_other_data = on_other_data, auto_shard = auto_shard
  )
  cache_key <- new.env(parent = emptyenv())
  n_values <- sum(lengths(columns))
  input <- function(estimator) {
    if (!is_estimator(estimator)) estimator <- NULL
    is_matrix <- as_matrix && is_custom(estimator)
    rows_of_process <- function(reads, order = NULL) {
      coerced <- coerce_to_training_schema(
        columns, features, response, estimator, reads, response_name, order, finite = finite
      )
      shard_rows(coerced, auto_shard)
    }
    batch_options <- function(rows_here) {
      n <- n_rows(columns[[1]])
      options$batch_size <- per_replica_batch(batch_size, n, n_rows(rows_here[[1]]))
      options
    }
    function() {
      if (is_matrix) {
        selected <- features_in_training_order(estimator, selected)
        rows_here <- rows_of_process(model_reads(estimator), selected)
        return(next_matrix(rows_here, selected, response, batch_options(rows_here)))
      }
      rows <- cached_rows(cache_key, estimator, n_values, function() {
        reads <- model_reads(estimator)
        rows_here <- rows_of_process(reads)
        encoded_rows(rows_here, length(features), string_features(reads), float_features(reads))
      })
      next_rows(rows, features, response, batch_options(rows$columns))
    }
  }
  info <- list(rows = n_rows(columns[[1]]), features = features, response = response)
  structure(input, class = "runhooks_input_fn", about = c(info, options))
}

check_shuffle <- function(shuffle, call) {
  good <- identical(shuffle, "auto") || is_flag(shuffle)
  check_arg(good, shuffle, "\"auto\", TRUE or FALSE", "shuffle", call)
}

n_rows <- function(x) if (is.null(dim(x))) length(x) else dim(x)[[1]]

check_columns <- function(columns, response, call) {
  rows <- vapply(columns, n_rows, 0)
  if (any(rows != rows[[1]])) {
    different <- names(columns)[rows != rows[[1]]][[1]]
    abort_runhooks(
      c(
        "All columns must have the same number of rows.",
        x = "{.val {different}} has {rows[[different]]}, {.val {names(columns)[[1]]}} has
             {rows[[1]]}."
      ),
      call = call
    )
  }
  if (rows[[1]] == 0) abort_runhooks("The data have no rows.", call = call)
  finite <- all_finite(columns)
  for (name in names(columns)) {
    allows_na <- !name %in% response && !is_sparse_matrix(columns[[name]])
    check_column(
      columns[[name]], name, name %in% response, call, missing = allows_na, finite = finite[[name]]
    )
  }
  finite
}

# Aborts if a column has an unsupported type or non-finite numbers. `missing`: whether NA and NaN
# are allowed. `finite`: the value of all_finite() for the column.
check_column <- function(x, name, is_response, call, missing = FALSE,
                         finite = all_finite(list(x))) {
  role <- if (is_response) "response" else "feature"
  good <- is.numeric(x) || is.logical(x) || is.character(x) || is.factor(x) || is_sparse_matrix(x)
  is_time <- is.object(x) && !is.factor(x) && cpp_has_encoded_numbers(x)
  if (!good || is_time) {
    abort_runhooks(
      c(
        "The {role} {.val {name}} must be numbers, strings, logicals or a factor,
         not {describe_type(x)}.",
        i = if (is_time) "Convert it to numbers, for example with {.fn as.numeric}.",
        i = if (is.list(x) && contains_encoded_numbers(x)) {
          "Its elements have a class, such as Date or integer64; convert them to plain numbers."
        }
      ),
      kind = "invalid_argument", call = call
    )
  }
  numbers <- stored_numbers(x)
  if (!is.numeric(numbers) && !is.logical(numbers)) return(invisible())
  if (finite) return(invisible())
  invalid <- invalid_positions(x, is.finite)
  if (missing) invalid <- invalid[!is.na(x[invalid])]
  if (length(invalid) == 0) return(invisible())
  kinds <- if (missing) "infinite" else "NA, NaN or infinite" # nolint: used by cli
  first <- (invalid[[1]] - 1) %% n_rows(x) + 1
  abort_runhooks(
    c(
      "The {role} {.val {name}} must be finite numbers.",
      x = "{length(invalid)} value{?s} {?is/are} {kinds}, the first in row {first}.",
      i = if (missing) {
        "Replace infinite values by numbers, or by NA."
      } else if (!is_response && anyNA(numbers)) {
        "Use {.code column_numeric(default_value = )} to replace NA."
      }
    ),
    call = call
  )
}

next_rows <- function(rows, features, response, options) {
  for (text in rows$messages) message(text)
  shuffle <- options$shuffle
  if (identical(shuffle, "auto")) shuffle <- !identical(the$reading$mode, "infer")
  is_endless <- is.null(options$num_epochs)
  tensors <- cpp_next_batch(
    rows$columns, rows$types, options$batch_size,
    if (is_endless) 0 else options$num_epochs, shuffle, if (shuffle) -1 else 0,
    if (isTRUE(options$resume) && identical(the$reading$mode, "train")) options$on_other_data,
    identical(the$reading$mode, "train"), if (!isFALSE(options$auto_shard)) batch_shard(),
    the$reading$internal_only
  )
  labels <- if (length(response)) tensors[[length(tensors)]]
  feature_tensors <- setNames(tensors[seq_along(features)], features)
  # the attribute `data` describes the data for the record in the model directory
  data <- if (is.null(the$reading$shard)) {
    list(content = attr(tensors, "content"), rows = as.double(n_rows(rows$columns[[1]])))
  }
  structure(if (is.null(labels)) feature_tensors else list(feature_tensors, labels), data = data)
}

# Returns the next batch with all features as one tensor [batch, k]. If a feature has more
# dimensions, the features remain a named list.
next_matrix <- function(columns, features, response, options) {
  encoded <- lapply(setNames(nm = features), function(name) {
    encode_column(columns[[name]], name)
  })
  if (any(lengths(lapply(encoded, dim)) > 2)) {
    return(next_rows(encoded_rows(columns, length(features)), features, response, options))
  }
  is_string <- vapply(encoded, is.character, NA)
  if (any(is_string) && !all(is_string)) {
    abort_runhooks(
      c(
        "The features of a custom model are one matrix: all numbers, or all strings.",
        x = "{cli::qty(sum(is_string))}{.val {features[is_string]}} {?is/are} strings, the others
             numbers.",
        i = "Convert strings to a factor, or pass a named list to {.fn numpy_input_fn}."
      ),
      call = user_frame()
    )
  }
  is_sparse <- vapply(encoded, is_sparse_matrix, NA)
  # loads the package Matrix, which is slow, only if needed
  if (length(encoded) > 1 && any(is_sparse)) {
    encoded[is_sparse] <- lapply(encoded[is_sparse], Matrix::as.matrix)
  }
  is_logical <- vapply(encoded, is.logical, NA)
  if (!all(is_logical)) {
    encoded[is_logical] <- lapply(encoded[is_logical], `storage.mode<-`, "integer")
  }
  # the core combines the columns without copying them in R
  is_single_matrix <- length(encoded) == 1 && (is_sparse || length(dim(encoded[[1]])) == 2)
  matrix <- if (is_single_matrix) encoded[[1]] else unname(encoded)
  if (all(is_string) && !is_single_matrix) matrix <- do.call(cbind, matrix)
  # columns of the same explicit type determine the type of the matrix
  types <- unique(lapply(encoded, declared_type))
  if (!is_single_matrix && length(types) == 1) attr(matrix, "dtype") <- types[[1]]
  all_columns <- c(list(x = matrix), columns[length(features) + seq_along(response)])
  input <- next_rows(encoded_rows(all_columns, 1L), "x", response, options)
  x <- if (length(response)) input[[1]]$x else input$x
  if (is_tensor(x)) attr(x, "columns") <- column_names_of(encoded)
  structure(if (length(response)) list(x, input[[2]]) else x, data = attr(input, "data"))
}

column_names_of <- function(columns) {
  widths <- vapply(columns, function(x) if (length(dim(x)) == 2) ncol(x) else 1L, 1L)
  rep(names(columns), widths)
}

inform_unread <- function(args) {
  if (is.null(args)) args <- "..."
  cli::cli_inform(c(
    "{.arg {args}} {cli::qty(length(args))}{?has/have} no effect.",
    i = "Set how data are read in {.fn input_fn}."
  ))
}

# Converts the user's input to a function of the mode, for the core. `is_limited`: NULL unless
# training. In training, TRUE if the number of steps is given. `shards`: whether evaluations and
# predictions are sharded, too. `must_end`: whether nothing else ends the reading, so endless data are an error.
as_model_input <- function(
  input_fn,
  estimator,
  ...,
  is_limited = NULL,
  shards = FALSE,
  must_end = FALSE,
  arg = "input_fn",
  call = parent.frame()
) {
  if (is_formula_data(input_fn)) {
    options <- list(...)
    fixed <- list(
      estimator, input_fn, is_limited = is_limited, supplied = names(options), call = call
    )
    input_fn <- do.call(blueprint_input_fn, c(fixed, options), quote = TRUE)
  } else if (...length()) {
    inform_unread(names(list(...)))
  }
  if (is_estimator(estimator)) check_scales(estimator, call)
  if (!is.function(input_fn)) {
    if (!is.null(estimator$blueprint)) {
      check_arg(FALSE, input_fn, "a data frame, a dataset or an input function", "data", call)
    }
    abort_runhooks("{arg} must be a function, not {describe_type(input_fn)}.", call = call)
  }
  n <- length(formals(args(input_fn)))
  if (n > 1) abort_plain("'input_fn' should accept 0 or 1 arguments", call = call)
  info <- attr(input_fn, "about")
  if (must_end && !is.null(info$rows) && is.null(info$num_epochs)) abort_endless(call)
  takes_context <- identical(names(formals(args(input_fn))), "input_context")
  sharding <- new.env(parent = emptyenv())
  read <- function(mode) {
    shard <- new_shard(estimator, mode, shards || identical(mode, "train"))
    internal_only <- inherits(input_fn, "runhooks_input_fn") && !is_custom(estimator)
    reading <- new_reading(mode, shard_to_apply(shard, takes_context), internal_only)
    result <- with_reading(reading, {
      context <- list(num_input_pipelines = shard$size, input_pipeline_id = shard$rank)
      value <- if (n == 1) input_fn(if (takes_context) context else estimator) else input_fn()
      if (is.function(value)) value <- value()
      if (must_end && is_dataset(value) && is_endless(value)) abort_endless(call)
      if (is_dataset(value)) next_batch(value) else value
    })
    sharded_by <- sharding$sharded_by <- shard$sharded_by
    input <- split_input(result)
    data <- attr(result, "data", exact = TRUE)
    if (is_custom(estimator)) {
      input <- list(given = lapply(input, as_tensors))
      return(structure(input, data = data, sharded_by = sharded_by))
    }
    if (is.list(input$features) && !is_sparse(input$features)) input <- lapply(input, as_tensors)
    check_features(input$features)
    check_labels(input$labels)
    structure(input, data = data, sharded_by = sharded_by)
  }
  if (!is.null(is_limited) && !isFALSE(info$auto_shard)) {
    info$replicas <- replicas_of(config_of_model(estimator))
  }
  structure(read, about = info, sharding = sharding)
}

abort_endless <- function(call) {
  abort_runhooks(
    c(
      "The data never end, because they repeat without a limit.",
      i = "Use {.code num_epochs = 1} in {.fn input_fn}, or remove {.fn dataset_repeat}.",
      i = "In {.fn evaluate}, {.arg steps} also ends the reading."
    ),
    call = call
  )
}

as_tensors <- function(x) {
  if (is.null(x) || is_graph_element(x) || is_sparse(x)) return(x)
  if (is.list(x)) return(lapply(x, as_tensors))
  if (!is_atomic(x)) return(x)
  type <- declared_type(x)
  cpp_constant(x, if (!is.na(type)) type, "Const")
}

# Returns the number of batches of in-memory data, or NULL if it is unknown or unlimited.
planned_steps <- function(input) {
  info <- attr(input, "about")
  if (is.null(info$num_epochs) || is.null(info$rows)) return(NULL)
  replicas <- if (is.null(info$replicas)) 1 else info$replicas
  ceiling(ceiling(info$rows / replicas) * info$num_epochs / info$batch_size)
}

num_total_rows <- function(input) {
  info <- attr(input, "about")
  if (!is.null(info$num_epochs) && !is.null(info$rows)) info$rows * info$num_epochs
}

split_input <- function(result) {
  has_labels <- is.list(result) && is.null(names(result)) && length(result) == 2
  if (is.list(result) && is.null(names(result)) && !has_labels) {
    abort_plain("input_fn should return (features, labels) as a len 2 tuple.")
  }
  features <- if (has_labels) result[[1]] else result
  labels <- if (has_labels) result[[2]]
  list(features = features, labels = labels)
}

check_features <- function(features, call = user_frame()) {
  is_feature <- function(x) is_tensor(x) || is_sparse(x)
  good <- is.list(features) && length(features) > 0 && all(vapply(features, is_feature, NA))
  if (!good) {
    abort_runhooks(
      "The input function must return a named list of tensors as features,
       not {describe_type(features)}.",
      call = call
    )
  }
}

check_labels <- function(labels, call = parent.frame()) {
  if (is.null(labels) || is_tensor(labels)) return(invisible())
  is_named <- is.list(labels) && length(labels) > 0 && !is.null(names(labels))
  if (!is_named || !all(vapply(labels, is_tensor, NA))) {
    abort_runhooks(
      "The input function must return a tensor as labels, or a list of tensors named by heads, not
       {describe_type(labels)}.",
      call = call
    )
  }
}
