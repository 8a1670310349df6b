# tf$variable_scope(custom_getter = ) and tf$get_variable(custom_getter = ). Expected values are
# TensorFlow 1.15's, whose getters receive the same names in the same order.

values_of <- function(...) {
  with(tf$Session() %as% session, {
    session$run(tf$global_variables_initializer())
    session$run(list(...))
  })
}
halved <- function(getter, name, ...) 0.5 * getter(name, ...)

test_that("a getter intercepts the creation of a scope's variables", {
  with(tf$Graph()$as_default(), {
    seen <- list()
    getter <- function(getter, name, shape, trainable, ...) {
      seen[[name]] <<- list(shape = unlist(shape), trainable = trainable)
      0.5 * getter(name, shape = shape, trainable = trainable, ...)
    }
    with(tf$variable_scope("s", custom_getter = getter), {
      w <- tf$get_variable("w", c(2L), initializer = tf$ones_initializer())
      y <- tf$layers$dense(tf$ones(c(1L, 3L)), 2L, kernel_initializer = tf$ones_initializer())
    })
    expect_equal(names(seen), c("s/w", "s/dense/kernel", "s/dense/bias"))
    expect_equal(seen[["s/dense/kernel"]], list(shape = c(3, 2), trainable = TRUE))
    names <- vapply(tf$trainable_variables(), function(v) v$name, "")
    expect_equal(names, c("s/w:0", "s/dense/kernel:0", "s/dense/bias:0"))
    expect_equal(values_of(w, y), list(array(c(0.5, 0.5)), matrix(1.5, 1, 2)))
    outside <- tf$get_variable("out", 1L, initializer = tf$ones_initializer())
    expect_equal(values_of(outside), list(array(1)))
  })
})

test_that("getters of nested scopes are called from the innermost to the outermost", {
  with(tf$Graph()$as_default(), {
    order <- character()
    noted <- function(what) {
      function(getter, name, ...) {
        order <<- c(order, paste(what, name))
        getter(name, ...)
      }
    }
    with(tf$variable_scope("a", custom_getter = noted("outer")), {
      with(tf$variable_scope("b", custom_getter = noted("inner")), v <- tf$get_variable("v", 1L))
    })
    expect_equal(order, c("inner a/b/v", "outer a/b/v"))
    expect_equal(v$name, "a/b/v:0")
    own <- tf$get_variable("own", 1L, initializer = tf$ones_initializer(), custom_getter = halved)
    expect_equal(values_of(own)[[1]][1], 0.5)
  })
})

test_that("moving averages can be read through a getter", {
  with(tf$Graph()$as_default(), {
    net <- function(x, ...) {
      with(tf$variable_scope("net", ...), tf$layers$dense(
        x, 1L,
        use_bias = FALSE, kernel_initializer = tf$ones_initializer(), name = "d"
      ))
    }
    x <- tf$ones(c(1L, 1L))
    trained <- net(x)
    ema <- tf$train$ExponentialMovingAverage(0.5)
    keep <- ema$apply(tf$trainable_variables())
    averaged <- function(getter, name, ...) ema$average(getter(name, ...))
    used <- net(x, reuse = TRUE, custom_getter = averaged)
    change <- tf$assign(tf$trainable_variables()[[1]], matrix(3))
    with(tf$Session() %as% session, {
      session$run(tf$global_variables_initializer())
      session$run(change)
      session$run(keep)
      expect_equal(session$run(list(trained, used)), list(matrix(3), matrix(2)))
    })
  })
})

test_that("getters receive a scope's reuse, regularizers and types", {
  with(tf$Graph()$as_default(), {
    scope <- function(...) tf$variable_scope("s", custom_getter = halved, ...)
    l2 <- tf$contrib$layers$l2_regularizer(2)
    with(scope(regularizer = l2), a <- tf$get_variable("a", 2L, initializer = tf$ones_initializer()))
    with(scope(reuse = TRUE), again <- tf$get_variable("a", 2L))
    expect_error(with(scope(), tf$get_variable("a", 2L)), "already exists")
    expect_length(tf$trainable_variables(), 1)
    loss <- tf$losses$get_regularization_loss()
    got <- values_of(a, again, loss)
    expect_equal(got[[1]], got[[2]])
    expect_equal(got[[3]], 2)
    with(tf$variable_scope("bn", custom_getter = function(getter, name, ...) getter(name, ...)), {
      tf$layers$batch_normalization(tf$ones(c(2L, 3L)), training = TRUE)
    })
    expect_length(tf$get_collection("update_ops"), 2)
  })
})

test_that("a getter without a result is an error", {
  with(tf$Graph()$as_default(), {
    expect_error(
      with(tf$variable_scope("s", custom_getter = function(getter, name, ...) NULL), {
        tf$layers$dense(tf$ones(c(1L, 1L)), 1L)
      }),
      "must return a variable or tensor for \"s/dense/kernel\""
    )
    expect_error(tf$variable_scope("s", custom_getter = 3), "custom_getter")
  })
})

test_that("a scope's partitioner splits variables of layers", {
  with(tf$Graph()$as_default(), {
    with(tf$variable_scope("s", partitioner = tf$fixed_size_partitioner(2L)), {
      y <- tf$layers$dense(tf$ones(c(1L, 4L)), 2L, kernel_initializer = tf$ones_initializer())
      expect_error(tf$get_variable("v", 4L), "cannot split variables", class = "runhooks_error_unimplemented")
    })
    names <- vapply(tf$global_variables(), function(v) v$name, "")
    expect_true(all(c("s/dense/kernel/part_0:0", "s/dense/kernel/part_1:0") %in% names))
    expect_equal(values_of(y)[[1]], matrix(4, 1, 2))
  })
})
