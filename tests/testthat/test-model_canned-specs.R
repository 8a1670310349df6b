# The core's registration of columns, heads and estimators matches the arguments, checks and help of
# their constructors, and the description for programs.

model_kinds <- c("column", "head", "estimator")

# Invalid values for each kind of argument. NULL is invalid unless it is the default.
invalid_arguments <- list(
  "whole number" = list(1.5, "ten", TRUE, NA, 2^60, c(1, 2)),
  count = list(0, -1, 1.5, "ten", NA, 2^60),
  "plain number" = list("ten", TRUE, NA_real_),
  probability = list(1, -0.1, "half", NA),
  flag = list(1, "yes", NA),
  string = list(3, NA_character_, c("a", "b")),
  choice = list("nobody", 3, NA_character_),
  path = list(3, NA_character_),
  "function" = list(3, "f"), initializer = list(3, "f"),
  shape = list("wide", 0, 1.5), numbers = list("a", c(1, NA), numeric()),
  words = list(NA, list(c("a", "b")), list()),
  "class weights" = list(c(-1, 2), c(1, NA), "even"), "class words" = list(3, "one", c("a", NA)), widths = list(0, c(3, 2.5), "wide", c(1, NA)),
  probabilities = list(2, "half", 0), "weight column" = list(3, c("a", "b")),
  features = list(3, TRUE, NA), column = list(3, "x"), "column or name" = list(3), columns = list(3, "x", list()),
  head = list("binary", 3), heads = list("binary", list()),
  optimizer = list(3, "Nobody"), activation = list(3, "nobody"), partitioner = list(3, function(x) x),
  "warm start" = list(3), configuration = list(3), formula = list(3)
)

ids <- column_categorical_with_identity("a", num_buckets = 4)
words_file <- tempfile("words")
writeLines(c("a", "b"), words_file)
good <- list(
  NumericColumn = list("x"),
  BucketizedColumn = list(column_numeric("x"), c(1, 2)),
  IndicatorColumn = list(ids), EmbeddingColumn = list(ids, dimension = 2),
  SharedEmbeddingColumn = list(list(ids), dimension = 2),
  CrossedColumn = list(c("a", "b"), hash_bucket_size = 5),
  HashedCategoricalColumn = list("a", hash_bucket_size = 5),
  IdentityCategoricalColumn = list("a", num_buckets = 5),
  VocabularyListCategoricalColumn = list("a", vocabulary_list = c("u", "v")),
  VocabularyFileCategoricalColumn = list("a", vocabulary_file = words_file),
  WeightedCategoricalColumn = list(ids, "w"),
  multi_class_head = list(n_classes = 3), multi_label_head = list(n_classes = 3),
  multi_head = list(heads = regression_head(name = "a"))
)
columns <- column_numeric("x")

# Returns valid values for the required arguments, by kind if the type is not listed above.
good_of <- function(specs) {
  type <- specs$type[[1]]
  if (!is.null(good[[type]])) return(good[[type]])
  by_kind <- list(
    head = regression_head(), widths = 3, columns = list(columns), count = 2,
    "whole number" = 2, "plain number" = 2, feature = "x", column = ids, numbers = c(1, 2)
  )
  needed <- specs[!nzchar(specs$default), ]
  given <- setNames(by_kind[needed$kind], ifelse(needed$kind == "feature", "", needed$name))
  # A model with two parts needs the columns of at least one part.
  slots <- specs$name[specs$kind == "columns"]
  if (length(slots) > 1) given[[slots[[1]]]] <- list(columns)
  given
}

constructor_of <- function(specs) get(endpoints_of(specs)[[1]])

each_registered <- function(visit) {
  for (what in model_kinds) for (specs in registered(what)) visit(specs, what)
}

test_that("constructors have the arguments, order and defaults of the registration", {
  each_registered(function(specs, what) {
    takes <- formals(constructor_of(specs))
    own <- specs[specs$kind != "feature", ]
    expected <- as.list(registered_formals(own))
    expect_equal(as.list(takes)[own$name], expected, info = specs$type[[1]])
    has_dots <- what == "estimator" || any(specs$kind == "feature")
    expect_setequal(names(takes), c(own$name, if (has_dots) "..."))
    expect_equal(intersect(names(takes), own$name), own$name)
  })
})

test_that("constructors have the arguments of tfestimators and TensorFlow", {
  # Only functions of tfestimators and TensorFlow are compared; newer functions have separate tests.
  is_old <- function(name) {
    grepl("^column_(num|cat|buck|ind|emb|shared|cross)|^(linear|dnn|baseline)_", name) ||
      name %in% paste0(
        c("regression", "poisson_regression", "logistic_regression", "binary_class", "multi_class",
          "multi_label", "multi"),
        "_head"
      )
  }
  shown <- function(what) {
    all <- registered(what)
    lines <- lapply(all[order(names(all), method = "radix")], function(specs) {
      name <- endpoints_of(specs)[[1]]
      if (!is_old(name)) return(NULL)
      takes <- formals(get(name))
      takes <- takes[names(takes) != "class_weights"] # newer than tfestimators
      defaults <- vapply(takes, function(x) paste(deparse(x), collapse = ""), "")
      words <- paste0(names(takes), ifelse(nzchar(defaults), " = ", ""), defaults)
      strwrap(paste0(name, "(", paste(words, collapse = ", "), ")"), 98, exdent = 2)
    })
    cat(unlist(lines), sep = "\n")
  }
  expect_snapshot_text({
    shown("column")
    shown("head")
    shown("estimator")
  })
})

