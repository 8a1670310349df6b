# Errors about invalid arguments name the argument, the value and the valid values.

test_that("an error names the argument, its value and the valid values", {
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
    refused(tf$train$BytesList(list(a = NULL)), "`value`", "strings or raw vectors", "NULL")
    refused(tf$train$Int64List(c(1, 2.5)), "`value`", "whole numbers")
    refused(tf$train$FloatList("a"), "`value`", "numbers", "\"a\"")
    refused(tf$train$Features(list(a = 1)), "`feature`", "tf$train$Feature()", "1")
    refused(tf$accumulate_n(list(1, 2), tensor_dtype = unknown), "`tensor_dtype`", "a type", "tensor")
    refused(tf$accumulate_n(list(1, 2), shape = unknown), "A shape must be numbers", "tensor")
    refused(tf$convert_to_tensor(unknown, dtype = unknown), "`dtype`", "a type", "tensor")
    refused(tf$assert_rank(unknown_size, range_dataset(0, 3)), "`rank`", "a whole number", "tf_dataset")
    refused(tf$assert_equal(1, 1, message = Sys.time()), "`message`", "a single string")
    refused(tf$foldl(function(a, x) a, c(1, 2), parallel_iterations = range_dataset(0, 3)),
      "`parallel_iterations`", "a positive whole number", "tf_dataset")
    refused(tf$scatter_sub(integer(), 0L, 1), "`ref`", "a variable", "integer")
    refused(tf$sparse$placeholder(tf$float32, name = unknown), "`name`", "a single string", "tensor")
    refused(tf$summary$scalar("a", 1, collections = unknown), "`collections`", "strings", "tensor")
    refused(tf$tensordot(unknown, unknown, range_dataset(0, 3)), "`axes`", "whole numbers")
    refused(tf$tensordot(tf$ones(c(2L, 2L)), tf$ones(2L), -1), "`axes`", "from 0 to 1")
    refused(tf$tensordot(tf$ones(c(2L, 2L)), tf$ones(2L), 2), "`axes`", "from 0 to 1")
    refused(tf$train$Saver(write_version = list(1, "a")), "`write_version`", "whole number")
    refused(tf$placeholder("float32", list(list(1L))), "A dimension of a shape", "element 1")
    refused(tf$accumulate_n(list()), "`inputs`", "at least one tensor")
    refused(tf$scatter_add(tf$no_op(), 0L, 1), "`ref`", "a variable", "operation")
    # The function in the argument `names` must not replace R's names() in the checks of other
    # arguments.
    refused(tf$raw_ops$ParseExample("a", names = function(x) x), "`sparse_keys`")
    deep <- Reduce(function(x, i) list(x), seq_len(1e5), "a")
    refused(
      tf$feature_column$categorical_column_with_vocabulary_list("a", vocabulary_list = deep),
      "`vocabulary_list`", "not a list"
    )
    refused(tf$gradients(NA_character_, 1, grad_ys = FALSE), "`ys`", "a tensor")
    refused(hook_learning_rate(numeric()), "`schedule`", "a function", "numeric")
    refused(feature_columns(mpg ~ nowhere), "mpg ~ nowhere", "a function", "nowhere")
    refused(flags(arguments = list(unknown), file = NULL), "`arguments`", "strings")
    refused(flag_integer("n", "\xff\xfe"), "\"n\"", "integer", "\\xff")
    expect_error(model_dir(), "argument \"object\" is missing", fixed = TRUE)
    for (initializer in c("random_normal", "glorot_uniform", "orthogonal")) {
      refused(tf$initializers[[initializer]](seed = "a"), "`seed`", "\"a\"")
    }
  })
})

test_that("calls that the random-call test found are informative errors", {
  refused <- function(expr, ...) {
    error <- expect_error(expr, class = "runhooks_error_invalid_argument")
    for (word in c(...)) expect_match(conditionMessage(error), word, fixed = TRUE)
  }
  with_graph(tf$Graph(), {
    images <- tf$constant(array(1, c(1, 2, 2, 1)))
    refused(tf$contrib$layers$convolution2d_transpose(images, kernel_size = 2), "`num_outputs`")
    refused(tf$contrib$layers$apply_regularization("file", list(images)), "`regularizer`", "file")
    refused(tf$sort(images, axis = -2^31), "`axis`", "from -4 to 3")
    refused(tf$argsort(tf$constant(1)), "`values`", "rank")
    refused(tf$constant(function() 1, shape = shape(2, 2)), "function", "tensor")
    refused(tf$linalg$einsum("\xff\xfe", images, images), "`equation`", "valid letters", "xff")
  })
  refused(feature_importances(boosted_trees_regressor(), by = 2L), "`by`", "\"gain\"", "2")
})

test_that("logging accepts the arguments of Python's logging", {
  before <- tf$logging$get_verbosity()
  withr::defer(tf$logging$set_verbosity(before))
  tf$logging$set_verbosity("INFO")
  expect_message(tf$logging$info(5), "5")
  expect_message(tf$logging$info("100 % done"), "100 % done", fixed = TRUE)
  expect_message(tf$logging$info("%d rows of %s", 3L, "a"), "3 rows of a")
})

test_that("a string with an embedded zero byte is an informative error", {
  path <- withr::local_tempfile(fileext = ".csv")
  writeBin(c(charToRaw("x,w\n1,a"), as.raw(0), charToRaw("b\n")), path)
  for (read in list(
    function() csv_record_spec(path),
    function() dataset_collect(make_csv_dataset(path, 1, num_epochs = 1))
  )) {
    expect_error(read(), "zero byte", class = "runhooks_error_invalid_argument")
  }
})
