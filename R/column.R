# Feature columns: lists of class `runhooks_feature_column` that describe a column. The core
# validates them and builds the columns of the graph.

new_column <- function(type, name, key, ...) {
  rebuild_column(list(type = type, name = name, key = key, ...))
}

rebuild_column <- function(fields) {
  if (!identical(names(fields)[1:2], c("type", "name"))) return(NULL)
  type <- fields$type
  attributes(fields) <- list(
    names = names(fields), class = c(type, "runhooks_feature_column"), owner = paste0(type, "()")
  )
  fields
}

# Creates a column whose fields the core has validated and whose name it has derived. `fields` are
# in the order in which the core registered them.
new_checked_column <- function(type, fields, kinds = NULL) {
  spec <- value_for_core(c(list(type = type), fields))
  attr(spec, "owner") <- paste0(type, "()")
  checked <- cpp_column_check(spec)
  for (name in names(checked$chosen)) {
    fields[[name]] <- convert_to_kind(checked$chosen[[name]], kinds[[name]])
  }
  first <- list(type = type, name = checked$name, key = fields[["key"]])
  rebuild_column(c(first, fields[names(fields) != "key"]))
}

convert_to_kind <- function(x, kind) {
  switch(kind, type = as_dtype(x), "whole number" = as.integer(x), x)
}

constructor_factories$column <- function(specs, placeholder) {
  is_feature <- specs$kind == "feature"
  .specs <- column_specs(specs)
  f <- if (any(is_feature)) {
    function(...) {
      abort_abbreviated_arguments()
      columns_from_args(.specs, environment(), ...)
    }
  } else {
    function() {
      abort_abbreviated_arguments()
      column_from_args(.specs, environment())
    }
  }
  formals(f) <- c(if (any(is_feature)) alist(... = ), registered_formals(specs[!is_feature, ]))
  f
}

# Returns the argument specifications of a constructor. They are split here once instead of in each
# call.
column_specs <- function(specs) {
  is_feature <- specs$kind == "feature"
  list(
    type = specs$type[[1]], all = specs_as_list(specs), own = specs_as_list(specs, !is_feature),
    feature = specs$name[is_feature], kinds = setNames(as.list(specs$kind), specs$target)
  )
}

column_from_args <- function(specs, frame) {
  values <- argument_values(specs$own$name, frame)
  column_from_values(specs, convert_arguments(values, specs$own, frame))
}

columns_from_args <- function(specs, frame, ...) {
  own <- specs$own
  values <- mget(own$name, envir = frame)
  for (name in own$name) check_named(!is_absent(values[[name]]), name, frame)
  values <- convert_arguments(values, own, frame)
  columns_from_keys(..., call = frame, make_column = function(key) {
    values[[specs$feature]] <- key
    column_from_values(specs, values[specs$all$name])
  })
}

column_from_values <- function(specs, values) {
  names(values) <- specs$all$target
  new_checked_column(specs$type, values, specs$kinds)
}

argument_converters$column <- function(x, name, call, expected) {
  check_arg(is_column(x), x, expected, name, call)
}
# accepts a column, or the name of a feature, which is checked only when the column is used
argument_converters$`column or name` <- function(x, name, call, expected) {
  check_arg(is_column(x) || is_string(x), x, expected, name, call)
}
argument_converters$`columns or names` <- function(x, name, call, expected) {
  if (is_column(x)) return(list(x))
  check_arg(is.list(x) || is_atomic(x), x, expected, name, call)
  unname(as.list(x))
}
argument_converters$shape <- function(x, name, call, expected) as.list(as_shape(x, call))
argument_converters$words <- function(x, name, call, expected) {
  if (is.factor(x)) x <- as.character(x)
  is_word <- function(x) is.character(x) || is.numeric(x)
  check_elements(
    x, is_word, expected, name, call,
    na_advice = "A missing value (NA) in the data is in no bucket, so it needs no entry here."
  )
}
argument_converters$features <- function(x, name, call, expected) {
  as.list(check_elements(x, is.character, expected, name, call, empty = TRUE))
}
argument_converters$columns <- function(x, name, call, expected) {
  if (length(x) == 0) {
    # a formula can select no columns, such as `y ~ 1`
    if (isTRUE(attr(x, "is_of_formula"))) return(x)
    abort_runhooks("{.arg {name}} must have at least one column.", call = call)
  }
  as_column_list(x, name, call)
}

