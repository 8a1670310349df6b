# Methods of models for scripts that are written as in Python: `model$train(input_fn)`.

# Functions that return the method of a model.
script_methods <- list(
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
  },
  # Errors of these two have TensorFlow's words, unlike those of variable_names().
  get_variable_names = function(object) {
    function() checkpoint_names(latest_checkpoint_or_abort(model_dir(object)))
  },
  get_variable_value = function(object) {
    function(name) {
      cpp_checkpoint_values(latest_checkpoint_or_abort(model_dir(object)), name)[[1]]
    }
  },
  latest_checkpoint = function(object) function() latest_checkpoint(model_dir(object))
)
script_methods$export_saved_model <- script_methods$export_savedmodel
