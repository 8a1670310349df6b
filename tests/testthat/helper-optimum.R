# Fits formula models on R's data sets by lm() or glm() and by this package. Used by
# test-run_linear_fit.R and bench/optimum.R.

optimum_cases <- function() {
  set.seed(22)
  x <- seq(1, 10, length.out = 40)
  wave <- data.frame(x = x, y = sin(x) + rnorm(40, 0, 0.1))
  n <- 10000
  rare <- data.frame(g = factor(c("rare", sample(letters[1:3], n - 1, TRUE))), x = rnorm(n))
  rare$y <- rare$x + as.integer(rare$g) + 50 * (rare$g == "rare") + rnorm(n)
  near <- data.frame(g = factor(rep(1:20, 10)))
  near$middle <- rnorm(20, 50, 20)[near$g]
  near$x <- near$middle + rnorm(200, 0, 1e-3)
  near$y <- near$middle + 3000 * (near$x - near$middle) + rnorm(200)
  cars <- transform(mtcars, pounds = wt * 1000, gear = factor(gear))
  found <- data.frame(n = as.vector(discoveries), year = 1860:1959)
  case <- function(formula, data, kind = "gaussian", weight = NULL) {
    name <- deparse(substitute(data))
    list(formula = formula, data = data, kind = kind, weight = weight, name = name)
  }
  air <- airquality[stats::complete.cases(airquality), ]
  titanic <- as.data.frame(Titanic)
  berkeley <- as.data.frame(UCBAdmissions)
  list(
    case(mpg ~ wt + hp, mtcars), case(mpg ~ ., mtcars), case(mpg ~ wt + pounds + hp, cars),
    case(mpg ~ gear * wt, cars), case(mpg ~ wt + hp, cars, weight = "qsec"),
    case(weight ~ height, women), case(weight ~ height + I(height^2), women),
    case(Employed ~ ., longley), case(GNP ~ Year + I(Year^2), longley),
    case(pressure ~ temperature + I(temperature^2) + I(temperature^3), pressure),
    case(y ~ x + I(x^2) + I(x^3) + I(x^4) + I(x^5) + I(x^6) + I(x^7), wave),
    case(dist ~ speed + I(speed^2), datasets::cars), case(Sepal.Length ~ ., iris),
    case(Sepal.Length ~ Species * Petal.Width, iris), case(breaks ~ wool * tension, warpbreaks),
    case(weight ~ group, PlantGrowth), case(len ~ supp * dose, ToothGrowth),
    case(Ozone ~ Solar.R + Wind + Temp, air), case(Ozone ~ poly(Wind, 2) + factor(Month), air),
    case(sr ~ ., LifeCycleSavings), case(Fertility ~ ., swiss), case(stack.loss ~ ., stackloss),
    case(log(Volume) ~ log(Girth) + log(Height), trees),
    case(Volume ~ Girth + I(Girth^2) + Height + I(Height^2), trees), case(rating ~ ., attitude),
    case(yield ~ block + N * P * K, npk), case(rate ~ log(conc) * state, Puromycin),
    case(circumference ~ age + Tree, Orange), case(weight ~ Time * Diet, ChickWeight),
    case(y ~ x + g, rare), case(y ~ x + g, near), case(y ~ x * g, near),
    case(vs ~ mpg + I(mpg^2), mtcars, "binomial"), case(am ~ wt, mtcars, "binomial"),
    case(case ~ age + parity + education + spontaneous + induced, infert, "binomial"),
    case(Survived ~ Class + Sex + Age, titanic, "binomial", "Freq"),
    case(Admit ~ Gender * Dept, berkeley, "binomial", "Freq"),
    case(count ~ spray, InsectSprays, "poisson"), case(breaks ~ wool * tension, warpbreaks, "poisson"),
    case(carb ~ wt + hp, mtcars, "poisson"), case(n ~ year + I(year^2), found, "poisson")
  )
}

# Returns the largest relative errors of coefficients and standard errors, and whether their NA
# agree.
compare_optimum <- function(case) {
  data <- as.data.frame(case$data)
  # lm() ignores rows with weight 0.
  if (!is.null(case$weight)) data <- data[data[[case$weight]] > 0, ]
  make <- switch(case$kind,
    gaussian = linear_regressor, binomial = linear_classifier,
    poisson = function(...) linear_estimator(poisson_regression_head(
      weight_column = case$weight, loss_reduction = "sum"
    ), ...)
  )
  folder <- tempfile("optimum-")
  on.exit(unlink(folder, recursive = TRUE))
  extra <- if (case$kind != "poisson") list(weight_column = case$weight)
  model <- do.call(make, c(list(case$formula, data = data, model_dir = folder), extra))
  seconds <- system.time(history <- train(model))[["elapsed"]]
  .weights <- if (!is.null(case$weight)) data[[case$weight]]
  environment(case$formula) <- environment()
  reference <- if (case$kind == "gaussian") {
    stats::lm(case$formula, data, weights = .weights)
  } else {
    stats::glm(
      case$formula, case$kind, data, weights = .weights, control = list(epsilon = 1e-12, maxit = 50)
    )
  }
  ours <- coef(model)
  theirs <- coef(reference)
  errors <- sqrt(diag(vcov(model)))
  summary <- summary(reference)$coefficients
  data.frame(
    formula = paste(deparse(case$formula, 500), collapse = ""), data = case$name,
    kind = case$kind, steps = history$params$steps, seconds = seconds, missing = sum(is.na(ours)),
    same_terms = identical(names(ours), names(theirs)) && identical(is.na(ours), is.na(theirs)),
    coefficients = max(abs(ours / theirs - 1), na.rm = TRUE),
    standard_errors = max(abs(errors[rownames(summary)] / summary[, 2] - 1)),
    largest_t = max(abs(summary[, 3])), row.names = NULL
  )
}
