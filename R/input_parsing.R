# Feature specifications for serialized examples, and the functions that parse them.

#' Create a feature specification for serialized examples
#'
#' Returns the features, the label and the weight that a model with these columns reads from a
#' `tf.Example`, as a specification for `tf$parse_example()`.
#'
#' @param feature_columns A feature column or a list of them.
#' @param label_key A string, the name of the label.
#' @param label_dtype The data type of the label.
#' @param label_default The label of examples without one. `NULL` (the default): each example must
#'   have a label.
#' @param label_dimension Number of values in a label; 1 by default.
#' @param weight_column The name of a feature that contains the example weights, a
#'   [column_numeric()], or `NULL` (the default) for no weights.
#' @return A named list of `tf$FixedLenFeature` and `tf$VarLenFeature`: features, label, weight.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: the label or the weight is also a feature.
#' @seealso `tf.estimator.classifier_parse_example_spec` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' classifier_parse_example_spec(column_numeric("a"), label_key = "b")
#' regressor_parse_example_spec(column_numeric("a"), label_key = "b", weight_column = "c")
classifier_parse_example_spec <- function(
  feature_columns,
  label_key,
  label_dtype = tf$int64,
  label_default = NULL,
  weight_column = NULL
) {
  label <- fixed_len_feature(1L, label_dtype, label_default)
  parse_spec_with_label(feature_columns, label_key, label, weight_column)
}

#' @rdname classifier_parse_example_spec
#' @export
regressor_parse_example_spec <- function(
  feature_columns,
  label_key,
  label_dtype = tf$float32,
  label_default = NULL,
  label_dimension = 1L,
  weight_column = NULL
) {
  check_positive_whole(label_dimension)
  label <- fixed_len_feature(as.integer(label_dimension), label_dtype, label_default)
  parse_spec_with_label(feature_columns, label_key, label, weight_column)
}

parse_spec_with_label <- function(columns, key, label, weight_column, call = parent.frame()) {
  check_string(key, arg = "label_key", call = call)
  spec <- columns_parse_spec(columns, call)
  if (key %in% names(spec)) {
    abort_runhooks(
      "The label {.val {key}} must not be a feature, but a column reads it.", call = call
    )
  }
  spec[[key]] <- label
  if (is.null(weight_column)) return(spec)
  check_weight_column(weight_column, call = call)
  weight <- if (is_column(weight_column)) weight_column else column_numeric(weight_column)
  if (weight$key %in% names(spec)) {
    abort_runhooks(
      "The weight {.val {weight$key}} must not be a feature or the label.", call = call
    )
  }
  c(spec, columns_parse_spec(weight, call))
}

parsing_spec <- function(kind, ...) {
  structure(list(...), class = c(kind, "runhooks_feature_spec"))
}

fixed_len_feature <- function(shape, dtype, default_value = NULL) {
  parsing_spec("FixedLenFeature",
    shape = known_dims(shape), dtype = as_dtype(dtype), default_value = default_value
  )
}

var_len_feature <- function(dtype) parsing_spec("VarLenFeature", dtype = as_dtype(dtype))

fixed_len_sequence_feature <- function(shape, dtype, allow_missing = FALSE, default_value = NULL) {
  check_flag(allow_missing)
  parsing_spec("FixedLenSequenceFeature",
    shape = known_dims(shape), dtype = as_dtype(dtype),
    allow_missing = allow_missing, default_value = default_value
  )
}

sparse_feature <- function(index_key, value_key, dtype, size, already_sorted = FALSE) {
  check_string(index_key)
  check_string(value_key)
  check_positive_whole(size)
  check_flag(already_sorted)
  parsing_spec("SparseFeature",
    index_key = index_key, value_key = value_key, dtype = as_dtype(dtype), size = size,
    already_sorted = already_sorted
  )
}

#' @export
format.runhooks_feature_spec <- function(x, ...) {
  fields <- unclass(x)
  args <- vapply(
    names(fields), function(name) paste0(name, "=", python_repr(fields[[name]], name)), ""
  )
  paste0(class(x)[[1]], "(", paste(args, collapse = ", "), ")")
}

python_repr <- function(x, field = "") {
  if (is.null(x)) return("None")
  if (field == "dtype") return(paste0("tf.", dtype_name(x)))
  if (is.logical(x)) return(if (x) "True" else "False")
  if (is.list(x)) {
    parts <- vapply(x, python_repr, "")
    return(paste0("(", paste(parts, collapse = ", "), if (length(parts) == 1) ",", ")"))
  }
  if (is.character(x)) paste0("'", x, "'") else number_text(x)
}

#' @export
print.runhooks_feature_spec <- function(x, ...) {
  cat(format(x), "\n", sep = "") # lint: allow stdout
  invisible(x)
}

check_feature_specs <- function(features, arg, call = parent.frame()) {
  good <- is.list(features) && length(features) > 0 && !is.null(names(features)) &&
    all(nzchar(names(features)))
  check_arg(good, features, "a named list of feature specifications", arg, call)
  check_unique_names(names(features), call)
  for (key in names(features)) {
    x <- features[[key]]
    if (!inherits(x, "runhooks_feature_spec")) {
      abort_runhooks(
        "Feature {.val {key}} must be a feature specification such as `tf$FixedLenFeature()`, not
         {describe_type(x)}.",
        call = call
      )
    }
    if (inherits(x, "FixedLenSequenceFeature") && !x$allow_missing) {
      abort_runhooks(
        "Feature {.val {key}}: a FixedLenSequenceFeature of `tf$parse_example()` needs
         `allow_missing = TRUE`.",
        call = call
      )
    }
  }
}

