test_that("selections look through the names of feature_columns()", {
  columns <- feature_columns(
    names = mtcars, column_numeric(starts_with("d")), "cyl" ~ column_numeric()
  )
  expect_equal(vapply(columns, `[[`, "", "key"), c("disp", "drat", "cyl"))
  formulas <- feature_columns(
    names = c("a", "b", "xa"),
    ends_with("a") ~ column_categorical_with_hash_bucket(hash_bucket_size = 5), b ~ column_numeric
  )
  expect_equal(vapply(formulas, `[[`, "", "name"), c("a", "xa", "b"))
  expect_length(feature_columns(c(a, b) ~ column_numeric()), 2)
})

test_that("scopes hold for the session, an expression or a function", {
  withr::defer(set_columns(NULL))
  set_columns(c("a", "b"))
  expect_length(column_numeric(everything()), 2)
  expect_equal(with_columns("z", column_numeric(everything()))$key, "z")
  scoped <- function() {
    scoped_columns(c("x1", "x2", "x3"))
    column_numeric(starts_with("x"))
  }
  expect_length(scoped(), 3)
  expect_length(column_numeric(everything()), 2)
  set_columns(NULL)
  expect_error(column_numeric(everything()), "names to select from")
})

test_that("an empty or impossible selection is named", {
  expect_error(
    feature_columns(names = c("a", "b"), column_numeric(starts_with("q"))), 'starts_with\\("q"\\)'
  )
  expect_error(feature_columns(~ column_numeric("a")), "selection on its left")
})

test_that("names to select from are a name for each column", {
  for (wrong in list(1, list(1), c("a", NA), c("a", ""))) {
    expect_error(with_columns(wrong, 1), "name for each", class = "runhooks_error_invalid_argument")
  }
  expect_null(set_columns(NULL))
})
