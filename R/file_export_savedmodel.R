# export_savedmodel(): writes a SavedModel of a trained model.

#' Export a trained model as a SavedModel
#'
#' Writes a SavedModel: the prediction graph in TensorFlow's operations, the variables, vocabulary
#' files, and signatures, which are the named entry points of the model. TensorFlow Serving,
#' TensorFlow 1.x and 2.x, and [load_savedmodel()] can load it.
#'
#' A *serving input receiver* converts requests to features.
#'
#' * `tf$estimator$export$build_parsing_serving_input_receiver_fn(feature_spec)` accepts serialized
#'   `tf.Example`s. Its specification comes from
#'   `tf$feature_column$make_parse_example_spec(columns)`.
#' * `tf$estimator$export$build_raw_serving_input_receiver_fn(features)` accepts one tensor per
#'   feature.
#' * Any function that returns `tf$estimator$export$ServingInputReceiver(features,
#'   receiver_tensors)` is accepted.
#'
#' Without a receiver, a canned model accepts one tensor for each feature that its columns read.
#'
#' @section Signatures: The same as those of TensorFlow's estimators. `predict` returns all
#'   predictions. `classification`, `regression` and `serving_default` (the first of the two that
#'   exists) require requests of one string tensor, so they exist only with a parsing receiver. A
#'   custom model has the signatures of `export_outputs` in its [estimator_spec()], or else
#'   `serving_default` with its predictions.
#' @section Crossed columns: TensorFlow hashes a cross of a feature's name and a column, such as
#'   `column_crossed(list("word", column_bucketized(...)))`, differently for sparse features (parsed
#'   examples) and dense features (data frames). For such a model, use a receiver of raw tensors, or
#'   cross only names.
#' @section Classes: The classes of a model that was trained on a factor or on logicals are exported
#'   as strings.
#' @param object A trained estimator.
#' @param export_dir_base Path of the directory of the export or, with `versioned = TRUE`, of
#'   several exports.
#' @param serving_input_receiver_fn A function without arguments that returns a serving input
#'   receiver. Default, `NULL`: raw tensors of the features of a canned model.
#' @param assets_extra Additional files for the subdirectory `assets.extra`: a list or vector of
#'   paths, named by the file names there.
#' @param as_text `TRUE`: write `saved_model.pbtxt` instead of `saved_model.pb`.
#' @param checkpoint_path Path of the checkpoint to export. Default, `NULL`: the newest one.
#' @param overwrite `TRUE` (the default): atomically replace an export that exists in
#'   `export_dir_base`. Other files in the directory remain.
#' @param versioned `TRUE`: write to a subdirectory of `export_dir_base` whose name is the current
#'   time in seconds since 1970.
#' @param ... `strip_default_attrs = TRUE`: omit attributes with default values, for older versions
#'   of TensorFlow.
#' @return The path of the export, invisibly.
#' @section Errors:
#'   * `runhooks_error_already_exists`: the path exists and `overwrite` is `FALSE`, or it is a file,
#'     or a directory of other files.
#'   * `runhooks_error_invalid_argument`: the model has not been trained, a custom model has no
#'     receiver, or the receiver lacks a feature.
#'   * `runhooks_error_not_found`: a file in `assets_extra` does not exist.
#' @seealso `tf.estimator.Estimator.export_savedmodel` of TensorFlow 1.x; [load_savedmodel()].
#' @family exported models
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' model |> train(input_fn(mpg ~ drat, mtcars))
#' path <- export_savedmodel(model, tempfile("export"))
#' list.files(path, recursive = TRUE)
#'
#' spec <- tf$feature_column$make_parse_example_spec(column_numeric("drat"))
#' receiver <- tf$estimator$export$build_parsing_serving_input_receiver_fn(spec)
#' path <- export_savedmodel(model, tempfile("export"), receiver)
#' predict(load_savedmodel(path), data.frame(drat = c(3, 4)))
export_savedmodel <- function(object, export_dir_base, ...) UseMethod("export_savedmodel")

#' @export
export_savedmodel.default <- function(object, export_dir_base, ...) {
  check_arg(FALSE, object, "a model", "object", environment())
}

