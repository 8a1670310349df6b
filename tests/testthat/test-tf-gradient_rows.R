# IndexedSlices gradients of loops and branches, and through clipping.

in_graph <- function(code) with(tf$Graph()$as_default(), code)
table0 <- function() matrix(seq(0, 1.1, 0.1), 6, byrow = TRUE)
run_all <- function(fetches, steps = NULL, times = 0) {
  with(tf$Session() %as% session, {
    session$run(tf$global_variables_initializer())
    for (i in seq_len(times)) session$run(steps)
    session$run(fetches)
  })
}
is_rows <- function(x) inherits(x, "tensorflow.indexed_slices")
optimizers <- list(
  RMSProp = function() tf$train$RMSPropOptimizer(0.1, momentum = 0.5),
  Ftrl = function() tf$train$FtrlOptimizer(0.1, l1_regularization_strength = 0.01),
  Momentum = function() tf$train$MomentumOptimizer(0.1, 0.9),
  Adam = function() tf$train$AdamOptimizer(0.1)
)
ids <- matrix(c(2L, 4L, 4L, 2L, 2L, 2L), 3, byrow = TRUE)
in_loop <- function(v) {
  rows <- tf$constant(ids)
  tf$while_loop(function(i, s) i < 3L, function(i, s) {
    picked <- tf$gather(v, tf$gather(rows, i))
    list(i + 1L, s + tf$reduce_sum(tf$square(picked)) * tf$cast(i + 1L, "float32"))
  }, list(tf$constant(0L), tf$constant(0)))[[2]]
}
in_branch <- function(v) {
  tf$cond(tf$constant(TRUE), function() tf$reduce_sum(tf$square(tf$gather(v, c(4L, 1L)))),
    function() tf$constant(0))
}
# TensorFlow's table of weights after three steps. A loop's gradient also contains row 0, with
# zeros.
figures <- list(
  RMSProp = list(
    in_loop = c(0, 0.1, 0.2, 0.3, -0.14245864748954773, -0.15977834165096283, 0.6, 0.7,
      0.01484420895576477, 0.07384181022644043, 1, 1.1),
    in_branch = c(0, 0.1, 0.05127339065074921, 0.07961153984069824, 0.4, 0.5, 0.6, 0.7,
      0.27733755111694336, 0.33009281754493713, 1, 1.1)
  ),
  Ftrl = list(
    in_loop = c(0, 0, 0.2, 0.3, 0.18307125568389893, 0.276177316904068, 0.6, 0.7,
      0.5352498888969421, 0.6331392526626587, 1, 1.1),
    in_branch = c(0, 0.1, -0.00019208221056032926, 0.035650819540023804, 0.4, 0.5, 0.6, 0.7,
      0.44581788778305054, 0.5410511493682861, 1, 1.1)
  ),
  Momentum = list(
    in_loop = c(0, 0.1, 0.2, 0.3, 0.24880003929138184, 0.3110000491142273, 0.6, 0.7,
      -0.6832000017166138, -0.7685999274253845, 1, 1.1),
    in_branch = c(0, 0.1, 0.012400001287460327, 0.018600009381771088, 0.4, 0.5, 0.6, 0.7,
      0.04960000514984131, 0.05579999089241028, 1, 1.1)
  ),
  Adam = list(
    in_loop = c(0, 0.1, 0.2, 0.3, 0.10739593952894211, 0.2048722207546234, 0.6, 0.7,
      0.5022211074829102, 0.6018553376197815, 1, 1.1),
    in_branch = c(0, 0.1, -0.06718004494905472, 0.01328999549150467, 0.4, 0.5, 0.6, 0.7,
      0.5022211074829102, 0.6018553376197815, 1, 1.1)
  )
)

test_that("rows that only loops and branches look up are updated as in TensorFlow", {
  for (name in names(optimizers)) {
    for (how in c("in_loop", "in_branch")) {
      for (use_resource in c(FALSE, TRUE)) {
        in_graph({
          v <- tf$get_variable("v", initializer = tf$constant(table0(), dtype = "float32"), use_resource = use_resource)
          loss <- get(how)(v)
          expect_true(is_rows(tf$gradients(loss, v)[[1]]))
          step <- optimizers[[name]]()$minimize(loss)
          got <- run_all(v, step, 3)
          expect_equal(as.vector(t(got)), figures[[name]][[how]], tolerance = 1e-5,
            info = paste(name, how, use_resource))
        })
      }
    }
  }
})

