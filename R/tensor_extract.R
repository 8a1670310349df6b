# `[` and `[[` of tensors, which become strided slices, and R's reductions and bindings of tensors.

#' Extract parts of tensors
#'
#' `x[i, j, ...]` returns a part of a tensor. It has one index for each dimension. As in R, indices
#' start at 1, `a:b` includes `b`, and a missing index selects the whole dimension. A single number
#' drops its dimension unless `drop = FALSE`.
#'
#' * `seq(1, 5, by = 2)` and `1:5:2` select every second element. An end can be missing, as in
#'   `NULL:NULL:2`, or with backquotes in `` `::2` `` and `` `2:` ``.
#' * A negative number counts from the end, as in Python but not in R: -1 is the last element. The
#'   first use in a session gives a warning.
#' * The feature matrix that an [input_fn()] passes to a model function has column names. Use
#'   `features[, "u"]`, `features[, c("u", "v")]`, `features$u` or `features[["u"]]`.
#' * `all_dims()` stands for all remaining dimensions.
#' * `NULL` and `tf$newaxis` insert a dimension of size 1.
#' * A scalar integer tensor is an index that starts at 0. The first use in a session gives a
#'   warning.
#'
#' `x[[i, j]]` returns one element and needs an index for each dimension. `x[["shape"]]` is
#' `x$shape`. A tensor is not a list; `tf$unstack(x)` returns a list of its parts. Parts of a tensor
#' cannot be assigned.
#'
#' @param x A tensor or a variable.
#' @param ... Indices.
#' @param drop If `TRUE` (the default), a single number drops its dimension.
#' @param style `"R"` (the default), or `"python"`: indices start at 0, ends are excluded, and may
#'   be out of bounds.
#' @return A tensor. `all_dims()` returns an object for `[`.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an index is 0 or out of bounds, or there are more indices
#'     than dimensions.
#' @family tensors
#' @export
#' @examples
#' with(tf$Graph()$as_default(), {
#'   x <- tf$constant(matrix(1:6, 2))
#'   with(tf$Session() %as% sess, print(sess$run(list(x[1, ], x[, 2:3], x[, -1]))))
#'   y <- x[all_dims(), 1]
#'   with(tf$Session() %as% sess, sess$run(y))
#' })
`[.tensorflow.tensor` <- function(x, ..., drop = TRUE,
                                  style = getOption("tensorflow.extract.style", "R")) {
  style <- check_one_of(style, c("R", "python"))
  check_flag(drop)
  index_expressions <- as.list(substitute(list(...)))[-1]
  frame <- parent.frame()
  indices <- lapply(index_expressions, parse_index, frame)
  has_names <- vapply(indices, function(index) index$kind == "names", NA)
  if (any(has_names)) {
    selected <- select_named_columns(x, indices, has_names, drop)
    x <- selected$x
    indices <- selected$indices
  }
  rank <- length(cpp_element_info(x)$dims)
  if (is.null(cpp_element_info(x)$dims)) rank <- NA
  check_index_count(indices, rank, style)
  parts <- Map(
    index_slice, indices, index_dim_sizes(indices, cpp_element_info(x)$dims), seq_along(indices),
    MoreArgs = list(drop = drop, style = style)
  )
  part <- strided_slice(x, parts)
  kinds <- vapply(indices, `[[`, "", "kind")
  keeps_columns <- length(kinds) == 2 && kinds[[1]] %in% c("all", "range") && kinds[[2]] == "all"
  if (keeps_columns) attr(part, "columns") <- attr(x, "columns")
  part
}

#' @rdname sub-.tensorflow.tensor
#' @export
`[.tensorflow.variable` <- function(x, ..., drop = TRUE,
                                    style = getOption("tensorflow.extract.style", "R")) {
  env <- new.env(parent = parent.frame())
  env$.value <- cpp_variable_snapshot(x)
  eval(as.call(c(quote(`[`), quote(.value), as.list(substitute(list(...)))[-1],
    list(drop = drop, style = style))), env)
}

#' @rdname sub-.tensorflow.tensor
#' @export
`[[.tensorflow.tensor` <- function(x, ...) extract_element(x, ...)

#' @rdname sub-.tensorflow.tensor
#' @export
`[[.tensorflow.variable` <- function(x, ...) extract_element(x, ...)

