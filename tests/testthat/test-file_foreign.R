# Files from untrusted sources: a model computes but has no side effects, reads only its own folder,
# and special files are rejected.
set.seed(1)

# Writes a SavedModel as an attacker could. `build()` returns x, y and optionally an operation that
# runs when the model is loaded. `nodes`: more nodes, as text.
stranger_model <- function(build, folder = withr::local_tempdir(.local_envir = parent.frame()),
                           nodes = "") {
  parts <- NULL
  def <- with(tf$Graph()$as_default(), {
    parts <- build()
    tf$get_default_graph()$as_graph_def()
  })
  tensor <- function(role, key) {
    dtype <- if (identical(parts$x$dtype, tf$string)) "DT_STRING" else "DT_FLOAT"
    sprintf('%s { key: "%s" value { name: "%s" dtype: %s } }', role, key, parts[[key]]$name, dtype)
  }
  init <- if (!is.null(parts$init)) {
    sprintf(
      'collection_def { key: "saved_model_main_op" value { node_list { value: "%s" } } }',
      parts$init$name
    )
  }
  signature <- sprintf(
    'signature_def { key: "serving_default" value { %s %s method_name: "predict" } }',
    tensor("inputs", "x"), tensor("outputs", "y")
  )
  text <- paste(
    "saved_model_schema_version: 1 meta_graphs { meta_info_def { tags: \"serve\" } graph_def {",
    format(def), nodes, "}", init, signature, "}"
  )
  writeLines(text, file.path(folder, "saved_model.pbtxt"))
  folder
}
placeholder <- function() tf$placeholder(tf$float32, shape(NULL), name = "x")
save_to <- function(prefix, value = tf$constant(1)) {
  tf$raw_ops$SaveV2(
    prefix = tf$constant(prefix), tensor_names = tf$constant(array("v")),
    shape_and_slices = tf$constant(array("")), tensors = list(value)
  )
}
# Writes a checkpoint of the user. Returns its path, and a function that tests whether it is
# unchanged.
victim <- function(folder = withr::local_tempdir(.local_envir = parent.frame())) {
  prefix <- file.path(folder, "model.ckpt-1")
  with(tf$Graph()$as_default(), {
    tf$get_variable("v", list(2L), initializer = tf$constant_initializer(7))
    with(tf$Session() %as% session, {
      session$run(tf$global_variables_initializer())
      tf$train$Saver()$save(session, prefix, write_meta_graph = FALSE)
    })
  })
  list(prefix = prefix, sums = function() tools::md5sum(list.files(folder, full.names = TRUE)))
}
denied <- "runhooks_error_permission_denied"

test_that("writing and deleting operations of an untrusted model are errors that name them", {
  mine <- victim()
  before <- mine$sums()
  deletes <- function() {
    x <- placeholder()
    init <- tf$raw_ops$MergeV2Checkpoints(
      checkpoint_prefixes = tf$constant(array(mine$prefix)),
      destination_prefix = tf$constant(file.path(tempdir(), "elsewhere")), delete_old_dirs = TRUE,
      name = "clean"
    )
    list(x = x, y = tf$identity(x, name = "y"), init = init)
  }
  writes_at_first <- function() {
    x <- placeholder()
    list(x = x, y = tf$identity(x, name = "y"), init = save_to(mine$prefix))
  }
  writes_behind <- function() {
    x <- placeholder()
    y <- with(tf$control_dependencies(list(save_to(mine$prefix))), tf$identity(x, name = "y"))
    list(x = x, y = y)
  }
  calls <- function() {
    x <- placeholder()
    list(x = x, y = tf$py_func(function(x) x, list(x), tf$float32))
  }
  expect_error(load_savedmodel(stranger_model(deletes)), "'clean' \\(MergeV2", class = denied)
  expect_error(load_savedmodel(stranger_model(writes_at_first)), "\\(SaveV2\\)", class = denied)
  expect_error(load_savedmodel(stranger_model(writes_behind)), "\\(SaveV2\\)", class = denied)
  expect_error(load_savedmodel(stranger_model(calls)), "\\(PyFunc\\)", class = denied)
  expect_identical(mine$sums(), before)
  expect_false(file.exists(file.path(tempdir(), "elsewhere.index")))
})

