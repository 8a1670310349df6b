# Compares ops with a real TensorFlow on random inputs: `Rscript ops.R begin <folder>` writes cases
# and our results, ops.py TensorFlow's, and `ops.R end <folder>` compares. RUNHOOKS_SEED repeats a
# run.
suppressPackageStartupMessages(library(runhooks))
arguments <- commandArgs(TRUE)
folder <- arguments[2]

# Special values, which are drawn with increased probability.
edges <- c(0, 1, -1, NaN, Inf, -Inf, 1e30, -1e30)

random_input <- function(shape, dtype, special, among = edges) {
  n <- prod(shape)
  values <- if (dtype == "float32" || dtype == "float64") stats::rnorm(n) else sample(9, n, TRUE)
  if (special) {
    at <- stats::runif(n) < 0.4
    values[at] <- sample(among, sum(at), TRUE)
  }
  # Values that float32 represents, so that both sides start with the same numbers.
  if (dtype == "float32") values <- readBin(writeBin(values, raw(), size = 4), "numeric", n, size = 4)
  list(shape = as.list(as.integer(shape)), dtype = dtype, values = values)
}

sizes <- function(k) sample(5, k, TRUE)
unary <- function(special) function() list(sizes(2), special = special)
square <- function(rhs) {
  n <- sample(4, 1)
  list(c(n, n), if (rhs) c(n, sample(3, 1)))
}

# The operations, with the shapes of their inputs. `special` adds special values.
kinds <- list(
  matmul = function() {
    s <- sizes(5)
    list(c(s[1], s[2], s[3]), if (s[5] > 2) c(s[3], s[4]) else c(s[1], s[3], s[4]))
  },
  where = function() rep(list(sizes(2)), 3),
  truediv = function() rep(list(sizes(2)), 2),
  reduce_prod = function() list(sizes(2), special = "zeros"),
  cumsum = unary(FALSE), cumprod = unary(FALSE), transpose = unary(FALSE),
  clip_by_global_norm = unary(FALSE),
  cholesky = function() square(FALSE), matrix_inverse = function() square(FALSE),
  matrix_determinant = function() square(FALSE), matrix_solve = function() square(TRUE),
  matrix_triangular_solve = function() square(TRUE), self_adjoint_eig = function() square(FALSE),
  qr = function() {
    s <- sort(sizes(2), decreasing = TRUE)
    list(s)
  },
  svd = unary(FALSE)
)
# Images that fit windows of 2 x 3 with strides of 1 x 2.
image <- function() list(c(sample(3, 1), 1 + sample(5, 1), 2 + sample(5, 1), sample(3, 1)))
for (padding in c("same", "valid")) {
  kinds[[paste0("conv2d_", padding)]] <- function() {
    x <- image()[[1]]
    list(x, c(2, 3, x[4], sample(3, 1)))
  }
  kinds[[paste0("conv2d_transpose_", padding)]] <- function() {
    x <- image()[[1]]
    list(x, c(2, 3, sample(3, 1), x[4]))
  }
  kinds[[paste0("max_pool_", padding)]] <- image
  kinds[[paste0("avg_pool_", padding)]] <- image
}
for (name in c("tile", "reverse", "logsumexp", "strided", "boolean_mask", "lookup", "variance")) {
  kinds[[name]] <- unary(FALSE)
}
kinds$split <- function() list(c(sample(4, 1), 6))

for (name in c(
  "relu", "relu6", "crelu", "elu", "selu", "softplus", "softsign", "leaky_relu", "sigmoid", "tanh",
  "swish", "sign", "abs", "sqrt", "rsqrt", "reciprocal"
)) kinds[[name]] <- unary(TRUE)

# Operations with the same name on both sides (see also ops.py), tested on NaN, infinities and
# zeros.
same_names <- list(
  unary = c(
    "exp", "log", "log1p", "expm1", "floor", "ceil", "round", "rint", "square", "negative", "atan",
    "erf", "is_nan", "is_inf", "is_finite"
  ),
  binary = c(
    "maximum", "minimum", "add", "subtract", "multiply", "squared_difference", "div_no_nan",
    "floordiv", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"
  ),
  # Reductions along the last dimension.
  along = c("reduce_max", "reduce_min", "reduce_sum", "reduce_mean", "argmax", "argmin"),
  nn = c("softmax", "log_softmax", "l2_loss")
)
for (name in unlist(same_names[c("unary", "along", "nn")])) kinds[[name]] <- unary("finite")
for (name in same_names$binary) {
  kinds[[name]] <- function() {
    shape <- sizes(2)
    list(shape, shape, special = "finite")
  }
}
# TensorFlow's maximum of a row with NaN depends on the length of the row.
for (name in c("reduce_max", "reduce_min")) kinds[[name]] <- unary(FALSE)
for (name in c("clip_by_value", "segment_max", "segment_sum", "sigmoid_loss", "top_k")) {
  kinds[[name]] <- unary("finite")
}
kinds$segment_max <- unary(FALSE)

