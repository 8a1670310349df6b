new_folder <- function(env = parent.frame()) withr::local_tempdir(.local_envir = env)

own_sgd <- function(learning_rate, ..., name = "GradientDescent") {
  tf$train$Optimizer(
    name,
    learning_rate = learning_rate,
    apply_dense = function(grad, var, hyper) tf$assign_sub(var, grad * hyper$learning_rate),
    ...
  )
}

own_momentum <- function(learning_rate, momentum, ..., name = "Momentum") {
  tf$train$Optimizer(
    name,
    learning_rate = learning_rate, momentum = momentum,
    slots = "momentum",
    apply_dense = function(grad, var, slots, hyper) {
      accum <- tf$assign(slots$momentum, slots$momentum * hyper$momentum + grad)
      tf$assign_sub(var, accum * hyper$learning_rate)
    },
    ...
  )
}

rows_of_momentum <- function(grad, var, slots, hyper) {
  old <- tf$gather(slots$momentum, grad$indices)
  new <- old * hyper$momentum + grad$values
  tf$group(
    tf$scatter_update(slots$momentum, grad$indices, new),
    tf$scatter_sub(var, grad$indices, new * hyper$learning_rate)
  )
}

all_values <- function(model) {
  names <- setdiff(variable_names(model), "global_step")
  setNames(lapply(names, function(name) variable_value(model, name)), names)
}

trained <- function(optimizer, steps = 20, dir = new_folder(parent.frame())) {
  model <- dnn_regressor(
    hidden_units = 4, feature_columns = feature_columns(column_numeric("wt", "hp")),
    optimizer = optimizer, model_dir = dir, config = run_config(tf_random_seed = 4)
  )
  input <- input_fn(mpg ~ wt + hp, mtcars, batch_size = 8, shuffle = FALSE, num_epochs = NULL)
  train(model, input, steps = steps)
  model
}

test_that("gradient descent and momentum written in R match the built-in ones bit for bit", {
  expect_identical(
    all_values(trained(own_sgd(1e-4))),
    all_values(trained(tf$train$GradientDescentOptimizer(1e-4)))
  )
  own <- all_values(trained(own_momentum(1e-5, 0.8)))
  expect_identical(own, all_values(trained(tf$train$MomentumOptimizer(1e-5, 0.8))))
  expect_true("dnn/hiddenlayer_0/kernel/t_0/Momentum" %in% names(own))
})

test_that("the slots are resumed", {
  whole <- trained(own_momentum(1e-5, 0.8), 20)
  dir <- new_folder()
  trained(own_momentum(1e-5, 0.8), 8, dir)
  input <- input_fn(mpg ~ wt + hp, mtcars[c(1:32, 1:32), ], batch_size = 8, shuffle = FALSE,
    num_epochs = NULL
  )
  # The 8 steps were two passes, so the next one begins with the first row.
  expect_identical(all_values(trained(own_momentum(1e-5, 0.8), 12, dir)), all_values(whole))
})

embedded <- function(optimizer, steps = 6) {
  data <- data.frame(
    y = c(1, 5, 2, 4, 3, 6, 0, 2), g = c("a", "b", "a", "c", "b", "a", "a", "d")
  )
  column <- column_embedding(
    column_categorical_with_vocabulary_list("g", vocabulary_list = c("a", "b", "c", "d", "e")), 2
  )
  model <- dnn_regressor(
    hidden_units = 3, feature_columns = column, optimizer = optimizer, model_dir = new_folder(),
    config = run_config(tf_random_seed = 9)
  )
  input <- input_fn(data, "g", response = "y", batch_size = 3, shuffle = FALSE, num_epochs = NULL)
  train(model, input, steps = steps)
  all_values(model)
}

test_that("embedding gradients go to apply_sparse as rows, or to apply_dense as a whole", {
  expected <- embedded(tf$train$MomentumOptimizer(0.01, 0.8))
  expect_identical(
    embedded(own_momentum(0.01, 0.8, apply_sparse = rows_of_momentum)), expected
  )
  # Rows outside the batch have gradient 0, but their momentum still moves them.
  dense <- embedded(own_momentum(0.01, 0.8))
  expect_false(identical(dense, expected))
  # A rule without slots gives the same result in both ways.
  expect_identical(embedded(own_sgd(0.01)), embedded(tf$train$GradientDescentOptimizer(0.01)))

  seen <- NULL
  watching <- own_sgd(0.01, apply_sparse = function(grad, var, slots, hyper) {
    seen <<- c(class(grad), var$name)
    tf$scatter_sub(var, grad$indices, grad$values * hyper$learning_rate)
  })
  expect_identical(embedded(watching), embedded(own_sgd(0.01)))
  expect_identical(
    seen,
    c("tensorflow.indexed_slices", "dnn/input_from_feature_columns/input_layer/g_embedding/embedding_weights/part_0:0")
  )
})

