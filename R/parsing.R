# Specifications of the features in serialized examples.

#' What models read from serialized examples
#'
#' The features, label and weight that a model with these columns needs from a `tf.Example`, as
#' `tf$parse_example()` takes them.
#'
#' @param feature_columns A column or a list of columns.
#' @param label_key The name of the label.
#' @param label_dtype The type of the label.
#' @param label_default The label of an example that has none; `NULL`: it must have one.
#' @param label_dimension How many numbers the label is.
#' @param weight_column The name of a feature that weights the examples, a [column_numeric()] of it,
#'   or `NULL`.
#' @return A named list of `tf$FixedLenFeature` and `tf$VarLenFeature`: features, label, weight.
#' @section Errors: `runhooks_error_invalid_argument` for a label or weight that is a feature, too.
#' @seealso `tf.estimator.classifier_parse_example_spec` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' classifier_parse_example_spec(column_numeric("a"), label_key = "b")
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
    stop_runhooks(
      "The label {.val {key}} must not be a feature: a column reads it.", call = call
    )
  }
  spec[[key]] <- label
  if (is.null(weight_column)) return(spec)
  check_weight_column(weight_column, call)
  weight <- if (is_column(weight_column)) weight_column else column_numeric(weight_column)
  if (weight$key %in% names(spec)) {
    stop_runhooks(
      "The weight {.val {weight$key}} must not be a feature or the label.", call = call
    )
  }
  c(spec, columns_parse_spec(weight, call))
}

columns_parse_spec <- function(columns, call = parent.frame()) {
  spec <- list()
  for (read in columns_read(as_column_list(columns, call = call))) {
    known <- spec[[read$key]]
    feature <- if (read$has_shape) {
      fixed_len_feature(read$shape, read$example_dtype, read$default_value)
    } else {
      var_len_feature(read$example_dtype)
    }
    if (!is.null(known) && !identical(known, feature)) {
      stop_runhooks(
        "The columns want feature {.val {read$key}} in two forms: {format(known)} and
         {format(feature)}.",
        call = call
      )
    }
    spec[[read$key]] <- feature
  }
  spec
}

fixed_len_feature <- function(shape, dtype, default_value = NULL) {
  structure(
    list(
      shape = as.list(as.integer(unlist(shape))), dtype = as_dtype(dtype),
      default_value = default_value
    ),
    class = c("FixedLenFeature", "runhooks_feature_spec")
  )
}

var_len_feature <- function(dtype) {
  structure(list(dtype = as_dtype(dtype)), class = c("VarLenFeature", "runhooks_feature_spec"))
}

#' @export
format.runhooks_feature_spec <- function(x, ...) {
  fields <- unclass(x)
  shown <- vapply(
    names(fields), function(name) paste0(name, "=", python_text(fields[[name]], name)), ""
  )
  paste0(class(x)[[1]], "(", paste(shown, collapse = ", "), ")")
}

#' @export
print.runhooks_feature_spec <- function(x, ...) {
  cat(format(x), "\n", sep = "") # lint: allow stdout
  invisible(x)
}

parsing_symbols <- function() {
  fixed <- function(shape, dtype, default_value = NULL) {
    fixed_len_feature(shape, dtype, default_value)
  }
  list(
    FixedLenFeature = fixed, VarLenFeature = var_len_feature,
    io.FixedLenFeature = fixed, io.VarLenFeature = var_len_feature,
    python.ops.parsing_ops.FixedLenFeature = fixed,
    python.ops.parsing_ops.VarLenFeature = var_len_feature
  )
}
