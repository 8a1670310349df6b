# The environment variable TF_CONFIG, in which cluster schedulers describe this process.

# Returns the fields of a run configuration that TF_CONFIG sets. Only a single task is supported.
tf_config_fields <- function(call) {
  text <- Sys.getenv("TF_CONFIG")
  if (!nzchar(text) || !grepl("[^[:space:]]", text)) return(list())
  settings <- parse_tf_config(text, call)
  tasks <- cluster_tasks(settings$cluster, call)
  if (length(tasks) > 1) abort_several_tasks(tasks, call)
  task <- check_task(settings$task, tasks, call)
  fields <- list(task_type = task$type, task_id = task$index)
  if (length(tasks)) {
    fields$cluster_spec <- settings$cluster
    fields$num_worker_replicas <- as.integer(names(tasks) %in% c("chief", "master", "worker"))
  }
  for (name in c("session_master", "eval_session_master")) {
    abort_if_server(name, settings[[name]], call)
  }
  fields$service <- settings$service
  if (!is.null(settings$model_dir)) {
    check_config_value("model_dir", settings$model_dir, call)
    fields$model_dir <- absolute_path(settings$model_dir, call = call)
  }
  fields
}

parse_tf_config <- function(text, call) {
  rlang::check_installed("jsonlite", "to read the environment variable TF_CONFIG.", call = call)
  settings <- tryCatch(jsonlite::fromJSON(text, simplifyVector = FALSE), error = function(error) {
    abort_runhooks(
      c(
        "The environment variable {.envvar TF_CONFIG} is not valid JSON.",
        x = "{first_line(conditionMessage(error))}"
      ),
      call = call
    )
  })
  if (!is.list(settings) || length(settings) && is.null(names(settings))) {
    abort_runhooks(
      "The environment variable {.envvar TF_CONFIG} must be a JSON object, not
       {describe_type(settings)}.",
      call = call
    )
  }
  settings
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
  task_counts <- paste(counts, names(counts))
  abort_runhooks(
    c(
      "{.envvar TF_CONFIG} describes a cluster of {length(tasks)} tasks ({task_counts}), but
       runhooks supports only one.",
      i = "To train in this process alone, call {.code Sys.unsetenv(\"TF_CONFIG\")}."
    ),
    kind = "unimplemented", call = call
  )
}

# Returns the type and index of this process's task. Without a cluster, the process is worker 0.
check_task <- function(task, tasks, call) {
  type <- task$type
  if (is.null(type)) type <- if (length(tasks)) names(tasks) else "worker"
  index <- if (is.null(task$index)) 0L else task$index
  allowed <- if (length(tasks)) names(tasks) else unlist(unclass(task_type()), use.names = FALSE)
  if (!is_string(type) || !type %in% allowed) {
    abort_runhooks(
      "The task of {.envvar TF_CONFIG} must be of type {.or {.val {allowed}}}, not {.val {type}}.",
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

abort_if_server <- function(name, value, call) {
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
