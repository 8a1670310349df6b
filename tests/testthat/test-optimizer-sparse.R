# Sparse updates of reference variables with repeated indices: variable and slots after each step.

golden_rows <- function(golden, t) {
  list(
    values = matrix(unlist(golden$sparse_values[[t]]), ncol = 2, byrow = TRUE),
    indices = unlist(golden$sparse_indices[[t]])
  )
}

sparse_steps <- function(case, golden) {
  graph <- tf$Graph()
  with(graph$as_default(), {
    tf$train$get_or_create_global_step()
    start <- matrix(unlist(golden$m0), ncol = 2, byrow = TRUE)
    v <- tf$Variable(tf$constant(start, dtype = tf$float32), name = "v")
    values <- tf$placeholder(tf$float32, shape = list(NULL, 2L))
    indices <- tf$placeholder(tf$int32, shape = list(NULL))
    arguments <- case$args
    if (case$class == "AdagradDAOptimizer") {
      arguments$global_step <- tf$train$get_global_step()
    }
    optimizer <- do.call(tf$train[[case$class]], arguments)
    slices <- tf$IndexedSlices(values, indices, tf$constant(c(5L, 2L)))
    step <- optimizer$apply_gradients(
      list(list(slices, v)), global_step = tf$train$get_global_step()
    )
    session <- tf$Session(graph = graph)
    session$run(tf$global_variables_initializer())
    states <- list(session$run(v))
    for (t in seq_along(golden$sparse_indices)) {
      rows <- golden_rows(golden, t)
      session$run(step, feed_dict = dict(values = rows$values, indices = rows$indices))
      states[[t + 1]] <- session$run(v)
    }
    all <- tf$global_variables()
    slots <- lapply(all, function(x) session$run(x))
    list(states = states, slots = slots, names = vapply(all, function(x) x$name, ""))
  })
}

test_that("sparse updates match TensorFlow's", {
  golden <- read_golden("unit", "optimizers.json")
  for (case in golden$optimizers) {
    got <- sparse_steps(case, golden)
    for (t in seq_along(case$sparse)) {
      expected <- matrix(unlist(case$sparse[[t]]$v), ncol = 2, byrow = TRUE)
      error <- max(abs(got$states[[t]] - expected) / (1 + abs(expected)))
      expect_lte(error, 1e-5, label = paste(case$name, "step", t - 1))
    }
    last <- case$sparse[[length(case$sparse)]]
    for (slot in setdiff(names(last), "v")) {
      expected <- as.numeric(unlist(last[[slot]]))
      actual <- got$slots[[which(got$names == paste0(slot, ":0"))]]
      actual <- if (length(dim(actual)) == 2) as.vector(t(actual)) else as.numeric(actual)
      expect_length(actual, length(expected))
      expect_lte(
        max(abs(actual - expected) / (1 + abs(expected))), 1e-5, label = paste(case$name, slot)
      )
    }
  }
})