extract_element <- function(x, ...) {
  is_missing <- vapply(eval(substitute(alist(...))), identical, NA, quote(expr = ))
  indices <- if (!any(is_missing)) list(...)
  if (length(indices) == 1 && is_string(indices[[1]])) return(do.call(`$`, list(x, indices[[1]])))
  dims <- cpp_element_info(x)$dims
  is_single <- vapply(indices, function(i) is_number(i) || is_tensor(i), NA)
  if (!length(indices) || !all(is_single) || !identical(length(indices), length(dims))) {
    rank <- if (is.null(dims)) "an unknown number of" else length(dims)
    abort_runhooks(
      c(
        "{.code x[[...]]} of a tensor needs one number for each dimension; this one has {rank}
        {cli::qty(length(dims))}dimension{?s}, and {length(indices)} {?index is/indices are}
        given.",
        i = "Use {.code x[i, ...]} for parts, or {.code tf$unstack(x)} for a list of them."
      ),
      call = user_frame()
    )
  }
  do.call(`[`, c(list(x), indices))
}

abort_not_a_list <- function(x) {
  kind <- if (inherits(x, "tensorflow.operation")) "An operation" else "A tensor"
  abort_runhooks(
    c(
      "{kind} has no elements before the graph runs.",
      i = if (kind == "An operation") "Use {.code op$outputs} for its outputs." else
        "Use {.code tf$unstack(x)} for a list of its parts."
    ),
    call = user_frame()
  )
}

#' @export
as.list.tensorflow.tensor <- function(x, ...) abort_not_a_list(x)

#' @export
as.list.tensorflow.variable <- function(x, ...) abort_not_a_list(x)

#' @export
as.list.tensorflow.operation <- function(x, ...) abort_not_a_list(x)

#' @export
`[.tensorflow.operation` <- function(x, ...) abort_not_a_list(x)

#' @export
`[[.tensorflow.operation` <- function(x, i, ...) {
  if (is_string(i)) do.call(`$`, list(x, i)) else abort_not_a_list(x)
}

abort_assignment <- function(x) {
  kind <- if (inherits(x, "tensorflow.variable")) "variable" else "tensor or operation"
  abort_runhooks(
    c(
      "Cannot assign to a part of a {kind}: elements of a graph do not change.",
      i = if (kind == "variable") "Use the operation {.code tf$assign(x, value)}." else
        "Use {.code tf$where()} or {.code tf$concat()} for a new tensor."
    ),
    call = user_frame()
  )
}

#' @export
`[<-.tensorflow.tensor` <- function(x, ..., value) abort_assignment(x)

#' @export
`[<-.tensorflow.variable` <- function(x, ..., value) abort_assignment(x)

#' @export
`[[<-.tensorflow.tensor` <- function(x, ..., value) abort_assignment(x)

#' @export
`[[<-.tensorflow.variable` <- function(x, ..., value) abort_assignment(x)

#' @export
`$<-.tensorflow.tensor` <- function(x, name, value) abort_assignment(x)

#' @export
`$<-.tensorflow.variable` <- function(x, name, value) abort_assignment(x)

#' @export
`$<-.tensorflow.operation` <- function(x, name, value) abort_assignment(x)

#' @rdname sub-.tensorflow.tensor
#' @export
all_dims <- function() structure(list(), class = "runhooks_all_dims")

new_axis <- structure(list(), class = "runhooks_newaxis")

# --- columns by name

# Selects columns by the names in the second index, and replaces this index. Returns the tensor and
# the indices that remain to be applied.
select_named_columns <- function(x, indices, has_names, drop) {
  if (length(indices) != 2 || any(has_names[-length(has_names)])) {
    abort_runhooks(
      c(
        "An index of a tensor must be whole numbers or a tensor, not a string.",
        i = "Names are only allowed for columns: {.code x[, \"name\"]}."
      ),
      call = user_frame()
    )
  }
  names <- indices[[2]]$names
  positions <- named_column_positions(x, names)
  if (length(positions) == 1) {
    indices[[2]] <- list(kind = "one", at = positions)
    return(list(x = x, indices = indices))
  }
  indices[[2]] <- list(kind = "all")
  part <- tf$gather(x, positions - 1L, axis = 1L)
  attr(part, "columns") <- attr(x, "columns")[positions]
  list(x = part, indices = indices)
}

named_column_positions <- function(x, names) {
  columns <- attr(x, "columns")
  unknown <- setdiff(names, columns)
  if (length(unknown)) {
    abort_runhooks(
      c(
        "The tensor has no column {.val {unknown[[1]]}}.",
        i = if (is.null(columns)) {
          "Its columns have no names; select one by number: {.code x[, 1]}."
        } else {
          "Its columns are {.val {unique(columns)}}."
        }
      ),
      kind = "not_found", call = user_frame()
    )
  }
  unlist(lapply(names, function(name) which(columns == name)))
}