test_that("minimize() can be called directly, with prepare, finish and the optimizer's variables", {
  # The learning rate decays by a power in an optimizer variable, as in Adam.
  falling <- tf$train$Optimizer(
    "Falling",
    learning_rate = 0.5,
    prepare = function(hyper) {
      power <- tf$get_variable("power", initializer = tf$constant(1), trainable = FALSE)
      list(power = power, rate = hyper$learning_rate * power)
    },
    apply_dense = function(grad, var, hyper) tf$assign_sub(var, grad * hyper$rate),
    finish = function(updates, hyper) {
      expect_length(updates, 2)
      with(tf$variable_scope("", reuse = TRUE), {
        power <- tf$get_variable("power")
      })
      tf$assign(power, power * 0.5)
    }
  )
  graph <- tf$Graph()
  values <- with(graph$as_default(), {
    v <- tf$Variable(1, name = "v", dtype = tf$float32)
    w <- tf$Variable(2, name = "w", dtype = tf$float32)
    step <- falling$minimize(v + w)
    expect_identical(vapply(falling$variables(), function(x) x$name, ""), "power:0")
    session <- tf$Session()
    on.exit(session$close())
    session$run(tf$global_variables_initializer())
    for (i in 1:3) session$run(step)
    unlist(session$run(list(v, w)))
  })
  expect_equal(values, c(1, 2) - 0.5 * (1 + 0.5 + 0.25))
})

test_that("slots have the requested initial values, under TensorFlow's names", {
  optimizer <- tf$train$Optimizer(
    "Mine",
    slots = function(var) list(a = 0, b = 0.5, c = tf$ones_initializer(), d = tf$constant(c(1, 2))),
    apply_dense = function(grad, var, slots) {
      expect_named(slots, c("a", "b", "c", "d"))
      tf$assign_sub(var, grad * slots$b)
    }
  )
  graph <- tf$Graph()
  with(graph$as_default(), {
    v <- tf$Variable(c(3, 4), name = "v", dtype = tf$float32)
    step <- optimizer$minimize(tf$reduce_sum(v))
    expect_identical(optimizer$get_slot(v, "b")$name, "v/Mine_1:0")
    expect_setequal(optimizer$get_slot_names(), c("a", "b", "c", "d"))
    session <- tf$Session()
    on.exit(session$close())
    session$run(tf$global_variables_initializer())
    session$run(step)
    values <- session$run(list(v, optimizer$get_slot(v, "c"), optimizer$get_slot(v, "d")))
    expect_equal(lapply(values, as.numeric), list(c(2.5, 3.5), c(1, 1), c(1, 2)))
  })
})

test_that("R optimizers train linear and custom models, and hooks set their rate", {
  linear <- linear_regressor(column_numeric("wt"), optimizer = own_sgd(0.01), model_dir = new_folder())
  input <- input_fn(mpg ~ wt, mtcars, batch_size = 8, num_epochs = NULL, shuffle = FALSE)
  rates <- train(linear, input, steps = 3, hooks = list(
    hook_learning_rate(function(step) 0.01 / (step + 1)),
    hook_history_saver(1, tensors = "learning_rate")
  ))
  shown <- as.data.frame(rates)
  expect_equal(
    shown$value[shown$metric == "learning_rate"], 0.01 / 1:3, tolerance = 1e-6
  )
  named <- linear_regressor(mpg ~ wt, mtcars, optimizer = own_sgd(0.01))
  expect_output(print(named), "GradientDescent (learning rate 0.01)", fixed = TRUE)

  model_fn <- function(features, labels, mode, params) {
    output <- tf$squeeze(tf$layers$dense(features, 1L), 1L)
    if (mode == "infer") return(estimator_spec(mode, predictions = list(y = output)))
    loss <- tf$losses$mean_squared_error(labels, output)
    estimator_spec(mode, loss = loss, predictions = list(y = output), train_op = params$optimizer$minimize(
      loss, tf$train$get_global_step()
    ))
  }
  values <- lapply(list(own_momentum(1e-3, 0.9), tf$train$MomentumOptimizer(1e-3, 0.9)), function(o) {
    model <- estimator(
      model_fn, params = list(optimizer = o), model_dir = new_folder(),
      config = run_config(tf_random_seed = 3)
    )
    train(model, input, steps = 7)
    all_values(model)
  })
  expect_identical(values[[1]], values[[2]])
})

