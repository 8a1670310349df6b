# Lists of named constants: modes, prediction keys, metric keys, graph collections and task types.

new_keys <- function(kind, ...) structure(list(...), kind = kind, class = "runhooks_keys")

#' @export
print.runhooks_keys <- function(x, ...) {
  values <- unlist(unclass(x)[order(names(x), method = "radix")])
  # lint: allow stdout
  cat("Available ", attr(x, "kind"), " keys: ", paste(values, collapse = ", "), sep = "")
  invisible(x)
}

#' Names of modes, predictions, metrics, graph collections and tasks
#'
#' Each function returns a list of the strings that TensorFlow uses for one purpose, such as
#' `mode_keys()$TRAIN`. Use them instead of literal strings.
#'
#' @return A named list of strings. As in any list, an unknown name is `NULL`.
#' @section Errors: None.
#' @name keys
#' @family keys
#' @examples
#' mode_keys()$TRAIN
#' graph_keys()$LOSSES
#' prediction_keys()$PROBABILITIES
#' metric_keys()
#' task_type()
NULL

#' @rdname keys
#' @export
mode_keys <- function() new_keys("mode", TRAIN = "train", EVAL = "eval", PREDICT = "infer")

#' @rdname keys
#' @export
prediction_keys <- function() {
  new_keys("prediction",
    CLASSES = "classes", CLASS_IDS = "class_ids", LOGISTIC = "logistic", LOGITS = "logits",
    PREDICTIONS = "predictions", PROBABILITIES = "probabilities", ALL_CLASSES = "all_classes",
    ALL_CLASS_IDS = "all_class_ids", TOP_K = "top_k"
  )
}

#' @rdname keys
#' @export
metric_keys <- function() {
  new_keys("metric",
    LOSS = "loss", LOSS_MEAN = "average_loss", LOSS_REGULARIZATION = "regularization_loss",
    ACCURACY = "accuracy", PRECISION = "precision", RECALL = "recall",
    ACCURACY_BASELINE = "accuracy_baseline", AUC = "auc", AUC_PR = "auc_precision_recall",
    LABEL_MEAN = "label/mean", PREDICTION_MEAN = "prediction/mean",
    ACCURACY_AT_THRESHOLD = "accuracy/positive_threshold_%g",
    PRECISION_AT_THRESHOLD = "precision/positive_threshold_%g",
    RECALL_AT_THRESHOLD = "recall/positive_threshold_%g",
    PROBABILITY_MEAN_AT_CLASS = "probability_mean/class%d", AUC_AT_CLASS = "auc/class%d",
    AUC_PR_AT_CLASS = "auc_precision_recall/class%d",
    PROBABILITY_MEAN_AT_NAME = "probability_mean/%s", AUC_AT_NAME = "auc/%s",
    AUC_PR_AT_NAME = "auc_precision_recall/%s"
  )
}

#' @rdname keys
#' @export
graph_keys <- function() {
  new_keys("graph",
    GLOBAL_VARIABLES = "variables", LOCAL_VARIABLES = "local_variables",
    METRIC_VARIABLES = "metric_variables", MODEL_VARIABLES = "model_variables",
    TRAINABLE_VARIABLES = "trainable_variables", SUMMARIES = "summaries",
    QUEUE_RUNNERS = "queue_runners", TABLE_INITIALIZERS = "table_initializer",
    ASSET_FILEPATHS = "asset_filepaths", MOVING_AVERAGE_VARIABLES = "moving_average_variables",
    REGULARIZATION_LOSSES = "regularization_losses",
    CONCATENATED_VARIABLES = "concatenated_variables", SAVERS = "savers", WEIGHTS = "weights",
    BIASES = "biases", ACTIVATIONS = "activations", UPDATE_OPS = "update_ops", LOSSES = "losses",
    SAVEABLE_OBJECTS = "saveable_objects", RESOURCES = "resources",
    LOCAL_RESOURCES = "local_resources",
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables", INIT_OP = "init_op",
    LOCAL_INIT_OP = "local_init_op", READY_OP = "ready_op",
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op", SUMMARY_OP = "summary_op",
    GLOBAL_STEP = "global_step", EVAL_STEP = "eval_step", TRAIN_OP = "train_op",
    COND_CONTEXT = "cond_context", WHILE_CONTEXT = "while_context", VARIABLES = "variables"
  )
}

#' @rdname keys
#' @export
task_type <- function() {
  new_keys(
    "task",
    MASTER = "master",
    PS = "ps",
    WORKER = "worker",
    CHIEF = "chief",
    EVALUATOR = "evaluator"
  )
}
