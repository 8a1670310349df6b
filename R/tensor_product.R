# `%*%` of tensors, without a function that masks the one of base R. R finds S3 methods of `%*%`
# only since 4.3. Handles are therefore marked as S4 objects (src/r/graph/handle_methods.cpp), but
# keep their S3 classes.

#' @importFrom methods cacheMetaData setMethod setOldClass
NULL

# Contains the S4 methods of tensors. They are created when the package is built, but registered
# when the user gets the first handle: S4 methods in the namespace would slow down library().
tensor_methods <- new.env()

# The condition is FALSE while roxygen2 reads the sources, because there is no namespace for the
# classes then.
if (isNamespace(topenv())) local({
  assign(".packageName", environmentName(topenv()), envir = tensor_methods)
  set_method <- function(name, signature, method) {
    setMethod(name, signature, method, where = tensor_methods)
  }
  product <- function(x, y) tf$matmul(x, y)
  setOldClass(
    c("tensorflow.tensor", "tensorflow.python.framework.ops.Tensor"), where = tensor_methods
  )
  setOldClass(
    c("tensorflow.variable", "tensorflow.python.ops.variables.Variable"), where = tensor_methods
  )
  handles <- c("tensorflow.tensor", "tensorflow.variable")
  for (one in handles) {
    set_method("%*%", signature("ANY", one), product)
    for (other in c("ANY", handles)) set_method("%*%", signature(one, other), product)
    # R shows S4 objects with show() instead of print()
    set_method("show", one, function(object) print(object)) # lint: allow stdout
    # an S4 method of `[` in another package, such as Matrix, would make R evaluate indices such as
    # 1:4:2
    local({
      method <- paste0("[.", one)
      brackets <- get(method, envir = topenv())
      set_method("[", one, function(x, i, j, ..., drop = TRUE) {
        inside <- list2env(setNames(list(brackets), method), parent = parent.frame())
        call <- sys.call()
        call[[1]] <- as.name(method)
        if (!is.symbol(call[[2]])) call[[2]] <- x
        eval(call, inside)
      })
    })
  }
})

register_tensor_methods <- function() cacheMetaData(tensor_methods, TRUE, tensor_methods)