#' @rdname export_savedmodel
#' @export
export_savedmodel.tf_estimator <- function(object, export_dir_base,
                                           serving_input_receiver_fn = NULL, assets_extra = NULL,
                                           as_text = FALSE, checkpoint_path = NULL,
                                           overwrite = TRUE, versioned = !overwrite, ...) {
  check_path(export_dir_base)
  check_function(serving_input_receiver_fn, null = TRUE)
  check_flag(as_text)
  check_string(checkpoint_path, null = TRUE)
  check_flag(overwrite)
  check_flag(versioned)
  strip <- check_export_options(list(...), environment())
  extra <- check_assets_extra(assets_extra)
  local_model_dir(object)
  base <- absolute_path(export_dir_base, "export_dir_base")
  check_export_dir(base, overwrite, versioned)
  receiver <- receiver_for_core(object, serving_input_receiver_fn)
  check_model_compatible(object, "infer")
  check_scales(object, environment())
  check_checkpoint(object, checkpoint_path, environment())
  if (is.null(checkpoint_path)) {
    # the core raises TensorFlow's error if there is no checkpoint
    suppressWarnings(
      check_has_weights(object, "it is exported"), classes = "runhooks_warning_untrained"
    )
  }
  unfinished <- cpp_unfinished_export(base, versioned)
  on.exit(unlink(unfinished, recursive = TRUE), add = TRUE)
  weights <- current_weights(object, checkpoint_path)
  on.exit(weights$forget(), add = TRUE)
  remove_dirs_on_error(base, unfinished, {
    with_loop_conditions(cpp_estimator_export(
      spec_for_export(object), core_config(object), receiver, unfinished, weights$path, as_text,
      strip, extra
    ))
  })
  invisible(cpp_publish_export(unfinished, base, versioned))
}

# Returns the topmost directory that does not exist yet on the way to `path`, or NULL.
topmost_missing_dir <- function(path) {
  missing <- NULL
  while (!file.exists(path) && dirname(path) != path) {
    missing <- path
    path <- dirname(path)
  }
  missing
}

# If `expr` fails, removes the unfinished export and the empty directories that `expr` has created.
remove_dirs_on_error <- function(base, unfinished, expr) {
  created <- topmost_missing_dir(base)
  succeeded <- FALSE
  on.exit(if (!succeeded) {
    unlink(unfinished, recursive = TRUE)
    is_empty <- function(path) length(dir(path, all.files = TRUE, no.. = TRUE)) == 0
    path <- base
    while (length(created) && is_within(path, created) && is_empty(path)) {
      unlink(path, recursive = TRUE)
      path <- dirname(path)
    }
  })
  value <- expr
  succeeded <- TRUE
  value
}

check_export_options <- function(options, call) {
  strip <- options$strip_default_attrs
  unknown <- setdiff(names(options), "strip_default_attrs")
  if (length(options) && (is.null(names(options)) || length(unknown))) {
    abort_runhooks("Unused argument: {.fn export_savedmodel} has no {.arg {unknown}}.", call = call)
  }
  if (is.null(strip)) return(FALSE)
  check_flag(strip, arg = "strip_default_attrs", call = call)
  strip
}

check_assets_extra <- function(x, call = parent.frame()) {
  if (is.null(x)) return(list())
  files <- unlist(x)
  good <- is.character(files) && !is.null(names(files)) && all(nzchar(names(files)))
  check_arg(good, x, "a named list of files", "assets_extra", call)
  missing <- files[!file.exists(path.expand(files))]
  if (length(missing)) {
    abort_runhooks(
      "{.arg assets_extra} names {?a file that does/files that do} not exist: {.path {missing}}.",
      kind = "not_found", call = call
    )
  }
  files[] <- path.expand(files)
  as.list(files)
}

check_export_dir <- function(base, overwrite, versioned, call = parent.frame()) {
  if (file.exists(base) && !dir.exists(base)) {
    abort_runhooks(
      "{.path {base}} is a file, not a directory.", kind = "already_exists", call = call
    )
  }
  if (versioned) return(invisible())
  if (!overwrite && file.exists(base)) {
    abort_plain(
      sprintf("Path '%s' already exists, use 'overwrite = TRUE' instead.", base),
      kind = "already_exists", call = call
    )
  }
}

# Returns the core's specification of the model, with the classes of the training data as label
# vocabulary.
spec_for_export <- function(object) {
  spec <- core_spec(object)
  labels <- model_labels(object)
  classes <- if (!is.null(labels)) class_labels(object, labels)
  if (is.null(classes) || length(labels$vocabulary)) return(spec)
  if (is.null(spec$head)) {
    spec$label_vocabulary <- classes
  } else {
    spec$head$label_vocabulary <- classes
  }
  spec
}

