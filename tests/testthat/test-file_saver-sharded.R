# Checkpoints with several data files. golden/sharded was written by a sharded saver of TensorFlow
# 1.15 for three devices (tests/golden/make_sharded.py).

sharded <- jsonlite::fromJSON(golden_path("sharded", "sharded.json"))

sharded_copy <- function(frame = parent.frame()) {
  dir <- withr::local_tempdir(.local_envir = frame)
  files <- list.files(golden_path("sharded"), "^(checkpoint|model[.]ckpt.*)$", full.names = TRUE)
  file.copy(files, dir)
  dir
}

waves <- function(shape, pace) {
  values <- sin(pace * seq_len(prod(shape)))
  values <- readBin(writeBin(values, raw(), size = 4), "numeric", length(values), size = 4)
  if (length(shape) == 1) values else aperm(array(values, rev(shape)))
}

# Builds the model of make_sharded.py. `use` receives its session, loss, train operation and saver.
with_sharded_model <- function(use, partitioner = tf$fixed_size_partitioner(3L)) {
  with(tf$Graph()$as_default(), {
    step <- tf$train$get_or_create_global_step()
    floats <- function(...) np_array(waves(...), dtype = "float32")
    with(tf$variable_scope("", partitioner = partitioner), {
      x <- tf$constant(floats(c(6, 7), 0.9))
      wide <- tf$layers$dense(x, 2L, use_bias = FALSE, name = "wide")
    })
    table <- tf$get_variable("table", list(5L, 2L))
    b <- tf$get_variable("b", list(2L))
    tf$get_variable("words", initializer = tf$constant(c("", "", "")), trainable = FALSE)
    net <- wide + tf$gather(table, c(0L, 3L, 3L, 1L, 4L, 0L)) + b
    y <- tf$constant(floats(6, 1.7))
    loss <- tf$reduce_mean(tf$square(tf$reduce_sum(tf$tanh(net), 1L) - y))
    train <- tf$train$MomentumOptimizer(0.1, 0.9)$minimize(loss, global_step = step)
    saver <- tf$train$Saver(max_to_keep = 1L)
    with(tf$Session() %as% session, {
      session$run(tf$global_variables_initializer())
      use(list(session = session, loss = loss, train = train, saver = saver))
    })
  })
}
losses_of <- function(model, steps) {
  vapply(seq_len(steps), function(i) {
    model$session$run(list(model$loss, model$train))[[1]]
  }, 0)
}

test_that("tensors are read from all files, whole and in slices", {
  dir <- sharded_copy()
  expect_length(list.files(dir, "data-0000[012]-of-00003$"), 3)
  sizes <- file.size(list.files(dir, "data-", full.names = TRUE))
  expect_true(all(sizes > 0))
  variables <- tf$train$list_variables(dir)
  names <- vapply(variables, `[[`, "", 1)
  expect_setequal(names, c(names(sharded$values), "words"))
  for (name in names(sharded$values)) {
    value <- tf$train$load_variable(dir, name)
    value <- if (is.null(dim(value))) value else aperm(value)
    expect_equal(as.vector(value), sharded$values[[name]], tolerance = 1e-7, info = name)
  }
  expect_equal(
    as.vector(tf$train$load_variable(dir, "words")), c("a", "", strrep("long ", 20))
  )
})

test_that("training continues as in TensorFlow, whatever the partitioner", {
  dir <- sharded_copy()
  for (partitioner in list(tf$fixed_size_partitioner(3L), tf$fixed_size_partitioner(2L), NULL)) {
    with_sharded_model(partitioner = partitioner, function(model) {
      model$saver$restore(model$session, latest_checkpoint(dir))
      expect_equal(losses_of(model, 3), sharded$losses[4:6], tolerance = 1e-6)
    })
  }
})

test_that("a resumed saver removes and replaces all files of a checkpoint", {
  dir <- sharded_copy()
  with_sharded_model(function(model) {
    model$saver$restore(model$session, latest_checkpoint(dir))
    model$saver$recover_last_checkpoints(latest_checkpoint(dir))
    losses_of(model, 1)
    model$saver$save(model$session, file.path(dir, "model.ckpt"), global_step = 4L)
  })
  expect_length(list.files(dir, "^model[.]ckpt-3"), 0)
  dir <- sharded_copy()
  path <- latest_checkpoint(dir)
  with_sharded_model(function(model) {
    model$saver$restore(model$session, path)
    losses_of(model, 1)
    model$saver$save(model$session, path)
  })
  # The three original files are deleted.
  expect_length(list.files(dir, "data-"), length(list.files(dir, "-of-0000[12]$")))
  with_sharded_model(function(model) {
    model$saver$restore(model$session, path)
    expect_equal(losses_of(model, 2), sharded$losses[5:6], tolerance = 1e-6)
  })
})

test_that("a missing or truncated data file is an error that names it", {
  for (k in 0:2) {
    for (damage in c("gone", "cut")) {
      dir <- sharded_copy()
      name <- sprintf("model.ckpt-3.data-%05d-of-00003", k)
      path <- file.path(dir, name)
      bytes <- readBin(path, "raw", file.size(path))
      unlink(path)
      if (damage == "cut") writeBin(utils::head(bytes, -1), path)
      with_sharded_model(function(model) {
        expect_error(
          model$saver$restore(model$session, file.path(dir, "model.ckpt-3")), name, fixed = TRUE,
          class = "runhooks_error"
        )
      })
    }
  }
})
