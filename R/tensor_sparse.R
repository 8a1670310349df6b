# Sparse tensors of tf, which consist of indices, values and a shape, and IndexedSlices.

sparse_symbols <- function() {
  list(
    SparseTensor = sparse_tensor, SparseTensorValue = sparse_tensor,
    IndexedSlices = function(values, indices, dense_shape = NULL) {
      structure(
        list(
          values = as_tensor(values), indices = as_tensor(indices),
          dense_shape = if (!is.null(dense_shape)) as_tensor(dense_shape)
        ),
        class = "tensorflow.indexed_slices"
      )
    },
    sparse_tensor_to_dense = sparse_to_dense, sparse.to_dense = sparse_to_dense,
    sparse_placeholder = sparse_placeholder, sparse_reshape = sparse_reshape,
    sparse_tensor_dense_matmul = sparse_dense_matmul, sparse_reorder = sparse_reorder,
    sparse_retain = sparse_retain, sparse_to_indicator = sparse_to_indicator,
    sparse_reduce_sum = sparse_reduction(function(...) tf$reduce_sum(...)),
    sparse_transpose = sparse_transpose, sparse_add = sparse_add,
    sparse.from_dense = sparse_from_dense, string_split = string_split,
    strings.split = strings_split,
    nn.embedding_lookup_sparse = embedding_lookup_sparse,
    nn.safe_embedding_lookup_sparse = safe_embedding_lookup_sparse
  )
}

sparse_tensor <- function(indices, values, dense_shape) {
  structure(
    list(
      indices = as_tensor(indices, "int64"), values = as_tensor(values),
      dense_shape = as_tensor(dense_shape, "int64")
    ),
    class = "tensorflow.sparse_tensor"
  )
}

is_sparse <- function(x) inherits(x, "tensorflow.sparse_tensor")

sparse_to_dense <- function(sp_input, default_value = NULL, validate_indices = TRUE, name = NULL) {
  check_sparse(sp_input, "sp_input")
  check_flag(validate_indices)
  if (is.null(default_value)) {
    default_value <- if (sp_input$values$dtype$name == "string") "" else 0
  }
  tf_op(
    "SparseToDense", sp_input$indices, sp_input$dense_shape, sp_input$values,
    as_tensor(default_value, sp_input$values$dtype),
    attrs = list(validate_indices = validate_indices), name = name
  )
}

check_sparse <- function(x, arg, call = parent.frame()) {
  check_arg(is_sparse(x), x, "a sparse tensor", arg, call)
}

# --- operations on sparse tensors

sparse_placeholder <- function(dtype, shape = NULL, name = NULL) {
  check_string(name, null = TRUE)
  name <- if (is.null(name)) "" else paste0(name, "/")
  rank <- if (is.null(shape)) NULL else length(as_dims(shape))
  sparse_tensor(
    tf$placeholder("int64", list(NULL, rank), name = paste0(name, "indices")),
    tf$placeholder(dtype, list(NULL), name = paste0(name, "values")),
    if (is.null(shape) || anyNA(as_dims(shape))) {
      tf$placeholder("int64", list(rank), name = paste0(name, "shape"))
    } else {
      tf$constant(as_dims(shape), dtype = "int64", name = paste0(name, "shape"))
    }
  )
}

sparse_dense_matmul <- function(sp_a, b, adjoint_a = FALSE, adjoint_b = FALSE, name = NULL) {
  check_sparse(sp_a, "sp_a")
  tf_op(
    "SparseTensorDenseMatMul", sp_a$indices, sp_a$values, sp_a$dense_shape,
    as_tensor(b, sp_a$values$dtype), attrs = list(adjoint_a = adjoint_a, adjoint_b = adjoint_b),
    name = name
  )
}

sparse_reorder <- function(sp_input, name = NULL) {
  check_sparse(sp_input, "sp_input")
  parts <- tf_op(
    "SparseReorder", sp_input$indices, sp_input$values, sp_input$dense_shape, name = name
  )
  sparse_tensor(parts[[1]], parts[[2]], sp_input$dense_shape)
}

sparse_reshape <- function(sp_input, shape, name = NULL) {
  check_sparse(sp_input, "sp_input")
  shape <- tf$cast(as_tensor(shape, "int64"), "int64")
  parts <- tf_op("SparseReshape", sp_input$indices, sp_input$dense_shape, shape, name = name)
  sparse_tensor(parts[[1]], sp_input$values, parts[[2]])
}

