# tf$math: einsum(), norms, sorting and other functions that combine members of `tf`.

math_symbols <- function() {
  list(
    einsum = einsum, tensordot = tensordot, norm = tensor_norm, div = python_division,
    accumulate_n = accumulate_n, confusion_matrix = confusion_matrix, sort = sort_tensor,
    argsort = argsort_tensor, meshgrid = meshgrid, diag = tensor_diag,
    diag_part = tensor_diag_part,
    unsorted_segment_mean = segment_mean_by(function(n) n),
    unsorted_segment_sqrt_n = segment_mean_by(function(n) tf$sqrt(n)),
    roll = roll_tensor, reverse_sequence = reverse_sequence, random_crop = random_crop,
    nn.conv1d = conv1d,
    executing_eagerly = function() FALSE, is_tensor = function(x) is_graph_element(x),
    as_dtype = function(type_value) as_dtype(type_value)
  )
}

# --- einsum() and tensordot(), which sum over the indices that the output does not have

# Computes a product in Einstein's notation, such as "ij,jk->ik" for a matrix product.
einsum <- function(equation, ..., name = NULL) {
  check_string(equation)
  inputs <- lapply(list(...), as_tensor)
  terms <- einsum_terms(equation, inputs)
  with(name_scope(name, "einsum"), {
    parts <- Map(function(x, labels) list(x = x, labels = labels), inputs, terms$inputs)
    while (length(parts) > 1) {
      later_labels <- unlist(lapply(parts[-(1:2)], `[[`, "labels"))
      product <- contract_pair(parts[[1]], parts[[2]], c(later_labels, terms$output))
      parts <- c(list(product), parts[-(1:2)])
    }
    summed <- sum_out_labels(parts[[1]], terms$output)
    transpose_to_labels(summed$x, summed$labels, terms$output)
  })
}

