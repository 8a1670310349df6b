# Sparse values: TensorFlow's triple of indices, values and shape, and gradients of rows.

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
    sparse_tensor_to_dense = sparse_to_dense, sparse.to_dense = sparse_to_dense
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
  if (is.null(default_value)) {
    default_value <- if (sp_input$values$dtype$name == "string") "" else 0
  }
  tf_op(
    "SparseToDense", sp_input$indices, sp_input$dense_shape, sp_input$values,
    as_tensor(default_value, sp_input$values$dtype),
    attrs = list(validate_indices = validate_indices), name = name
  )
}