sparse_retain <- function(sp_input, to_retain) {
  check_sparse(sp_input, "sp_input")
  positions <- tf$reshape(tf$where(as_tensor(to_retain, "bool")), -1L)
  sparse_tensor(
    tf$gather(sp_input$indices, positions), tf$gather(sp_input$values, positions),
    sp_input$dense_shape
  )
}

# Returns a logical matrix. Each row is TRUE in the columns whose numbers are values in this row of
# the sparse tensor.
sparse_to_indicator <- function(sp_input, vocab_size, name = NULL) {
  check_sparse(sp_input, "sp_input")
  with(name_scope(name, "SparseToIndicator"), {
    rows <- tf$strided_slice(sp_input$indices, c(0L, 0L), c(0L, 1L), end_mask = 1L)
    columns <- tf$expand_dims(tf$cast(sp_input$values, "int64"), 1L)
    size <- tf$stack(list(sp_input$dense_shape[1], tf$cast(vocab_size, "int64")))
    ones <- tf$ones_like(sp_input$values, dtype = "int32")
    counts <- tf$scatter_nd(tf$concat(list(rows, columns), 1L), ones, size)
    tf$greater(counts, 0L)
  })
}

# Returns a function that reduces a sparse tensor by `reduce`. Missing elements count as 0.
sparse_reduction <- function(reduce) {
  force(reduce)
  function(sp_input, axis = NULL, keepdims = NULL, reduction_axes = NULL, keep_dims = NULL) {
    check_sparse(sp_input, "sp_input")
    if (is.null(axis)) axis <- reduction_axes
    if (is.null(keepdims)) keepdims <- isTRUE(keep_dims)
    reduce(sparse_to_dense(sp_input), axis, keepdims = keepdims)
  }
}

sparse_transpose <- function(sp_input, perm = NULL, name = NULL) {
  check_sparse(sp_input, "sp_input")
  with(name_scope(name, "SparseTranspose"), {
    rank <- dim(sp_input$dense_shape)[[1]]
    if (is.null(perm)) perm <- rev(seq_len(rank)) - 1
    perm <- array(as.integer(unlist(perm)), length(unlist(perm)))
    sparse_reorder(sparse_tensor(
      tf$gather(sp_input$indices, perm, axis = 1L), sp_input$values,
      tf$gather(sp_input$dense_shape, perm)
    ))
  })
}

sparse_add <- function(a, b, threshold = NULL, thresh = NULL) {
  abort_unsupported_arguments(threshold, thresh)
  if (is_sparse(a) && is_sparse(b)) {
    abort_runhooks("Cannot add two sparse tensors; convert one of them to a dense tensor.",
      kind = "unimplemented"
    )
  }
  dense <- function(x) if (is_sparse(x)) sparse_to_dense(x, validate_indices = FALSE) else x
  tf$add(dense(a), dense(b))
}

sparse_from_dense <- function(tensor, name = NULL) {
  with(name_scope(name, "dense_to_sparse"), {
    tensor <- as_tensor(tensor)
    zero <- if (tensor$dtype$name == "string") "" else tf$zeros_like(tensor)
    positions <- tf$where(tf$not_equal(tensor, zero))
    sparse_tensor(positions, tf$gather_nd(tensor, positions), tf$shape(tensor, out_type = "int64"))
  })
}

string_split <- function(source, sep = NULL, skip_empty = TRUE, delimiter = NULL,
                         result_type = "SparseTensor", name = NULL) {
  abort_unsupported_arguments(result_type)
  check_flag(skip_empty)
  if (!is.null(delimiter)) sep <- delimiter
  parts <- tf_op(
    "StringSplit", as_tensor(source), as_tensor(if (is.null(sep)) " " else sep),
    attrs = list(skip_empty = skip_empty), name = name
  )
  sparse_tensor(parts[[1]], parts[[2]], parts[[3]])
}

# Implements tf$strings$split(). Without `sep`, it splits at runs of whitespace. Otherwise it splits
# at each `sep` and keeps empty parts.
strings_split <- function(input = NULL, sep = NULL, maxsplit = -1, result_type = "SparseTensor",
                          source = NULL, name = NULL) {
  abort_unsupported_arguments(result_type)
  check_string(sep, null = TRUE)
  check_whole(maxsplit)
  input <- as_tensor(if (is.null(input)) source else input)
  if (length(dim(input)) == 0) input <- tf$reshape(input, -1L)
  parts <- tf_op(
    "StringSplitV2", input, as_tensor(if (is.null(sep)) "" else sep),
    attrs = list(maxsplit = maxsplit), name = name
  )
  sparse_tensor(parts[[1]], parts[[2]], parts[[3]])
}

