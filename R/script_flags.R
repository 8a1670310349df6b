# Flags of a script and the folder of its run, which tfruns knows where it is loaded.

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
#'
#' FLAGS <- flags(flag_boolean("quiet", TRUE), flag_string("place", "here"))
#' FLAGS$place
#' # the folder of a run of tfruns, else the working directory
#' basename(run_dir())
flags <- function(..., config = Sys.getenv("R_CONFIG_ACTIVE", unset = "default"),
                  file = "flags.yml", arguments = commandArgs(TRUE)) {
  if (has_tfruns()) {
    return(of_tfruns("flags")(..., config = config, file = file, arguments = arguments))
  }
  check_string(file, null = TRUE)
  arguments <- strings_of(arguments)
  known <- list(...)
  is_flag <- vapply(known, inherits, NA, "runhooks_flag")
  if (!all(is_flag)) {
    abort_runhooks(
      "{.arg ...} must be flags, such as {.fn flag_integer} makes,
       not {kind_of(known[!is_flag][[1]])}."
    )
  }
  if (!is.null(file) && file.exists(file)) {
    abort_runhooks(
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