#' Create a numeric feature column
#'
#' Returns a column that passes the numbers of a feature to the model, optionally normalized.
#'
#' @eval column_params("NumericColumn")
#' @return A feature column; for several names, an unnamed list of columns.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: a name is not a string, `shape` is not positive whole
#'     numbers, or another argument is invalid.
#' @seealso `tf.feature_column.numeric_column` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' column_numeric("drat", "cyl")
#'
#' age <- column_numeric("age", normalizer_fn = function(x) (x - 40) / 10)
#' layer <- input_layer(list(age = tf$constant(c(30, 50))), age)
#' with(tf$Session() %as% sess, sess$run(layer))
column_numeric <- builtin_column("NumericColumn")

as_shape <- function(shape, call = parent.frame()) {
  sizes <- unlist(shape)
  good <- is.numeric(sizes) && length(sizes) > 0 && all(is.finite(sizes)) && all(
    sizes == trunc(sizes)
  ) && all(sizes > 0)
  if (!good) {
    abort_runhooks(
      "{.arg shape} must be positive whole numbers, not {describe(shape)}.", call = call
    )
  }
  as.integer(sizes)
}

#' Combine feature columns into a list
#'
#' Returns a flat list of feature columns without duplicates. A formula creates the same kind of
#' column for several selected names.
#'
#' @param ... Columns, lists of columns, or formulas such as `starts_with("d") ~ column_numeric()`.
#'   In a formula, the selected names become the first argument of the call on the right.
#' @param names Names from which formulas select: a character vector, or an object with column names
#'   or names, such as a data frame. Default, `NULL`: the names of [set_columns()].
#' @return A list of columns. If arguments have names, the list has names as from
#'   `c(recursive = TRUE)`: `feature_columns(a = x, b = list(y, z))` has the names `a`, `b1`, `b2`.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an element is not a feature column (the message contains
#'     its position), or a formula is invalid.
#'   * `runhooks_error_not_found`: a selection matches no name.
#' @family feature columns
#' @export
#' @examples
#' feature_columns(column_numeric("drat"), column_numeric("cyl"))
#' feature_columns(names = mtcars, starts_with("d") ~ column_numeric())
feature_columns <- function(..., names = NULL) {
  if (!is.null(names)) {
    previous <- set_columns(names)
    on.exit(the$column_names <- previous)
  }
  # rlang loads slowly and is needed only for `!!!` and for a trailing comma
  args <- as.list(substitute(list(...)))
  ends_with_comma <- identical(args[[...length() + 1]], quote(expr = ))
  needs_rlang <- ends_with_comma || "!" %in% all.names(as.call(args))
  columns <- if (needs_rlang) rlang::list2(...) else list(...)
  call <- environment()
  is_formula <- vapply(columns, inherits, NA, "formula")
  columns[is_formula] <- lapply(columns[is_formula], formula_columns, call = call)
  as_column_list(columns, named = !is.null(names(columns)))
}

# Returns columns as a flat list without duplicates. `named`: derive the names of the result from
# those of `columns`.
as_column_list <- function(columns, arg = "feature_columns", call = parent.frame(), named = FALSE) {
  parts <- if (named) lapply(columns, flatten_columns)
  flat <- if (named) unlist(unname(parts), recursive = FALSE) else flatten_columns(columns)
  names(flat) <- if (named) names(unlist(lapply(parts, seq_along)))
  good <- vapply(flat, is_column, logical(1))
  if (!all(good)) {
    position <- which(!good)[[1]]
    abort_runhooks(
      c(
        "{.arg {arg}} must be feature columns.",
        x = "Element {position} is {describe(flat[[position]])}.",
        i = "Create columns with {.fn column_numeric} and other {.code column_*} functions."
      ),
      call = call
    )
  }
  flat[!duplicated(flat)]
}

