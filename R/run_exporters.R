# Exporters: what train_and_evaluate() does with a model after an evaluation. An exporter has a name
# and one method, export(), which returns the folder that was written, or NULL.

#' Exporters
#'
#' Given to [eval_spec()] they write the model that was just evaluated, in the folder
#' `export/<name>` of the model's, by [export_savedmodel()]: a folder named by the time for each
#' export. `latest_exporter()` exports after each evaluation, `final_exporter()` after that of
#' `max_steps`, `best_exporter()` whenever an evaluation is better than all before.
#'
#' @param name The name of the exporter, and of its folder.
#' @param serving_input_receiver_fn,assets_extra,as_text As of [export_savedmodel()].
#' @param exports_to_keep How many of the newest exports are kept; `NULL`: all.
#' @param compare_fn `function(best_eval_result, current_eval_result)` of two named lists of
#'   metrics: TRUE where the current one is better. By default the smaller `loss` is.
#' @param event_file_pattern Where to look for evaluations of earlier runs when the first evaluation
#'   is compared: a pattern of files below the model's folder such as `"eval/*.tfevents.*"`. `NULL`:
#'   the first evaluation of a run is the best so far.
#' @return An exporter.
#' @section Errors: `runhooks_error_invalid_argument` for arguments that do not hold; where the
#'   metrics have no `loss` to compare by.
#' @seealso `tf.estimator.LatestExporter`, `FinalExporter` and `BestExporter` of TensorFlow 1.x.
#'   Unlike that one, the best exporter does not compare an evaluation with what it has itself just
#'   written to the event file, by which the first one of a run would never be better.
#' @family estimator methods
#' @export
#' @examples
#' spec <- eval_spec(
#'   input_fn(mpg ~ wt, mtcars),
#'   exporters = list(best_exporter("best", exports_to_keep = 1), final_exporter("last"))
#' )
latest_exporter <- function(name, serving_input_receiver_fn = NULL, assets_extra = NULL,
                            as_text = FALSE, exports_to_keep = 5) {
  check_kept(exports_to_keep, "`exports_to_keep`, if provided, must be positive number")
  export <- saved_model_export(serving_input_receiver_fn, assets_extra, as_text)
  new_exporter(name, function(estimator, export_path, checkpoint_path, eval_result,
                              is_the_final_export) {
    exported <- export(estimator, export_path, checkpoint_path)
    delete_old_exports(export_path, exports_to_keep)
    exported
  })
}

#' @rdname latest_exporter
#' @export
final_exporter <- function(name, serving_input_receiver_fn = NULL, assets_extra = NULL,
                           as_text = FALSE) {
  export <- saved_model_export(serving_input_receiver_fn, assets_extra, as_text)
  new_exporter(name, function(estimator, export_path, checkpoint_path, eval_result,
                              is_the_final_export) {
    if (!is_the_final_export) return(NULL)
    tf_log("Performing the final export in the end of training.")
    export(estimator, export_path, checkpoint_path)
  })
}

#' @rdname latest_exporter
#' @export
best_exporter <- function(name = "best_exporter", serving_input_receiver_fn = NULL,
                          event_file_pattern = NULL, compare_fn = smaller_loss,
                          assets_extra = NULL, as_text = FALSE, exports_to_keep = 5) {
  check_compare_fn(compare_fn)
  check_string(event_file_pattern, null = TRUE)
  check_kept(
    exports_to_keep,
    "`exports_to_keep`, if provided, must be a positive number. Got %s"
  )
  export <- saved_model_export(serving_input_receiver_fn, assets_extra, as_text)
  best <- NULL
  folder <- NULL
  is_better <- function(current) {
    isTRUE(as.logical(compare_fn(best_eval_result = best, current_eval_result = current)))
  }
  new_exporter(name, function(estimator, export_path, checkpoint_path, eval_result,
                              is_the_final_export) {
    if (!is.null(event_file_pattern) && !identical(folder, model_dir(estimator))) {
      tf_log("Loading best metric from event files.")
      folder <<- model_dir(estimator)
      best <<- NULL
      for (earlier in earlier_evaluations(folder, event_file_pattern, eval_result$global_step)) {
        if (is.null(best) || is_better(earlier)) best <<- earlier
      }
    }
    if (!is.null(best) && !is_better(eval_result)) return(NULL)
    tf_log("Performing best model export.")
    best <<- eval_result
    exported <- export(estimator, export_path, checkpoint_path)
    delete_old_exports(export_path, exports_to_keep)
    exported
  })
}

