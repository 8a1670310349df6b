# Exporters for train_and_evaluate(). An exporter has a name and a method export(), which returns
# the path of the export, or NULL if it exports nothing.

#' Export models during train_and_evaluate()
#'
#' These functions return an exporter for the argument `exporters` of [eval_spec()]. It calls
#' [export_savedmodel()] for the model that was just evaluated, and writes to `export/<name>` in the
#' model directory, with one folder for each export.
#'
#' * `latest_exporter()` exports after each evaluation.
#' * `final_exporter()` exports after the evaluation at `max_steps`.
#' * `best_exporter()` exports if the evaluation is better than all previous ones.
#' * `steps_exporter()` exports after the first evaluation at or after each given step.
#'
#' @eval registered_params("exporter", c("LatestExporter", "BestExporter", "StepsExporter"))
#' @return An exporter: an object of class `tf_exporter`.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid, or the metrics have no `loss`.
#' @seealso `tf.estimator.LatestExporter`, `FinalExporter` and `BestExporter`, and
#'   `tf.contrib.estimator.StepsExporter` of TensorFlow 1.x. TensorFlow's `BestExporter` also
#'   compares an evaluation with its own entry in the event file, so the first evaluation of a run
#'   is never better. `best_exporter()` does not.
#' @export
#' @examples
#' spec <- eval_spec(
#'   input_fn(mpg ~ wt, mtcars),
#'   exporters = list(best_exporter("best", exports_to_keep = 1), final_exporter("last"))
#' )
#'
#' # keep the five newest exports, or those at certain steps
#' latest_exporter("latest", exports_to_keep = 5)
#' steps_exporter("milestones", steps_to_keep = c(100, 1000))
latest_exporter <- builtin("exporter", "LatestExporter")

#' @rdname latest_exporter
#' @export
final_exporter <- builtin("exporter", "FinalExporter")

#' @rdname latest_exporter
#' @export
best_exporter <- builtin("exporter", "BestExporter")

#' @rdname latest_exporter
#' @export
steps_exporter <- builtin("exporter", "StepsExporter")

# The default of the argument `compare_fn` of best_exporter(): whether the current evaluation has
# the smaller loss. The C++ registration of the exporter names it. lint: allow caller
smaller_loss <- function(best_eval_result, current_eval_result) {
  for (name in c("best_eval_result", "current_eval_result")) {
    if (!is_number_or_nan(get(name)$loss)) {
      abort_plain(paste(name, "cannot be empty or no loss is found in it."), call = NULL)
    }
  }
  best_eval_result$loss > current_eval_result$loss
}

constructor_factories$exporter <- function(specs, place) {
  .specs <- specs_as_list(specs)
  f <- function() {
    abort_abbreviated_arguments()
    new_exporter(.specs, environment())
  }
  formals(f) <- registered_formals(specs)
  f
}

# Creates an exporter from `specs`, the rows that describe its arguments. The C++ core decides
# whether to export, and stores the state of the exporter between evaluations.
new_exporter <- function(specs, call) {
  values <- convert_arguments(argument_values(specs$name, call), specs, call)
  create_core <- function() cpp_exporter(specs$type[[1]], values[!specs$binding_only], "")
  core <- create_core()
  export <- saved_model_export(
    values$serving_input_receiver_fn, values$assets_extra, values$as_text
  )
  run_export <- function(estimator, export_path, checkpoint_path, eval_result,
                         is_the_final_export) {
    # an exporter from saveRDS() and readRDS() has an invalid handle
    if (is_null_pointer(core)) core <<- create_core()
    folder <- model_dir(estimator)
    earlier <- function(pattern) previous_evaluations(folder, pattern, eval_result$global_step)
    if (!cpp_exporter_should_export(core, folder, eval_result, is_the_final_export, earlier)) return(NULL)
    exported <- export(estimator, export_path, checkpoint_path)
    if (!is.null(values$exports_to_keep)) {
      cpp_remove_old_exports(export_path, values$exports_to_keep)
    }
    exported
  }
  structure(list(name = values$name, export = run_export), class = "tf_exporter")
}

