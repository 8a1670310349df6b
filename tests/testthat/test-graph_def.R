set.seed(1)

with_graph <- function(build) with(tf$Graph()$as_default(), build())

small_graph <- function() {
  x <- tf$placeholder(tf$float32, shape(NULL, 2L), name = "x")
  w <- tf$get_variable("w", list(2L, 1L), initializer = tf$constant_initializer(2))
  b <- tf$Variable(1, name = "b")
  tf$add(tf$matmul(x, w), tf$cast(b, tf$float32), name = "y")
}
train_and_save <- function(folder) {
  with_graph(function() {
    small_graph()
    saver <- tf$train$Saver()
    with(tf$Session() %as% session, {
      session$run(tf$global_variables_initializer())
      saver$save(session, file.path(folder, "model"), global_step = 3L)
    })
  })
}

test_that("a graph can be exported and imported", {
  def <- with_graph(function() {
    small_graph()
    tf$get_default_graph()$as_graph_def()
  })
  expect_true("y" %in% vapply(def$node, `[[`, "", "name"))
  with_graph(function() {
    parts <- tf$import_graph_def(
      def, input_map = list("x:0" = tf$constant(matrix(1, 1, 2), tf$float32)),
      return_elements = list("y:0", "w/Assign", "b/Assign"), name = "again"
    )
    expect_equal(parts[[1]]$name, "again/y:0")
    with(tf$Session() %as% session, {
      session$run(parts[2:3])
      expect_equal(as.vector(session$run(parts[[1]])), 5)
    })
  })
  other <- tf$GraphDef()
  other$ParseFromString(def$SerializeToString())
  expect_equal(format(other), format(def))
  expect_error(
    with_graph(function() tf$import_graph_def(raw(3))), class = "runhooks_error_data_loss"
  )
  expect_error(
    with_graph(function() tf$import_graph_def(def, input_map = list("q:0" = tf$constant(1)))), "q:0"
  )
})

test_that("written graphs can be read", {
  folder <- withr::local_tempdir()
  with_graph(function() {
    small_graph()
    tf$train$write_graph(tf$get_default_graph(), folder, "graph.pbtxt")
  })
  with_graph(function() {
    tf$import_graph_def(file.path(folder, "graph.pbtxt"), name = "")
    expect_true(inherits(tf$get_default_graph()$get_tensor_by_name("y:0"), "tensorflow.tensor"))
  })
})

test_that("a meta graph is restored and trained further", {
  folder <- withr::local_tempdir()
  path <- train_and_save(folder)
  with_graph(function() {
    saver <- tf$train$import_meta_graph(paste0(path, ".meta"))
    expect_length(tf$global_variables(), 2)
    with(tf$Session() %as% session, {
      saver$restore(session, path)
      feed <- list("x:0" = matrix(1, 1, 2))
      expect_equal(as.vector(session$run("y:0", feed)), 5)
    })
  })
  with_graph(function() {
    saver <- tf$train$import_meta_graph(paste0(path, ".meta"), import_scope = "in")
    with(tf$Session() %as% session, {
      saver$restore(session, path)
      expect_equal(as.vector(session$run("in/y:0", list("in/x:0" = matrix(1, 1, 2)))), 5)
    })
  })
})

test_that("variables can be frozen", {
  frozen <- with_graph(function() {
    small_graph()
    with(tf$Session() %as% session, {
      session$run(tf$global_variables_initializer())
      def <- tf$get_default_graph()$as_graph_def()
      expect_error(tf$graph_util$convert_variables_to_constants(session, def, "nothing"), "nothing")
      tf$graph_util$convert_variables_to_constants(session, def, "y")
    })
  })
  types <- vapply(frozen$node, `[[`, "", "op")
  expect_false(any(grepl("Var|Assign", types)))
  with_graph(function() {
    y <- tf$import_graph_def(frozen, return_elements = list("y:0"), name = "")[[1]]
    with(tf$Session() %as% session, {
      expect_equal(as.vector(session$run(y, list("x:0" = matrix(1, 1, 2)))), 5)
    })
  })
})