test_that("each invalid argument is an error that names it when the object is created", {
  each_registered(function(specs, what) {
    type <- specs$type[[1]]
    name <- endpoints_of(specs)[[1]]
    make <- get(name)
    arguments <- good_of(specs)
    expect_no_error(do.call(make, arguments))
    own <- specs[!specs$kind %in% c("feature", "any", "vector", "columns or names", "type", "data"), ]
    # The columns of a shared embedding are a list, so a single invalid column is not tested.
    own <- own[!(type == "SharedEmbeddingColumn" & own$kind == "column"), ]
    for (i in seq_along(own$name)) {
      invalid_values <- invalid_arguments[[own$kind[[i]]]]
      expect_gt(length(invalid_values), 0, label = own$kind[[i]])
      for (x in invalid_values) {
        call_args <- arguments
        at <- match(own$name[[i]], specs$name[specs$kind != "feature"])
        is_unnamed <- is.null(names(call_args)) || all(names(call_args) == "")
        is_positional <- is_unnamed && at <= length(call_args) && !any(specs$kind == "feature")
        if (is_positional) call_args <- call_args[-at]
        call_args[own$name[[i]]] <- list(x)
        error <- expect_error(
          do.call(name, call_args), paste0(own$name[[i]], "|activation function"),
          class = "runhooks_error", info = paste(type, own$name[[i]], deparse(x)[[1]])
        )
        expect_equal(as.character(error$call[[1]]), name, info = paste(type, own$name[[i]]))
      }
    }
  })
})

test_that("programs can query family, mode, kinds and compatibility rules of a folder", {
  specs <- cpp_specs("estimator", "")
  families <- unique(specs[c("type", "family", "mode")])
  of <- function(type) unlist(families[families$type == type, c("family", "mode")], use.names = FALSE)
  expect_equal(of("linear_regressor"), c("linear", "regression"))
  expect_equal(of("dnn_classifier"), c("deep", "classification"))
  expect_equal(of("dnn_linear_combined_regressor"), c("both", "regression"))
  expect_equal(of("baseline_estimator"), c("baseline", ""))
  expect_true(all(nzchar(families$family)))
  dnn <- cpp_specs("estimator", "dnn_regressor")
  expect_setequal(
    dnn$name[dnn$affects_checkpoints],
    c("hidden_units", "feature_columns", "label_dimension", "optimizer", "activation_fn", "batch_norm")
  )
  expect_equal(dnn$kind[dnn$name == "dropout"], "probability")
  for (what in c(model_kinds, "hook", "optimizer", "dataset")) {
    table <- cpp_specs(what, "")
    expect_true(all(nzchar(table$name)) && all(nzchar(table$kind)), info = what)
    expect_equal(nrow(table), sum(vapply(unique(table$type), function(type) {
      nrow(cpp_specs(what, type))
    }, 1L)))
  }
  expect_error(cpp_specs("nobody", ""), "'nobody' is not a kind of specification")
})

test_that("help pages use the registration", {
  params <- estimator_params("dnn")
  expect_match(params, "^@param dropout The probability of dropping a unit", all = FALSE)
  expect_match(params, "^@param optimizer .*learning rate 0.05", all = FALSE)
  expect_match(estimator_params("linear"), "learning rate 0.2.*smaller of 0.2", all = FALSE)
  expect_match(head_params("multi_class_head"), "^@param n_classes The number of classes", all = FALSE)
  expect_match(column_params("NumericColumn"), "^@param ... Names of features", all = FALSE)
  # Internal arguments are not documented.
  expect_false(any(grepl("label_center|auc_summation", c(params, head_params("binary_class_head")))))
})

test_that("default rates of named optimizers are those used in training", {
  rate_of <- function(model) {
    train(model, input_fn(mpg ~ wt, mtcars, batch_size = 32), steps = 1)
    model
  }
  for (type in c("linear_regressor", "dnn_regressor", "baseline_regressor")) {
    part <- cpp_model_traits(type)$parts[[1]]
    make <- function(optimizer) {
      given <- list(optimizer = optimizer, config = run_config(tf_random_seed = 1))
      if (nzchar(part$columns)) given$feature_columns <- column_numeric("wt")
      if (type == "dnn_regressor") given$hidden_units <- 3
      rate_of(do.call(type, given))
    }
    by_name <- make("SGD")
    by_rate <- make(tf$train$GradientDescentOptimizer(part$rate))
    expect_identical(variable_value(by_name), variable_value(by_rate), info = type)
  }
})

test_that("a specification that was modified by hand is validated again", {
  model <- linear_regressor(column_numeric("drat"))
  model$spec$nope <- 3
  expect_error(train(model, mtcars_input()), "Unused argument `nope`")
  column <- column_numeric("drat")
  column$nope <- 3
  expect_error(linear_regressor(column) %>% train(mtcars_input()), "Unused argument `nope`")
  head <- regression_head()
  head$nope <- 3
  expect_error(linear_estimator(head, column_numeric("drat")), "Unused argument `nope`")
})
