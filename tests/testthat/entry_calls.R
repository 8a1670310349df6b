# Child process of test-suite_guarded_entry.R. Calls the internal functions from number `first` on
# with bad arguments, one at a time and all together. Writes each call to `place` before making it,
# so that a crash can be attributed, and lists the calls that raised no error in `accepted`.
arguments <- commandArgs(TRUE)
first <- as.integer(arguments[[1]])
place <- arguments[[2]]
accepted <- arguments[[3]]
suppressMessages(library(runhooks))
setwd(tempdir())
core <- asNamespace("runhooks")
options(runhooks.threads = 1, warn = 1)

graph <- tf$Graph()
made <- local({
  context <- graph$as_default()
  context$.enter()
  on.exit(context$.exit(NULL))
  x <- tf$constant(c(1, 2), name = "x")
  w <- tf$get_variable("w", initializer = 0)
  list(
    tensor = x, operation = x$op, variable = w, graph = graph$.pointer,
    session = tf$Session()$.pointer, saver = tf$train$Saver()$.pointer,
    scaffold = tf$train$Scaffold()$.pointer, history = core$cpp_history_new(),
    timer = core$cpp_timer_new(NULL, 1), monitored = core$cpp_monitored_new(
      list(type = "ChiefSessionCreator"), NULL, list(), TRUE
    )
  )
})

# Returns `x` saved and read back: the class stays, but the pointer to the C++ object is null.
null_of <- function(x) unserialize(serialize(x, NULL))
bad <- c(
  setNames(lapply(made, null_of), paste("null", names(made))),
  list(
    "null without a kind" = methods::new("externalptr"),
    "of another package" = getDLLRegisteredRoutines("stats")[[".Call"]][[1]]$address,
    "NULL" = NULL, "empty list" = list(), "list" = list(1, "a"), "named list" = list(a = 1),
    "missing string" = NA_character_
  )
)

# Valid values by argument name, so that the check of the bad argument is reached.
plausible <- list(
  graph = graph, name = "w", names = "w", path = "nowhere", paths = "nowhere", folder = "nowhere",
  type = "NoOp", key = "summaries", scope = "", family = "", suffix = "", collection = "variables",
  collections = "variables", hooks = list(), listeners = list(), inputs = list(made$tensor),
  input_fn = function(mode) list(list(), NULL), attrs = list(), value = 1, dtype = "float32",
  shape = 1, initializer = NULL, initial_value = made$tensor, trainable = TRUE, loss = made$tensor,
  variables = list(made$variable), variable = made$variable, ys = list(made$tensor),
  xs = list(made$tensor), features = list(x = made$tensor), columns = list(), x = made$tensor,
  saver = made$saver, session = made$session, scaffold = made$scaffold, record = made$history,
  fetches = "x:0", feed_dict = NULL, options = NULL, run_metadata = NULL, kind = "unknown",
  condition = simpleCondition("x"), steps = 1, step = 1, text = "", level = 0L,
  spec = list(type = "GradientDescent", learning_rate = 1), config = list(model_dir = "nowhere"),
  arguments = list(), creator = list(type = "ChiefSessionCreator"), request = NULL
)
pointer_of <- function(name) {
  kinds <- c(session = "session", monitored = "monitored", timer = "timer", graph = "graph")
  for (kind in names(kinds)) {
    if (startsWith(name, paste0("cpp_", kind))) return(made[[kinds[[kind]]]])
  }
  NULL
}

# Returns the names of the bad values for an argument: for a pointer, pointers of every class; for
# other arguments, only two of them.
is_pointer <- function(x) is.environment(x) || typeof(x) == "externalptr"
bad_for <- function(plausible_value) {
  others <- setdiff(grep("^null ", names(bad), value = TRUE), c("null tensor", "null variable"))
  if (is_pointer(plausible_value)) names(bad) else setdiff(names(bad), others)
}

functions <- sort(ls(core, pattern = "^cpp_"))
for (i in seq(first, length(functions))) {
  name <- functions[[i]]
  f <- core[[name]]
  parameters <- names(formals(f))
  base <- lapply(setNames(nm = parameters), function(parameter) {
    if (parameter == "pointer") pointer_of(name) else plausible[[parameter]]
  })
  call_with <- function(changed, what) {
    writeLines(c(i, sprintf("%s(%s)", name, what)), place)
    outcome <- tryCatch(
      {
        suppressMessages(do.call(f, changed, quote = TRUE))
        "accepted"
      },
      error = function(e) "error"
    )
    if (outcome == "accepted") cat(name, "(", what, ")\n", sep = "", file = accepted, append = TRUE)
  }
  for (parameter in parameters) {
    for (kind in bad_for(base[[parameter]])) {
      changed <- base
      changed[parameter] <- bad[kind]
      call_with(changed, paste(parameter, "=", kind))
    }
  }
  for (kind in if (length(parameters) > 1) bad_for(NULL)) {
    call_with(setNames(rep(bad[kind], length(parameters)), parameters), paste("all =", kind))
  }
}
writeLines("done", place)
