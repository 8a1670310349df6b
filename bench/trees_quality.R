# Log loss of boosted trees by their defaults beside xgboost's (100 trees of depth 6, eta 0.3, lambda
# 1) on small data of MASS, 5 folds: the figures of the vignette "Boosted trees".
#   Rscript bench/trees_quality.R
# RUNHOOKS_GBM_PYTHON names a Python with xgboost and numpy.
suppressPackageStartupMessages(library(runhooks))
options(runhooks.progress = FALSE)
tf$logging$set_verbosity(tf$logging$ERROR)

births <- MASS::birthwt[c("low", "age", "lwt", "race", "smoke", "ptl", "ht", "ui", "ftv")]
births$race <- factor(births$race)
pima <- rbind(MASS::Pima.tr, MASS::Pima.te)
pima$type <- as.integer(pima$type == "Yes")

python_script <- '
import sys, numpy as np, xgboost
train, test, out = sys.argv[1:4]
a, b = np.loadtxt(train, delimiter=","), np.loadtxt(test, delimiter=",")
m = xgboost.train(dict(objective="binary:logistic"), xgboost.DMatrix(a[:, 1:], label=a[:, 0]), 100)
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

of_ours <- function(formula, given, held_out, ...) {
  model <- boosted_trees_classifier(formula, given, ...)
  suppressWarnings(train(model, given))
  predict(model, held_out, type = "response")[[1]]
}

measured <- function(name, formula, data) {
  set.seed(1)
  y <- data[[all.vars(formula)[[1]]]]
  fold <- sample(rep_len(1:5, nrow(data)))
  crossed <- function(predicted, ...) {
    p <- numeric(nrow(data))
    for (k in 1:5) p[fold == k] <- predicted(formula, data[fold != k, ], data[fold == k, ], ...)
    log_loss(y, p)
  }
  of_glm <- function(formula, given, held_out) {
    predict(glm(formula, binomial, given), held_out, type = "response")
  }
  # xgboost's lambda and min_child_weight are of sums of gradients, ours of means
  one <- 1 / nrow(data)
  cat(sprintf(
    "%-8s defaults %.3f, regularized as xgboost %.3f, held back %.3f, xgboost's defaults %.3f, glm() %.3f, mean %.3f\n", name,
    crossed(of_ours), crossed(of_ours, l2_regularization = one, min_node_weight = one),
    crossed(of_ours, n_trees = 20L, max_depth = 2L, l2_regularization = 0.01),
    if (nzchar(Sys.getenv("RUNHOOKS_GBM_PYTHON"))) crossed(of_xgboost) else NA, crossed(of_glm),
    log_loss(y, mean(y))
  ))
}

measured("birthwt", low ~ ., births)
measured("Pima", type ~ ., pima)