# Parses the equation. Returns the labels (letters) of the dimensions of each input and the output.
einsum_terms <- function(equation, inputs, call = parent.frame()) {
  text <- gsub(" ", "", equation, fixed = TRUE)
  if (!grepl("^[A-Za-z,]+(->[A-Za-z]*)?$", text)) {
    abort_runhooks("Indices have incorrect format: {equation}.", call = call)
  }
  sides <- strsplit(paste0(text, " "), "->", fixed = TRUE)[[1]]
  terms <- strsplit(strsplit(sub(" $", "", sides[[1]]), ",", fixed = TRUE)[[1]], "")
  if (length(terms) != length(inputs)) {
    abort_runhooks(
      "Got {length(inputs)} argument{?s} for equation {.val {equation}}, expecting
       {length(terms)}.",
      call = call
    )
  }
  for (i in seq_along(terms)) {
    rank <- length(dim(inputs[[i]]))
    if (!is.null(dim(inputs[[i]])) && rank != length(terms[[i]])) {
      abort_runhooks(
        "Tensor {.val {inputs[[i]]$name}} of rank {rank} does not match the indices
         {.val {paste(terms[[i]], collapse = '')}} of {.val {equation}}.",
        call = call
      )
    }
    if (anyDuplicated(terms[[i]])) {
      abort_runhooks("Subscript not supported: an axis appears more than once: {equation}.",
        kind = "unimplemented", call = call
      )
    }
  }
  all_labels <- unlist(terms)
  output <- if (length(sides) > 1) {
    strsplit(sub(" $", "", sides[[2]]), "")[[1]]
  } else {
    sort(names(which(table(all_labels) == 1)), method = "radix")
  }
  invalid <- c(setdiff(output, all_labels), output[duplicated(output)])
  if (length(invalid)) {
    abort_runhooks("Output index {.val {invalid[[1]]}} of {.val {equation}} must be in one of the
      inputs, and once in the output.", call = call)
  }
  list(inputs = terms, output = output)
}

# Sums a labelled tensor over the dimensions whose labels are not needed.
sum_out_labels <- function(part, needed) {
  unneeded <- which(!part$labels %in% needed)
  if (length(unneeded) == 0) return(part)
  list(x = tf$reduce_sum(part$x, as.integer(unneeded - 1)), labels = part$labels[-unneeded])
}

transpose_to_labels <- function(x, labels, new_labels) {
  if (identical(labels, new_labels) || length(labels) < 2) return(x)
  tf$transpose(x, as.integer(match(new_labels, labels) - 1))
}

# Returns the sizes of the dimensions `labels`: numbers if all are known, or else a tensor.
label_sizes <- function(part, labels) {
  positions <- match(labels, part$labels)
  sizes <- dim(part$x)
  is_known <- !is.null(sizes) && !any(vapply(sizes[positions], is.null, NA))
  if (is_known) return(as.integer(unlist(sizes[positions])))
  tf$gather(tf$shape(part$x), array(as.integer(positions - 1), length(positions)))
}

# Concatenates sizes that are numbers or tensors.
concat_sizes <- function(...) {
  sizes <- list(...)
  if (!any(vapply(sizes, is_tensor, NA))) return(as.integer(unlist(sizes)))
  sizes <- Filter(function(x) is_tensor(x) || length(x), sizes)
  tf$concat(lapply(sizes, function(x) {
    if (is_tensor(x)) x else tf$constant(array(as.integer(x), length(x)))
  }), 0L)
}

# Multiplies two labelled tensors by one tf$matmul(), and sums over the labels that are not needed.
contract_pair <- function(a, b, needed) {
  a <- sum_out_labels(a, c(b$labels, needed))
  b <- sum_out_labels(b, c(a$labels, needed))
  shared <- intersect(a$labels, b$labels)
  batch <- intersect(shared, needed)
  summed <- setdiff(shared, needed)
  rows <- setdiff(a$labels, shared)
  columns <- setdiff(b$labels, shared)
  left <- transpose_to_labels(a$x, a$labels, c(batch, rows, summed))
  right <- transpose_to_labels(b$x, b$labels, c(batch, summed, columns))
  batch_sizes <- label_sizes(a, batch)
  product_of <- function(part, labels) {
    if (length(labels) == 0) return(1L)
    sizes <- label_sizes(part, labels)
    if (is_tensor(sizes)) tf$reshape(tf$reduce_prod(sizes), 1L) else as.integer(prod(sizes))
  }
  n <- product_of(a, summed)
  left <- tf$reshape(left, concat_sizes(batch_sizes, product_of(a, rows), n))
  right <- tf$reshape(right, concat_sizes(batch_sizes, n, product_of(b, columns)))
  product <- tf$matmul(left, right)
  sizes <- concat_sizes(batch_sizes, label_sizes(a, rows), label_sizes(b, columns))
  labels <- c(batch, rows, columns)
  result <- tf$reshape(product, if (length(labels)) sizes else list())
  known_sizes <- static_sizes(list(a, b), labels)
  if (length(known_sizes)) result$set_shape(known_sizes)
  list(x = result, labels = labels)
}

# Returns the sizes of the labelled dimensions; NULL for a size that is unknown.
static_sizes <- function(parts, labels) {
  lapply(labels, function(label) {
    for (part in parts) {
      at <- match(label, part$labels)
      sizes <- dim(part$x)
      if (!is.na(at) && !is.null(sizes) && !is.null(sizes[[at]])) return(sizes[[at]])
    }
  })
}

# Sums a product over axes. `axes` is their number n (the last n of `a`, the first n of `b`), or the
# axes of `a` and `b`, counted from 0.
tensordot <- function(a, b, axes, name = NULL) {
  if (is_graph_element(axes)) {
    abort_runhooks("{.arg axes} must be numbers, not a tensor.", kind = "unimplemented")
  }
  a <- as_tensor(a, if (is_graph_element(b)) b$dtype)
  b <- as_tensor(b, a$dtype)
  ranks <- c(length(dim(a)), length(dim(b)))
  axes <- tensordot_axes(axes, ranks)
  left <- letters[seq_len(ranks[[1]])]
  right <- LETTERS[seq_len(ranks[[2]])]
  right[axes[[2]] + 1] <- left[axes[[1]] + 1]
  output <- c(left[!left %in% right], right[!right %in% left])
  text <- function(labels) paste(labels, collapse = "")
  with(name_scope(name, "Tensordot"), {
    einsum(paste0(text(left), ",", text(right), "->", text(output)), a, b)
  })
}

tensordot_axes <- function(axes, ranks, call = parent.frame()) {
  axis_numbers <- unlist(axes)
  is_valid <- (is_atomic(axes) || is.list(axes) && !is.object(axes)) && is.numeric(axis_numbers)
  check_arg(is_valid, axes, "whole numbers, or two lists of them", "axes", call)
  if (is.list(axes) || is.matrix(axes)) {
    pair <- if (is.matrix(axes)) list(axes[1, ], axes[2, ]) else axes
  } else if (length(axes) == 1) {
    check_whole(axes, call = call)
    max_axes <- min(ranks)
    check_arg(
      axes >= 0 && axes <= max_axes, axes, sprintf("a number of axes from 0 to %d", max_axes),
      "axes", call
    )
    pair <- list(ranks[[1]] - axes + seq_len(axes) - 1, seq_len(axes) - 1)
  } else {
    pair <- as.list(axes)
  }
  is_valid <- length(pair) == 2 && length(unlist(pair[[1]])) == length(unlist(pair[[2]]))
  if (!is_valid) {
    abort_runhooks(
      "{.arg axes} must be an integer or have length 2, with the same number of axes of a and b.",
      call = call
    )
  }
  Map(function(axis, rank) {
    axis <- as.numeric(unlist(axis))
    axis <- ifelse(axis < 0, axis + rank, axis)
    if (any(axis < 0 | axis >= rank)) {
      abort_runhooks("{.arg axes} must be in [{-rank}, {rank}).", call = call)
    }
    axis
  }, pair, ranks)
}

# --- norms, quotients, sums

tensor_norm <- function(tensor, ord = "euclidean", axis = NULL, keepdims = NULL, name = NULL,
                        keep_dims = NULL) {
  if (is.null(keepdims)) keepdims <- isTRUE(keep_dims)
  tensor <- as_tensor(tensor)
  axis <- if (!is.null(axis)) as_whole_numbers(axis)
  if (length(axis) > 2) abort_runhooks("{.arg axis} must be one or two axes.")
  is_matrix <- length(axis) == 2
  sum <- function(x, axis) tf$reduce_sum(x, axis, keepdims = TRUE)
  with(name_scope(name, "norm"), {
    magnitudes <- tf$abs(tensor)
    result <- if (identical(ord, "euclidean") || identical(ord, "fro") && is_matrix ||
      identical(as.numeric(ord), 2) && !is_matrix) {
      tf$sqrt(sum(tf$square(tensor), axis))
    } else if (is.character(ord)) {
      abort_runhooks("{.arg ord} must be \"euclidean\", \"fro\" of a matrix, or a number, not
        {.val {ord}}.")
    } else if (is_matrix && ord %in% c(1, Inf)) {
      inner <- axis[[if (ord == 1) 1 else 2]]
      tf$reduce_max(sum(magnitudes, inner), setdiff(axis, inner), keepdims = TRUE)
    } else if (is_matrix) {
      abort_runhooks("{.arg ord} of a matrix must be \"euclidean\", \"fro\", 1 or Inf, not {ord}.",
        kind = "unimplemented"
      )
    } else if (ord == Inf) {
      tf$reduce_max(magnitudes, axis, keepdims = TRUE)
    } else if (ord == 1) {
      sum(magnitudes, axis)
    } else {
      tf$pow(sum(tf$pow(magnitudes, ord), axis), 1 / ord)
    }
    if (keepdims) result else tf$squeeze(result, axis)
  })
}

# Divides as Python 2 does: rounds down for integers.
python_division <- function(x, y, name = NULL) {
  if (!is_graph_element(x)) x <- as_tensor(x, if (is_graph_element(y)) y$dtype)
  if (x$dtype$is_floating) tf$realdiv(x, y, name = name) else tf$floordiv(x, y, name = name)
}

accumulate_n <- function(inputs, shape = NULL, tensor_dtype = NULL, name = NULL) {
  tensor_dtype <- as_dtype(tensor_dtype, "tensor_dtype")
  inputs <- lapply(as_tensor_list(inputs), as_tensor, tensor_dtype)
  check_arg(length(inputs) > 0, list(), "at least one tensor", "inputs", environment())
  if (!is.null(tensor_dtype) && inputs[[1]]$dtype != tensor_dtype) {
    abort_runhooks("{.arg tensor_dtype} is {dtype_name(tensor_dtype)}, but the inputs are of dtype
      {inputs[[1]]$dtype$name}.")
  }
  total <- tf$add_n(inputs, name = name)
  if (!is.null(shape)) total$set_shape(shape)
  total
}

confusion_matrix <- function(labels, predictions, num_classes = NULL, dtype = "int32",
                             name = NULL, weights = NULL) {
  with(name_scope(name, "confusion_matrix"), {
    labels <- tf$cast(as_tensor(labels, "int64"), "int64")
    predictions <- tf$cast(as_tensor(predictions, "int64"), "int64")
    if (is.null(num_classes)) {
      num_classes <- tf$maximum(tf$reduce_max(labels), tf$reduce_max(predictions)) + 1
    }
    n <- tf$cast(num_classes, "int64")
    values <- if (is.null(weights)) {
      tf$ones_like(predictions, dtype = dtype)
    } else {
      tf$cast(as_tensor(weights), dtype) * tf$ones_like(predictions, dtype = dtype)
    }
    tf$scatter_nd(tf$stack(list(labels, predictions), axis = 1L), values, tf$stack(list(n, n)))
  })
}

# --- sorting

sort_tensor <- function(values, axis = -1, direction = "ASCENDING", name = NULL) {
  with(name_scope(name, "sort"), sort_along_axis(values, axis, direction, 1))
}

# Implements tf$argsort(). Equal elements always keep their order, also without `stable`.
argsort_tensor <- function(values, axis = -1, direction = "ASCENDING", stable = FALSE,
                           name = NULL) {
  check_flag(stable)
  with(name_scope(name, "argsort"), sort_along_axis(values, axis, direction, 2))
}

# Sorts along an axis by tf$nn$top_k(), which sorts along the last axis. `which`: 1 for the values,
# 2 for their positions.
sort_along_axis <- function(values, axis, direction, which, call = parent.frame()) {
  if (!direction %in% c("ASCENDING", "DESCENDING")) {
    abort_runhooks(
      "Direction should be one of \"ASCENDING\", \"DESCENDING\", not {.val {direction}}.",
      call = call
    )
  }
  values <- as_tensor(values)
  rank <- length(dim(values))
  if (rank == 0) abort_runhooks("{.arg values} must have a known rank of 1 or more.", call = call)
  expected <- sprintf("a whole number from %d to %d", -rank, rank - 1L)
  check_arg(is_whole(axis) && axis >= -rank && axis < rank, axis, expected, "axis", call)
  axis <- if (axis < 0) axis + rank else axis
  permutation <- seq_len(rank) - 1
  permutation[c(axis + 1, rank)] <- permutation[c(rank, axis + 1)]
  is_last <- axis == rank - 1
  swap_axes <- function(x) if (is_last) x else tf$transpose(x, as.integer(permutation))
  is_ascending <- direction == "ASCENDING"
  x <- swap_axes(values)
  sorted <- tf$nn$top_k(if (is_ascending) -x else x, tf$shape(x)[rank])[[which]]
  swap_axes(if (is_ascending && which == 1) -sorted else sorted)
}

meshgrid <- function(..., indexing = "xy", name = NULL) {
  inputs <- lapply(list(...), as_tensor)
  if (!indexing %in% c("xy", "ij")) {
    abort_runhooks("{.arg indexing} must be \"xy\" or \"ij\", not {.val {indexing}}.")
  }
  n <- length(inputs)
  with(name_scope(name, "meshgrid"), {
    dims_of_inputs <- seq_len(n)
    if (indexing == "xy" && n > 1) dims_of_inputs[1:2] <- 2:1
    sizes <- tf$stack(lapply(inputs[order(dims_of_inputs)], tf$size))
    lapply(seq_len(n), function(i) {
      shape <- rep(1L, n)
      shape[[dims_of_inputs[[i]]]] <- -1L
      ones <- tf$fill(sizes, as_tensor(1, inputs[[i]]$dtype))
      tf$reshape(inputs[[i]], shape) * ones
    })
  })
}

tensor_diag <- function(diagonal, name = NULL) {
  diagonal <- as_tensor(diagonal)
  dims <- dim(diagonal)
  if (length(dims) == 1) return(tf$matrix_diag(diagonal, name = name))
  if (is.null(dims) || is.list(dims)) {
    abort_runhooks("The diagonal needs a tensor of known shape.", kind = "unimplemented")
  }
  tf$reshape(tf$matrix_diag(tf$reshape(diagonal, -1L)), c(dims, dims), name = name)
}

tensor_diag_part <- function(input, name = NULL) {
  input <- as_tensor(input)
  dims <- dim(input)
  rank <- length(dims)
  if (rank == 2) return(tf$matrix_diag_part(input, name = name_or_default(name, "DiagPart")))
  half <- dims[seq_len(rank / 2)]
  is_known <- !is.null(dims) && !is.list(dims)
  if (!is_known || rank %% 2 || !identical(half, dims[rank / 2 + seq_len(rank / 2)])) {
    abort_runhooks("The diagonal needs a tensor of shape [a, b, ..., a, b, ...], not
      {input$shape$text}.")
  }
  square <- tf$reshape(input, c(prod(half), prod(half)))
  tf$reshape(tf$matrix_diag_part(square), half, name = name)
}

# Returns a function that divides the sums of segments by `divisor(n)`, where n is the number of
# elements of a segment.
segment_mean_by <- function(divisor) {
  force(divisor)
  function(data, segment_ids, num_segments, name = NULL) {
    with(name_scope(name, "UnsortedSegmentMean"), {
      data <- as_tensor(data)
      segment_ids <- as_tensor(segment_ids)
      ones <- tf$ones_like(segment_ids, dtype = data$dtype)
      count <- tf$maximum(tf$unsorted_segment_sum(ones, segment_ids, num_segments), 1)
      for (i in seq_len(length(dim(data)) - length(dim(segment_ids)))) {
        count <- tf$expand_dims(count, -1L)
      }
      tf$unsorted_segment_sum(data, segment_ids, num_segments) / divisor(count)
    })
  }
}

random_crop <- function(value, size, seed = NULL, name = NULL) {
  with(name_scope(name, "random_crop"), {
    value <- as_tensor(value)
    shape <- tf$shape(value)
    size <- tf$cast(as_tensor(size, "int32"), "int32")
    limit <- shape - size + 1L
    # draw numbers as TensorFlow does: up to the maximum of the data type, modulo the limit
    random_numbers <- tf$random_uniform(
      tf$shape(shape), maxval = .Machine$integer.max, dtype = "int32", seed = seed
    )
    tf$slice(value, random_numbers %% limit, size)
  })
}

conv1d <- function(value = NULL, filters = NULL, stride = NULL, padding = NULL,
                   use_cudnn_on_gpu = NULL, data_format = NULL, name = NULL, input = NULL,
                   dilations = NULL) {
  if (!is.null(data_format) && !data_format %in% c("NHWC", "NWC")) {
    abort_runhooks("{.arg data_format} must be \"NWC\", not {.val {data_format}}.",
      kind = "unimplemented"
    )
  }
  if (!is.null(use_cudnn_on_gpu)) check_flag(use_cudnn_on_gpu)
  value <- if (is.null(value)) input else value
  # the number for the width: the second of three numbers, or the only one; 1 for NULL
  along_width <- function(x) {
    if (is.null(x)) return(1L)
    unlist(x)[[if (length(unlist(x)) == 3) 2 else 1]]
  }
  with(name_scope(name, "conv1d"), {
    images <- tf$expand_dims(value, 1L)
    product <- tf$nn$conv2d(
      images, tf$expand_dims(filters, 0L), c(1L, 1L, along_width(stride), 1L), padding,
      dilations = c(1L, 1L, along_width(dilations), 1L)
    )
    tf$squeeze(product, 1L)
  })
}

# --- rows in another order

roll_tensor <- function(input, shift, axis, name = NULL) {
  x <- as_tensor(input)
  axes <- as_whole_numbers(axis)
  shifts <- if (is_tensor_or_variable(shift)) list(shift) else as.list(as_whole_numbers(shift))
  if (is_tensor_or_variable(shift) && length(axes) > 1) {
    shifts <- tf$unstack(shift, num = length(axes))
  }
  if (length(shifts) != length(axes)) {
    abort_runhooks(
      "{.arg shift} has {length(shifts)} number{?s} and {.arg axis} {length(axes)}; there must be one
       shift for each axis."
    )
  }
  with(name_scope(name, "roll"), {
    for (i in seq_along(axes)) {
      at <- axes[[i]] %% length(dim(x))
      size <- tf$gather(tf$shape(x), at)
      num_moved <- tf$floormod(tf$cast(shifts[[i]], "int32"), tf$maximum(size, 1L))
      parts <- tf$split(x, tf$stack(list(size - num_moved, num_moved)), axis = at, num = 2L)
      shape <- x$shape
      x <- tf$concat(rev(parts), at)
      x$set_shape(shape)
    }
    x
  })
}

# Implements tf$reverse_sequence(): reverses the first `seq_lengths` elements of each example.
reverse_sequence <- function(input, seq_lengths, seq_axis = NULL, batch_axis = NULL, name = NULL,
                             seq_dim = NULL, batch_dim = NULL) {
  x <- as_tensor(input)
  if (is.null(seq_axis)) seq_axis <- seq_dim
  if (is.null(batch_axis)) batch_axis <- if (is.null(batch_dim)) 0L else batch_dim
  check_whole(seq_axis)
  check_whole(batch_axis)
  rank <- length(dim(x))
  first_axes <- c(batch_axis, seq_axis) %% rank
  if (first_axes[[1]] == first_axes[[2]]) {
    abort_runhooks("{.arg seq_axis} and {.arg batch_axis} are both {seq_axis}.")
  }
  order <- as.integer(c(first_axes, setdiff(seq_len(rank) - 1, first_axes)))
  with(name_scope(name, "ReverseSequence"), {
    rows_first <- tf$transpose(x, order)
    sizes <- tf$shape(rows_first)
    rows <- tf$gather(sizes, 0L)
    steps <- tf$gather(sizes, 1L)
    step <- tf$expand_dims(tf$range(steps), 0L)
    lengths <- tf$expand_dims(tf$cast(as_tensor(seq_lengths, "int32"), "int32"), 1L)
    grid <- step + tf$zeros_like(lengths)
    sources <- tf$where(grid < lengths, lengths - 1L - step, grid)
    sources <- sources + tf$expand_dims(tf$range(rows), 1L) * steps
    flat_shape <- tf$concat(list(tf$constant(-1L, shape = 1L), tf$slice(sizes, 2L, -1L)), 0L)
    flat <- tf$reshape(rows_first, flat_shape)
    reversed <- tf$reshape(tf$gather(flat, tf$reshape(sources, -1L)), sizes)
    result <- tf$transpose(reversed, order(order) - 1L)
    result$set_shape(x$shape)
    result
  })
}