# --- embedding lookups by sparse ids, with a combiner for each row

# Checks the name of a combiner. "sqrtn" divides the sum by the root of the sum of squared weights.
check_combiner <- function(combiner, call = parent.frame()) {
  is_valid <- is_string(combiner) && combiner %in% c("mean", "sum", "sqrtn")
  if (is_valid) return(invisible())
  abort_runhooks(
    "combiner must be one of 'mean', 'sqrtn' or 'sum', not {describe(combiner)}.", call = call
  )
}

embedding_lookup_sparse <- function(params, sp_ids, sp_weights, partition_strategy = "mod",
                                    name = NULL, combiner = NULL, max_norm = NULL) {
  check_sparse(sp_ids, "sp_ids")
  if (is.null(combiner)) combiner <- "mean"
  check_combiner(combiner)
  if (!is.null(sp_weights)) check_sparse(sp_weights, "sp_weights")
  with(name_scope(name, "embedding_lookup_sparse"), {
    rows <- tf$strided_slice(sp_ids$indices, c(0L, 0L), c(0L, 1L), end_mask = 1L)
    rows <- tf$cast(tf$squeeze(rows, 1L), "int32")
    unique_ids <- tf$unique(sp_ids$values)
    table <- tf$nn$embedding_lookup(
      params, unique_ids[[1]], partition_strategy = partition_strategy, max_norm = max_norm
    )
    if (is.null(sp_weights)) {
      combine <- tf[[paste0("sparse_segment_", sub("sqrtn", "sqrt_n", combiner))]]
      return(combine(table, unique_ids[[2]], rows))
    }
    embeddings <- tf$gather(table, unique_ids[[2]])
    weights <- tf$cast(sp_weights$values, embeddings$dtype)
    for (i in seq_len(length(dim(embeddings)) - 1)) weights <- tf$expand_dims(weights, -1L)
    sums <- tf$segment_sum(embeddings * weights, rows)
    switch(combiner,
      sum = sums,
      mean = sums / tf$segment_sum(weights, rows),
      sqrtn = sums / tf$sqrt(tf$segment_sum(tf$square(weights), rows))
    )
  })
}

# Looks up embeddings by sparse ids. Rows without ids get the embedding of `default_id`, or zeros.
# Ignores negative ids.
safe_embedding_lookup_sparse <- function(embedding_weights, sparse_ids, sparse_weights = NULL,
                                         combiner = "mean", default_id = NULL, name = NULL,
                                         partition_strategy = "div", max_norm = NULL) {
  check_sparse(sparse_ids, "sparse_ids")
  check_combiner(combiner)
  if (!is.null(sparse_weights)) check_sparse(sparse_weights, "sparse_weights")
  with(name_scope(name, "safe_embedding_lookup"), {
    is_valid <- tf$greater_equal(sparse_ids$values, 0L)
    if (!is.null(sparse_weights)) {
      positive <- tf$greater(sparse_weights$values, 0)
      if (combiner != "sum") is_valid <- tf$logical_and(is_valid, positive)
      sparse_weights <- sparse_retain(sparse_weights, is_valid)
    }
    sparse_ids <- sparse_retain(sparse_ids, is_valid)
    fill_empty_rows <- function(x, value) {
      tf_op(
        "SparseFillEmptyRows", x$indices, x$values, x$dense_shape, as_tensor(value, x$values$dtype)
      )
    }
    filled <- fill_empty_rows(sparse_ids, if (is.null(default_id)) 0 else default_id)
    ids <- sparse_tensor(filled[[1]], filled[[2]], sparse_ids$dense_shape)
    if (!is.null(sparse_weights)) {
      weights <- fill_empty_rows(sparse_weights, 1)
      sparse_weights <- sparse_tensor(weights[[1]], weights[[2]], sparse_weights$dense_shape)
    }
    result <- embedding_lookup_sparse(
      embedding_weights, ids, sparse_weights, partition_strategy, NULL, combiner, max_norm
    )
    if (!is.null(default_id)) return(result)
    is_empty <- tf$tile(tf$expand_dims(filled[[3]], 1L), tf$stack(list(1L, tf$shape(result)[2])))
    tf$where(is_empty, tf$zeros_like(result), result)
  })
}
