# Whoever calls a function with the wrong thing is told which argument, what it was and what is
# expected.

test_that("an error names the argument, what it was and what is expected", {
  refused <- function(expr, ...) {
    error <- expect_error(expr, class = "runhooks_error_invalid_argument")
    for (word in c(...)) expect_match(conditionMessage(error), word, fixed = TRUE)
  }
  with_graph(tf$Graph(), {
    unknown <- tf$placeholder("float32")
    unknown_size <- tf$placeholder("float32", list(NULL, 2L))
    refused(dataset_take(unknown, 1), "`dataset`", "a dataset", "tensor")
    refused(monitored_training_session(scaffold = unknown_size), "`scaffold`", "tensor")
    refused(tf$VarLenFeature(5), "`dtype`", "a type", "5")
    refused(tf$as_dtype(5), "`dtype`", "a type", "5")
    refused(tf$FixedLenFeature(shape(1), 0.5), "`dtype`", "0.5")
    refused(tf$FixedLenFeature(quote(x), "float32"), "`shape`", "whole numbers")
    refused(tf$maximum(list(NULL), 1), "element 1", "NULL")
    refused(tf$constant(list(1, NULL)), "element 2", "NULL")
    refused(tf$logging$info(list()), "`msg`", "a single string")
    refused(tf$logging$info("%d rows", "a"), "`msg`", "%d rows")
    refused(tf$gfile$Exists(5), "`filename`", "a single string", "5")
    refused(tf$gfile$Glob(NULL), "`filename`", "NULL")
    refused(tf$Session(graph = 5), "`graph`", "a graph", "5")
    refused(iterate(5), "`iterator`", "5")
    refused(iter_next("a"), "`iterator`", "\"a\"")
    refused(tf$sparse_tensor_to_dense(5), "`sp_input`", "a sparse tensor", "5")
    refused(tf$sort(c(2, 1), direction = 5), "`direction`", "a single string", "5")
    refused(tf$norm(c(1, 2), axis = tf$constant(1)), "`axis`", "whole numbers", "tensor")
    refused(tf$image$crop_to_bounding_box(array(0, c(4, 4, 3)), "a", 0, 1, 1), "`offset_height`", "\"a\"")
    refused(tf$stack(globalenv()), "`values`", "a list of tensors")
    refused(tf$tuple(globalenv()), "`tensors`", "a tensor or a list of tensors")
    refused(train(5), "`object`", "a model", "5")
    refused(evaluate(NULL), "`object`", "a model", "NULL")
    refused(model_dir("a"), "`object`", "a model")
    refused(export_savedmodel(mtcars, "a"), "`object`", "a data frame")
    refused(make_iterator_from_structure(5), "`output_types`", "5")
    refused(on_values(NA), "`f`", "a function or a formula", "NA")
    refused(out_of_range_handler(5), "`e`", "a condition", "5")
    for (initializer in c("random_normal", "glorot_uniform", "orthogonal")) {
      refused(tf$initializers[[initializer]](seed = "a"), "`seed`", "\"a\"")
    }
  })
})

test_that("logging takes what Python's does", {
  before <- tf$logging$get_verbosity()
  withr::defer(tf$logging$set_verbosity(before))
  tf$logging$set_verbosity("INFO")
  expect_message(tf$logging$info(5), "5")
  expect_message(tf$logging$info("100 % done"), "100 % done", fixed = TRUE)
  expect_message(tf$logging$info("%d rows of %s", 3L, "a"), "3 rows of a")
})

test_that("a text with a zero byte in it is refused in words", {
  path <- withr::local_tempfile(fileext = ".csv")
  writeBin(c(charToRaw("x,w\n1,a"), as.raw(0), charToRaw("b\n")), path)
  for (read in list(
    function() csv_record_spec(path),
    function() dataset_collect(make_csv_dataset(path, 1, num_epochs = 1))
  )) {
    expect_error(read(), "zero byte", class = "runhooks_error_invalid_argument")
  }
})
