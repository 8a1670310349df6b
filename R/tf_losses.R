# tf$losses: the collections of losses, and the names of reductions. The losses are functions of the
# core.

loss_symbols <- function() {
  reductions <- c(
    NONE = "none", SUM = "weighted_sum", MEAN = "weighted_mean",
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size",
    SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights",
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
  )
  functions <- list(
    get_losses = function(scope = NULL, loss_collection = "losses") {
      cpp_graph_default()$get_collection(loss_collection, scope)
    },
    get_regularization_losses = function(scope = NULL) {
      cpp_graph_default()$get_collection("regularization_losses", scope)
    },
    add_loss = function(loss, loss_collection = "losses") {
      if (!is.null(loss_collection)) {
        cpp_graph_default()$add_to_collection(loss_collection, loss)
      }
      invisible()
    }
  )
  c(
    setNames(functions, paste0("losses.", names(functions))),
    setNames(as.list(reductions), paste0("losses.Reduction.", names(reductions)))
  )
}
