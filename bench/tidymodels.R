# Quality of the engine "runhooks" with default arguments, by 5-fold cross-validation: root mean
# squared error or log loss.
#   Rscript bench/tidymodels.R [data set ...]
# boost_tree() is compared with lightgbm and its defaults: 100 trees of 31 leaves, rate 0.1.
# mlp() is compared with the defaults of brulee_mlp() in brulee 1.1: 3 relu units, L-BFGS on all
# rows for at most 100 epochs, penalty 0.001, a tenth of the rows held out, and an end after 5
# epochs without improvement. torch is not available everywhere, so the program below computes that
# model with R's matrices. It minimizes by optim(), not by brulee's steps of rate 0.01, and starts
# from torch's uniform weights. Both networks read the same standardized numbers and indicators.
suppressPackageStartupMessages({
  library(runhooks)
  library(parsnip)
})
options(runhooks.progress = FALSE)
tf$logging$set_verbosity(tf$logging$ERROR)

data_of <- function(name) {
  found <- new.env()
  utils::data(list = name, package = "modeldata", envir = found)
  as.data.frame(found[[name]])
}

sets <- list(
  ames = function() {
    data <- data_of("ames")
    names(data)[names(data) == "Sale_Price"] <- "y"
    transform(data, y = log(y))
  },
  concrete = function() {
    data <- data_of("concrete")
    names(data)[names(data) == "compressive_strength"] <- "y"
    data
  },
  cells = function() {
    data <- data_of("cells")
    data$case <- NULL
    names(data)[names(data) == "class"] <- "y"
    data
  },
  churn = function() {
    data <- data_of("mlc_churn")
    names(data)[names(data) == "churn"] <- "y"
    data
  },
  credit = function() {
    data <- data_of("credit_data")
    names(data)[names(data) == "Status"] <- "y"
    data
  }
)

loss_of <- function(y, predicted) {
  if (!is.factor(y)) return(sqrt(mean((y - predicted)^2)))
  p <- pmin(pmax(predicted, 1e-7), 1 - 1e-7)
  is_second <- y == levels(y)[[2]]
  -mean(log(ifelse(is_second, p, 1 - p)))
}

# --- models: functions of the training and the test data, which return numbers or the probabilities
# of the second class

engine_of <- function(spec) {
  function(given, held_out) {
    mode <- if (is.factor(given$y)) "classification" else "regression"
    fitted <- generics::fit(set_engine(set_mode(spec, mode), "runhooks", seed = 1), y ~ ., given)
    type <- if (is.factor(given$y)) "prob" else "numeric"
    predicted <- predict(fitted, held_out, type = type)
    predicted[[ncol(predicted)]]
  }
}

of_lightgbm <- function(given, held_out) {
  is_class <- is.factor(given$y)
  x <- setdiff(names(given), "y")
  factors <- x[vapply(given[x], is.factor, NA)]
  codes <- function(data) data.matrix(data[x]) - rep(x %in% factors, each = nrow(data))
  label <- if (is_class) as.integer(given$y) - 1 else given$y
  train <- lightgbm::lgb.Dataset(codes(given), label = label, categorical_feature = factors)
  params <- list(
    objective = if (is_class) "binary" else "regression", verbosity = -1, num_threads = 2, seed = 1
  )
  predict(lightgbm::lgb.train(params, train, nrounds = 100), codes(held_out))
}

# The values and the gradient of a network with one hidden layer of relu units.
network_of <- function(weights, x, y, is_class, penalty, units = 3) {
  p <- ncol(x)
  w1 <- matrix(weights[seq_len((p + 1) * units)], p + 1)
  w2 <- weights[-seq_len((p + 1) * units)]
  inner <- cbind(1, x) %*% w1
  hidden <- pmax(inner, 0)
  eta <- as.vector(cbind(1, hidden) %*% w2)
  if (is.null(y)) return(if (is_class) plogis(eta) else eta)
  loss <- if (is_class) {
    mean(pmax(eta, 0) - y * eta + log1p(exp(-abs(eta))))
  } else {
    mean((eta - y)^2)
  }
  error <- if (is_class) plogis(eta) - y else 2 * (eta - y)
  error <- error / length(y)
  inside <- (error %o% w2[-1]) * (inner > 0)
  gradient <- c(crossprod(cbind(1, x), inside), crossprod(cbind(1, hidden), error))
  # brulee penalizes all parameters
  list(loss = loss + penalty / 2 * sum(weights^2), gradient = gradient + penalty * weights)
}

