# tf$contrib$training$HParams: named hyperparameters, which a string can override.

new_hparams <- function(...) {
  values <- list(...)
  unnamed <- which(!nzchar(rlang::names2(values)))
  if (length(unnamed)) {
    abort_runhooks(
      c(
        "Hyperparameter {unnamed[[1]]}, {describe(values[[unnamed[[1]]]])}, has no name.",
        i = "Name it, as in {.code HParams(learning_rate = 0.1)}."
      )
    )
  }
  self <- list2env(values, parent = emptyenv())
  hparam_names <- function() setdiff(sort_bytewise(names(self)), hparams_methods)
  set <- function(name, value) {
    check_string(name)
    if (!name %in% hparam_names()) abort_unknown_hparam(name, hparam_names())
    assign(name, value, envir = self)
    invisible(self)
  }
  self$values <- function() mget(hparam_names(), envir = self)
  self$get <- function(key, default = NULL) if (key %in% hparam_names()) self[[key]] else default
  self$set_hparam <- set
  self$add_hparam <- function(name, value) {
    check_string(name)
    if (name %in% names(self)) {
      abort_runhooks("Hyperparameter name is reserved: {name}.")
    }
    assign(name, value, envir = self)
    invisible(self)
  }
  self$del_hparam <- function(name) {
    if (!name %in% hparam_names()) abort_unknown_hparam(name, hparam_names())
    rm(list = name, envir = self)
    invisible(self)
  }
  self$override_from_dict <- function(values_dict) {
    for (name in names(values_dict)) set(name, values_dict[[name]])
    invisible(self)
  }
  # "learning_rate=0.1,layers=[3,4]"
  self$parse <- function(values) {
    check_string(values)
    parsed <- parse_hparams(values)
    for (name in names(parsed)) set(name, convert_hparam(parsed[[name]], self[[name]], name))
    invisible(self)
  }
  class(self) <- c("tensorflow.HParams", "runhooks_checked_members")
  self
}

hparams_methods <- c(
  "values", "get", "set_hparam", "add_hparam", "del_hparam", "override_from_dict", "parse"
)

abort_unknown_hparam <- function(name, known, call = user_frame()) {
  abort_runhooks(
    c("Unknown hyperparameter: {name}.", i = "The hyperparameters are {.val {known}}."), call = call
  )
}

parse_hparams <- function(text, call = parent.frame()) {
  pattern <- "^[ ,]*([A-Za-z_.][A-Za-z0-9_.]*) *= *(\\[[^]]*\\]|[^,]*)"
  parsed <- list()
  while (nzchar(text)) {
    match <- regmatches(text, regexec(pattern, text))[[1]]
    if (length(match) == 0) {
      abort_runhooks(
        "Could not parse hparam value: {.val {text}}; use {.code name=value,name=[a,b]}.",
        call = call
      )
    }
    items <- strsplit(gsub("^\\[|\\]$", "", match[[3]]), ",", fixed = TRUE)[[1]]
    parsed[[match[[2]]]] <- trimws(items)
    text <- substring(text, nchar(match[[1]]) + 1)
  }
  parsed
}

# Converts text to the type of `value`, which it replaces.
convert_hparam <- function(text, value, name, call = parent.frame()) {
  converted <- if (is.logical(value)) {
    c(true = TRUE, false = FALSE, `1` = TRUE, `0` = FALSE)[ascii_lower(text)]
  } else if (is.numeric(value)) {
    suppressWarnings(as.numeric(text))
  } else {
    text
  }
  if (anyNA(converted)) {
    abort_runhooks(
      "Could not parse {.val {text}} as a value of {name}, which is {describe(value)}.", call = call
    )
  }
  if (is.integer(value)) as.integer(converted) else unname(converted)
}
