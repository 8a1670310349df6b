hearts <- data.frame(
  age = c(63, 67, 37, 41, 56, 62), chol = c(233L, 286L, 250L, 204L, 236L, 268L),
  thal = c("fixed", "normal", "reversible", "normal", "normal", "fixed"),
  sex = c("m", "m", "f", "f", "m", "f"), target = c(0L, 1L, 0L, 0L, 0L, 1L)
)

test_that("steps make the columns of tfdatasets", {
  batches <- tensor_slices_dataset(hearts) %>% dataset_batch(4)
  spec <- feature_spec(batches, target ~ .) %>%
    step_numeric_column(all_numeric(), normalizer_fn = scaler_standard()) %>%
    step_categorical_column_with_vocabulary_list(all_nominal()) %>%
    step_bucketized_column(age, boundaries = c(40, 60)) %>%
    step_indicator_column(thal, x = sex) %>%
    step_embedding_column(thal, dimension = 2) %>%
    step_crossed_column(thal_age = c(thal, bucketized_age), hash_bucket_size = 10) %>%
    step_crossed_column(c(thal, sex), hash_bucket_size = 10) %>%
    step_indicator_column(thal_age) %>%
    step_remove_column(chol)
  expect_error(spec$features(), "not fitted")
  fitted <- fit(spec)
  expect_false(spec$fitted)
  expect_true(fitted$fitted)
  columns <- fitted$features()
  expect_named(columns, c(
    "age", "thal", "sex", "bucketized_age", "indicator_thal", "x", "embedding_thal", "thal_age",
    "crossed_thal_sex", "indicator_thal_age"
  ))
  expect_identical(unlist(columns$thal$vocabulary_list), c("fixed", "normal", "reversible"))
  expect_named(dense_features(fitted), c(
    "age", "bucketized_age", "indicator_thal", "x", "embedding_thal", "indicator_thal_age"
  ))
  expect_identical(names(fitted$dense_features()), names(dense_features(fitted)))
  age <- columns$age
  with(tf$Graph()$as_default(), {
    layer <- input_layer(list(age = tf$constant(hearts$age)), list(age))
    scaled <- tf$Session()$run(layer)
  })
  expect_equal(as.vector(scaled), as.vector(scale(hearts$age)), tolerance = 1e-5)
  expect_output(print(fitted), "feature specification> fitted")
  expect_error(fitted$nosuch, "no member")
})

test_that("a model trains with a specification", {
  spec <- feature_spec(hearts, c(age, thal), target) %>%
    step_numeric_column(age, normalizer_fn = scaler_min_max()) %>%
    step_categorical_column_with_vocabulary_list(thal) %>%
    step_indicator_column(thal) %>%
    fit()
  input <- function() {
    tensor_slices_dataset(hearts) %>% dataset_use_spec(spec) %>% dataset_batch(6)
  }
  element <- dataset_collect(input(), 1)[[1]]
  expect_named(element[[1]], c("age", "thal"))
  expect_equal(as.vector(element[[2]]), hearts$target)
  model <- linear_classifier(dense_features(spec))
  train(model, input)
  expect_equal(nrow(predict(model, input)), 6)
})

test_that("other steps and arguments work", {
  words <- withr::local_tempfile()
  writeLines(c("normal", "fixed"), words)
  spec <- feature_spec(hearts, target ~ age + chol + thal + sex) %>%
    step_numeric_column(has_type("float64"), normalizer_fn = function(x) x / 100) %>%
    step_categorical_column_with_identity(chol, num_buckets = 500) %>%
    step_categorical_column_with_vocabulary_file(thal, vocabulary_file = words) %>%
    step_categorical_column_with_hash_bucket(sex, hash_bucket_size = 256) %>%
    step_embedding_column(sex) %>%
    step_numeric_column(starts_with("ag"), -chol)
  columns <- fit(spec)$features()
  expect_equal(columns$thal$vocabulary_file, words)
  expect_equal(columns$embedding_sex$dimension, 4)
  expect_length(dense_features(fit(spec, hearts[1:3, ])), 2)
  shared <- feature_spec(hearts, target ~ thal + sex) %>%
    step_categorical_column_with_vocabulary_list(thal, sex, vocabulary_list = c("fixed", "m")) %>%
    step_shared_embeddings_column(both = c(thal, sex), dimension = 3) %>%
    fit()
  expect_named(dense_features(shared), c("both1", "both2"))
  expect_identical(feature_spec(hearts, target ~ . - age)$x, c("chol", "thal", "sex"))
  expect_error(feature_spec(3, target ~ .), "dataset")
  expect_error(step_numeric_column(spec, nosuch), "nosuch")
  expect_error(step_numeric_column(3, age), "feature_spec")
  alone <- feature_spec(hearts, target ~ thal) %>% step_indicator_column(thal)
  expect_error(dense_features(fit(alone)), "no earlier step")
  expect_error(dataset_use_spec(tensor_slices_dataset(hearts), alone), "fit[(]spec[)]")
})

test_that("selectors and fit() leave those of other packages working", {
  # another test file of the process may have loaded recipes
  if (!isNamespaceLoaded("recipes")) expect_error(all_numeric(), "only in the steps")
  expect_error(fit(3), "no (applicable )?method")
  skip_if_not_installed("recipes")
  rec <- recipes::recipe(mpg ~ ., mtcars) %>% recipes::step_center(all_numeric(), -mpg)
  baked <- recipes::bake(recipes::prep(rec), NULL)
  expect_equal(mean(baked$wt), 0)
  skip_if_not_installed("generics")
  model <- linear_regressor(mpg ~ wt, mtcars)
  expect_identical(generics::fit(model), model)
  expect_identical(fit(model), model)
  expect_error(fit(3), "no applicable method")
})