smaller_loss <- function(best_eval_result, current_eval_result) {
  for (name in c("best_eval_result", "current_eval_result")) {
    if (!is_number_or_nan(get(name)$loss)) {
      stop_plain(paste(name, "cannot be empty or no loss is found in it."), call = NULL)
    }
  }
  best_eval_result$loss > current_eval_result$loss
}

new_exporter <- function(name, export) {
  structure(list(name = name, export = export), class = "tf_exporter")
}

is_exporter <- function(x) inherits(x, "tf_exporter")

#' @export
print.tf_exporter <- function(x, ...) {
  cat("<tf_exporter> ", describe(x$name), "\n", sep = "") # lint: allow stdout
  invisible(x)
}

# The call that all of them make.
saved_model_export <- function(serving_input_receiver_fn, assets_extra, as_text,
                               call = parent.frame()) {
  check_function(serving_input_receiver_fn, null = TRUE, call = call)
  check_flag(as_text, call = call)
  function(estimator, export_path, checkpoint_path) {
    export_savedmodel(
      estimator, export_path, serving_input_receiver_fn, assets_extra = assets_extra,
      as_text = as_text, checkpoint_path = checkpoint_path, overwrite = FALSE, versioned = TRUE
    )
  }
}

# --- checks

check_kept <- function(exports_to_keep, words, call = parent.frame()) {
  check_whole(exports_to_keep, null = TRUE, arg = "exports_to_keep", call = call)
  if (is.null(exports_to_keep) || exports_to_keep > 0) return(invisible())
  # not all of the words have a number
  words <- sub("%s", format(exports_to_keep), words, fixed = TRUE)
  stop_plain(words, call = call)
}

check_compare_fn <- function(compare_fn, call = parent.frame()) {
  if (is.null(compare_fn)) stop_plain("`compare_fn` must not be None.", call = call)
  check_function(compare_fn, call = call)
  wanted <- c("best_eval_result", "current_eval_result")
  has <- names(formals(args(compare_fn)))
  for (name in setdiff(wanted, has)) {
    stop_plain(sprintf("compare_fn must include %s argument.", name), call = call)
  }
  more <- setdiff(has, wanted)
  if (length(more)) {
    stop_plain(
      paste("compare_fn has following not expected args:", paste(more, collapse = ", ")),
      call = call
    )
  }
}

# One exporter or a list of them as a list.
as_exporter_list <- function(exporters, call = parent.frame()) {
  if (is.null(exporters)) return(list())
  if (is_exporter(exporters)) exporters <- list(exporters)
  wanted <- "`exporters` must be an Exporter, an iterable of Exporter, or `None`, found "
  if (!is.list(exporters) || is.object(exporters)) {
    stop_plain(paste0(wanted, describe(exporters), "."), call = call)
  }
  for (exporter in exporters) {
    if (!is_exporter(exporter)) {
      stop_plain(paste0(wanted, "a list with ", describe(exporter), "."), call = call)
    }
  }
  names <- lapply(exporters, `[[`, "name")
  shown <- paste(vapply(names, describe, ""), collapse = ", ")
  for (name in names) {
    if (is.null(name) || identical(name, "")) {
      stop_plain(
        paste0(
          "An Exporter cannot have a name that is `None` or empty. All exporter names: ", shown
        ),
        call = call
      )
    }
    if (!is_string(name)) {
      stop_plain(
        paste0("An Exporter must have a string name. Given: ", describe(name)), call = call
      )
    }
  }
  if (anyDuplicated(names)) {
    stop_plain(
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

# Folders whose names are no times, and files, are not ours.
delete_old_exports <- function(export_path, exports_to_keep) {
  if (is.null(exports_to_keep)) return(invisible())
  times <- basename(list.dirs(export_path, recursive = FALSE))
  times <- times[grepl("^[0-9]{10}$", times)]
  old <- utils::head(sort(times, method = "radix"), -exports_to_keep)
  for (path in file.path(export_path, old)) {
    # what is deleted in part must not look like an export
    gone <- cpp_unfinished_export(export_path, TRUE)
    file.rename(path, gone)
    unlink(gone, recursive = TRUE)
  }
}

# The metrics of evaluations that event files have, without that of the step at hand.
earlier_evaluations <- function(folder, pattern, global_step) {
  files <- Sys.glob(file.path(folder, pattern))
  files <- files[!dir.exists(files)]
  events <- cpp_read_events(files)
  events <- as.data.frame(events)[events$step != global_step, ]
  # an event's values have one time
  ends <- which(diff(events$step) != 0 | diff(events$wall_time) != 0)
  number <- cumsum(seq_along(events$step) %in% (ends + 1))
  lapply(unname(split(events, number)), function(event) {
    as.list(setNames(event$value, event$tag))
  })
}