core_feature_spec <- function(x) {
  fields <- unclass(x)
  fields$kind <- class(x)[[1]]
  fields$dtype <- dtype_name(fields$dtype)
  if (!is.null(fields$shape)) fields$shape <- as.integer(unlist(fields$shape))
  if (is.list(fields$default_value)) fields$default_value <- unlist(fields$default_value)
  fields
}

parse_features <- function(serialized, features, names, is_single, name, call) {
  check_feature_specs(features, "features", call)
  serialized <- as_tensor(serialized, "string")
  names <- if (!is.null(names)) as_tensor(names, "string")
  features <- lapply(features, core_feature_spec)
  cpp_parse_example(serialized, names, features, is_single, if (is.null(name)) "" else name)
}

# Parses a vector of serialized examples, as exported graphs do; `tf$parse_single_example()` parses
# a scalar.
parse_example <- function(serialized, features, name = NULL, example_names = NULL) {
  parse_features(serialized, features, example_names, FALSE, name, environment())
}

parse_single_example <- function(serialized, features, name = NULL, example_names = NULL) {
  if (!is.null(example_names)) {
    serialized <- tf$expand_dims(as_tensor(serialized, "string"), 0L)
    names <- tf$expand_dims(as_tensor(example_names, "string"), 0L)
    parsed <- parse_features(serialized, features, names, FALSE, name, environment())
    return(lapply(parsed, unbatch_example))
  }
  parse_features(serialized, features, NULL, TRUE, name, environment())
}

unbatch_example <- function(x) {
  if (!is_sparse(x)) return(tf$squeeze(x, 0L))
  sparse_tensor(
    tf$slice(x$indices, list(0L, 1L), list(-1L, 1L)), x$values,
    tf$slice(x$dense_shape, list(1L), list(1L))
  )
}

decode_csv <- function(records, record_defaults, field_delim = ",", use_quote_delim = TRUE,
                       name = NULL, na_value = "", select_cols = NULL) {
  defaults <- lapply(record_defaults, csv_default)
  attrs <- list(
    field_delim = field_delim, use_quote_delim = use_quote_delim, na_value = na_value
  )
  if (!is.null(select_cols)) attrs$select_cols <- as.integer(unlist(select_cols))
  inputs <- c(list(as_tensor(records, "string")), unname(defaults))
  fields <- do.call(tf_op, c(list("DecodeCSV"), inputs, list(attrs = attrs, name = name)))
  if (is_tensor(fields)) list(fields) else fields
}

# Returns the default value of a field as a tensor. For a data type it is an empty tensor, which
# marks a required field.
csv_default <- function(x) {
  if (is_tensor(x)) return(x)
  if (inherits(x, "tensorflow.dtype")) return(tf$constant(array(empty_default_value(x), 0L), x))
  if (is.list(x)) x <- unlist(x)
  as_tensor(x, if (is.double(x)) "float32")
}

empty_default_value <- function(dtype) if (dtype_name(dtype) == "string") character() else numeric()

parsing_symbols <- function() {
  list(
    FixedLenFeature = fixed_len_feature, VarLenFeature = var_len_feature,
    SparseFeature = sparse_feature, FixedLenSequenceFeature = fixed_len_sequence_feature,
    io.FixedLenFeature = fixed_len_feature, io.VarLenFeature = var_len_feature,
    io.SparseFeature = sparse_feature, io.FixedLenSequenceFeature = fixed_len_sequence_feature,
    parse_example = parse_example, io.parse_example = parse_example,
    parse_single_example = parse_single_example, io.parse_single_example = parse_single_example,
    decode_csv = decode_csv, io.decode_csv = decode_csv,
    python.ops.parsing_ops.FixedLenFeature = fixed_len_feature,
    python.ops.parsing_ops.VarLenFeature = var_len_feature
  )
}

columns_parse_spec <- function(columns, call = parent.frame()) {
  spec <- list()
  for (read in features_of_columns(as_column_list(columns, call = call))) {
    previous <- spec[[read$key]]
    feature <- if (read$has_shape) {
      fixed_len_feature(read$shape, read$example_dtype, read$default_value)
    } else {
      var_len_feature(read$example_dtype)
    }
    if (!is.null(previous) && !identical(previous, feature)) {
      abort_runhooks(
        "The columns need feature {.val {read$key}} in two different forms: {format(previous)} and
         {format(feature)}.",
        call = call
      )
    }
    spec[[read$key]] <- feature
  }
  spec
}

column_symbols <- function() {
  constructors <- list()
  for (endpoint in cpp_endpoints("column")) {
    names <- endpoint_names(endpoint)
    if (length(names) == 0) next # not exported to R
    f <- get(names[[1]], envir = environment(column_symbols), mode = "function")
    constructors[sub("^feature_column[.]", "", names[-1])] <- list(column_from_key(f))
  }
  symbols <- c(constructors, list(
    input_layer = input_layer, linear_model = linear_model,
    make_parse_example_spec = function(feature_columns) columns_parse_spec(feature_columns)
  ))
  setNames(symbols, paste0("feature_column.", names(symbols)))
}