flatten_columns <- function(x, depth = 1L) {
  if (is_column(x) || !is.list(x)) return(list(x))
  check_nesting(depth)
  parts <- unsplice(x, "type", rebuild_column)
  unname(unlist(lapply(parts, flatten_columns, depth + 1L), recursive = FALSE))
}

#' @export
c.runhooks_feature_column <- function(...) {
  unlist(
    lapply(list(...), function(x) if (is_column(x) || !is.list(x)) list(x) else x),
    recursive = FALSE
  )
}

#' @export
`$.runhooks_feature_column` <- function(x, name) {
  value <- .subset2(x, name)
  if (is.null(value) && !isNamespace(topenv(parent.frame()))) get_member(x, name) else value
}

# Returns the call that creates the column, with the arguments that are not the defaults.
#' @export
format.runhooks_feature_column <- function(x, ...) {
  specs <- registered("column", x$type)[[1]]
  constructor <- endpoint_names(specs$endpoint[[1]])[[1]]
  if (x$type == "SharedEmbeddingColumn") constructor <- "column_shared_embedding"
  is_first <- seq_along(specs$name) == 1
  values <- lapply(specs$target, function(name) x[[name]])
  is_shown <- is_first | !vapply(seq_along(values), function(i) {
    is_default_argument(values[[i]], specs$default[[i]], specs$kind[[i]])
  }, NA)
  code <- vapply(values, code_of_value, "")
  code[!is_first] <- paste(specs$name, "=", code)[!is_first]
  paste0(constructor, "(", paste(code[is_shown], collapse = ", "), ")")
}

is_default_argument <- function(value, default, kind) {
  if (is.null(value)) return(TRUE)
  if (!nzchar(default)) return(FALSE)
  # a NULL `type` means that the core has derived the type from the values
  if (kind == "type") return(default %in% c("NULL", paste0("tf$", dtype_name(value))))
  default <- eval(str2lang(default), baseenv())
  length(value) == length(default) && isTRUE(all.equal(unlist(value), default))
}

code_of_value <- function(x) {
  if (is.null(x)) return("NULL")
  if (inherits(x, "tensorflow.dtype")) return(paste0("tf$", dtype_name(x)))
  if (is_column(x)) return(format(x))
  if (is.function(x)) return(code_text(x))
  if (is.character(x) && length(x) == 1) return(encodeString(x, quote = "\""))
  if (is.numeric(x) && length(x) == 1) return(number_text(x))
  if (is_atomic(x) && length(x) == 1) return(deparse(unname(x)))
  if (!is.list(x) && !is_atomic(x)) return("...")
  parts <- vapply(x, code_of_value, "", USE.NAMES = FALSE)
  if (length(parts) == 1 && !is_column(x[[1]])) return(parts)
  if (length(parts) > 12) parts <- c(parts[1:10], "...", parts[length(parts)])
  paste0("c(", paste(parts, collapse = ", "), ")")
}

#' @export
print.runhooks_feature_column <- function(x, ...) {
  cat(format(x), "\n", sep = "") # lint: allow stdout
  invisible(x)
}

check_weight_column <- function(
  x,
  name = "weight_column",
  call = parent.frame(),
  expected = "the name of a feature or a numeric column"
) {
  check_arg(is.null(x) || inherits(x, "NumericColumn") || is_string(x), x, expected, name, call)
}

columns_in_spec <- function(spec) {
  if (is_column(spec)) return(list(spec))
  is_nest <- is.list(spec) && (!is.object(spec) || inherits(spec, "list"))
  if (is_nest) unlist(lapply(unname(spec), columns_in_spec), recursive = FALSE)
}

# Returns the features that columns read: one list for each feature.
features_of_columns <- function(columns) cpp_features_of_columns(lapply(columns, value_for_core))
