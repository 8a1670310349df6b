# Replacements for functions that choose a Python and install TensorFlow.

#' Replacements for Python configuration
#'
#' Scripts for tensorflow and tfestimators choose a Python and install TensorFlow. runhooks needs
#' neither. These functions signal a message and do nothing else, so such scripts run unchanged.
#' `import("tensorflow")` returns [tf].
#'
#' @param ... Not used.
#' @param module The name of a Python module.
#' @return `tf_version()`: the version of TensorFlow that runhooks follows. `tf_config()`: a list
#'   that prints the version and the number of threads. `import()`: [tf]. The other functions return
#'   `NULL`, invisibly.
#' @section Errors:
#'   * `runhooks_error_unimplemented`: `module` is not `"tensorflow"`.
#' @name python
#' @examples
#' install_tensorflow()
#' tf_config()
#' tf_version()
#' use_python("/usr/bin/python3")
#' use_virtualenv("r-tensorflow")
#' use_condaenv("r-tensorflow")
#' tf <- import("tensorflow")
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