random_case <- function(name) {
  shapes <- kinds[[name]]()
  special <- shapes$special
  shapes$special <- NULL
  dtype <- sample(c("float32", "float64", if (name == "truediv") "int32"), 1)
  # TensorFlow's vector code, but not its scalar code, returns NaN for the root of Inf.
  among <- if (name %in% c("sqrt", "rsqrt")) setdiff(edges, Inf) else edges
  # Without large finite values, where TensorFlow's vector code is inaccurate.
  if (identical(special, "finite")) among <- c(0, 1, -1, NaN, Inf, -Inf)
  # NaN if either argument is, as in TensorFlow 2; 1.x loses a NaN in the second argument.
  if (name %in% c("maximum", "minimum")) among <- setdiff(among, NaN)
  is_special <- isTRUE(special) || identical(special, "finite")
  inputs <- lapply(Filter(length, unname(shapes)), random_input, dtype, is_special, among)
  if (identical(special, "zeros")) {
    inputs[[1]]$values[stats::runif(length(inputs[[1]]$values)) < 0.3] <- 0
  }
  list(name = name, inputs = inputs, gradient = TRUE)
}

spd <- function(x, n) {
  tf$matmul(x, x, transpose_b = TRUE) + tf$constant(diag(n), dtype = x$dtype)
}
of_square <- function(f) function(x, ...) f(spd(x, dim(x)[2]), ...)
functions <- list(
  matmul = tf$matmul, where = function(c, x, y) tf$where(c > 0, x, y), truediv = tf$truediv,
  reduce_prod = function(x) tf$reduce_prod(x, axis = 1L),
  cumsum = function(x) tf$cumsum(x, axis = 1L, exclusive = TRUE),
  cumprod = function(x) tf$cumprod(x, axis = 0L, reverse = TRUE), transpose = tf$transpose,
  clip_by_global_norm = function(x) tf$clip_by_global_norm(list(x), 1)[[1]][[1]],
  cholesky = of_square(tf$cholesky), matrix_inverse = of_square(tf$matrix_inverse),
  matrix_determinant = of_square(tf$matrix_determinant), matrix_solve = of_square(tf$matrix_solve),
  matrix_triangular_solve = of_square(tf$matrix_triangular_solve),
  # Squared, because the sign of an eigenvector is arbitrary.
  self_adjoint_eig = function(x) {
    parts <- of_square(tf$self_adjoint_eig)(x)
    list(parts[[1]], tf$square(parts[[2]]))
  },
  qr = function(x) tf$qr(x),
  svd = function(x) tf$svd(x, compute_uv = FALSE)[1],
  crelu = tf$nn$crelu, swish = tf$nn$swish, sigmoid = tf$sigmoid, tanh = tf$tanh, sign = tf$sign,
  abs = tf$abs, sqrt = tf$sqrt, rsqrt = tf$rsqrt, reciprocal = tf$reciprocal
)
for (padding in c("same", "valid")) local({
  pad <- padding
  strides <- c(1, 1, 2, 1)
  functions[[paste0("conv2d_", pad)]] <<- function(x, w) {
    tf$nn$conv2d(x, w, strides, toupper(pad))
  }
  functions[[paste0("conv2d_transpose_", pad)]] <<- function(x, w) {
    d <- dim(x)
    size <- if (pad == "same") c(d[2], 2 * d[3]) else c(d[2] + 1, 2 * d[3] + 1)
    shape <- as.integer(c(d[1], size, dim(w)[3]))
    tf$nn$conv2d_transpose(x, w, shape, strides, toupper(pad))
  }
  functions[[paste0("max_pool_", pad)]] <<- function(x) {
    tf$nn$max_pool(x, c(1, 2, 3, 1), strides, toupper(pad))
  }
  functions[[paste0("avg_pool_", pad)]] <<- function(x) {
    tf$nn$avg_pool(x, c(1, 2, 3, 1), strides, toupper(pad))
  }
})
functions$tile <- function(x) tf$tile(x, c(2L, 3L))
functions$reverse <- function(x) tf$reverse(x, 1L)
functions$logsumexp <- function(x) tf$reduce_logsumexp(x, 1L)
functions$strided <- function(x) x[-1, `::2`]
functions$boolean_mask <- function(x) tf$boolean_mask(x, x > 0)
functions$lookup <- function(x) tf$nn$embedding_lookup(x, c(0L, 0L), max_norm = 1)
functions$variance <- function(x) tf$math$reduce_variance(x, 0L)
functions$split <- function(x) {
  c(tf$split(x, 3L, axis = 1L), tf$split(x, c(1L, 5L), axis = 1L))
}
for (name in c("relu", "relu6", "elu", "selu", "softplus", "softsign", "leaky_relu")) {
  functions[[name]] <- tf$nn[[name]]
}

