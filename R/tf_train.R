# tf$train: moving averages, checkpoints, and other functions that scripts use.

train_utility_symbols <- function() {
  symbols <- list(
    ExponentialMovingAverage = exponential_moving_average,
    get_checkpoint_state = get_checkpoint_state,
    list_variables = list_variables, load_variable = load_variable,
    load_checkpoint = load_checkpoint, checkpoint_exists = checkpoint_exists,
    init_from_checkpoint = init_from_checkpoint,
    global_step = function(sess, global_step_tensor) {
      as.integer(underlying_session(sess)$run(global_step_tensor))
    },
    # checks its arguments but has no other effect, because datasets replace queues
    start_queue_runners = function(sess = NULL, coord = NULL, daemon = TRUE, start = TRUE,
                                   collection = "queue_runners") {
      check_flag(daemon)
      check_flag(start)
      check_string(collection)
      invisible(list())
    },
    write_graph = function(graph_or_graph_def, logdir, name, as_text = TRUE) {
      check_string(logdir)
      check_string(name)
      check_flag(as_text)
      if (inherits(graph_or_graph_def, "tensorflow.GraphDef")) {
        path <- file.path(path.expand(logdir), name)
        return(invisible(write_message(graph_or_graph_def, path, as_text)))
      }
      if (!is_graph(graph_or_graph_def)) {
        abort_runhooks(
          "{.arg graph_or_graph_def} must be a graph, not {.obj_type_friendly
           {graph_or_graph_def}}."
        )
      }
      path <- file.path(path.expand(logdir), name)
      dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
      cpp_write_graph(graph_or_graph_def$.pointer, path, as_text)
      invisible(path)
    },
    summary_iterator = function(path) {
      check_string(path)
      events <- read_event_files(absolute_path(path, "path"))
      split(events, seq_len(nrow(events)))
    }
  )
  setNames(symbols, paste0("train.", names(symbols)))
}

read_event_files <- function(path, call = parent.frame()) {
  if (!file.exists(path)) {
    abort_runhooks("{.path {path}} does not exist.", kind = "not_found", call = call)
  }
  as.data.frame(cpp_read_events(path, FALSE)$numbers)
}

# --- checkpoints

# Returns the prefix of a checkpoint. `x` is the prefix, or a directory, whose newest checkpoint is
# used.
checkpoint_prefix <- function(x, call = parent.frame()) {
  check_string(x, arg = "ckpt_dir_or_file", call = call)
  # R rejects strings marked as bytes; the bytes of a file name are valid in the native encoding
  if (Encoding(x) == "bytes") Encoding(x) <- "unknown"
  path <- path.expand(x)
  prefix <- if (dir.exists(path)) cpp_latest_checkpoint(path) else path
  if (is.null(prefix) || !checkpoint_exists(prefix)) {
    abort_runhooks(
      "Couldn't find 'checkpoint' file or checkpoints in given directory {.path {x}}.",
      kind = "not_found", call = call
    )
  }
  prefix
}

checkpoint_exists <- function(checkpoint_prefix) {
  check_string(checkpoint_prefix)
  file.exists(paste0(path.expand(checkpoint_prefix), ".index"))
}

list_variables <- function(ckpt_dir_or_file) {
  path <- checkpoint_prefix(ckpt_dir_or_file)
  values <- cpp_checkpoint_values(path, cpp_checkpoint_whole_names(path))
  lapply(names(values), function(name) {
    value <- values[[name]]
    is_scalar <- is.null(dim(value)) && length(value) == 1
    list(name, if (is_scalar) integer() else if (is.null(dim(value))) length(value) else dim(value))
  })
}

load_variable <- function(ckpt_dir_or_file, name) {
  check_string(name)
  load_checkpoint(ckpt_dir_or_file)$get_tensor(sub(":0$", "", name))
}