test_that("an untrusted model reads its own folder only", {
  mine <- victim()
  restores <- function() {
    tf$constant(mine$prefix, name = "prefix")
    tf$constant(array("v"), name = "names")
    tf$constant(array(""), name = "slices")
    list(x = placeholder(), y = list(name = "y:0"))
  }
  restore <- paste(
    'node { name: "y" op: "RestoreV2" input: "prefix" input: "names" input: "slices"',
    'attr { key: "dtypes" value { list { type: DT_FLOAT } } } }'
  )
  model <- load_savedmodel(stranger_model(restores, nodes = restore))
  expect_error(predict(model, list(x = 1)), "only files below its folder", class = denied)

  secret <- withr::local_tempfile(lines = "secret")
  fills <- function(path) {
    function() {
      table <- tf$raw_ops$HashTableV2(key_dtype = tf$string, value_dtype = tf$int64)
      init <- tf$raw_ops$InitializeTableFromTextFileV2(
        table_handle = table, filename = tf$constant(path), key_index = -2L, value_index = -1L
      )
      x <- tf$placeholder(tf$string, shape(NULL), name = "x")
      y <- tf$raw_ops$LookupTableFindV2(
        table_handle = table, keys = x, default_value = tf$constant(-1L, tf$int64)
      )
      list(x = x, y = y, init = init)
    }
  }
  expect_error(load_savedmodel(stranger_model(fills(secret))), basename(secret), class = denied)
  folder <- withr::local_tempdir()
  file.symlink(secret, file.path(folder, "words"))
  stranger_model(fills(file.path(folder, "words")), folder)
  expect_error(load_savedmodel(folder), "words", class = denied)
  unlink(file.path(folder, "words"))
  writeLines(c("a", "b"), file.path(folder, "words"))
  link <- withr::local_tempfile()
  file.symlink(folder, link)
  for (dir in c(folder, link)) {
    expect_equal(unlist(predict(load_savedmodel(dir), list(x = "b"))$y), 1)
  }
})

test_that("assets and variables of an export cannot be links to other folders", {
  words <- withr::local_tempfile(lines = c("a", "b"))
  model <- linear_regressor(column_categorical_with_vocabulary_file("w", vocabulary_file = words))
  data <- data.frame(w = c("a", "b"), y = 1:2)
  train(model, input_fn(y ~ w, data), steps = 1)
  exported <- export_savedmodel(model, withr::local_tempfile())
  asset <- file.path(exported, "assets", basename(words))
  expect_true(file.exists(asset))
  expect_equal(nrow(predict(load_savedmodel(exported), data["w"], "predict")), 2)
  unlink(asset)
  file.symlink(words, asset)
  expect_error(load_savedmodel(exported), "only files below its folder", class = denied)
  unlink(asset)
  file.copy(words, asset)
  elsewhere <- withr::local_tempfile()
  file.rename(file.path(exported, "variables"), elsewhere)
  file.symlink(elsewhere, file.path(exported, "variables"))
  expect_error(load_savedmodel(exported), "only files below its folder", class = denied)
})

test_that("graphs of files have no side effects unless they are trusted", {
  mine <- victim()
  before <- mine$sums()
  def <- with(tf$Graph()$as_default(), {
    save_to(mine$prefix)
    tf$get_default_graph()$as_graph_def()
  })
  imported <- function(...) with(tf$Graph()$as_default(), tf$import_graph_def(def, ...))
  expect_error(imported(), "\\(SaveV2\\) writes files", class = denied)
  expect_error(imported(), "trust = TRUE")
  expect_null(imported(trust = TRUE))
  expect_identical(mine$sums(), before)

  folder <- withr::local_tempdir()
  with(tf$Graph()$as_default(), {
    v <- tf$get_variable("v", list(2L), initializer = tf$zeros_initializer())
    save_to(mine$prefix)
    tf$train$export_meta_graph(file.path(folder, "model.meta"))
  })
  meta <- function(...) {
    with(tf$Graph()$as_default(), {
      saver <- tf$train$import_meta_graph(file.path(folder, "model.meta"), ...)
      with(tf$Session() %as% session, {
        saver$restore(session, mine$prefix)
        session$run("v:0")
      })
    })
  }
  expect_error(meta(), "\\(SaveV2\\) writes files", class = denied)
  expect_equal(as.vector(meta(trust = TRUE)), c(7, 7))
})

