# tf$metrics: each gives the pair list(value, update op). What they do is C++.

metric_symbols <- function() {
  last <- alist(metrics_collections = NULL, updates_collections = NULL, name = NULL)
  weights <- alist(weights = NULL)
  pair <- alist(labels = , predictions = )
  # the arguments before the weights, and those after them
  metric <- function(name, first = pair, own = list()) {
    core_function(paste0("metrics.", name), c(first, weights, own, last), scoped = TRUE)
  }
  outcomes <- c("true_positives", "false_positives", "true_negatives", "false_negatives")
  at_thresholds <- paste0(
    c(outcomes, "precision", "recall"), "_at_thresholds"
  )
  of_pairs <- c(
    outcomes, "accuracy", "mean_squared_error", "root_mean_squared_error", "mean_absolute_error",
    "precision", "recall"
  )
  functions <- c(
    lapply(setNames(nm = of_pairs), metric),
    lapply(setNames(nm = at_thresholds), metric, first = c(pair, alist(thresholds = ))),
    list(
      mean = metric("mean", alist(values = )),
      mean_tensor = metric("mean_tensor", alist(values = )),
      percentage_below = metric("percentage_below", alist(values = , threshold = )),
      mean_relative_error = metric("mean_relative_error", c(pair, alist(normalizer = ))),
      mean_cosine_distance = metric("mean_cosine_distance", c(pair, alist(dim = ))),
      mean_per_class_accuracy = metric("mean_per_class_accuracy", c(pair, alist(num_classes = ))),
      mean_iou = metric("mean_iou", c(pair, alist(num_classes = ))),
      sensitivity_at_specificity = metric(
        "sensitivity_at_specificity", c(pair, alist(specificity = )), alist(num_thresholds = 200)
      ),
      specificity_at_sensitivity = metric(
        "specificity_at_sensitivity", c(pair, alist(sensitivity = )), alist(num_thresholds = 200)
      ),
      average_precision_at_k = metric("average_precision_at_k", c(pair, alist(k = ))),
      auc = core_function(
        "metrics.auc",
        c(
          pair, weights, alist(num_thresholds = 200), last[1:2],
          alist(curve = "ROC", name = NULL, summation_method = "trapezoidal")
        ),
        scoped = TRUE
      ),
      recall_at_k = core_function(
        "metrics.recall_at_k", c(pair, alist(k = , class_id = NULL), weights, last), scoped = TRUE
      ),
      precision_at_k = core_function(
        "metrics.precision_at_k", c(pair, alist(k = , class_id = NULL), weights, last),
        scoped = TRUE
      )
    )
  )
  functions$sparse_precision_at_k <- functions$precision_at_k
  functions$sparse_average_precision_at_k <- functions$average_precision_at_k
  setNames(functions, paste0("metrics.", names(functions)))
}
