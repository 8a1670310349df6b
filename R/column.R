# Feature columns: plain lists that specify a column. The core validates and builds them.

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

# The core validates and names the column. `fields` are in the order of their registration.
new_checked_column <- function(type, fields, kinds = NULL) {
  spec <- value_for_core(c(list(type = type), fields))
  attr(spec, "owner") <- paste0(type, "()")
  made <- cpp_column_check(spec)
  for (name in names(made$chosen)) {
    fields[[name]] <- registered_value(made$chosen[[name]], kinds[[name]])
  }
  first <- list(type = type, name = made$name, key = fields[["key"]])
  rebuild_column(c(first, fields[names(fields) != "key"]))
}

registered_value <- function(x, kind) {
  switch(kind, type = as_dtype(x), "whole number" = as.integer(x), x)
}

constructor_factories$column <- function(specs, place) {
  is_feature <- specs$kind == "feature"
  .specs <- column_specs(specs)
  f <- if (any(is_feature)) {
    function(...) {
      abort_abbreviated_arguments()
      columns_from_call(.specs, environment(), ...)
    }
  } else {
    function() {
      abort_abbreviated_arguments()
      make_column(.specs, environment())
    }
  }
  formals(f) <- c(if (any(is_feature)) alist(... = ), registered_formals(specs[!is_feature, ]))
  f
}

# Precomputed lookups for a constructor.
column_specs <- function(specs) {
  is_feature <- specs$kind == "feature"
  list(
    type = specs$type[[1]], all = spec_columns_of(specs), own = spec_columns_of(specs, !is_feature),
    feature = specs$name[is_feature], kinds = setNames(as.list(specs$kind), specs$target)
  )
}

make_column <- function(specs, frame) {
  given <- given_arguments(specs$own$name, frame)
  validated_column(specs, prepared_arguments(given, specs$own, frame))
}

columns_from_call <- function(specs, frame, ...) {
  own <- specs$own
  given <- mget(own$name, envir = frame)
  for (name in own$name) check_named(!is_absent(given[[name]]), name, frame)
  given <- prepared_arguments(given, own, frame)
  columns_for(..., call = frame, make = function(key) {
    given[[specs$feature]] <- key
    validated_column(specs, given[specs$all$name])
  })
}

validated_column <- function(specs, given) {
  names(given) <- specs$all$target
  new_checked_column(specs$type, given, specs$kinds)
}

argument_kinds$column <- function(x, name, call, wanted) {
  check_arg(is_column(x), x, wanted, name, call)
}
# Whether the name is a feature is checked when the column is used.
argument_kinds$`column or name` <- function(x, name, call, wanted) {
  check_arg(is_column(x) || is_string(x), x, wanted, name, call)
}
argument_kinds$`columns or names` <- function(x, name, call, wanted) {
  if (is_column(x)) return(list(x))
  check_arg(is.list(x) || is_atomic(x), x, wanted, name, call)
  unname(as.list(x))
}
argument_kinds$shape <- function(x, name, call, wanted) as.list(as_shape(x, call))
argument_kinds$words <- function(x, name, call, wanted) {
  if (is.factor(x)) x <- as.character(x)
  is_word <- function(x) is.character(x) || is.numeric(x)
  check_elements(
    x, is_word, wanted, name, call,
    na_advice = "A missing value (NA) in the data is in no bucket, so it needs no entry here."
  )
}
argument_kinds$features <- function(x, name, call, wanted) {
  as.list(check_elements(x, is.character, wanted, name, call, empty = TRUE))
}
argument_kinds$columns <- function(x, name, call, wanted) {
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
  flat <- unlist(shape)
  good <- is.numeric(flat) && length(flat) > 0 && all(is.finite(flat)) && all(
    flat == trunc(flat)
  ) && all(flat > 0)
  if (!good) {
    abort_runhooks(
      "{.arg shape} must be positive whole numbers, not {describe(shape)}.", call = call
    )
  }
  as.integer(flat)
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
  # rlang loads slowly and is needed only for `!!!` and for a trailing comma
  if (!is.null(names)) {
    before <- set_columns(names)
    on.exit(the$column_names <- before)
  }
  given <- as.list(substitute(list(...)))
  ends_with_comma <- identical(given[[...length() + 1]], quote(expr = ))
  needs_rlang <- ends_with_comma || "!" %in% all.names(as.call(given))
  columns <- if (needs_rlang) rlang::list2(...) else list(...)
  call <- environment()
  is_formula <- vapply(columns, inherits, NA, "formula")
  columns[is_formula] <- lapply(columns[is_formula], formula_columns, call = call)
  as_column_list(columns, named = !is.null(names(columns)))
}