test_that("checkpoints can be read without a model", {
  path <- train_and_save(withr::local_tempdir())
  listed <- tf$train$list_variables(dirname(path))
  expect_equal(listed[[2]], list("w", c(2L, 1L)))
  expect_equal(as.vector(tf$train$load_variable(dirname(path), "w")), c(2, 2))
  reader <- tf$train$load_checkpoint(path)
  expect_true(reader$has_tensor("b"))
  expect_equal(reader$get_variable_to_dtype_map()$w, tf$float32)
  expect_error(reader$get_tensor("q"), class = "runhooks_error_not_found")
})

test_that("savers accept maps, reshaping and subsets of variables", {
  path <- train_and_save(withr::local_tempdir())
  with_graph(function() {
    v <- tf$get_variable("v", list(2L, 1L), initializer = tf$zeros_initializer())
    flat <- tf$get_variable("w", list(2L), initializer = tf$zeros_initializer())
    renamed <- tf$train$Saver(list(w = v))
    reshaped <- tf$train$Saver(list(flat), reshape = TRUE)
    strict <- tf$train$Saver(list(flat))
    with(tf$Session() %as% session, {
      session$run(tf$global_variables_initializer())
      renamed$restore(session, path)
      expect_equal(as.vector(session$run(v)), c(2, 2))
      expect_error(strict$restore(session, path), "shape")
      reshaped$restore(session, path)
      expect_equal(as.vector(session$run(flat)), c(2, 2))
      saved <- tf$train$Saver(list(w = v), pad_step_number = TRUE)$save(
        session, file.path(dirname(path), "part"), global_step = 7L, write_meta_graph = FALSE
      )
      expect_equal(basename(saved), "part-00000007")
      expect_false(file.exists(paste0(saved, ".meta")))
      expect_equal(tf$train$list_variables(saved), list(list("w", c(2L, 1L))))
    })
  })
})

test_that("variables can be initialized from a checkpoint", {
  path <- train_and_save(withr::local_tempdir())
  with_graph(function() {
    with(tf$variable_scope("new"), {
      w <- tf$get_variable("w", list(2L, 1L), initializer = tf$zeros_initializer())
    })
    other <- tf$get_variable("other", list(2L, 1L), initializer = tf$zeros_initializer())
    tf$train$init_from_checkpoint(dirname(path), list("/" = "new/", w = other))
    with(tf$Session() %as% session, {
      session$run(tf$global_variables_initializer())
      expect_equal(as.vector(session$run(w)), c(2, 2))
      expect_equal(as.vector(session$run(other)), c(2, 2))
    })
    bad <- tf$get_variable("bad", list(3L), initializer = tf$zeros_initializer())
    expect_error(tf$train$init_from_checkpoint(path, list(w = bad)), "shape")
    expect_error(tf$train$init_from_checkpoint(path, list(w = "othr")), "othr")
  })
})

test_that("warm start maps rows by vocabulary", {
  folder <- withr::local_tempdir()
  files <- file.path(folder, c("old.txt", "new.txt"))
  writeLines(c("a", "b", "c"), files[[1]])
  writeLines(c("c", "d", "a"), files[[2]])
  data <- data.frame(w = rep(c("a", "b", "c"), 4), y = rep(1:3, 4))
  new_model <- function(file, size, ...) {
    column <- column_categorical_with_vocabulary_file(
      "w", vocabulary_file = file, vocabulary_size = size
    )
    linear_regressor(column, config = run_config(tf_random_seed = 1), ...)
  }
  first <- new_model(files[[1]], 3)
  suppressMessages(train(first, input_fn(data, features = w, response = y), steps = 5))
  name <- "linear/linear_model/w/weights"
  before <- as.vector(variable_value(first, name)[[1]])
  info <- list(vocab_info(files[[2]], old_vocab = files[[1]]))
  names(info) <- name
  settings <- warm_start_settings(model_dir(first), name, var_name_to_vocab_info = info)
  second <- new_model(files[[2]], 3, warm_start_from = settings)
  weights <- NULL
  inspect <- session_run_hook(after_create_session = function(session, coord) {
    weights <<- session$run(paste0(name, ":0"))
  })
  suppressMessages(train(
    second, input_fn(data, features = w, response = y), steps = 1, hooks = list(inspect)
  ))
  expect_equal(as.vector(weights), c(before[[3]], 0, before[[1]]))
})
