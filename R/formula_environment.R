# Reduces the environments of a model's formulas to the variables that the formulas use. saveRDS()
# then does not save all variables of the function that created the model.

reduce_environments <- function(object) {
  if (is.null(object$formula)) return(object)
  cache <- new.env(parent = emptyenv())
  constants <- lapply(object$blueprint$constants, lean_value, cache)
  object$blueprint$constants <- constants
  object$formula <- lean_formula(object$formula, constants)
  is_formula_arg <- vapply(as.list(object$call), is_formula, NA)
  args <- as.list(object$call)[is_formula_arg]
  object$call[is_formula_arg] <- lapply(args, lean_formula, constants)
  object
}

lean_formula <- function(formula, constants) {
  env <- environment(formula)
  top <- if (is.null(env)) globalenv() else topenv(env)
  environment(formula) <- list2env(constants, parent = top)
  formula
}

# Copies a function into an environment with only the variables that it uses. Returns other values
# unchanged.
lean_value <- function(x, cache) {
  if (!is.function(x) || is.primitive(x)) return(x)
  env <- environment(x)
  is_package <- isNamespace(env) || (identical(topenv(env), env) && !identical(env, globalenv()))
  names <- names_in_function(x)
  if (is_package || any(lookup_functions %in% names)) return(x)
  attr(x, "srcref") <- NULL
  environment(x) <- lean_environment(env, names, cache)
  x
}

# A function that calls one of these may use variables that its code does not name.
lookup_functions <- c(
  "get", "get0", "mget", "exists", "eval", "evalq", "eval_tidy", "local", "with", "assign", "<<-",
  "->>", "environment", "parent.frame", "parent.env", "sys.function", "sys.frame", "as.environment"
)

# Returns the names in the code of a function. Strings count as names, because of calls such as
# sapply(x, "name").
names_in_function <- function(f) {
  parts <- c(as.list(formals(f)), list(body(f)))
  strings <- function(x) {
    if (is.character(x)) return(x)
    if (is.call(x) || is.pairlist(x)) unlist(lapply(as.list(x), strings))
  }
  unique(c(unlist(lapply(parts, all.names)), unlist(lapply(parts, strings))))
}

# Returns the reduced environment for `env`, with the variables `names`. Functions with the same
# environment also share the reduced one; `cache` contains pairs of both.
lean_environment <- function(env, names, cache) {
  pair <- Find(function(pair) identical(pair$original, env), cache$pairs)
  if (is.null(pair)) {
    pair <- list(original = env, reduced = new.env(parent = topenv(env)))
    cache$pairs <- c(cache$pairs, list(pair))
  }
  for (name in setdiff(names, c("", ls(pair$reduced, all.names = TRUE)))) {
    owner <- defining_environment(name, env)
    if (is.null(owner)) next
    assign(name, NULL, envir = pair$reduced) # ends the recursion if a function calls itself
    assign(name, lean_value(get(name, envir = owner), cache), envir = pair$reduced)
  }
  pair$reduced
}

# Returns the enclosing environment that defines `name`; NULL if it is in a package, or has no
# value.
defining_environment <- function(name, env) {
  top <- topenv(env)
  repeat {
    is_top <- identical(env, top)
    if (is_top && isNamespace(top)) return(NULL)
    if (exists(name, envir = env, inherits = FALSE)) return(if (has_readable_value(name, env)) env)
    if (is_top) return(NULL)
    env <- parent.env(env)
  }
}

# TRUE if a variable has a value; FALSE for a missing argument and for a promise that fails.
has_readable_value <- function(name, env) {
  tryCatch(!is_absent(mget(name, envir = env)[[1]]), error = function(error) FALSE)
}