load_checkpoint <- function(ckpt_dir_or_file) {
  path <- checkpoint_prefix(ckpt_dir_or_file)
  names <- cpp_checkpoint_whole_names(path)
  list(
    get_tensor = function(tensor_str) {
      if (!tensor_str %in% names) {
        text <- sprintf("Key %s not found in checkpoint", tensor_str)
        abort_plain(c(text, did_you_mean(tensor_str, names, braces = FALSE)), kind = "not_found")
      }
      cpp_checkpoint_values(path, tensor_str)[[1]]
    },
    has_tensor = function(tensor_str) tensor_str %in% names,
    get_variable_to_dtype_map = function() {
      lapply(cpp_checkpoint_tensors(path)[names], function(x) as_dtype(x$dtype))
    },
    get_variable_to_shape_map = function() {
      variables <- list_variables(path)
      setNames(lapply(variables, `[[`, 2), vapply(variables, `[[`, "", 1))
    }
  )
}

# Initializes variables from a checkpoint. `assignment_map` maps names in the checkpoint to names
# of variables or to variables, and scopes to scopes ("a/" = "b/").
init_from_checkpoint <- function(ckpt_dir_or_file, assignment_map) {
  path <- checkpoint_prefix(ckpt_dir_or_file)
  is_valid <- is.list(assignment_map) && !is.null(names(assignment_map))
  check_arg(is_valid, assignment_map, "a named list", "assignment_map", environment())
  available <- cpp_checkpoint_whole_names(path)
  resolve <- function(from, to) resolve_assignment(from, to, available)
  tensors <- Map(resolve, names(assignment_map), assignment_map)
  tensors <- do.call(c, unname(tensors))
  values <- cpp_checkpoint_values(path, unique(vapply(tensors, `[[`, "", 1)))
  for (pair in tensors) {
    variable <- pair[[2]]
    value <- tf$constant(values[[pair[[1]]]], dtype = variable$dtype)
    has_same_shape <- identical(as.numeric(unlist(dim(value))), as.numeric(unlist(dim(variable))))
    if (!has_same_shape) {
      abort_runhooks(
        "Shape of variable {variable$name} ({variable$shape$text}) doesn't match with shape of
         tensor {pair[[1]]} ({value$shape$text}) from checkpoint reader."
      )
    }
    cpp_variable_set_initial_value(variable, value)
  }
  invisible()
}

# Returns pairs of a name in the checkpoint and a variable for one entry of `assignment_map`.
resolve_assignment <- function(from, to, available, call = parent.frame(3)) {
  abort_missing <- function(name) {
    abort_runhooks("Tensor {name} is not found in the checkpoint.", kind = "not_found", call = call)
  }
  if (is_variable(to)) {
    if (!from %in% available) abort_missing(from)
    return(list(list(from, to)))
  }
  variables <- all_variables()
  names(variables) <- sub(":0$", "", names(variables))
  if (!endsWith(from, "/")) {
    if (!from %in% available) abort_missing(from)
    if (!to %in% names(variables)) {
      abort_runhooks("There is no variable {.val {to}} in the graph.", kind = "not_found",
        call = call
      )
    }
    return(list(list(from, variables[[to]])))
  }
  if (from == "/") from <- ""
  to <- if (to == "/") "" else to
  inside <- variables[startsWith(names(variables), to)]
  # omit optimizer slots and the global step, which belong to the run, not to the model
  inside <- inside[names(inside) %in% trainable_or_model_names()]
  lapply(names(inside), function(name) {
    source <- paste0(from, substring(name, nchar(to) + 1))
    if (!source %in% available) abort_missing(source)
    list(source, inside[[name]])
  })
}

trainable_or_model_names <- function() {
  graph <- cpp_graph_default()
  slots <- grepl("/(Adam|Adam_1|Adagrad|Momentum|RMSProp|RMSProp_1|Ftrl|Ftrl_1)$", names(
    all_variables()
  ))
  names <- sub(":0$", "", names(all_variables()))
  step <- vapply(graph$get_collection("global_step"), function(v) sub(":0$", "", v$name), "")
  setdiff(names[!slots], step)
}

