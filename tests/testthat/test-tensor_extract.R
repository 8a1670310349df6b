# `[` and other R functions on tensors, compared with R's arrays.

with_values <- function(code) {
  with(tf$Graph()$as_default(), with(tf$Session() %as% session, code(session$run)))
}

test_that("brackets accept the same indices as R's", {
  m <- array(1:24, c(2, 3, 4))
  with_values(function(run) {
    x <- tf$constant(m)
    same <- function(tensor, expected) {
      expect_equal(as.vector(run(tensor)), as.vector(expected))
      expect_equal(prod(dim(tensor)), length(expected))
    }
    same(x[1, 2, 3], m[1, 2, 3])
    same(x[, 2:3, ], m[, 2:3, ])
    expect_equal(dim(x[1, , ]), c(3L, 4L))
    expect_equal(dim(x[1, , , drop = FALSE]), c(1L, 3L, 4L))
    same(x[, , seq(1, 4, by = 2)], m[, , c(1, 3)])
    same(x[, , 4:1], m[, , 4:1])
    same(x[all_dims(), 2], m[, , 2])
    same(x[2, all_dims()], m[2, , ])
    last <- 2
    same(x[last, , last + 1], m[2, , 3])
    expect_equal(dim(x[NULL, 1, , tf$newaxis, ]), c(1L, 3L, 1L, 4L))
    expect_equal(dim(x[0:1, , , style = "python"]), c(1L, 3L, 4L))
    same(x[0:1, -1, , style = "python"], m[1, 3, ])
    rlang::local_options(rlib_warning_verbosity = "verbose")
    expect_warning(same(x[, , -1], m[, , 4]), "count from its end")
    expect_warning(same(x[, , 2:-1], m[, , 2:4]), "count from its end")
    expect_warning(same(x[1], m[1, , ]), "Incorrect number of dimensions")
  })
})

test_that("an index can be a tensor, which counts from 0, and unknown sizes stay unknown", {
  with_values(function(run) {
    x <- tf$constant(matrix(1:6, 2))
    rlang::local_options(rlib_warning_verbosity = "verbose")
    expect_warning(row <- x[tf$constant(1L), ], "starts at 0")
    expect_equal(dim(row), 3L)
    expect_equal(as.vector(run(row)), c(2, 4, 6))
    p <- tf$placeholder("float32", shape(NULL, 3))
    expect_equal(p[2:3, 1]$get_shape()$text, "(?,)")
    expect_equal(p[, 1]$get_shape()$text, "(?,)")
  })
})

test_that("an index out of range is an error", {
  with_values(function(run) {
    x <- tf$constant(matrix(1:6, 2))
    expect_error(x[0, 1], "Index 1 of a tensor is 0")
    expect_error(x[1, 4], "Index 2 of a tensor is 4, out of bounds: the dimension has 3")
    expect_error(x[1, 2:5], "out of bounds")
    expect_error(x[1, 1, 1], "Too many indices")
    expect_error(x["a", 1], "must be whole numbers")
    expect_error(x[1, c(1, 3, 2)], "with equal steps")
  })
})

# Runs in a new process, because Matrix adds S4 methods of `[` for the rest of a session.
test_that("strides are expressions, even if another package has S4 methods of `[`", {
  skip_if_not_installed("Matrix")
  strides <- "
    m <- array(1:24, c(2, 3, 4))
    with(tf$Graph()$as_default(), with(tf$Session() %as% session, {
      x <- tf$constant(m)
      same <- function(tensor, ids) cat(identical(session$run(tensor), m[, , ids]), '')
      same(x[, , 1:4:2], c(1, 3))
      same(x[, , `::2`], c(1, 3))
      same(x[, , `2:`], 2:4)
      same(x[, , NULL:NULL:2], c(1, 3))
      loadNamespace('Matrix')
      same(x[, , 2:3], 2:3)
      same(x[, , 1:4:2], c(1, 3))
      same(x[, , `::2`], c(1, 3))
    }))
  "
  said_by <- function(script) {
    processx::run(child_rscript(), c("-e", script), env = child_env())$stdout
  }
  expect_identical(said_by(paste("library(runhooks);", strides)), strrep("TRUE ", 7))
  # Our methods are registered with the first handle, so Matrix may come first.
  script <- paste("library(runhooks); invisible(loadNamespace('Matrix'));", strides)
  expect_identical(said_by(script), strrep("TRUE ", 7))
})

