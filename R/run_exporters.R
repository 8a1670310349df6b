# Exporters: what train_and_evaluate() does with a model after an evaluation. An exporter has a name
# and one method, export(), which returns the folder that was written, or NULL.

#' Exporters
#'
#' Given to [eval_spec()] they write the model that was just evaluated, in the folder
#' `export/<name>` of the model's, by [export_savedmodel()]: a folder named by the time for each
#' export. `latest_exporter()` exports after each evaluation, `final_exporter()` after that of
#' `max_steps`, `best_exporter()` whenever an evaluation is better than all before,
#' `steps_exporter()` after the first evaluation at or after each of some steps.
#'
#' @eval registered_params("exporter", c("LatestExporter", "BestExporter", "StepsExporter"))
#' @return An exporter.
#' @section Errors: `runhooks_error_invalid_argument` for arguments that do not hold; where the
#'   metrics have no `loss` to compare by.
#' @seealso `tf.estimator.LatestExporter`, `FinalExporter` and `BestExporter` of TensorFlow 1.x,
#'   `tf.contrib.estimator.StepsExporter`.
#'   Unlike that one, the best exporter does not compare an evaluation with what it has itself just
#'   written to the event file, by which the first one of a run would never be better.
#' @family estimator methods
#' @export
#' @examples
#' spec <- eval_spec(
#'   input_fn(mpg ~ wt, mtcars),
#'   exporters = list(best_exporter("best", exports_to_keep = 1), final_exporter("last"))
#' )
#'
#' # the five newest of all, and those at certain steps
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

# lint: allow caller (a default in the registration)
smaller_loss <- function(best_eval_result, current_eval_result) {
  for (name in c("best_eval_result", "current_eval_result")) {
    if (!is_number_or_nan(get(name)$loss)) {
      abort_plain(paste(name, "cannot be empty or no loss is found in it."), call = NULL)
    }
  }
  best_eval_result$loss > current_eval_result$loss
}

constructor_factories$exporter <- function(specs, place) {
  .specs <- spec_columns_of(specs)
  f <- function() new_exporter(.specs, environment())
  formals(f) <- registered_formals(specs)
  f
}

# The core says when to export, and remembers what it goes by from one evaluation to the next.
new_exporter <- function(specs, call) {
  given <- prepared_arguments(given_arguments(specs$name, call), specs, call)
  make <- function() cpp_exporter(specs$type[[1]], given[!specs$apart], "")
  core <- make()
  export <- saved_model_export(
    given$serving_input_receiver_fn, given$assets_extra, given$as_text
  )
  run <- function(estimator, export_path, checkpoint_path, eval_result, is_the_final_export) {
    # as after it was saved and read
    if (is_gone(core)) core <<- make()
    folder <- model_dir(estimator)
    earlier <- function(pattern) earlier_evaluations(folder, pattern, eval_result$global_step)
    if (!cpp_exporter_wants(core, folder, eval_result, is_the_final_export, earlier)) return(NULL)
    exported <- export(estimator, export_path, checkpoint_path)
    if (!is.null(given$exports_to_keep)) {
      cpp_remove_old_exports(export_path, given$exports_to_keep)
    }
    exported
  }
  structure(list(name = given$name, export = run), class = "tf_exporter")
}

# A handle of the core's in another process than its own.
is_gone <- function(handle) identical(handle, methods::new("externalptr"))

is_exporter <- function(x) inherits(x, "tf_exporter")

#' @export
print.tf_exporter <- function(x, ...) {
  cat("<tf_exporter> ", describe(x$name), "\n", sep = "") # lint: allow stdout
  invisible(x)
}

# The call that all of them make.
saved_model_export <- function(serving_input_receiver_fn, assets_extra, as_text) {
  function(estimator, export_path, checkpoint_path) {
    export_savedmodel(
      estimator, export_path, serving_input_receiver_fn, assets_extra = assets_extra,
      as_text = as_text, checkpoint_path = checkpoint_path, overwrite = FALSE, versioned = TRUE
    )
  }
}

# --- checks

check_compare_fn <- function(compare_fn, call = parent.frame()) {
  if (is.null(compare_fn)) abort_plain("`compare_fn` must not be None.", call = call)
  check_function(compare_fn, call = call)
  wanted <- c("best_eval_result", "current_eval_result")
  has <- names(formals(args(compare_fn)))
  for (name in setdiff(wanted, has)) {
    abort_plain(sprintf("compare_fn must include %s argument.", name), call = call)
  }
  more <- setdiff(has, wanted)
  if (length(more)) {
    abort_plain(
      paste("compare_fn has following not expected args:", paste(more, collapse = ", ")),
      call = call
    )
  }
  function(best, now) {
    isTRUE(as.logical(compare_fn(best_eval_result = best, current_eval_result = now)))
  }
}
argument_kinds$`function(best_eval_result, current_eval_result)` <- function(x, name, call, wanted) {
  check_compare_fn(x, call)
}

# One exporter or a list of them as a list.
as_exporter_list <- function(exporters, call = parent.frame()) {
  if (is.null(exporters)) return(list())
  if (is_exporter(exporters)) exporters <- list(exporters)
  wanted <- "`exporters` must be an Exporter, an iterable of Exporter, or `None`, found "
  if (!is.list(exporters) || is.object(exporters)) {
    abort_plain(paste0(wanted, describe(exporters), "."), call = call)
  }
  for (exporter in exporters) {
    if (!is_exporter(exporter)) {
      abort_plain(paste0(wanted, "a list with ", describe(exporter), "."), call = call)
    }
  }
  names <- lapply(exporters, `[[`, "name")
  shown <- paste(vapply(names, describe, ""), collapse = ", ")
  for (name in names) {
    if (is.null(name) || identical(name, "")) {
      abort_plain(
        paste0(
          "An Exporter cannot have a name that is `None` or empty. All exporter names: ", shown
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
        "All exporter names: ", shown
      ),
      call = call
    )
  }
  exporters
}

# --- exporting

# What each of them wrote, by their names.
export_all <- function(exporters, estimator, checkpoint, metrics, is_final) {
  exported <- lapply(exporters, function(exporter) {
    path <- file.path(model_dir(estimator), "export", exporter$name)
    exporter$export(estimator, path, checkpoint, metrics, is_final)
  })
  setNames(exported, vapply(exporters, `[[`, "", "name"))
}

# The metrics of evaluations that event files have, without that of the step at hand.
earlier_evaluations <- function(folder, pattern, global_step) {
  files <- Sys.glob(file.path(folder, pattern))
  files <- files[!dir.exists(files)]
  events <- cpp_read_events(files, FALSE)$numbers
  events <- as.data.frame(events)[events$step != global_step, ]
  # an event's values have one time
  ends <- which(diff(events$step) != 0 | diff(events$wall_time) != 0)
  number <- cumsum(seq_along(events$step) %in% (ends + 1))
  lapply(unname(split(events, number)), function(event) {
    values <- as.list(setNames(event$value, event$tag))
    values$global_step <- event$step[[1]]
    values
  })
}