as_float <- function(x) if (x$dtype == tf$bool || x$dtype == tf$int64) tf$cast(x, "float32") else x
for (name in unlist(same_names[c("unary", "binary")])) local({
  f <- tf[[name]]
  functions[[name]] <<- function(...) as_float(f(...))
})
for (name in same_names$along) local({
  f <- tf[[name]]
  functions[[name]] <<- function(x) as_float(f(x, axis = 1L))
})
for (name in same_names$nn) functions[[name]] <- tf$nn[[name]]
ids_of <- function(x) tf$range(tf$shape(x)[1]) %% 2L
functions$clip_by_value <- function(x) tf$clip_by_value(x, -0.5, 0.5)
functions$segment_max <- function(x) tf$unsorted_segment_max(x, ids_of(x), 2L)
functions$segment_sum <- function(x) tf$unsorted_segment_sum(x, ids_of(x), 2L)
functions$sigmoid_loss <- function(x) {
  tf$nn$sigmoid_cross_entropy_with_logits(labels = tf$ones_like(x), logits = x)
}
functions$top_k <- function(x) tf$nn$top_k(x, 1L)[[1]]

# Converts values from and to TensorFlow's row-major order.
to_array <- function(values, shape) aperm(array(values, rev(shape)), rev(seq_along(shape)))
flat <- function(x) if (is.null(dim(x))) as.vector(x) else as.vector(aperm(x))

run_here <- function(case) {
  tf$reset_default_graph()
  feeds <- list()
  inputs <- list()
  for (given in case$inputs) {
    shape <- unlist(given$shape)
    x <- tf$placeholder(tf[[given$dtype]], shape)
    feeds[[x$name]] <- to_array(given$values, shape)
    inputs <- c(inputs, list(x))
  }
  out <- do.call(functions[[case$name]], inputs)
  outs <- if (inherits(out, "tensorflow.tensor")) list(out) else out
  totals <- Map(function(y, i) tf$reduce_sum(y * i), outs, seq_along(outs))
  floats <- Filter(function(x) startsWith(x$dtype$name, "float"), inputs)
  grads <- if (length(floats)) tf$gradients(totals, floats)
  grads <- Map(function(x, g) {
    if (is.null(g)) tf$zeros_like(x) else tf$convert_to_tensor(g)
  }, floats, grads)
  session <- tf$Session()
  on.exit(session$close())
  lapply(session$run(c(unname(outs), unname(grads)), feed_dict = feeds), function(x) {
    # R has no scalars, so a vector of length 1 may be a scalar.
    list(shape = if (is.null(dim(x))) length(x) else dim(x), values = flat(x))
  })
}

begin <- function() {
  seed <- as.integer(Sys.getenv("RUNHOOKS_SEED", sample.int(1e6, 1)))
  cat("ops: RUNHOOKS_SEED=", seed, "\n", sep = "")
  set.seed(seed)
  cases <- lapply(rep(names(kinds), each = 6), random_case)
  json <- lapply(cases, function(case) {
    case$inputs <- lapply(case$inputs, function(input) {
      input$values <- as.list(ifelse(
        is.finite(input$values), sprintf("%.17g", input$values), as.character(input$values)
      ))
      input
    })
    case
  })
  jsonlite::write_json(json, file.path(folder, "cases.json"), auto_unbox = TRUE)
  saveRDS(list(cases = cases, here = lapply(cases, run_here)), file.path(folder, "here.rds"))
}

# Relative to the largest finite number. Other values must agree.
agree <- function(a, b, tolerance) {
  if (length(a) != length(b)) return(FALSE)
  if (!identical(is.nan(a), is.nan(b))) return(FALSE)
  finite <- is.finite(a) & is.finite(b)
  if (!all(finite | is.nan(a) | (a == b))) return(FALSE)
  scale <- pmax(1, abs(b[finite]))
  if (tolerance > 1e-6) scale <- pmax(scale, max(1, abs(b[finite & abs(b) < 1e20])))
  all(abs(a[finite] - b[finite]) <= tolerance * scale)
}

end <- function() {
  here <- readRDS(file.path(folder, "here.rds"))
  there <- jsonlite::read_json(file.path(folder, "results.json"))
  bad <- 0
  for (i in seq_along(there)) {
    case <- here$cases[[i]]
    tolerance <- if (case$inputs[[1]]$dtype == "float32") 2e-4 else 1e-9
    for (k in seq_along(there[[i]])) {
      a <- as.numeric(here$here[[i]][[k]]$values)
      b <- as.numeric(unlist(there[[i]][[k]]$values))
      if (agree(a, b, tolerance)) next
      bad <- bad + 1
      cat(sprintf("ops: %s (%s), result %d differs\n", case$name, case$inputs[[1]]$dtype, k))
      for (input in case$inputs) cat("  input", input$values, "\n")
      cat("  here ", a, "\n  there", b, "\n")
    }
  }
  cat(sprintf("ops: %d cases, %d results differ\n", length(there), bad))
  quit(save = "no", status = as.integer(bad > 0))
}

if (arguments[1] == "begin") begin() else end()