# Parses an index expression. Returns a list with `kind`: "all", "ellipsis", "newaxis", "names" with
# `names`, "one" with the index `at`, or "range" with `from`, `to` and `by`, which are NULL if
# missing.
parse_index <- function(expr, frame) {
  if (identical(expr, quote(expr = ))) return(list(kind = "all"))
  if (is.symbol(expr) && grepl(":", as.character(expr), fixed = TRUE)) {
    return(text_index(as.character(expr)))
  }
  if (is.call(expr) && identical(expr[[1]], quote(`:`))) return(colon_index(expr, frame))
  value_index(eval(expr, frame))
}

text_index <- function(text) {
  parts <- strsplit(paste0(text, " "), ":", fixed = TRUE)[[1]]
  numbers <- lapply(trimws(parts), function(part) {
    if (!nzchar(part) || part == "NULL") return(NULL)
    number <- suppressWarnings(as.numeric(part))
    if (is.na(number)) {
      abort_runhooks("{.val {text}} is not an index of a tensor.", call = user_frame())
    }
    number
  })
  numbers <- c(numbers, list(NULL, NULL))
  list(kind = "range", from = numbers[[1]], to = numbers[[2]], by = numbers[[3]])
}

# Parses an index `a:b` or `a:b:c`. Does not evaluate it, because R would make a vector of it.
colon_index <- function(expr, frame) {
  by <- NULL
  if (is.call(expr[[2]]) && identical(expr[[2]][[1]], quote(`:`))) {
    by <- eval(expr[[3]], frame)
    expr <- expr[[2]]
  }
  list(kind = "range", from = eval(expr[[2]], frame), to = eval(expr[[3]], frame), by = by)
}

value_index <- function(value) {
  if (is.null(value) || inherits(value, "runhooks_newaxis")) return(list(kind = "newaxis"))
  if (inherits(value, "runhooks_all_dims")) return(list(kind = "ellipsis"))
  if (is_tensor(value) || is_variable(value)) return(list(kind = "one", at = as_tensor(value)))
  if (is.character(value) && length(value) > 0) return(list(kind = "names", names = value))
  is_valid <- is.numeric(value) && length(value) > 0 &&
    all(is.finite(value) & value == trunc(value))
  if (!is_valid) {
    abort_runhooks(
      "An index of a tensor must be whole numbers or a tensor, not {describe_type(value)}.",
      call = user_frame()
    )
  }
  if (length(value) == 1) return(list(kind = "one", at = value))
  by <- unique(diff(value))
  if (length(by) != 1 || by == 0) {
    abort_runhooks(
      c(
        "An index of a tensor must be one number, or numbers with equal steps.",
        i = "Use {.code tf$gather()} for other elements."
      ),
      call = user_frame()
    )
  }
  list(kind = "range", from = value[[1]], to = value[[length(value)]], by = by)
}

# Checks that there are not too many indices, and warns if there are too few.
check_index_count <- function(indices, rank, style) {
  kinds <- vapply(indices, `[[`, "", "kind")
  used <- sum(!kinds %in% c("newaxis", "ellipsis"))
  if (is.na(rank) || "ellipsis" %in% kinds) return(invisible())
  if (used > rank) {
    abort_runhooks(
      "Too many indices: {used} {cli::qty(used)}{?is/are} given for a tensor of {rank}
       dimension{?s}.",
      call = user_frame()
    )
  }
  if (used < rank && used > 0 && style == "R") {
    rlang::warn(sprintf(
      "Incorrect number of dimensions supplied: %d for a tensor of %d; the others are selected whole.",
      used, rank
    ))
  }
}

# Returns for each index the size of the dimension from which it selects. NA if the size is unknown,
# or if the index does not select from a dimension.
index_dim_sizes <- function(indices, dims) {
  kinds <- vapply(indices, `[[`, "", "kind")
  has_dim <- !kinds %in% c("newaxis", "ellipsis")
  sizes <- rep(NA_real_, length(indices))
  if (is.null(dims)) return(sizes)
  ellipsis_position <- match("ellipsis", kinds, nomatch = length(kinds) + 1)
  before <- which(has_dim & seq_along(kinds) < ellipsis_position)
  after <- which(has_dim & seq_along(kinds) > ellipsis_position)
  sizes[before] <- dims[seq_along(before)]
  sizes[after] <- rev(rev(dims)[seq_along(after)])
  sizes
}

# Returns the begin, the end, the stride and the masks of the op StridedSlice for one index.
# `place`: the number of the index, for messages.
index_slice <- function(index, size, place, drop, style) {
  part <- list(begin = 0, end = 0, stride = 1)
  if (index$kind == "all") return(c(part, list(masks = c("begin_mask", "end_mask"))))
  if (index$kind == "ellipsis") return(c(part, list(masks = "ellipsis_mask")))
  if (index$kind == "newaxis") return(c(part, list(masks = "new_axis_mask")))
  if (index$kind == "one") return(scalar_slice(index$at, size, place, drop, style))
  range_slice(index, size, place, style)
}

