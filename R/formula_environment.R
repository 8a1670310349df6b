# Reduces the environments of formulas to the variables that they use. Saving a model then does not
# save all variables of the function that created it.

with_lean_environments <- function(object) {
  if (is.null(object$formula)) return(object)
  memo <- new.env(parent = emptyenv())
  constants <- lapply(object$blueprint$constants, lean_value, memo)
  object$blueprint$constants <- constants
  object$formula <- lean_formula(object$formula, constants)
  is_theirs <- vapply(as.list(object$call), is_formula, NA)
  object$call[is_theirs] <- lapply(as.list(object$call)[is_theirs], lean_formula, constants)
  object
}

lean_formula <- function(formula, constants) {
  place <- environment(formula)
  top <- if (is.null(place)) globalenv() else topenv(place)
  environment(formula) <- list2env(constants, parent = top)
  formula
}

# A function gets an environment with only the variables it uses; other values do not change.
lean_value <- function(x, memo) {
  if (!is.function(x) || is.primitive(x)) return(x)
  place <- environment(x)
  is_package <- isNamespace(place) || (identical(topenv(place), place) && !identical(place, globalenv()))
  read <- read_names(x)
  if (is_package || any(lookup_functions %in% read)) return(x)
  attr(x, "srcref") <- NULL
  environment(x) <- lean_environment(place, read, memo)
  x
}

# A function that calls one of these may use variables that its code does not name.
lookup_functions <- c(
  "get", "get0", "mget", "exists", "eval", "evalq", "eval_tidy", "local", "with", "assign", "<<-",
  "->>", "environment", "parent.frame", "parent.env", "sys.function", "sys.frame", "as.environment"
)

# Names in the code of a function, including strings, as in sapply(x, "name").
read_names <- function(f) {
  parts <- c(as.list(formals(f)), list(body(f)))
  strings <- function(x) {
    if (is.character(x)) return(x)
    if (is.call(x) || is.pairlist(x)) unlist(lapply(as.list(x), strings))
  }
  unique(c(unlist(lapply(parts, all.names)), unlist(lapply(parts, strings))))
}

# Functions of one environment share one reduced environment; `memo` contains pairs of both.
lean_environment <- function(place, names, memo) {
  known <- Find(function(pair) identical(pair$was, place), memo$pairs)
  if (is.null(known)) {
    known <- list(was = place, now = new.env(parent = topenv(place)))
    memo$pairs <- c(memo$pairs, list(known))
  }
  for (name in setdiff(names, c("", ls(known$now, all.names = TRUE)))) {
    found <- place_of(name, place)
    if (is.null(found)) next
    assign(name, NULL, envir = known$now) # breaks the recursion of a function that calls itself
    assign(name, lean_value(get(name, envir = found), memo), envir = known$now)
  }
  known$now
}

place_of <- function(name, place) {
  top <- topenv(place)
  repeat {
    is_top <- identical(place, top)
    if (is_top && isNamespace(top)) return(NULL)
    if (exists(name, envir = place, inherits = FALSE)) return(if (is_readable(name, place)) place)
    if (is_top) return(NULL)
    place <- parent.env(place)
  }
}

# FALSE for a missing argument and for a promise that fails.
is_readable <- function(name, place) {
  tryCatch(!identical(mget(name, envir = place)[[1]], quote(expr = )), error = function(error) FALSE)
}
