# Boosted trees with default settings, compared with xgboost (100 trees of depth 6, eta 0.3, lambda
# 1) on data of R, MASS and ggplot2, 5 folds: log loss or root mean squared error. These are the
# figures of the vignette "Boosted trees".
#   Rscript bench/trees_quality.R
# RUNHOOKS_GBM_PYTHON names a Python with xgboost and numpy.
suppressPackageStartupMessages(library(runhooks))
options(runhooks.progress = FALSE)
tf$logging$set_verbosity(tf$logging$ERROR)

births <- MASS::birthwt[c("low", "age", "lwt", "race", "smoke", "ptl", "ht", "ui", "ftv")]
births$race <- factor(births$race)
pima <- rbind(MASS::Pima.tr, MASS::Pima.te)
pima$type <- as.integer(pima$type == "Yes")
titanic <- as.data.frame(datasets::Titanic)
titanic <- titanic[rep(seq_len(nrow(titanic)), titanic$Freq), 1:4]
titanic$Survived <- as.integer(titanic$Survived == "Yes")
set.seed(4)
diamonds <- as.data.frame(ggplot2::diamonds)[sample(nrow(ggplot2::diamonds), 10000), ]
diamonds$price <- log(diamonds$price)

python_script <- '
import sys, numpy as np, xgboost
train, test, out = sys.argv[1:4]
a, b = np.loadtxt(train, delimiter=","), np.loadtxt(test, delimiter=",")
which = "binary:logistic" if set(a[:, 0]) == {0, 1} else "reg:squarederror"
m = xgboost.train(dict(objective=which), xgboost.DMatrix(a[:, 1:], label=a[:, 0]), 100)
np.savetxt(out, m.predict(xgboost.DMatrix(b[:, 1:])))
'

log_loss <- function(y, p) {
  p <- pmin(pmax(p, 1e-7), 1 - 1e-7)
  -mean(y * log(p) + (1 - y) * log(1 - p))
}

of_xgboost <- function(formula, given, held_out) {
  paths <- tempfile(c("script", "train", "test", "out"))
  writeLines(python_script, paths[[1]])
  for (i in 1:2) {
    data <- list(given, held_out)[[i]]
    table <- cbind(data[[all.vars(formula)[[1]]]], model.matrix(formula, data)[, -1])
    write.table(table, paths[[i + 1]], sep = ",", row.names = FALSE, col.names = FALSE)
  }
  system2(Sys.getenv("RUNHOOKS_GBM_PYTHON"), paths)
  scan(paths[[4]], quiet = TRUE)
}

is_number <- function(formula, data) length(unique(data[[all.vars(formula)[[1]]]])) > 2

of_ours <- function(formula, given, held_out, ...) {
  made <- if (is_number(formula, given)) boosted_trees_regressor else boosted_trees_classifier
  model <- made(formula, given, ...)
  suppressWarnings(train(model, given))
  predict(model, held_out, type = "response")[[1]]
}

of_glm <- function(formula, given, held_out) {
  family <- if (is_number(formula, given)) gaussian else binomial
  predict(glm(formula, family, given), held_out, type = "response")
}

measured <- function(name, formula, data) {
  set.seed(1)
  y <- data[[all.vars(formula)[[1]]]]
  fold <- sample(rep_len(1:5, nrow(data)))
  off <- function(p) if (is_number(formula, data)) sqrt(mean((y - p)^2)) else log_loss(y, p)
  crossed <- function(predicted, ...) {
    p <- numeric(nrow(data))
    for (k in 1:5) p[fold == k] <- predicted(formula, data[fold != k, ], data[fold == k, ], ...)
    off(p)
  }
  peer <- if (nzchar(Sys.getenv("RUNHOOKS_GBM_PYTHON"))) crossed(of_xgboost) else NA
  ours <- crossed(of_ours)
  cat(sprintf(
    "%-8s %6d rows: defaults %.4f, %.3f of xgboost's %.4f; not regularized %.4f; 20 trees of depth 2, l2 0.01 %.4f; glm() %.4f, mean %.4f\n",
    name, nrow(data), ours, ours / peer, peer,
    crossed(of_ours, l2_regularization = 0, min_node_weight = 0),
    crossed(of_ours, n_trees = 20L, max_depth = 2L, l2_regularization = 0.01),
    suppressWarnings(crossed(of_glm)), off(rep(mean(y), length(y)))
  ))
}

measured("birthwt", low ~ ., births)
measured("Pima", type ~ ., pima)
measured("Titanic", Survived ~ ., titanic)
measured("Boston", medv ~ ., MASS::Boston)
measured("diamonds", price ~ ., diamonds)