scalar_slice <- function(at, size, place, drop, style) {
  if (is_tensor(at)) {
    warn_once(
      "runhooks_tensor_index",
      "A tensor as an index of a tensor starts at 0, not at 1."
    )
    begin <- tf$cast(at, "int32")
    return(list(
      begin = begin, end = begin + 1L, stride = 1, masks = if (drop) "shrink_axis_mask"
    ))
  }
  begin <- slice_begin(at, size, place, style)
  is_last <- begin == -1
  list(
    begin = begin, end = if (is_last) 0 else begin + 1, stride = 1,
    masks = c(if (drop) "shrink_axis_mask", if (is_last) "end_mask")
  )
}

slice_begin <- function(at, size, place, style) {
  if (style == "python") return(at)
  check_index_bounds(at, size, place)
  if (at < 0) at else at - 1
}

check_index_bounds <- function(at, size, place) {
  if (at == 0) {
    abort_runhooks("Index {place} of a tensor is 0, but indices start at 1.", call = user_frame())
  }
  if (at < 0) {
    warn_once(
      "runhooks_negative_index",
      "Negative indices of a tensor count from its end, as in Python; they do not remove elements."
    )
  }
  if (!is.na(size) && abs(at) > size) {
    abort_runhooks(
      "Index {place} of a tensor is {at}, out of bounds: the dimension has {size} element{?s}.",
      call = user_frame()
    )
  }
}

# Signals the warning `text` once in each R session.
warn_once <- function(id, text) rlang::warn(text, .frequency = "once", .frequency_id = id)

range_slice <- function(index, size, place, style) {
  bounds <- Filter(Negate(is.null), index[c("from", "to", "by")])
  if (any(vapply(bounds, is_graph_element, NA))) return(tensor_range_slice(index, style))
  from <- index$from
  to <- index$to
  is_bounded <- !is.null(from) && !is.null(to)
  is_decreasing <- style == "R" && is_bounded && sign(from) == sign(to) && from > to
  by <- if (!is.null(index$by)) index$by else if (is_decreasing) -1 else 1
  masks <- c(if (is.null(from)) "begin_mask", if (is.null(to)) "end_mask")
  begin <- if (is.null(from)) 0 else slice_begin(from, size, place, style)
  end <- if (is.null(to)) 0 else to
  if (style == "R" && !is.null(to)) {
    check_index_bounds(to, size, place)
    # the end is exclusive here: one step after the last element, in the direction of `by`
    end <- (if (to < 0) to else to - 1) + sign(by)
    if ((to < 0 && end == 0) || (to > 0 && end < 0)) masks <- c(masks, "end_mask")
  }
  list(begin = begin, end = end, stride = by, masks = masks)
}

# Returns the slice for a range whose bounds are tensors.
tensor_range_slice <- function(index, style) {
  as_number <- function(x, shift) {
    if (is.null(x)) 0 else if (is_graph_element(x)) tf$cast(as_tensor(x), "int32") else x + shift
  }
  list(
    begin = as_number(index$from, if (style == "R") -1 else 0), end = as_number(index$to, 0),
    stride = if (is.null(index$by)) 1 else index$by,
    masks = c(if (is.null(index$from)) "begin_mask", if (is.null(index$to)) "end_mask")
  )
}

strided_slice <- function(x, parts) {
  column <- function(name) {
    values <- unname(lapply(parts, `[[`, name))
    if (any(vapply(values, is_graph_element, NA))) {
      return(tf$stack(lapply(values, function(v) if (is.numeric(v)) as.integer(v) else v)))
    }
    cpp_constant(array(as.integer(unlist(values)), length(values)), "int32", "strided_slice/stack")
  }
  masks <- c(
    "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"
  )
  attrs <- lapply(setNames(nm = masks), function(mask) {
    has_mask <- vapply(parts, function(part) mask %in% part$masks, NA)
    sum(2^(which(has_mask) - 1))
  })
  inputs <- list(x, column("begin"), column("end"), column("stride"))
  cpp_op_create("StridedSlice", inputs, attrs, "strided_slice")
}