# A flat list without duplicates. `named`: derive names from those of `columns`.
as_column_list <- function(columns, arg = "feature_columns", call = parent.frame(), named = FALSE) {
  parts <- if (named) lapply(columns, flatten_columns)
  flat <- if (named) unlist(unname(parts), recursive = FALSE) else flatten_columns(columns)
  names(flat) <- if (named) names(unlist(lapply(parts, seq_along)))
  good <- vapply(flat, is_column, logical(1))
  if (!all(good)) {
    place <- which(!good)[[1]]
    abort_runhooks(
      c(
        "{.arg {arg}} must be feature columns.",
        x = "Element {place} is {describe(flat[[place]])}.",
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

# The call that creates the column, with the arguments that are not the defaults.
#' @export
`$.runhooks_feature_column` <- function(x, name) {
  value <- .subset2(x, name)
  if (is.null(value) && !isNamespace(topenv(parent.frame()))) member_of(x, name) else value
}

#' @export
format.runhooks_feature_column <- function(x, ...) {
  specs <- registered("column", x$type)[[1]]
  make <- endpoint_names(specs$endpoint[[1]])[[1]]
  if (x$type == "SharedEmbeddingColumn") make <- "column_shared_embedding"
  is_first <- seq_along(specs$name) == 1
  values <- lapply(specs$target, function(name) x[[name]])
  is_shown <- is_first | !vapply(seq_along(values), function(i) {
    is_default_of_column(values[[i]], specs$default[[i]], specs$kind[[i]])
  }, NA)
  words <- vapply(values, column_code, "")
  words[!is_first] <- paste(specs$name, "=", words)[!is_first]
  paste0(make, "(", paste(words[is_shown], collapse = ", "), ")")
}

is_default_of_column <- function(value, default, kind) {
  if (is.null(value)) return(TRUE)
  if (!nzchar(default)) return(FALSE)
  # a type that was not given follows from the values
  if (kind == "type") return(default %in% c("NULL", paste0("tf$", dtype_name(value))))
  default <- eval(str2lang(default), baseenv())
  length(value) == length(default) && isTRUE(all.equal(unlist(value), default))
}

column_code <- function(x) {
  if (is.null(x)) return("NULL")
  if (inherits(x, "tensorflow.dtype")) return(paste0("tf$", dtype_name(x)))
  if (is_column(x)) return(format(x))
  if (is.function(x)) return(code_text(x))
  if (is.character(x) && length(x) == 1) return(encodeString(x, quote = "\""))
  if (is.numeric(x) && length(x) == 1) return(number_text(x))
  if (is_atomic(x) && length(x) == 1) return(deparse(unname(x)))
  if (!is.list(x) && !is_atomic(x)) return("...")
  parts <- vapply(x, column_code, "", USE.NAMES = FALSE)
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
  wanted = "the name of a feature or a numeric column"
) {
  check_arg(is.null(x) || inherits(x, "NumericColumn") || is_string(x), x, wanted, name, call)
}

spec_columns <- function(spec) {
  if (is_column(spec)) return(list(spec))
  is_nest <- is.list(spec) && (!is.object(spec) || inherits(spec, "list"))
  if (is_nest) unlist(lapply(unname(spec), spec_columns), recursive = FALSE)
}

# One list per feature.
reads_of_columns <- function(columns) cpp_columns_read(lapply(columns, value_for_core))
