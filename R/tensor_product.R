# `%*%` of tensors and variables, which masks nothing. R finds methods of it for S4 objects in all
# versions (for S3 objects since 4.3 only), so their handles are marked as S4 objects
# (src/r/graph/handle_methods.cpp). They stay of S3 classes, whose methods R finds as ever.

#' @importFrom methods cacheMetaData setMethod setOldClass
NULL

# Their tables are made when the package is built, and R knows them from the first handle on that a
# user may see (the bindings call `register_tensor_methods()`): S4 methods of a namespace would cost
# each library() 30 ms.
tensor_methods <- new.env()

# (where roxygen2 reads the sources there is no package that classes could belong to)
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
    # what a line of a script gives is shown, not printed
    set_method("show", one, function(object) print(object)) # lint: allow stdout
    # Where another package has S4 methods of `[` (Matrix has) R looks for one of an S4 object, too,
    # and evaluates the indices where it finds none. They are expressions here, such as 1:4:2.
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