# Returns a function that the core calls for the input of the model function and the tensors to
# feed.
receiver_for_core <- function(object, receiver_fn, call = parent.frame()) {
  if (is.null(receiver_fn) && is_custom(object)) {
    abort_runhooks(
      "A 'tf_custom_estimator' requires a custom `serving_input_receiver_fn`.", call = call
    )
  }
  if (is.null(receiver_fn)) {
    receiver_fn <- function() placeholder_receiver(exported_features(object))
  }
  function() {
    receiver <- eval_user_code(receiver_fn())
    if (!inherits(receiver, "runhooks_serving_input_receiver")) {
      abort_runhooks(
        c(
          "`serving_input_receiver_fn` must return a ServingInputReceiver, not
           {describe_type(receiver)}.",
          i = "Use `tf$estimator$export$ServingInputReceiver(features, receiver_tensors)`."
        ),
        call = call
      )
    }
    features <- receiver$features
    if (!is_custom(object) && !is.list(features)) features <- list(feature = features)
    input <- if (is_custom(object)) {
      list(given = list(features = features, labels = NULL))
    } else {
      list(features = features, labels = NULL)
    }
    list(input = input, receivers = receiver$receiver_tensors)
  }
}

exported_features <- function(object) {
  reads <- model_reads(object)
  reads[!duplicated(vapply(reads, `[[`, "", "key"))]
}

# Creates placeholders through which an exported model receives one tensor per feature. A feature
# with a variable number of values gets an unknown number of columns.
placeholder_receiver <- function(reads) {
  features <- lapply(reads, function(read) {
    shape <- if (read$has_shape) as.list(read$shape) else list(NULL)
    tf$placeholder(read$example_dtype, c(list(NULL), shape), name = valid_op_name(read$key))
  })
  names(features) <- vapply(reads, `[[`, "", "key")
  if (length(features) == 0) {
    rows <- tf$placeholder(tf$float32, list(NULL), name = "rows")
    features <- list(rows = rows)
  }
  serving_input_receiver(features, features)
}

# Replaces characters that are invalid in names of operations.
valid_op_name <- function(key) {
  name <- gsub("[^A-Za-z0-9_.-]", "_", key)
  if (grepl("^[A-Za-z0-9.]", name)) name else paste0(".", name)
}

serving_input_receiver <- function(features, receiver_tensors,
                                   receiver_tensors_alternatives = NULL) {
  if (!is.null(receiver_tensors_alternatives)) {
    abort_runhooks("{.arg receiver_tensors_alternatives} is not supported.", kind = "unimplemented")
  }
  features <- check_receiver_tensors(features, "features")
  tensors <- check_receiver_tensors(receiver_tensors, "receiver_tensors")
  if (!is.list(tensors) || is_sparse(tensors)) tensors <- list(input = tensors)
  structure(
    list(features = features, receiver_tensors = tensors),
    class = "runhooks_serving_input_receiver"
  )
}

check_receiver_tensors <- function(x, arg, call = parent.frame()) {
  if (is_tensor(x) || is_sparse(x)) return(x)
  if (is_variable(x)) return(cpp_variable_snapshot(x))
  good <- is.list(x) && length(x) > 0 && !is.null(names(x)) && all(nzchar(names(x)))
  check_arg(good, x, "a tensor or a named list of tensors", arg, call)
  for (key in names(x)) {
    if (is_tensor(x[[key]]) || is_sparse(x[[key]])) next
    abort_runhooks(
      "{arg} {.val {key}} must be a Tensor or SparseTensor, not {describe_type(x[[key]])}.",
      call = call
    )
  }
  x
}

serving_receiver_members <- function() {
  batch_dim <- function(default_batch_size) {
    check_positive_whole(default_batch_size, null = TRUE, call = parent.frame())
    list(default_batch_size)
  }
  symbols <- list(
    ServingInputReceiver = serving_input_receiver,
    TensorServingInputReceiver = serving_input_receiver,
    build_raw_serving_input_receiver_fn = function(features, default_batch_size = NULL) {
      rows <- batch_dim(default_batch_size)
      check_arg(
        is.list(features) && !is.null(names(features)), features, "a named list of tensors",
        "features", environment()
      )
      # only types and shapes are used, because the tensors belong to another graph
      specs <- lapply(setNames(nm = names(features)), function(key) {
        tensor <- as_tensor(features[[key]])
        shape <- dim(tensor)
        list(dtype = tensor$dtype, rest = shape[-1], name = sub(".*/", "", tensor$op$name))
      })
      function() {
        placeholders <- lapply(specs, function(x) {
          dims <- lapply(x$rest, function(d) if (is.na(d) || d < 0) NULL else d)
          tf$placeholder(x$dtype, c(rows, dims), name = x$name)
        })
        serving_input_receiver(placeholders, placeholders)
      }
    },
    build_parsing_serving_input_receiver_fn = function(feature_spec, default_batch_size = NULL) {
      rows <- batch_dim(default_batch_size)
      check_feature_specs(feature_spec, "feature_spec")
      function() {
        serialized <- tf$placeholder(tf$string, rows, name = "input_example_tensor")
        features <- parse_example(serialized, feature_spec)
        serving_input_receiver(features, list(examples = serialized))
      }
    }
  )
  setNames(symbols, paste0("estimator.export.", names(symbols)))
}
