# Methods of an estimator, as Python scripts call them: `model$train(input_fn)`.

engine_method_names <- c(
  "train", "evaluate", "predict", "export_savedmodel", "export_saved_model", "get_variable_names",
  "get_variable_value", "latest_checkpoint"
)

# The method of this name, or NULL.
engine_method <- function(object, name) {
  if (name == "export_saved_model") name <- "export_savedmodel"
  if (name %in% names(engine_methods)) return(engine_methods[[name]](object))
  of_engine <- setdiff(engine_method_names, names(engine_methods))
  if (name %in% of_engine) do.call(`$`, list(unclass(object)$estimator, name))
}

engine_methods <- list(
  train = function(object) {
    function(input_fn, hooks = NULL, steps = NULL, max_steps = NULL, saving_listeners = NULL) {
      train(object, input_fn, steps, hooks, max_steps, saving_listeners)
      invisible(object)
    }
  },
  evaluate = function(object) {
    function(input_fn, steps = NULL, hooks = NULL, checkpoint_path = NULL, name = NULL) {
      evaluate(object, input_fn, steps, checkpoint_path, name, hooks, simplify = FALSE)
    }
  },
  predict = function(object) {
    function(input_fn, predict_keys = NULL, hooks = NULL, checkpoint_path = NULL,
             yield_single_examples = TRUE) {
      arguments <- list(
        object,
        input_fn = input_fn, hooks = hooks, checkpoint_path = checkpoint_path, as_iterable = TRUE,
        yield_single_examples = yield_single_examples
      )
      do.call(predict, c(arguments, list(predict_keys = predict_keys)[!is.null(predict_keys)]))
    }
  },
  export_savedmodel = function(object) {
    function(export_dir_base, serving_input_receiver_fn, assets_extra = NULL, as_text = FALSE,
             checkpoint_path = NULL) {
      export_savedmodel(
        object, export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path,
        overwrite = FALSE, versioned = TRUE
      )
    }
  }
)
