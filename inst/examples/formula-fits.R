# Models of formulas by their defaults beside lm() and glm(): how far the errors are apart, and how
# long training takes. `fits` is the table of vignette("getting-started").
library(runhooks)

passengers <- as.data.frame(Titanic)
passengers <- passengers[rep(seq_len(nrow(passengers)), passengers$Freq), -5]

numbers <- list(
  list("mtcars", mpg ~ wt + hp, mtcars),
  list("mtcars", mpg ~ ., mtcars),
  list("Boston", medv ~ ., MASS::Boston),
  list("airquality", Ozone ~ Solar.R + Wind + Temp, airquality),
  list("diamonds", log(price) ~ log(carat) + cut + color + clarity, ggplot2::diamonds),
  list("diamonds", log(price) ~ ., ggplot2::diamonds)
)
classes <- list(
  list("Titanic", Survived ~ Class + Sex + Age, passengers),
  list("Titanic", Survived ~ Class * Sex + Age, passengers),
  list("Mroz", lfp ~ ., carData::Mroz)
)

# The constructors by what they predict, and their further arguments.
kinds <- list(
  linear = list(linear_regressor, linear_classifier, list()),
  "wide and deep" = list(
    dnn_linear_combined_regressor, dnn_linear_combined_classifier,
    list(dnn_hidden_units = c(16, 8))
  ),
  deep = list(dnn_regressor, dnn_classifier, list(hidden_units = c(16, 8)))
)

compare_fit <- function(case, kind, is_class) {
  formula <- case[[2]]
  data <- case[[3]]
  make <- kinds[[kind]][[if (is_class) 2 else 1]]
  arguments <- c(list(formula = formula, data = data, na.action = na.omit), kinds[[kind]][[3]])
  set.seed(1)
  model <- do.call(make, arguments)
  seconds <- system.time(suppressMessages(train(model)))[["elapsed"]]
  used <- model.frame(formula, data, na.action = na.omit)
  truth <- model.response(used)
  rows <- rownames(data) %in% rownames(used)
  predicted <- predict(model, newdata = data[rows, ])
  if (is_class) {
    classic <- glm(formula, binomial, data)
    right <- function(class) mean(class == truth)
    figures <- c(
      right(levels(truth)[1 + (fitted(classic) > 0.5)]), right(predicted$.pred_class)
    )
  } else {
    error <- function(fit) sqrt(mean((truth - fit)^2))
    figures <- c(error(fitted(lm(formula, data))), error(predicted$.pred))
  }
  data.frame(
    data = case[[1]], formula = deparse(formula), rows = nrow(used), model = kind,
    measure = if (is_class) "accuracy" else "RMSE", classic = figures[[1]], runhooks = figures[[2]],
    seconds = seconds
  )
}

compare_fits <- function(kind) {
  do.call(rbind, c(
    lapply(numbers, compare_fit, kind, FALSE), lapply(classes, compare_fit, kind, TRUE)
  ))
}

fits <- do.call(rbind, lapply(names(kinds), compare_fits))
