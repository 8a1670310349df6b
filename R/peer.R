# What the packages tensorflow and tfestimators export beside estimators: flags and folders of runs,
# TensorBoard, the installation of Python. Scripts call these; without Python most do little.

#' A glimpse of data
#'
#' @param x A data frame, or what else [tibble::glimpse()] shows.
#' @param width How wide; `NULL`: the width of the terminal.
#' @param ... Further arguments of methods.
#' @return `x`, invisibly.
#' @export
#' @examples
#' glimpse(mtcars)
glimpse <- function(x, width = NULL, ...) tibble::glimpse(x, width = width, ...)

#' Flags of a script
#'
#' Values that a script takes from the command line: `Rscript train.R --units=20`. Where the package
#' tfruns is loaded these are its functions, so that `tfruns::training_run()` sets them, too.
#'
#' @param ... Flags that `flag_*()` made.
#' @param config,file For tfruns: the configuration to use, and the file with values for each.
#' @param arguments The arguments of the command line.
#' @param name,default,description Of a flag: its name, its value where none is given, and what it
#'   is for.
#' @return `flags()`: a list of values by the names of flags. `flag_*()`: a flag. `run_dir()`: the
#'   folder of the run that tfruns has started, else the working directory.
#' @section Errors: `runhooks_error_invalid_argument` for a value that is not of the flag's type.
#'   Without tfruns `runhooks_error_unimplemented` where `file` is there, since only tfruns reads
#'   it.
#' @export
#' @examples
#' FLAGS <- flags(
#'   flag_integer("units", 10, "Units of the hidden layer"), flag_numeric("dropout", 0.1)
#' )
#' FLAGS$units
flags <- function(..., config = Sys.getenv("R_CONFIG_ACTIVE", unset = "default"),
                  file = "flags.yml", arguments = commandArgs(TRUE)) {
  if (has_tfruns()) {
    return(of_tfruns("flags")(..., config = config, file = file, arguments = arguments))
  }
  known <- list(...)
  is_flag <- vapply(known, inherits, NA, "runhooks_flag")
  if (!all(is_flag)) {
    stop_runhooks(
      "{.arg ...} must be flags, such as {.fn flag_integer} makes,
       not {.obj_type_friendly {known[!is_flag][[1]]}}."
    )
  }
  if (!is.null(file) && file.exists(file)) {
    stop_runhooks(
      c(
        "{.path {file}} has values of flags, which only the package tfruns can read.",
        i = "Load it by {.code library(tfruns)}, or give {.code file = NULL}."
      ),
      kind = "unimplemented"
    )
  }
  given <- command_line_values(arguments)
  names(known) <- vapply(known, `[[`, "", "name")
  lapply(known, function(flag) {
    text <- given[[flag$name]]
    if (is.null(text)) flag$default else flag_value(text, flag)
  })
}

#' @rdname flags
#' @export
flag_integer <- function(name, default, description = NULL) {
  new_flag("integer", name, default, description)
}

#' @rdname flags
#' @export
flag_numeric <- function(name, default, description = NULL) {
  new_flag("numeric", name, default, description)
}

#' @rdname flags
#' @export
flag_boolean <- function(name, default, description = NULL) {
  new_flag("boolean", name, default, description)
}

#' @rdname flags
#' @export
flag_string <- function(name, default, description = NULL) {
  new_flag("string", name, default, description)
}

#' @rdname flags
#' @export
run_dir <- function() if (has_tfruns()) of_tfruns("run_dir")() else getwd()

has_tfruns <- function() isNamespaceLoaded("tfruns")
of_tfruns <- function(name) getExportedValue("tfruns", name)

new_flag <- function(type, name, default, description, call = parent.frame()) {
  if (has_tfruns()) return(of_tfruns(paste0("flag_", type))(name, default, description))
  check_string(name, call = call)
  flag <- list(type = type, name = name, description = description)
  # NULL is a default, too
  if (!is.null(default)) flag$default <- flag_value(default, flag, call)
  structure(flag, class = "runhooks_flag")
}

flag_value <- function(x, flag, call = parent.frame()) {
  value <- suppressWarnings(switch(flag$type,
    integer = if (as.numeric(x) %in% trunc(as.numeric(x))) as.integer(x) else NA,
    numeric = as.numeric(x),
    boolean = boolean_value(x),
    string = as.character(x)
  ))
  if (length(value) == 1 && !is.na(value)) return(value)
  stop_runhooks(
    "The flag {.val {flag$name}} must be of type {flag$type}, not {.val {x}}.", call = call
  )
}

boolean_value <- function(x) {
  word <- tolower(as.character(x))
  if (word %in% c("true", "t", "yes", "y", "1")) return(TRUE)
  if (word %in% c("false", "f", "no", "n", "0")) FALSE else NA
}