test_that("the folder of a model stores the name of the optimizer", {
  dir <- new_folder()
  trained(own_momentum(1e-5, 0.8), 2, dir)
  expect_error(
    trained(own_momentum(1e-5, 0.8, name = "Other"), 2, dir), "not Optimizer of the name 'Other'", fixed = TRUE
  )
})

step_of <- function(...) {
  with(tf$Graph()$as_default(), {
    v <- tf$Variable(c(3, 4), name = "v", dtype = tf$float32)
    tf$train$Optimizer("Mine", ...)$minimize(tf$reduce_sum(v))
  })
}

test_that("errors name the function that raised them", {
  failed <- tryCatch(
    step_of(apply_dense = function(grad, var) stop(errorCondition("no way", class = "mine", data = 7))),
    error = identity
  )
  expect_s3_class(failed, "mine")
  expect_identical(failed$data, 7)
  expect_match(
    conditionMessage(failed),
    "in apply_dense() of the optimizer tf$train$Optimizer(\"Mine\") for the variable `v`", fixed = TRUE
  )
  expect_snapshot_text({
    step_of(apply_dense = function(grad, var) NULL)
    step_of(apply_dense = function(grad, var) 1)
    step_of(apply_dense = function(grad, var) grad)
    step_of(apply_dense = function(grad, var) tf$matmul(grad, var))
    step_of(apply_dense = function(grad, var) grad, slots = function(var) stop("what?"))
    step_of(apply_dense = function(grad, var) grad, prepare = function() 7)
    step_of(apply_dense = function(grad, var) grad, finish = function(updates, hyper) "a")
    # The result of tf$assign() is dropped, so this operation would never run.
    step_of(slots = "m", apply_dense = function(grad, var, slots) {
      tf$assign(slots$m, grad)
      tf$assign_sub(var, slots$m)
    })
    step_of(slots = list(m = tf$constant(1:3 / 2)), apply_dense = function(grad, var) tf$assign_sub(var, grad))
  })
})

test_that("an invalid optimizer is an error when it is created", {
  expect_snapshot_text({
    tf$train$Optimizer("Mine")
    tf$train$Optimizer(apply_dense = function(grad, var) grad)
    tf$train$Optimizer("Mine", apply_dense = 1)
    tf$train$Optimizer("Mine", apply_dense = function(a, b, c, d, e) a)
    tf$train$Optimizer("Mine", 0.1, apply_dense = function(grad, var) grad)
    tf$train$Optimizer("Mine", learning_rate = "fast", apply_dense = function(grad, var) grad)
    tf$train$Optimizer("Mine", slots = list(1), apply_dense = function(grad, var) grad)
    linear_regressor(column_numeric("wt"), optimizer = "Optimizer")
  })
})

test_that("R optimizers print their settings", {
  expect_snapshot_text({
    own_momentum(0.1, 0.9)
    tf$train$Optimizer("Mine", apply_dense = function(grad, var) grad)
  })
  expect_identical(own_momentum(0.1, 0.9)$momentum, 0.9)
})

test_that("apply_gradients of a base optimizer can be replaced", {
  with(tf$Graph()$as_default(), {
    w <- tf$get_variable("w", shape(2L), initializer = tf$ones_initializer())
    step <- tf$train$get_or_create_global_step()
    loss <- tf$reduce_sum(w * c(1, 3))
    optimizer <- tf$train$Optimizer(use_locking = FALSE, name = "Decay")
    expect_identical(optimizer$get_name(), "Decay")
    expect_output(print(optimizer), "Decay")
    expect_error(optimizer$minimize(loss), "apply_gradients")
    optimizer$rate <- 0.1
    optimizer$apply_gradients <- function(grads_and_vars, global_step = NULL, name = NULL) {
      updates <- lapply(grads_and_vars, function(pair) {
        tf$assign_sub(pair[[2]], optimizer$rate * (pair[[1]] + 0.5 * pair[[2]]))
      })
      tf$group(updates, tf$assign_add(global_step, 1L), name = name)
    }
    direct <- optimizer$apply_gradients(optimizer$compute_gradients(loss), step)
    train <- optimizer$minimize(loss, global_step = step)
    session <- tf$Session()
    session$run(tf$global_variables_initializer())
    session$run(train)
    expect_equal(as.vector(session$run(w)), c(0.85, 0.65), tolerance = 1e-6)
    session$run(direct)
    expect_equal(session$run(step), 2)
  })
  expect_error(tf$train$Optimizer("mine"), "`apply_dense` is missing")
})
