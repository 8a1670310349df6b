# Flags of scripts, and the directory of a run. If the package tfruns is loaded, its functions do
# the work.

#' Define flags of a script
#'
#' `flags()` returns values that a script takes from the command line, such as `Rscript train.R
#' --units=20`. If the package tfruns is loaded, these functions call those of tfruns, so
#' `tfruns::training_run()` can set the flags.
#'
#' @param ... Flags: values of `flag_*()`.
#' @param config,file For tfruns: the configuration to use, and the file with its values.
#' @param arguments The arguments of the command line, a character vector.
#' @param name,default,description The name of the flag, its default value, and a description.
#' @return `flags()`: a list of values, named by flag. `flag_*()`: a flag. `run_dir()`: the
#'   directory of the run that tfruns has started, or else the working directory.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: a value does not have the type of its flag.
#'   * `runhooks_error_unimplemented`: `file` exists but tfruns, which reads it, is not loaded.
#' @export
#' @examples
#' FLAGS <- flags(
#'   flag_integer("units", 10, "Units of the hidden layer"), flag_numeric("dropout", 0.1)
#' )
#' FLAGS$units
#'
#' FLAGS <- flags(flag_boolean("quiet", TRUE), flag_string("place", "here"))
#' FLAGS$place
#' # the directory of a tfruns run, or else the working directory
#' basename(run_dir())
flags <- function(..., config = Sys.getenv("R_CONFIG_ACTIVE", unset = "default"),
                  file = "flags.yml", arguments = commandArgs(TRUE)) {
  if (has_tfruns()) {
    return(tfruns_function("flags")(..., config = config, file = file, arguments = arguments))
  }
  check_string(file, null = TRUE)
  arguments <- as_strings(arguments)
  all_flags <- list(...)
  is_flag <- vapply(all_flags, inherits, NA, "runhooks_flag")
  if (!all(is_flag)) {
    abort_runhooks(
      "{.arg ...} must be flags, for example from {.fn flag_integer},
       not {describe_type(all_flags[!is_flag][[1]])}."
    )
  }
  if (!is.null(file) && file.exists(file)) {
    abort_runhooks(
      c(
        "{.path {file}} has values of flags, which need the package tfruns.",
        i = "Load it with {.code library(tfruns)}, or set {.code file = NULL}."
      ),
      kind = "unimplemented"
    )
  }
  values <- command_line_values(arguments)
  names(all_flags) <- vapply(all_flags, `[[`, "", "name")
  lapply(all_flags, function(flag) {
    text <- values[[flag$name]]
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
run_dir <- function() if (has_tfruns()) tfruns_function("run_dir")() else getwd()

has_tfruns <- function() isNamespaceLoaded("tfruns")
tfruns_function <- function(name) getExportedValue("tfruns", name)

new_flag <- function(type, name, default, description, call = parent.frame()) {
  if (has_tfruns()) return(tfruns_function(paste0("flag_", type))(name, default, description))
  check_string(name, call = call)
  flag <- list(type = type, name = name, description = description)
  if (!is.null(default)) flag$default <- flag_value(default, flag, call)
  structure(flag, class = "runhooks_flag")
}

flag_value <- function(x, flag, call = parent.frame()) {
  check_arg(is_atomic(x) && length(x) == 1, x, paste("of type", flag$type), "default", call)
  is_text <- !is.character(x) || validEnc(x)
  value <- if (is_text) suppressWarnings(switch(flag$type,
    integer = if (as.numeric(x) %in% trunc(as.numeric(x))) as.integer(x) else NA,
    numeric = as.numeric(x),
    boolean = boolean_value(x),
    string = as.character(x)
  ))
  if (length(value) == 1 && !is.na(value)) return(value)
  abort_runhooks(
    "The flag {.val {flag$name}} must be of type {flag$type}, not {describe(x)}.", call = call
  )
}

boolean_value <- function(x) {
  word <- ascii_lower(as.character(x))
  if (word %in% c("true", "t", "yes", "y", "1")) return(TRUE)
  if (word %in% c("false", "f", "no", "n", "0")) FALSE else NA
}

# Parses `--name=value` and `--name value`. A name without a value gets the value "TRUE".
command_line_values <- function(arguments) {
  values <- list()
  i <- 1
  while (i <= length(arguments)) {
    parts <- regmatches(arguments[[i]], regexec("^--([^=]+)(=(.*))?$", arguments[[i]]))[[1]]
    i <- i + 1
    if (length(parts) == 0) next
    value <- parts[[4]]
    if (parts[[3]] == "") {
      has_next_value <- i <= length(arguments) && !startsWith(arguments[[i]], "--")
      value <- if (has_next_value) arguments[[i]] else "TRUE"
      i <- i + has_next_value
    }
    values[[parts[[2]]]] <- value
  }
  values
}