of_brulee_defaults <- function(given, held_out) {
  is_class <- is.factor(given$y)
  set.seed(1)
  valid <- sample.int(nrow(given), round(nrow(given) / 10))
  x <- as.matrix(given[names(given) != "y"])
  y <- if (is_class) as.integer(given$y) - 1 else as.vector(scale(given$y))
  f <- function(w) network_of(w, x[-valid, ], y[-valid], is_class, 0.001)
  validation <- function(w) network_of(w, x[valid, ], y[valid], is_class, 0.001)$loss
  p <- ncol(x)
  # the initial weights of torch's linear layers
  weights <- c(runif((p + 1) * 3, -1, 1) / sqrt(p), runif(4, -1, 1) / sqrt(3))
  best <- list(loss = Inf)
  since <- 0
  for (epoch in seq_len(100)) {
    # an epoch of torch's L-BFGS has up to 20 iterations
    weights <- optim(
      weights, function(w) f(w)$loss, function(w) f(w)$gradient, method = "BFGS",
      control = list(maxit = 20)
    )$par
    loss <- validation(weights)
    since <- if (loss < best$loss) 0 else since + 1
    if (loss < best$loss) best <- list(loss = loss, weights = weights)
    if (since >= 5) break
  }
  found <- network_of(best$weights, as.matrix(held_out[names(held_out) != "y"]), NULL, is_class, 0)
  if (is_class) found else found * sd(given$y) + mean(given$y)
}

# Standardized numbers and indicators of the training data, without missing values.
prepared <- function(given, held_out) {
  recipe <- recipes::recipe(y ~ ., given) |>
    recipes::step_impute_median(recipes::all_numeric_predictors()) |>
    recipes::step_unknown(recipes::all_nominal_predictors()) |>
    recipes::step_dummy(recipes::all_nominal_predictors()) |>
    recipes::step_zv(recipes::all_predictors()) |>
    recipes::step_normalize(recipes::all_numeric_predictors())
  recipe <- suppressWarnings(recipes::prep(recipe))
  list(
    given = as.data.frame(recipes::bake(recipe, given)),
    held_out = as.data.frame(suppressWarnings(recipes::bake(recipe, held_out)))
  )
}

# ---

has_lightgbm <- requireNamespace("lightgbm", quietly = TRUE)
if (!has_lightgbm) message("Without lightgbm: its columns are NA.")
chosen <- commandArgs(TRUE)
for (name in if (length(chosen)) chosen else names(sets)) {
  data <- sets[[name]]()
  set.seed(1)
  fold <- sample(rep_len(1:5, nrow(data)))
  losses <- vapply(1:5, function(k) {
    given <- data[fold != k, ]
    held_out <- data[fold == k, ]
    plain <- prepared(given, held_out)
    c(
      trees = loss_of(held_out$y, engine_of(boost_tree())(given, held_out)),
      lightgbm = if (has_lightgbm) loss_of(held_out$y, of_lightgbm(given, held_out)) else NA,
      mlp = loss_of(held_out$y, engine_of(mlp())(plain$given, plain$held_out)),
      brulee = loss_of(held_out$y, of_brulee_defaults(plain$given, plain$held_out))
    )
  }, numeric(4))
  mean <- rowMeans(losses)
  cat(sprintf(
    "%s, %d rows: boost_tree() %.4f, lightgbm %.4f, ratio %.3f; mlp() %.4f, brulee %.4f, ratio %.3f\n",
    name, nrow(data), mean[["trees"]], mean[["lightgbm"]], mean[["trees"]] / mean[["lightgbm"]],
    mean[["mlp"]], mean[["brulee"]], mean[["mlp"]] / mean[["brulee"]]
  ))
}
