# The canned models, from TensorFlow's own checkpoint at step 0: losses of all steps, variables,
# metrics, predictions, summaries.

for (name in canned_cases()) {
  test_that(paste("golden", name), {
    errors <- case_errors(name)
    for (part in names(errors)) {
      expect_lte(errors[[part]], bound_of(name), label = paste("error of", part))
    }
  })
}
