# Random graphs with conditionals, loops and gradients through them, exported to TensorFlow. flow.py
# runs the same fetches and compares.
#   Rscript tests/interop/flow.R FOLDER CASES SEED
suppressPackageStartupMessages(library(runhooks))
arguments <- commandArgs(TRUE)
folder <- arguments[[1]]
cases <- as.integer(arguments[[2]])
seed <- as.integer(arguments[[3]])
set.seed(seed)
cat("flow.R: seed", seed, "\n")

pick <- function(x) x[[sample.int(length(x), 1L)]]
number <- function(x) tf$constant(x, dtype = "float64")

# `leaves` are tensors [3, 2] for expressions; `v` is a variable [2, 2].
expression_of <- function(depth, leaves, v) {
  if (depth == 0) return(pick(leaves))
  deeper <- function(more = NULL) expression_of(depth - 1, c(leaves, more), v)
  kinds <- list(
    unary = function() pick(list(tf$tanh, tf$sigmoid, tf$sin, tf$nn$softplus, tf$nn$softmax))(deeper()),
    relu = function() tf$nn$relu(deeper() + 0.1),
    sum = function() deeper() + deeper() * runif(1),
    product = function() deeper() * deeper(),
    quotient = function() deeper() / (tf$square(deeper()) + 1),
    matmul = function() tf$matmul(deeper(), v),
    # IndexedSlices gradients, which stay sparse until they are added to others.
    rows = function() deeper() + tf$gather(v, tf$constant(sample(0:1, 3, replace = TRUE))),
    centered = function() {
      x <- deeper()
      x - tf$reduce_mean(x, axis = 0L, keepdims = TRUE)
    },
    cond = function() {
      x <- deeper()
      tf$cond(
        # Avoids conditions on a sum of centered values, which is a rounding error.
        tf$reduce_sum(deeper()) > number(0.0123), function() deeper(list(x)) * 0.5,
        function() tf$sin(x) + deeper(list(x))
      )
    },
    loop = function() {
      n <- sample(0:3, 1)
      body <- function(i, s) list(i + 1L, tf$tanh(expression_of(depth - 1, list(s, pick(leaves)), v)))
      tf$while_loop(function(i, s) i < n, body, list(tf$constant(0L), deeper()))[[2]]
    },
    endless = function() {
      # Ends on a computed condition.
      body <- function(i, s) list(i + 1L, s * 0.5 + pick(leaves) * 0.1)
      tf$while_loop(
        function(i, s) tf$logical_and(i < 6L, tf$reduce_max(tf$abs(s)) > number(0.2)), body,
        list(tf$constant(0L), deeper())
      )[[2]]
    },
    map = function() {
      x <- deeper()
      tf$map_fn(function(row) tf$tanh(row) * tf$reduce_sum(row), x)
    },
    scan = function() tf$scan(function(a, row) tf$tanh(a) + row, deeper())
  )
  pick(kinds)()
}

build <- function(i) {
  x <- tf$placeholder("float64", shape(3L, 2L), name = "x")
  p <- tf$placeholder("float64", shape(3L, 2L), name = "p")
  v <- tf$get_variable(
    "v", dtype = tf$float64, initializer = tf$constant(matrix(c(0.5, -0.3, 0.2, 0.7), 2), dtype = "float64"),
    use_resource = i %% 2 == 0
  )
  y <- expression_of(sample(2:4, 1), list(x, p, x * 0.7), v) + x * 0.01
  y <- tf$matmul(y, v)
  y <- tf$reduce_sum(y * tf$constant(matrix(stats::runif(6), 3), dtype = "float64"))
  grads <- tf$gradients(y, list(x, v))
  fetches <- list(y = y, dx = grads[[1]], dv = grads[[2]])
  second <- tf$gradients(tf$reduce_sum(tf$square(grads[[1]])), x)[[1]]
  if (!is.null(second)) fetches$dxx <- second
  lapply(setNames(nm = names(fetches)), function(n) tf$identity(fetches[[n]], name = paste0("fetch_", n)))
}

as_plain_predictions <- function(x) list(shape = as.list(dim(x)), values = as.numeric(x))
done <- list()
for (i in seq_len(cases)) {
  with(tf$Graph()$as_default(), {
    fetches <- build(i)
    init <- tf$global_variables_initializer()
    feeds <- list(x = matrix(stats::rnorm(6), 3), p = matrix(stats::rnorm(6), 3))
    values <- with(tf$Session() %as% sess, {
      sess$run(init)
      sess$run(fetches, feed_dict = dict("x:0" = feeds$x, "p:0" = feeds$p))
    })
    tf$train$write_graph(tf$get_default_graph(), folder, paste0("flow", i, ".pbtxt"))
    done[[i]] <- list(
      init = init$name, feeds = lapply(feeds, as_plain_predictions), values = lapply(values, as_plain_predictions)
    )
  })
}
jsonlite::write_json(done, file.path(folder, "flow.json"), auto_unbox = TRUE, digits = 17)