test_that("IndexedSlices from loops and branches match TensorFlow's", {
  in_graph({
    v <- tf$get_variable("v", initializer = tf$ones(list(6L, 2L)))
    rows <- tf$constant(ids)
    zero <- list(tf$constant(0L), tf$constant(0))
    picked <- function(i) tf$reduce_sum(tf$gather(v, tf$gather(rows, i)))
    loop <- function(n, body) tf$while_loop(function(i, s) i < n, body, zero)[[2]]
    simple <- loop(3L, function(i, s) list(i + 1L, s + picked(i) * tf$cast(i + 1L, "float32")))
    found <- run_all(tf$gradients(simple, v)[[1]])
    expect_equal(c(found$indices), c(0, 2, 2, 4, 2, 2, 4))
    expect_equal(found$values[, 1], c(0, 3, 3, 2, 2, 1, 1))
    expect_equal(c(found$dense_shape), c(6, 2))
    found <- run_all(tf$gradients(loop(0L, function(i, s) list(i + 1L, s + picked(i))), v)[[1]])
    expect_equal(c(found$indices), 0)
    expect_equal(found$values, matrix(0, 1, 2))
    # The gradient is dense if a dense gradient is added to it.
    mixed <- loop(3L, function(i, s) list(i + 1L, s + picked(i) + tf$reduce_sum(v * v)))
    mixed <- tf$gradients(mixed, v)[[1]]
    expect_false(is_rows(mixed))
    expect_equal(run_all(mixed)[, 1], c(6, 6, 10, 6, 8, 6))
    nested <- loop(3L, function(i, s) {
      inner <- tf$while_loop(function(j, u) j < 2L, function(j, u) {
        list(j + 1L, u + tf$reduce_sum(tf$gather(v, tf$gather(tf$gather(rows, i), j))))
      }, list(tf$constant(0L), s))
      list(i + 1L, inner[[2]])
    })
    found <- run_all(tf$gradients(nested, v)[[1]])
    expect_equal(c(found$indices), c(0, 0, 2, 2, 0, 2, 4, 0, 4, 2))
    branches <- loop(3L, function(i, s) {
      list(i + 1L, s + tf$cond(i > 0L, function() picked(i), function() tf$constant(0)))
    })
    found <- run_all(tf$gradients(branches, v)[[1]])
    expect_equal(c(found$indices), c(0, 2, 2, 4, 2, 0:5))
    expect_equal(found$values[, 1], c(0, 1, 1, 1, 1, rep(0, 6)))
    # If both branches look up rows, the gradient has all rows, with zeros for the branch not taken.
    both <- tf$cond(tf$constant(TRUE), function() picked(0L), function() picked(1L))
    found <- run_all(tf$gradients(both, v)[[1]])
    expect_equal(c(found$indices), c(0:5, 2, 4))
    expect_equal(found$values[, 2], c(rep(0, 6), 1, 1))
    # A table that is a loop variable has a dense gradient.
    carried <- tf$while_loop(function(i, s, t) i < 3L, function(i, s, t) {
      list(i + 1L, s + tf$reduce_sum(tf$gather(t, tf$gather(rows, i))), t)
    }, c(zero, list(v * 1)))[[2]]
    expect_false(is_rows(tf$gradients(carried, v)[[1]]))
    mapped <- tf$map_fn(function(r) tf$reduce_sum(tf$gather(v, r)), rows, dtype = tf$float32)
    expect_equal(c(run_all(tf$gradients(mapped, v)[[1]])$indices), c(0, 2, 2, 4, 2, 2, 4))
    second <- tf$gradients(loop(2L, function(i, s) {
      list(i + 1L, s + tf$reduce_sum(tf$gather(v, tf$gather(rows, i))^3))
    }), v)[[1]]
    again <- run_all(tf$convert_to_tensor(tf$gradients(tf$reduce_sum(second$values), v)[[1]]))
    expect_equal(again[, 1], c(0, 0, 12, 0, 12, 0))
  })
})

