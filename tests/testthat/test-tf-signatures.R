# Names, order and defaults of the arguments of functions in `tf`, compared with TensorFlow 1.15
# (golden/tf_signatures.tsv, from tools/tf_signatures.py).

tensorflow_signatures <- function() {
  path <- test_path("golden", "tf_signatures.tsv")
  lines <- strsplit(readLines(path), "\t", fixed = TRUE)
  setNames(lapply(lines, function(line) {
    signature_formals(if (length(line) > 1) line[[2]] else "")
  }), vapply(lines, `[[`, "", 1))
}

# Functions that differ on purpose, with the reason.
intended_differences <- c(
  estimator.RunConfig = "as in tfestimators: arguments for one machine, others by `...`",
  contrib.learn.datasets.load_dataset = "an error for all arguments",
  contrib.learn.datasets.mnist.read_data_sets = "an error for all arguments",
  contrib.learn.read_batch_features = "an error for all arguments",
  keras.Sequential = "an error for all arguments",
  python.ops.math_ops.reduce_sum = "FALSE in this module, but NULL in tf.reduce_sum()",
  python.ops.math_ops.reduce_mean = "the same",
  python.ops.math_ops.reduce_max = "the same",
  python.ops.math_ops.reduce_min = "the same",
  python.ops.variables.Variable = "the function of this module is that of TensorFlow 2",
  raw_ops.Conv2D = "explicit_paddings, in the middle, is only for kernels of other devices",
  raw_ops.Conv2DBackpropFilter = "the same",
  raw_ops.Conv2DBackpropInput = "the same",
  raw_ops.ImageSummary = "the default of bad_color, in the middle, is a tensor",
  estimator.experimental.make_stop_at_checkpoint_step_hook = "by folder, not by estimator"
)

value_of <- function(default) {
  value <- tryCatch(eval(default, asNamespace("runhooks")), error = function(e) "?")
  value <- if (is.list(value) && !is.null(value$name)) value$name else value
  if (is.numeric(value)) as.numeric(value) else value
}

differences <- function(name, theirs) {
  ours <- formals(tf_symbol(name))
  # Additional arguments of R come last and have defaults.
  shared <- utils::head(names(ours), length(theirs))
  if (!identical(shared, names(theirs))) {
    return(sprintf("%s(%s), not (%s)", name, toString(names(ours)), toString(names(theirs))))
  }
  required <- function(f, argument) identical(f[[argument]], quote(expr = ))
  arguments <- Filter(function(argument) {
    if (identical(theirs[[argument]], quote(`?`))) return(FALSE)
    # Arguments that TensorFlow requires may be optional here.
    if (required(theirs, argument)) return(FALSE)
    if (required(ours, argument)) return(TRUE)
    !identical(value_of(ours[[argument]]), value_of(theirs[[argument]]))
  }, names(theirs))
  if (length(arguments)) sprintf("%s: default of %s", name, toString(arguments))
}

test_that("functions of tf have TensorFlow's arguments, order and defaults", {
  tensorflow <- tensorflow_signatures()
  shared <- intersect(tf_names(), names(tensorflow))
  expect_gt(length(shared), 400)
  found <- unlist(Map(differences, shared, tensorflow[shared]))
  expected <- names(intended_differences)
  expect_identical(paste(found[setdiff(names(found), expected)], collapse = "\n"), "")
  # Exceptions that are no longer needed must be removed.
  expect_setequal(intersect(expected, names(found)), expected)
})
