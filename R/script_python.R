# Replacements for functions that choose a Python and install TensorFlow.

#' Replacements for Python configuration
#'
#' Scripts for tensorflow and tfestimators choose a Python and install TensorFlow. runhooks needs
#' neither. These functions signal a message and do nothing else, so such scripts run unchanged.
#' `import("tensorflow")` returns [tf].
#'
#' `use_session_with_seed()` makes a script reproducible: it resets the default graph and sets its
#' seed and R's. `keras_model_to_estimator()` is an error, because Keras is not available.
#'
#' @param ... Not used.
#' @param seed The seed, a whole number.
#' @param disable_gpu,disable_parallel_cpu Not used: results do not depend on the processor or the
#'   number of threads.
#' @param quiet `TRUE` suppresses the message. Default: `FALSE`.
#' @param module The name of a Python module.
#' @return `tf_version()`: the version of TensorFlow that runhooks follows. `tf_config()`: a list
#'   that prints the version and the number of threads. `import()`: [tf]. The other functions return
#'   `NULL`, invisibly.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `seed` is not a whole number.
#'   * `runhooks_error_unimplemented`: `module` is not `"tensorflow"`, or a Keras model is given.
#' @name python
#' @examples
#' install_tensorflow()
#' tf_config()
#' tf_version()
#' use_python("/usr/bin/python3")
#' use_virtualenv("r-tensorflow")
#' use_condaenv("r-tensorflow")
#' tf <- import("tensorflow")
#' use_session_with_seed(42)
#' try(keras_model_to_estimator())
NULL

#' @rdname python
#' @export
install_tensorflow <- function(...) inform_no_python("Nothing has to be installed")

#' @rdname python
#' @export
use_python <- function(...) inform_no_python("No Python is chosen")

#' @rdname python
#' @export
use_virtualenv <- function(...) inform_no_python("No environment of Python is chosen")

#' @rdname python
#' @export
use_condaenv <- function(...) inform_no_python("No environment of Python is chosen")

inform_no_python <- function(omitted) {
  cli::cli_inform("{omitted}: runhooks needs neither Python nor TensorFlow.")
  invisible()
}

#' @rdname python
#' @export
import <- function(module, ...) {
  check_string(module)
  if (module == "tensorflow") return(tf)
  abort_runhooks(
    c(
      "There is no Python, so {.val {module}} cannot be imported.",
      i = if (module == "numpy") {
        "Use {.fn np_array} for arrays with a data type."
      } else {
        "{.code import(\"tensorflow\")} is {.code tf}; for other modules use R packages."
      }
    ),
    kind = "unimplemented"
  )
}

#' @rdname python
#' @export
use_session_with_seed <- function(seed, disable_gpu = TRUE, disable_parallel_cpu = TRUE,
                                  quiet = FALSE) {
  check_whole(seed)
  check_flag(disable_gpu)
  check_flag(disable_parallel_cpu)
  check_flag(quiet)
  set.seed(seed)
  tf$reset_default_graph()
  tf$set_random_seed(seed)
  what <- c("GPU", "CPU parallelism")[c(disable_gpu, disable_parallel_cpu)]
  if (!quiet) {
    message(
      "Set session seed to ", seed, if (length(what)) paste0(" (disabled ", toString(what), ")")
    )
  }
  invisible()
}

#' @rdname python
#' @export
keras_model_to_estimator <- function(...) {
  abort_runhooks(
    c(
      "Keras is not available, so a Keras model cannot become an estimator.",
      i = "Write a model function with {.code tf$layers} for {.fn estimator}."
    ),
    kind = "unimplemented"
  )
}

#' @rdname python
#' @export
tf_version <- function() numeric_version("1.15")

#' @rdname python
#' @export
tf_config <- function() {
  structure(
    list(
      available = TRUE, version = tf_version(), version_str = "1.15.5",
      # not system.file(), because the files may be removed or replaced while R runs
      location = getNamespaceInfo("runhooks", "path"), python = NULL, python_version = NULL,
      engine = paste("runhooks", getNamespaceVersion("runhooks")),
      threads = use_threads(environment())
    ),
    class = "tensorflow_config"
  )
}

#' @export
print.tensorflow_config <- function(x, ...) {
  # lint: allow stdout
  cat(
    "TensorFlow v", x$version_str, "'s names, numbers and files (", x$location, ")\n",
    "Engine: ", x$engine, " in C++, ", x$threads, " threads; no Python\n",
    sep = ""
  )
  invisible(x)
}