# --- moving averages

exponential_moving_average <- function(decay, num_updates = NULL, zero_debias = FALSE,
                                       name = "ExponentialMovingAverage") {
  abort_unsupported_arguments(zero_debias)
  check_string(name)
  averages <- list()
  op_name <- function(x) if (is_variable(x)) sub(":0$", "", x$name) else x$op$name
  self <- new.env(parent = emptyenv())
  self$name <- name
  self$apply <- function(var_list = NULL) {
    variables <- if (is.null(var_list)) tf$trainable_variables() else as_tensor_list(var_list)
    for (x in variables) {
      if (!is.null(averages[[op_name(x)]])) {
        abort_runhooks("Moving average already computed for: {x$name}")
      }
      if (!x$dtype$is_floating) {
        abort_runhooks("The variables must be half, float, or double: {x$name}")
      }
      averages[[op_name(x)]] <<- new_moving_average(x, op_name(x), name)
      if (is_variable(x)) {
        cpp_graph_default()$add_to_collection("moving_average_variables", x)
      }
    }
    with(name_scope(name) %as% scope, {
      rate <- tf$convert_to_tensor(decay, name = "decay")
      if (!is.null(num_updates)) {
        n <- tf$cast(num_updates, "float32")
        rate <- tf$minimum(rate, (1 + n) / (10 + n))
      }
      updates <- lapply(variables, function(x) {
        assign_moving_average(averages[[op_name(x)]], x, rate)
      })
      tf$group(updates, name = scope)
    })
  }
  self$average <- function(var) averages[[op_name(var)]]
  self$average_name <- function(var) {
    average <- averages[[op_name(var)]]
    if (is.null(average)) paste0(op_name(var), "/", name) else op_name(average)
  }
  self$variables_to_restore <- function(moving_avg_variables = NULL) {
    averaged <- if (is.null(moving_avg_variables)) {
      c(tf$trainable_variables(), tf$moving_average_variables())
    } else {
      moving_avg_variables
    }
    averaged <- averaged[!duplicated(vapply(averaged, op_name, ""))]
    named_averages <- setNames(averaged, vapply(averaged, self$average_name, ""))
    others <- Filter(function(v) {
      !op_name(v) %in% vapply(averaged, op_name, "") && !op_name(v) %in% names(named_averages)
    }, tf$global_variables())
    c(named_averages, setNames(others, vapply(others, op_name, "")))
  }
  class(self) <- "runhooks_moving_average"
  self
}

# Creates the variable for a moving average. It starts at the initial value of a variable, or at 0
# for another tensor.
new_moving_average <- function(x, op_name, name) {
  initial <- if (is_variable(x)) {
    cpp_variable_initial_value(x)
  } else {
    tf$zeros(as.integer(unlist(dim(x))), dtype = x$dtype)
  }
  existing <- sub(":0$", "", names(all_variables()))
  prefix <- cpp_variable_scope()$name
  prefix <- if (nzchar(prefix)) paste0(prefix, "/") else ""
  base_name <- paste0(op_name, "/", name)
  unique_name <- base_name
  i <- 0
  while (paste0(prefix, unique_name) %in% existing) {
    i <- i + 1
    unique_name <- paste0(base_name, "_", i)
  }
  get_variable(unique_name, initializer = initial, trainable = FALSE)
}

assign_moving_average <- function(variable, value, decay) {
  with(name_scope("AssignMovingAvg"), {
    share <- 1 - tf$cast(decay, variable$dtype)
    tf$assign_sub(variable, (variable - value) * share)
  })
}

#' @export
print.runhooks_moving_average <- function(x, ...) {
  cat("<ExponentialMovingAverage \"", x$name, "\">\n", sep = "") # lint: allow stdout
  invisible(x)
}