test_that("a step without looked-up rows changes none", {
  kinds <- c("GradientDescent", "Adagrad", "Adam", "Ftrl", "RMSProp", "Momentum", "Adadelta",
    "ProximalAdagrad", "ProximalGradientDescent")
  for (kind in kinds) {
    for (use_resource in c(FALSE, TRUE)) {
      in_graph({
        v <- tf$get_variable("v", initializer = tf$constant(table0(), dtype = "float32"), use_resource = use_resource)
        rows <- tf$placeholder("int64", list(NULL))
        total <- tf$reduce_sum(tf$gather(v, rows) * 2) + tf$reduce_sum(tf$gather(v, rows))
        make <- tf$train[[paste0(kind, "Optimizer")]]
        step <- if (kind == "Momentum") make(0.1, 0.9) else make(0.1)
        step <- step$minimize(total)
        with(tf$Session() %as% session, {
          session$run(tf$global_variables_initializer())
          session$run(step, feed_dict = do.call(dict, setNames(list(array(numeric(), 0)), rows$name)))
          expect_equal(session$run(v), table0(), tolerance = 1e-6, info = kind)
        })
      })
    }
  }
})

test_that("IndexedSlices are clipped as rows", {
  in_graph({
    v <- tf$get_variable("v", initializer = tf$constant(table0(), dtype = "float32"))
    w <- tf$get_variable("w", initializer = tf$constant(c(1, 2)))
    loss <- tf$reduce_sum(tf$square(tf$gather(v, c(5L, 2L, 5L)))) + tf$reduce_sum(w * w)
    grads <- tf$gradients(loss, list(v, w))
    rows <- grads[[1]]
    expect_true(is_rows(rows))
    clipped <- tf$clip_by_global_norm(grads, 1.5)
    expect_true(is_rows(clipped[[1]][[1]]))
    by_norm <- tf$clip_by_norm(rows, 1.5)
    by_value <- tf$clip_by_value(rows, -1, 1)
    same <- tf$identity(rows, name = "same")
    expect_true(all(vapply(list(by_norm, by_value, same), is_rows, NA)))
    expect_identical(same$values$name, "same:0")
    with(tf$control_dependencies(list(rows)), after <- tf$constant(1))
    expect_identical(after$op$control_inputs[[1]]$name, rows$values$op$name)
    sum <- tf$add_n(list(rows, tf$ones(list(6L, 2L)), rows))
    got <- run_all(list(
      rows = rows, norm = tf$global_norm(grads), clipped = clipped, by_norm = by_norm,
      by_value = by_value, same = same, sum = sum, twice = tf$multiply(rows, 2)
    ))
    values <- got$rows$values
    norm <- sqrt(sum(values^2) + sum(c(2, 4)^2))
    expect_equal(c(got$norm), norm, tolerance = 1e-6)
    expect_equal(got$clipped[[1]][[1]]$values, values * 1.5 / norm, tolerance = 1e-6)
    expect_equal(c(got$clipped[[1]][[2]]), c(2, 4) * 1.5 / norm, tolerance = 1e-6)
    expect_equal(got$by_norm$values, values * 1.5 / sqrt(sum(values^2)), tolerance = 1e-6)
    expect_equal(got$by_value$values, pmin(values, 1))
    expect_equal(c(got$by_value$indices), c(5, 2, 5))
    expect_equal(got$same, got$rows)
    dense <- matrix(0, 6, 2)
    dense[6, ] <- 4 * table0()[6, ]
    dense[3, ] <- 2 * table0()[3, ]
    expect_equal(got$sum, 2 * dense + 1, tolerance = 1e-6)
    expect_equal(got$twice, 2 * dense, tolerance = 1e-6)
    optimizer <- tf$train$GradientDescentOptimizer(1)
    step <- optimizer$apply_gradients(list(
      list(clipped[[1]][[1]], v), list(clipped[[1]][[2]], w)
    ))
    moved <- run_all(v, step, 1)
    expect_equal(moved, table0() - dense * 1.5 / norm, tolerance = 1e-6)
    loose <- tf$IndexedSlices(tf$ones(list(1L, 2L)), tf$constant(array(0L)))
    expect_error(tf$reduce_sum(loose), "without a dense_shape",
      class = "runhooks_error_invalid_argument")
  })
})