test_that("sum(), mean(), %*% and t() build TensorFlow's operations", {
  m <- matrix(c(1, 2, 3, 4, 5, 7), 2)
  with_values(function(run) {
    x <- tf$constant(m)
    v <- tf$Variable(m)
    run(tf$global_variables_initializer())
    for (given in list(x, v)) {
      expect_equal(run(sum(given)), sum(m))
      expect_equal(run(mean(given)), mean(m))
      expect_equal(run(max(given)), 7)
      expect_equal(run(t(given)), t(m))
      expect_equal(run(given %*% t(given)), m %*% t(m))
      expect_equal(run(m %*% t(given)), m %*% t(m))
      expect_equal(dim(given), c(2L, 3L))
      expect_equal(length(given), 6L)
      expect_equal(as.vector(run(given[2, ])), m[2, ])
      expect_equal(run(sqrt(given)), sqrt(m))
    }
    expect_true(run(all(x > 0)))
    expect_equal(run(v %*% t(x)), m %*% t(m))
    expect_equal(m %*% t(m), tcrossprod(m))
  })
})

test_that("handles are S3 objects except for `%*%`", {
  with_values(function(run) {
    given <- list(tf$constant(1, name = "one"), tf$Variable(1, name = "w"))
    for (x in given) {
      expect_output(print(x), x$name, fixed = TRUE)
      expect_output(show(x), x$name, fixed = TRUE)
      expect_output(print(list(x)), x$name, fixed = TRUE)
      expect_output(str(x), x$name, fixed = TRUE)
      expect_true(inherits(x, c("tensorflow.tensor", "tensorflow.variable")))
      expect_true(identical(list(x), list(x)))
    }
  })
})

test_that("[[ ]] returns an element, a member, or an error", {
  with_values(function(run) {
    x <- tf$constant(rbind(c(1, 2), c(3, 4)))
    v <- tf$Variable(c(5, 6))
    run(v$initializer)
    expect_equal(run(x[[2, 1]]), 3)
    expect_equal(run(tf$constant(c(1, 2))[[2]]), 2)
    expect_equal(run(v[[2]]), 6)
    expect_identical(x[["shape"]], x$shape)
    expect_identical(x$op[["type"]], "Const")
    ill <- function(expr, words) {
      expect_error(expr, words, class = "runhooks_error_invalid_argument")
    }
    ill(x[[1]], "2 dimensions, and 1 index is given")
    ill(x[[]], "unstack")
    ill(x[[1:2, 1]], "one number for each dimension")
    ill(x[[3, 1]], "out of bounds")
    ill(tf$placeholder("float32")[[1]], "unknown number of dimensions")
    ill(tf$constant(1)[[1]], "0 dimensions")
    for (one in list(x, v, x$op)) {
      ill(as.list(one), if (identical(one, x$op)) "outputs" else "unstack")
      ill(lapply(one, identity), "before the graph runs")
      ill(one$name <- "other", "Cannot assign")
    }
    ill(x$op[1], "outputs")
    ill(x$op[[1]], "outputs")
    ill(x[1, ] <- 2, "tf\\$where")
    ill(x[[1, 1]] <- 2, "tf\\$concat")
    ill(v[1] <- 2, "tf\\$assign")
    ill(v[[1]] <- 2, "tf\\$assign")
    ill(tf[[1]], "single string")
  })
})

test_that("gradients flow through slices", {
  with_values(function(run) {
    x <- tf$constant(matrix(c(1, 2, 3, 4), 2))
    expect_equal(run(tf$gradients(x[1, ] * 3, x)[[1]]), rbind(c(3, 3), c(0, 0)))
    hessian <- tf$hessians(tf$reduce_sum(x^3), x)[[1]]
    expect_equal(diag(matrix(aperm(run(hessian)), 4)), 6 * c(1, 3, 2, 4))
  })
})

