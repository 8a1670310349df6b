# Names, order and defaults of the arguments of everything below `tf` against what TensorFlow 1.15
# says of itself (golden/tf_signatures.tsv; tools/tf_signatures.py writes it).

of_tensorflow <- function() {
  path <- test_path("golden", "tf_signatures.tsv")
  lines <- strsplit(readLines(path), "\t", fixed = TRUE)
  setNames(lapply(lines, function(line) {
    signature_formals(if (length(line) > 1) line[[2]] else "")
  }), vapply(lines, `[[`, "", 1))
}

# Where R's function is another one on purpose, and why.
others <- c(
  # feature columns are those of tfestimators: `...` are keys, one column for each
  "^feature_column[.](numeric_column|categorical_column_.*)$",
  # tfestimators' RunConfig has the arguments that one machine has
  "^estimator[.]RunConfig$",
  # refused whatever is given
  "^(contrib[.]learn|keras)[.]",
  # the modules' own functions are variants; here they are those of the shorter name
  "^python[.]ops[.](math_ops[.]reduce_|variables[.]Variable)",
  # arguments in the middle that other kernels than those of images on a CPU have
  "^raw_ops[.](Conv2D|ImageSummary)",
  # by folder, not by estimator: tfestimators has no such hook
  "make_stop_at_checkpoint_step_hook$"
)

value_of <- function(default) {
  value <- tryCatch(eval(default, asNamespace("runhooks")), error = function(e) "?")
  value <- if (is.list(value) && !is.null(value$name)) value$name else value
  if (is.numeric(value)) as.numeric(value) else value
}

differences <- function(name, theirs) {
  ours <- formals(tf_symbol(name))
  # what R adds stands behind and has a default
  shared <- utils::head(names(ours), length(theirs))
  if (!identical(shared, names(theirs))) {
    return(sprintf("%s(%s), not (%s)", name, toString(names(ours)), toString(names(theirs))))
  }
  required <- function(f, argument) identical(f[[argument]], quote(expr = ))
  wrong <- Filter(function(argument) {
    if (identical(theirs[[argument]], quote(`?`))) return(FALSE)
    # what TensorFlow asks for may be left out here
    if (required(theirs, argument)) return(FALSE)
    if (required(ours, argument)) return(TRUE)
    !identical(value_of(ours[[argument]]), value_of(theirs[[argument]]))
  }, names(theirs))
  if (length(wrong)) sprintf("%s: default of %s", name, toString(wrong))
}

test_that("every function below tf has TensorFlow's arguments, in its order, with its defaults", {
  tensorflow <- of_tensorflow()
  known <- intersect(tf_names(), names(tensorflow))
  known <- known[!grepl(paste(others, collapse = "|"), known)]
  expect_gt(length(known), 400)
  found <- Filter(Negate(is.null), Map(differences, known, tensorflow[known]))
  expect_identical(paste(unlist(found), collapse = "\n"), "")
})
