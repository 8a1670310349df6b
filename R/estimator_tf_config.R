# The environment variable TF_CONFIG, in which cluster schedulers describe this process.

# Fields of a configuration from TF_CONFIG, or an empty list. Only a single task is supported.
tf_config_fields <- function(call) {
  text <- Sys.getenv("TF_CONFIG")
  if (!nzchar(text) || !grepl("[^[:space:]]", text)) return(list())
  given <- parse_tf_config(text, call)
  tasks <- cluster_tasks(given$cluster, call)
  if (length(tasks) > 1) abort_several_tasks(tasks, call)
  task <- task_of(given$task, tasks, call)
  fields <- list(task_type = task$type, task_id = task$index)
  if (length(tasks)) {
    fields$cluster_spec <- given$cluster
    fields$num_worker_replicas <- as.integer(names(tasks) %in% c("chief", "master", "worker"))
  }
  for (name in c("session_master", "eval_session_master")) abort_server(name, given[[name]], call)
  fields$service <- given$service
  if (!is.null(given$model_dir)) {
    check_config_value("model_dir", given$model_dir, call)
    fields$model_dir <- absolute_path(given$model_dir, call = call)
  }
  fields
}

parse_tf_config <- function(text, call) {
  rlang::check_installed("jsonlite", "to read the environment variable TF_CONFIG.", call = call)
  given <- tryCatch(jsonlite::fromJSON(text, simplifyVector = FALSE), error = function(error) {
    abort_runhooks(
      c(
        "The environment variable {.envvar TF_CONFIG} is not valid JSON.",
        x = "{first_line(conditionMessage(error))}"
      ),
      call = call
    )
  })
  if (!is.list(given) || length(given) && is.null(names(given))) {
    abort_runhooks(
      "The environment variable {.envvar TF_CONFIG} must be a JSON object, not
       {describe_type(given)}.",
      call = call
    )
  }
  given
}

first_line <- function(text) strsplit(text, "\n", fixed = TRUE)[[1]][[1]]

cluster_tasks <- function(cluster, call) {
  good <- is.null(cluster) || is.list(cluster) && all(vapply(cluster, is.list, NA)) &&
    (length(cluster) == 0 || !is.null(names(cluster)))
  if (!good) {
    abort_runhooks(
      "\"cluster\" in {.envvar TF_CONFIG} must be an object of lists of addresses,
       not {describe_type(cluster)}.",
      call = call
    )
  }
  types <- rep(names(cluster), lengths(cluster))
  stats::setNames(unlist(cluster), types)
}

abort_several_tasks <- function(tasks, call) {
  counts <- table(names(tasks))
  words <- paste(counts, names(counts))
  abort_runhooks(
    c(
      "{.envvar TF_CONFIG} describes a cluster of {length(tasks)} tasks ({words}), but runhooks
       supports only one.",
      i = "To train in this process alone, call {.code Sys.unsetenv(\"TF_CONFIG\")}."
    ),
    kind = "unimplemented", call = call
  )
}

# Without a cluster, the process is worker 0, as without TF_CONFIG.
task_of <- function(task, tasks, call) {
  type <- task$type
  if (is.null(type)) type <- if (length(tasks)) names(tasks) else "worker"
  index <- if (is.null(task$index)) 0L else task$index
  known <- if (length(tasks)) names(tasks) else unlist(unclass(task_type()), use.names = FALSE)
  if (!is_string(type) || !type %in% known) {
    abort_runhooks(
      "The task of {.envvar TF_CONFIG} must be of type {.or {.val {known}}}, not {.val {type}}.",
      call = call
    )
  }
  if (!identical(as.numeric(index), 0)) {
    abort_runhooks(
      "{.envvar TF_CONFIG} describes one task, so its index must be 0, not {.val {index}}.",
      call = call
    )
  }
  list(type = type, index = 0L)
}

abort_server <- function(name, value, call) {
  if (is.null(value) || identical(value, "")) return(invisible())
  abort_runhooks(
    c(
      "\"{name}\" in {.envvar TF_CONFIG} names a server, {.val {value}}, but runhooks trains in the
       current process.",
      i = "To train in this process alone, call {.code Sys.unsetenv(\"TF_CONFIG\")}."
    ),
    kind = "unimplemented", call = call
  )
}