test_that("tensors and operations give access to their neighbours", {
  with_values(function(run) {
    x <- tf$placeholder("float32", name = "x")
    y <- tf$matmul(x, tf$ones(shape(2, 2)), transpose_b = TRUE, name = "y")
    expect_identical(x$consumers()[[1]], y$op)
    expect_identical(y$op$inputs[[1]], x)
    expect_true(y$op$get_attr("adj_y"))
    expect_error(y$op$get_attr("nope"), "no attr named 'nope'")
    x$set_shape(shape(NULL, 2))
    expect_equal(x$get_shape()$text, "(?, 2)")
    expect_error(x$set_shape(shape(1, 2, 3)))
    v <- tf$Variable(1)
    run(v$initializer)
    v$load(5)
    expect_equal(run(v), 5)
  })
})

test_that("R's generics for missing values compute, or name the function to use", {
  with_values(function(run) {
    x <- tf$constant(c(1, NaN, Inf))
    expect_identical(as.vector(run(is.na(x))), c(FALSE, TRUE, FALSE))
    expect_identical(as.vector(run(is.nan(x))), c(FALSE, TRUE, FALSE))
    expect_identical(as.vector(run(is.finite(x))), c(TRUE, FALSE, FALSE))
    expect_identical(as.vector(run(is.infinite(x))), c(FALSE, FALSE, TRUE))
    expect_true(run(anyNA(x)))
    expect_identical(as.vector(run(is.na(tf$constant(c("", "a"))))), c(TRUE, FALSE))
    expect_identical(as.vector(run(is.finite(tf$constant(1:2)))), c(TRUE, TRUE))
    expect_error(is.na(tf$constant(1:2)), "x == -1L", class = "runhooks_error_invalid_argument")
    expect_equal(as.vector(run(rev(tf$constant(c(1, 2, 3))))), c(3, 2, 1))
    y <- tf$constant(c(4, NaN, 2))
    for (f in list(sum, prod, min, max)) expect_equal(run(f(y, na.rm = TRUE)), f(c(4, 2)))
    expect_equal(as.vector(run(range(y, na.rm = TRUE))), c(2, 4))
    expect_true(is.nan(run(sum(y))))
    unknown <- tf$placeholder("float32", shape(NULL))
    expect_error(seq_along(unknown), "number of elements", class = "runhooks_error_invalid_argument")
    expect_identical(length(unknown), NA_integer_)
    expect_unimplemented <- function(expr, words) {
      expect_error(expr, words, class = "runhooks_error_unimplemented")
    }
    expect_unimplemented(diff(x), "diff.*slices")
    expect_unimplemented(sort(x), "tf\\$sort")
    expect_unimplemented(order(x), "tf\\$argsort")
    expect_unimplemented(unique(x), "tf\\$unique")
    expect_unimplemented(quantile(x), "quantile")
    expect_unimplemented(as.numeric(x), "as.numeric.*tf\\$cast")
    expect_unimplemented(as.integer(x), "as.integer.*tf\\$cast")
    expect_unimplemented(na.omit(x), "na.omit.*boolean_mask")
    expect_unimplemented(as.data.frame(x), "as.data.frame.*session")
    expect_unimplemented(matrix(x, 2), "matrix.*tf\\$reshape")
    expect_unimplemented(outer(x, x), "outer.*expand_dims")
    expect_unimplemented(as.logical(x), "as.logical.*tf\\$cast")
    expect_unimplemented(det(tf$eye(2L)), "det.*matrix_determinant")
    expect_equal(run(aperm(tf$constant(matrix(1:6, 2)), c(2, 1))), t(matrix(1:6, 2)))
    words <- tf$constant("a")
    expect_unimplemented(toupper(words), "toupper.*tf\\$strings\\$upper")
    expect_unimplemented(gsub("a", "b", words), "gsub.*regex_replace")
    expect_unimplemented(substr(words, 1, 1), "substr")
    v <- tf$Variable(c(1, NaN))
    run(v$initializer)
    expect_identical(as.vector(run(is.na(v))), c(FALSE, TRUE))
  })
  rows <- tensor_slices_dataset(data.frame(x = c(1, NA, 3))) %>%
    dataset_map(function(r) list(m = is.na(r$x))) %>%
    dataset_collect()
  expect_identical(vapply(rows, `[[`, NA, "m"), c(FALSE, TRUE, FALSE))
})

test_that("rev() of a matrix tensor is refused, because R reverses its elements", {
  with(tf$Graph()$as_default(), {
    expect_error(
      rev(tf$constant(matrix(1:4, 2))), "`rev\\(\\)` is for vectors.*tf\\$reverse",
      class = "runhooks_error_invalid_argument"
    )
  })
})
