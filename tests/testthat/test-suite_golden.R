# Compares the canned models with TensorFlow, starting from its checkpoint at step 0: all losses,
# variables, metrics, predictions and summaries.

for (name in canned_cases()) {
  test_that(paste("golden", name), {
    errors <- case_errors(name)
    for (part in names(errors)) {
      expect_lte(errors[[part]], bound_of(name), label = paste("error of", part))
    }
  })
}
