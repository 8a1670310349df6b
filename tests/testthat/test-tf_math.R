test_that("tf$erf() and tf$erfc() are exact in both types, with gradients", {
  x <- c(-6, -2, -0.5, 0, 1e-8, 0.5, 2, 6)
  for (dtype in c("float32", "float64")) {
    out <- with_graph(tf$Graph(), {
      session <- tf$Session()
      on.exit(session$close())
      at <- tf$constant(x, dtype)
      values <- list(tf$erf(at), tf$math$erfc(at))
      slopes <- lapply(values, function(y) tf$gradients(y, at)[[1]])
      lapply(session$run(c(values, slopes)), as.vector)
    })
    tolerance <- if (dtype == "float32") 1e-6 else 1e-14
    expect_equal(out[[1]], 2 * pnorm(x * sqrt(2)) - 1, tolerance = tolerance)
    expect_equal(out[[2]], 2 * pnorm(x * sqrt(2), lower.tail = FALSE), tolerance = tolerance)
    # The value of erfc() in the tail, where 1 - erf(x) would be 0.
    expect_equal(out[[2]][[8]] / 2.1519736712498913e-17, 1, tolerance = 1e-5)
    slope <- 2 / sqrt(pi) * exp(-x^2)
    expect_equal(out[[3]], slope, tolerance = tolerance)
    expect_equal(out[[4]], -slope, tolerance = tolerance)
  }
})