test_that("special files are errors when they are read", {
  skip_on_os("windows") # no pipes in folders
  pipe_at <- function(path) {
    unlink(path)
    system2("mkfifo", shQuote(path))
    path
  }
  folder <- withr::local_tempdir()
  refused <- function(expr) {
    expect_error(expr, "it is a pipe", class = "runhooks_error_failed_precondition")
  }
  pipe_at(file.path(folder, "saved_model.pb"))
  refused(load_savedmodel(folder))
  pipe <- pipe_at(file.path(folder, "pipe"))
  refused(dataset_collect(text_line_dataset(pipe)))
  refused(dataset_collect(tfrecord_dataset(pipe)))
  refused(tf$import_graph_def(pipe))
  refused(tf$train$import_meta_graph(pipe))
  pipe_at(file.path(folder, "checkpoint"))
  # A pipe is treated like a file that cannot be parsed.
  expect_warning(expect_warning(latest_checkpoint(folder), "it is a pipe"), "ignored")
  expect_error(column_categorical_with_vocabulary_file("w", vocabulary_file = pipe), "it is a pipe")

  model <- linear_regressor(column_numeric("x"), model_dir = file.path(folder, "model"))
  data <- data.frame(x = 1:2, y = 1:2)
  train(model, input_fn(y ~ x, data), steps = 1)
  expect_true(file.exists(file.path(folder, "model", "runhooks.data")))
  pipe_at(file.path(folder, "model", "runhooks.data"))
  # A pipe is treated like a damaged file.
  expect_error(class = "runhooks_error_data_loss", {
    model <- linear_regressor(column_numeric("x"), model_dir = file.path(folder, "model"))
    train(model, input_fn(y ~ x, data), steps = 1)
  })
})

test_that("a writer leaves devices and pipes alone, and rejects folders", {
  skip_on_os("windows") # no links to devices
  folder <- withr::local_tempdir()
  null <- file.path(folder, "null")
  file.symlink("/dev/null", null)
  rows <- data.frame(x = 1)
  as_it_was <- function() expect_equal(Sys.readlink(null), "/dev/null")
  write_tfrecord(rows, null)
  as_it_was()
  with(tf$Graph()$as_default(), {
    tf$constant(1)
    tf$train$write_graph(tf$get_default_graph(), folder, "null")
    tf$train$write_graph(tf$get_default_graph()$as_graph_def(), folder, "null")
    tf$train$export_meta_graph(null)
  })
  as_it_was()
  refused <- "runhooks_error_failed_precondition"
  expect_error(write_tfrecord(rows, folder), basename(folder), class = refused)
  expect_error(tf$train$export_meta_graph(folder), basename(folder), class = refused)
  expect_equal(list.files(folder), "null")
})

test_that("names of temporary files cannot be guessed and occupied by links", {
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  precious <- file.path(folder, "precious")
  writeLines("precious", precious)
  cache <- file.path(folder, "cache")
  records <- file.path(folder, "records")
  for (trap in c(paste0(cache, ".part-", Sys.getpid()), paste0(records, ".unfinished"))) {
    file.symlink(precious, trap)
  }
  dataset_collect(dataset_cache(range_dataset(0, 3), cache))
  write_tfrecord(data.frame(x = 1), records)
  expect_equal(readLines(precious), "precious")
  expect_gt(file.size(cache), 0)
  expect_equal(Sys.readlink(c(cache, records)), c("", ""))
  expect_length(list.files(folder), 5)
})

test_that("a small untrusted model cannot fill the memory when it is loaded", {
  doubled <- function(join, first, times) {
    stranger_model(function() {
      x <- placeholder()
      value <- first()
      for (i in seq_len(times)) value <- join(value, value)
      list(x = x, y = x * 2, init = value$op)
    }, folder = withr::local_tempdir(.local_envir = parent.frame()))
  }
  models <- list(
    doubled(function(a, b) tf$concat(list(a, b), 0L), function() tf$zeros(1024L), 17),
    doubled(function(a, b) tf$strings$join(list(a, b)), function() tf$constant("1234567890"), 25)
  )
  for (folder in models) {
    expect_error(
      load_savedmodel(folder), "Cannot allocate", class = "runhooks_error_resource_exhausted"
    )
  }
  fits <- doubled(function(a, b) tf$concat(list(a, b), 0L), function() tf$zeros(1024L), 3)
  expect_equal(unlist(predict(load_savedmodel(fits), data.frame(x = 3))), 6, ignore_attr = TRUE)
})