is_null_pointer <- function(handle) identical(handle, methods::new("externalptr"))

is_exporter <- function(x) inherits(x, "tf_exporter")

#' @export
print.tf_exporter <- function(x, ...) {
  cat("<tf_exporter> ", describe(x$name), "\n", sep = "") # lint: allow stdout
  invisible(x)
}

saved_model_export <- function(serving_input_receiver_fn, assets_extra, as_text) {
  function(estimator, export_path, checkpoint_path) {
    export_savedmodel(
      estimator, export_path, serving_input_receiver_fn, assets_extra = assets_extra,
      as_text = as_text, checkpoint_path = checkpoint_path, overwrite = FALSE, versioned = TRUE
    )
  }
}

check_compare_fn <- function(compare_fn, call = parent.frame()) {
  if (is.null(compare_fn)) abort_plain("`compare_fn` must not be None.", call = call)
  check_function(compare_fn, call = call)
  required <- c("best_eval_result", "current_eval_result")
  arguments <- names(formals(args(compare_fn)))
  for (name in setdiff(required, arguments)) {
    abort_plain(sprintf("compare_fn must include %s argument.", name), call = call)
  }
  unexpected <- setdiff(arguments, required)
  if (length(unexpected)) {
    abort_plain(
      paste("compare_fn has following not expected args:", paste(unexpected, collapse = ", ")),
      call = call
    )
  }
  function(best, current) {
    isTRUE(as.logical(compare_fn(best_eval_result = best, current_eval_result = current)))
  }
}

argument_converters$`function(best_eval_result, current_eval_result)` <- function(x, name, call, wanted) {
  check_compare_fn(x, call)
}

as_exporter_list <- function(exporters, call = parent.frame()) {
  if (is.null(exporters)) return(list())
  if (is_exporter(exporters)) exporters <- list(exporters)
  message <- "`exporters` must be an Exporter, an iterable of Exporter, or `None`, found "
  if (!is.list(exporters) || is.object(exporters)) {
    abort_plain(paste0(message, describe(exporters), "."), call = call)
  }
  for (exporter in exporters) {
    if (!is_exporter(exporter)) {
      abort_plain(paste0(message, "a list with ", describe(exporter), "."), call = call)
    }
  }
  names <- lapply(exporters, `[[`, "name")
  all_names <- paste(vapply(names, describe, ""), collapse = ", ")
  for (name in names) {
    if (is.null(name) || identical(name, "")) {
      abort_plain(
        paste0(
          "An Exporter cannot have a name that is `None` or empty. All exporter names: ", all_names
        ),
        call = call
      )
    }
    if (!is_string(name)) {
      abort_plain(
        paste0("An Exporter must have a string name. Given: ", describe(name)), call = call
      )
    }
  }
  if (anyDuplicated(names)) {
    abort_plain(
      paste0(
        "`exporters` must have unique names. Such a name cannot be `None`. ",
        "All exporter names: ", all_names
      ),
      call = call
    )
  }
  exporters
}

call_exporters <- function(exporters, estimator, checkpoint, metrics, is_final) {
  exported <- lapply(exporters, function(exporter) {
    path <- file.path(model_dir(estimator), "export", exporter$name)
    exporter$export(estimator, path, checkpoint, metrics, is_final)
  })
  setNames(exported, vapply(exporters, `[[`, "", "name"))
}

# Returns the metrics of the evaluations in the event files that match `pattern`, without those at
# `global_step`.
previous_evaluations <- function(folder, pattern, global_step) {
  files <- Sys.glob(file.path(folder, pattern))
  files <- files[!dir.exists(files)]
  events <- cpp_read_events(files, FALSE)$numbers
  events <- as.data.frame(events)[events$step != global_step, ]
  # an evaluation writes one event, so its values have the same step and time
  last_of_event <- which(diff(events$step) != 0 | diff(events$wall_time) != 0)
  event_number <- cumsum(seq_along(events$step) %in% (last_of_event + 1))
  lapply(unname(split(events, event_number)), function(event) {
    values <- as.list(setNames(event$value, event$tag))
    values$global_step <- event$step[[1]]
    values
  })
}