# Of `--name=value` and `--name value`; a name alone is "TRUE".
command_line_values <- function(arguments) {
  values <- list()
  i <- 1
  while (i <= length(arguments)) {
    parts <- regmatches(arguments[[i]], regexec("^--([^=]+)(=(.*))?$", arguments[[i]]))[[1]]
    i <- i + 1
    if (length(parts) == 0) next
    value <- parts[[4]]
    if (parts[[3]] == "") {
      follows <- i <= length(arguments) && !startsWith(arguments[[i]], "--")
      value <- if (follows) arguments[[i]] else "TRUE"
      i <- i + follows
    }
    values[[parts[[2]]]] <- value
  }
  values
}

#' Start TensorBoard
#'
#' Starts the TensorBoard on the PATH, if there is one, on a folder of models: it reads the event
#' files that [train()] and [evaluate()] write. [read_events()] reads them without.
#'
#' @param log_dir The folder: a model's [model_dir()], or one that has several of them.
#' @param action `"start"`, or `"stop"` for all that this session has started.
#' @param host,port Where TensorBoard listens; `"auto"`: TensorBoard's own choice, 6006.
#' @param launch_browser Show it in a browser?
#' @param ... Further options of the command line by name: `reload_interval = 5`.
#' @return The address, invisibly; `NULL` for `"stop"`.
#' @section Errors: `runhooks_error_not_found` where there is no TensorBoard or no such folder, with
#'   advice.
#' @export
#' @examples
#' \dontrun{
#' tensorboard(model_dir(model))
#' tensorboard(action = "stop")
#' }
tensorboard <- function(log_dir, action = c("start", "stop"), host = "127.0.0.1", port = "auto",
                        launch_browser = interactive(), ...) {
  action <- match.arg(action)
  if (action == "stop") {
    for (process in the$tensorboards) process$kill()
    the$tensorboards <- NULL
    return(invisible())
  }
  check_string(log_dir)
  if (!dir.exists(log_dir)) {
    stop_runhooks("There is no folder {.path {log_dir}}.", kind = "not_found")
  }
  program <- Sys.which("tensorboard")[[1]]
  if (program == "" || !requireNamespace("processx", quietly = TRUE)) {
    stop_runhooks(
      c(
        if (program == "") {
          "There is no TensorBoard on the PATH."
        } else {
          "The package processx is needed to start TensorBoard from R."
        },
        i = if (program == "") "{.code pip install tensorboard} installs one.",
        i = "By hand: {.code tensorboard --logdir {shQuote(log_dir)}}.",
        i = "{.fn read_events} reads the numbers of event files without it."
      ),
      kind = "not_found"
    )
  }
  port <- if (identical(port, "auto")) 6006 else port
  check_positive_whole(port)
  options <- c(list(logdir = normalizePath(log_dir), host = host, port = port), list(...))
  options <- vapply(options, format, "", digits = 15)
  process <- processx::process$new(program, paste0("--", names(options), "=", options))
  the$tensorboards <- c(the$tensorboards, list(process))
  address <- sprintf("http://%s:%s/", host, options[["port"]])
  cli::cli_inform("TensorBoard starts at {.url {address}}.")
  if (launch_browser) utils::browseURL(address)
  invisible(address)
}

#' Python is not needed
#'
#' Scripts for tensorflow and tfestimators choose a Python and install TensorFlow. runhooks has no
#' use for either: these functions say so, and do nothing else. `import("tensorflow")` is [tf].
#'
#' @param ... Not used.
#' @param module The name of a Python module.
#' @return `tf_version()`: the version of TensorFlow that runhooks follows. `tf_config()`: what
#'   runs the models, a list to print. `import()`: [tf]. The others `NULL`, invisibly.
#' @section Errors: `runhooks_error_unimplemented` for a module other than tensorflow.
#' @name python
#' @examples
#' install_tensorflow()
#' tf_config()
#' tf <- import("tensorflow")
NULL

#' @rdname python
#' @export
install_tensorflow <- function(...) say_no_python("Nothing has to be installed")

#' @rdname python
#' @export
use_python <- function(...) say_no_python("No Python is chosen")

#' @rdname python
#' @export
use_virtualenv <- function(...) say_no_python("No environment of Python is chosen")

#' @rdname python
#' @export
use_condaenv <- function(...) say_no_python("No environment of Python is chosen")

say_no_python <- function(what) {
  cli::cli_inform("{what}: runhooks needs neither Python nor TensorFlow.")
  invisible()
}

#' @rdname python
#' @export
import <- function(module, ...) {
  check_string(module)
  if (module == "tensorflow") return(tf)
  stop_runhooks(
    c(
      "There is no Python, so {.val {module}} cannot be imported.",
      i = if (module == "numpy") {
        "{.fn np_array} makes arrays with a type of their own."
      } else {
        "{.code import(\"tensorflow\")} is {.code tf}; R has packages for the rest."
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
      location = system.file(package = "runhooks"), python = NULL, python_version = NULL,
      engine = paste("runhooks", utils::packageVersion("runhooks")),
      threads = getOption("runhooks.threads", 2L)
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
