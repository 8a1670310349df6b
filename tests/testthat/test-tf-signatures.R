# Names, order and defaults of the arguments of functions in `tf`, compared with TensorFlow 1.15
# (golden/tf_signatures.tsv, from tools/tf_signatures.py).

of_tensorflow <- function() {
  path <- test_path("golden", "tf_signatures.tsv")
  lines <- strsplit(readLines(path), "\t", fixed = TRUE)
  setNames(lapply(lines, function(line) {
    signature_formals(if (length(line) > 1) line[[2]] else "")
  }), vapply(lines, `[[`, "", 1))
}

# Functions that differ on purpose, with the reason.
others <- c(
  estimator.RunConfig = "tfestimators' has the arguments that one machine has, others by `...`",
  contrib.learn.datasets.load_dataset = "refused whatever is given",
  contrib.learn.datasets.mnist.read_data_sets = "refused whatever is given",
  contrib.learn.read_batch_features = "refused whatever is given",
  keras.Sequential = "refused whatever is given",
  python.ops.math_ops.reduce_sum = "the module's own has FALSE where tf.reduce_sum() has NULL",
  python.ops.math_ops.reduce_mean = "the same",
  python.ops.math_ops.reduce_max = "the same",
  python.ops.math_ops.reduce_min = "the same",
  python.ops.variables.Variable = "the module's own is that of TensorFlow 2",
  raw_ops.Conv2D = "explicit_paddings, in the middle, is of kernels that are not on a CPU",
  raw_ops.Conv2DBackpropFilter = "the same",
  raw_ops.Conv2DBackpropInput = "the same",
  raw_ops.ImageSummary = "bad_color, in the middle, has a value of an image as its default",
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
  wrong <- Filter(function(argument) {
    if (identical(theirs[[argument]], quote(`?`))) return(FALSE)
    # Arguments that TensorFlow requires may be optional here.
    if (required(theirs, argument)) return(FALSE)
    if (required(ours, argument)) return(TRUE)
    !identical(value_of(ours[[argument]]), value_of(theirs[[argument]]))
  }, names(theirs))
  if (length(wrong)) sprintf("%s: default of %s", name, toString(wrong))
}

test_that("functions of tf have TensorFlow's arguments, order and defaults", {
  tensorflow <- of_tensorflow()
  known <- intersect(tf_names(), names(tensorflow))
  expect_gt(length(known), 400)
  found <- unlist(Map(differences, known, tensorflow[known]))
  expect_identical(paste(found[setdiff(names(found), names(others))], collapse = "\n"), "")
  # Exceptions that are no longer needed must be removed.
  expect_setequal(intersect(names(others), names(found)), names(others))
})