# Implements tf$strided_slice().
call_strided_slice <- function(input_, begin, end, strides = NULL, begin_mask = 0, end_mask = 0,
                               ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0,
                               var = NULL, name = NULL) {
  abort_unsupported_arguments(var)
  as_index_tensor <- function(x) {
    if (!is_graph_element(x)) x <- array(as.integer(unlist(x)), length(x))
    as_tensor(x, "int32")
  }
  begin <- as_index_tensor(begin)
  strides <- if (is.null(strides)) tf$ones_like(begin) else as_index_tensor(strides)
  attrs <- mget(c("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"))
  inputs <- list(as_tensor(input_), begin, as_index_tensor(end), strides)
  cpp_op_create("StridedSlice", inputs, attrs, if (is.null(name)) "StridedSlice" else name)
}

# --- other functions of R

#' @rdname tensors
#' @param na.rm Whether `sum()`, `prod()`, `min()`, `max()` and `range()` ignore NaN.
#' @export
Summary.tensorflow.tensor <- function(..., na.rm = FALSE) { # nolint
  reduction <- switch(.Generic, sum = , prod = , min = , max = , any = , all = .Generic, "max")
  check_not_normalizing(.Generic, paste0("tf$reduce_", reduction, "(x)"))
  tensors <- lapply(list(...), as_tensor)
  if (.Generic == "range") return(tf$stack(list(min(..., na.rm = na.rm), max(..., na.rm = na.rm))))
  if (na.rm) tensors <- lapply(tensors, ignore_nan, .Generic)
  reduce <- switch(.Generic,
    sum = tf$reduce_sum, prod = tf$reduce_prod, min = tf$reduce_min, max = tf$reduce_max,
    any = tf$reduce_any, all = tf$reduce_all,
    abort_runhooks("{.fn {(.Generic)}} is not defined for tensors.", kind = "unimplemented")
  )
  parts <- lapply(tensors, reduce)
  if (length(parts) == 1) parts[[1]] else reduce(tf$stack(unname(parts)))
}

#' @rdname tensors
#' @export
mean.tensorflow.tensor <- function(x, ...) {
  check_not_normalizing("mean", "tf$reduce_mean(x)")
  tf$reduce_mean(as_mean_type(x), ...)
}

# Converts integers to float64 for mean(), because a mean of integers is a double in R. In contrast,
# tf$reduce_mean() returns an integer, as in TensorFlow.
as_mean_type <- function(x) {
  is_whole <- grepl("^(u?int|bool)", sub("_ref$", "", x$dtype$name))
  if (is_whole) tf$cast(x, "float64") else x
}

# Implements rbind() (axis 0) and cbind() (axis 1) of tensors. A vector becomes a row or a column.
bind_tensors <- function(parts, axis) {
  first_tensor <- Find(is_graph_element, parts)
  parts <- lapply(unname(parts), as_tensor, first_tensor$dtype)
  parts <- lapply(parts, function(x) if (length(dim(x)) == 1) tf$expand_dims(x, axis) else x)
  tf$concat(parts, axis)
}

#' @rdname tensors
#' @param deparse.level Not used.
#' @export
rbind.tensorflow.tensor <- function(..., deparse.level = 1) bind_tensors(list(...), 0L) # nolint

#' @rdname tensors
#' @export
cbind.tensorflow.tensor <- function(..., deparse.level = 1) bind_tensors(list(...), 1L) # nolint

#' @export
rbind.tensorflow.variable <- rbind.tensorflow.tensor # nolint

#' @export
cbind.tensorflow.variable <- cbind.tensorflow.tensor # nolint

#' @rdname tensors
#' @export
rep.tensorflow.tensor <- function(x, ...) {
  # R's rep() is applied to the positions of the elements
  if (length(dim(x)) > 1 || is.na(length(x))) {
    abort_runhooks(
      "{.fn rep} needs a vector of known length; {.val {x$name}} has shape {x$shape$text}.
       Use {.fn tf$tile} to repeat along axes."
    )
  }
  tf$gather(tf$reshape(x, -1L), rep(seq_len(length(x)) - 1L, ...))
}

#' @export
rep.tensorflow.variable <- function(x, ...) rep(cpp_variable_snapshot(x), ...)

#' @export
t.tensorflow.tensor <- function(x) tf$transpose(x)

#' @export
Math.tensorflow.variable <- function(x, ...) {
  get(.Generic, mode = "function")(cpp_variable_snapshot(x), ...)
}

#' @export
Summary.tensorflow.variable <- Summary.tensorflow.tensor # nolint

#' @export
mean.tensorflow.variable <- function(x, ...) mean(cpp_variable_snapshot(x), ...)

#' @export
t.tensorflow.variable <- function(x) tf$transpose(x)

#' @export
dim.tensorflow.variable <- dim.tensorflow.tensor

#' @export
length.tensorflow.variable <- length.tensorflow.tensor
