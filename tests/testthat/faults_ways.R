# The scenarios that faults_child.R disturbs. `prepare` creates the initial state and `act` is
# disturbed. `check` tests that nothing was lost, and `done` that an `act` without an error is
# complete. `again` tests that the next process reaches the same result and removes leftovers.
# `lack` names the system features to disable.

place <- function(name) file.path(here, "at", name)
copy_to <- function(from, to) {
  unlink(to, recursive = TRUE)
  dir.create(to)
  file.copy(list.files(from, full.names = TRUE, all.files = TRUE, no.. = TRUE), to,
    recursive = TRUE, copy.date = TRUE
  )
  # The checkpoint state file contains the folder's name, which the copy must change.
  for (state in list.files(to, "^checkpoint", full.names = TRUE)) {
    writeLines(gsub(from, to, readLines(state), fixed = TRUE), state)
  }
  to
}
# Runs `code` in a process without faults, on the same simulated system.
undisturbed <- function(lack_of, code) {
  apart(function() {
    do.call(lack, as.list(lack_of))
    arm("count")
    code()
  })
}
nothing_lacks <- list()

# --- a model whose checkpoints contain every kind of state

input <- function() {
  set.seed(4)
  data <- data.frame(x = stats::rnorm(40))
  data$y <- 2 * data$x + stats::rnorm(40)
  tensor_slices_dataset(data) %>% dataset_shuffle(20) %>% dataset_repeat() %>% dataset_batch(8)
}
rows <- function() {
  set.seed(5)
  data <- data.frame(x = stats::rnorm(8))
  data$y <- 2 * data$x
  input_fn(data, features = "x", response = "y", batch_size = 8, num_epochs = 1, shuffle = FALSE)
}
model_in <- function(folder, ...) {
  linear_regressor(
    column_numeric("x"), model_dir = folder, optimizer = "Adam",
    config = run_config(
      tf_random_seed = 3, save_checkpoints_steps = 1, keep_checkpoint_max = 2, ...
    )
  )
}
counting_hook <- function() {
  seen <- 0
  session_run_hook(
    after_run = function(context, values) seen <<- seen + 1,
    save_state = function() list(seen = seen),
    restore_state = function(state) seen <<- state$seen
  )
}
# Trains with a hook that has state. Under another `name` the hook starts without state, which
# changes its checkpoint entry.
train_to <- function(folder, steps, name = "counter") {
  hooks <- list(counting_hook())
  names(hooks) <- name
  train(
    model_in(folder, checkpoint_input_pipeline = TRUE), input_fn(input(), x, y),
    max_steps = steps, hooks = hooks
  )
}

values_of <- function(folder) {
  path <- latest_checkpoint(folder)
  if (is.null(path)) return(NULL)
  names <- grep("hook_state", runhooks:::cpp_checkpoint_names(path), invert = TRUE, value = TRUE)
  runhooks:::cpp_checkpoint_values(path, names)
}
steps_of <- function(folder) runhooks:::cpp_saved_global_step(folder)
# Returns file names without times, and without shard numbers that depend on how often a step was
# saved.
files_of <- function(folder) {
  files <- list.files(folder, recursive = TRUE, all.files = TRUE)
  files <- sub("data-0000.-of-0000.", "data", files[!grepl("tfevents", files)])
  sort(unique(gsub("[0-9]{10}|timeline-[0-9]*", "time", files)))
}
events_of <- function(folder) {
  files <- list.files(folder, "tfevents", recursive = TRUE, full.names = TRUE)
  unname(tools::md5sum(files))
}
runs_of <- function(folder) as.data.frame(run_history(folder))[c("began", "to_step", "why")]
check_records <- function(folder, before, what) {
  if (!all(events_of(before) %in% events_of(folder))) wrong(what, " has lost events")
  files <- list.files(folder, "tfevents", recursive = TRUE, full.names = TRUE)
  read <- tryCatch(runhooks:::cpp_read_events(files, FALSE)$numbers, error = conditionMessage)
  if (is.character(read)) wrong(what, ": events cannot be read: ", read)
  old <- runs_of(before)
  now <- tryCatch(
    utils::head(runs_of(folder), nrow(old)), error = conditionMessage, warning = conditionMessage
  )
  if (!isTRUE(all.equal(now, old))) wrong(what, " has lost runs: ", utils::head(now))
}

# The variables after each step of an undisturbed run.
whole <- file.path(here, "whole")
at_step <- apart(function() {
  lapply(1:6, function(step) {
    train_to(whole, step)
    values_of(whole)
  })
})
whole_files <- files_of(whole)
begun <- file.path(here, "begun")
invisible(apart(function() train_to(begun, 3)))
empty <- file.path(here, "empty")
dir.create(empty)

check_model <- function(folder, least, what, wanted = at_step) {
  values <- tryCatch(values_of(folder), error = function(e) conditionMessage(e))
  if (is.null(values)) {
    if (least > 0) wrong(what, " has lost its checkpoints")
    return(invisible())
  }
  step <- tryCatch(steps_of(folder), error = function(e) -1)
  if (step < least) return(wrong(what, " is at step ", step))
  if (step > 0 && length(wanted) && !identical(unname(values), unname(wanted[[step]]))) {
    wrong(what, ": other values at step ", step)
  }
}
check_left <- function(folder, known, what) {
  left <- setdiff(files_of(folder), known)
  if (length(left)) wrong(what, ": the next run leaves ", paste(left, collapse = " "))
}
check_next <- function(folder, what, resume_unwind = function() train_to(folder, 6),
                       wanted = at_step, known = whole_files) {
  result <- apart(function() {
    resume_unwind()
    TRUE
  })
  if (!isTRUE(result)) return(wrong(what, ": the next run fails: ", result))
  check_model(folder, 6, paste(what, "and the next run"), wanted)
  check_left(folder, known, what)
}

training_way <- function(before, least, to, name = "counter", train = train_to, wanted = at_step,
                         known = whole_files) {
  list(
    prepare = function() copy_to(before, place("run")),
    act = function() train(place("run"), to, name),
    check = function(what) {
      check_model(place("run"), least, what, wanted)
      check_records(place("run"), before, what)
    },
    done = function(what) check_model(place("run"), to, what, wanted),
    again = function(what) {
      check_next(place("run"), what, function() train(place("run"), 6, "counter"), wanted, known)
      check_records(place("run"), before, paste(what, "and the next run"))
    }
  )
}

# --- trees: within a tree, a layer and the scan of the quantiles

grow_to <- function(folder, steps, name) {
  model <- boosted_trees_regressor(
    column_numeric("x"), model_dir = folder, n_batches_per_layer = 2, n_trees = 3, max_depth = 2,
    config = run_config(
      tf_random_seed = 3, save_checkpoints_steps = 1, keep_checkpoint_max = 2,
      checkpoint_input_pipeline = TRUE
    )
  )
  train(model, input_fn(input(), x, y), max_steps = steps)
}
growing_way <- function() {
  whole <- file.path(here, "growing")
  at_step <- apart(function() {
    lapply(1:6, function(step) {
      grow_to(whole, step)
      values_of(whole)
    })
  })
  if (inherits(at_step, "failed")) stop(at_step)
  begun <- file.path(here, "grown")
  invisible(apart(function() grow_to(begun, 3)))
  training_way(begun, 3, 5, train = grow_to, wanted = at_step, known = files_of(whole))
}

# --- evaluations during training

evaluation_way <- function() {
  evaluated <- file.path(here, "evaluated")
  apart(function() {
    train_to(evaluated, 3)
    evaluate(model_in(evaluated), rows())
  })
  list(
    prepare = function() copy_to(evaluated, place("run")),
    act = function() evaluate(model_in(place("run")), rows(), name = "again"),
    check = function(what) {
      check_model(place("run"), 3, what)
      check_records(place("run"), evaluated, what)
    },
    done = function(what) {
      if (!length(dir(place("run/eval_again")))) wrong(what, ": there are no events of it")
    },
    again = function(what) {
      result <- apart(function() evaluate(model_in(place("run")), rows())$average_loss)
      if (!is.numeric(result)) return(wrong(what, ": the next evaluation fails: ", result))
      check_next(place("run"), what, known = c(whole_files, files_of(evaluated)))
    }
  )
}

exporting_to <- function(folder, steps) {
  train_and_evaluate(
    model_in(folder, checkpoint_input_pipeline = TRUE),
    train_spec(input_fn(input(), x, y), max_steps = steps),
    eval_spec(
      rows(), steps = 1, throttle_secs = 0,
      exporters = list(
        latest_exporter("latest", exports_to_keep = 1), best_exporter("best", exports_to_keep = 1)
      )
    )
  )
}
versions_in <- function(folder) {
  names <- dir(file.path(folder, "export", c("latest", "best")), "^[0-9]+$", full.names = TRUE)
  split(sort(names), basename(dirname(sort(names))))
}
predicted <- function(folder) {
  unlist(predict(load_savedmodel(folder), data.frame(x = c(-1, 0.5))))
}
exporters_way <- function() {
  whole <- file.path(here, "exporting")
  at_step <- apart(function() {
    lapply(1:6, function(step) {
      exporting_to(whole, step)
      list(values = values_of(whole), answers = predicted(versions_in(whole)$latest[[1]]))
    })
  })
  if (inherits(at_step, "failed")) stop(at_step)
  values <- lapply(at_step, `[[`, "values")
  answers <- lapply(at_step, `[[`, "answers")
  known <- files_of(whole)
  before <- file.path(here, "exporting-begun")
  apart(function() exporting_to(before, 2))
  check_versions <- function(what, most = Inf) {
    versions <- versions_in(place("run"))
    if (length(versions) < 2) wrong(what, " has lost its exports")
    found <- apart(function() lapply(unlist(versions), predicted))
    if (!is.list(found) || !all(found %in% answers)) wrong(what, ": exports answer ", found)
    if (any(lengths(versions) > most)) wrong(what, ": ", toString(unlist(versions)), " stay")
  }
  list(
    prepare = function() copy_to(before, place("run")),
    act = function() exporting_to(place("run"), 3),
    check = function(what) {
      check_model(place("run"), 2, what, values)
      check_versions(what)
      check_records(place("run"), before, what)
    },
    done = function(what) check_model(place("run"), 3, what, values),
    again = function(what) {
      resume_unwind <- function() exporting_to(place("run"), 6)
      check_next(place("run"), what, resume_unwind, values, known)
      check_versions(paste(what, "and the next run"), most = 1)
    }
  )
}

# --- exports that replace an older one

export <- function(model, to, ...) export_savedmodel(model_in(model), to, ...)
exported <- file.path(here, "exported")
invisible(apart(function() export(begun, exported)))
writeLines("mine", file.path(exported, "notes"))
writeLines("mine", file.path(exported, "variables", "notes"))
older <- apart(function() predicted(exported))
newer <- apart(function() {
  export(whole, file.path(here, "newer"))
  predicted(file.path(here, "newer"))
})
stopifnot(is.numeric(older), is.numeric(newer), !identical(older, newer))
exported_files <- files_of(exported)

# Tests an export that replaces an older one. `steps`: without an atomic exchange, the export may be
# missing for a moment.
export_way <- function(lack_of = nothing_lacks, steps = FALSE) {
  model <- function() place("model")
  check <- function(what) {
    now <- apart(function() predicted(model()))
    is_none <- steps && inherits(now, "failed") && grepl("does not exist", now)
    if (!is_none && !identical(now, older) && !identical(now, newer)) wrong(what, ": ", now)
    mine <- file.exists(file.path(model(), c("notes", "variables/notes")))
    if (!is_none && !all(mine)) wrong(what, " has lost files of others")
  }
  done <- function(what) {
    if (!identical(apart(function() predicted(model())), newer)) wrong(what, ": it is not there")
    check(what)
  }
  list(
    lack = lack_of,
    prepare = function() copy_to(exported, model()),
    act = function() export(whole, model()),
    check = check,
    done = done,
    again = function(what) {
      result <- undisturbed(lack_of, function() export(whole, model()))
      if (inherits(result, "failed")) return(wrong(what, ": the next export fails: ", result))
      done(paste(what, "and the next one"))
      beside <- setdiff(dir(place(""), all.files = TRUE, no.. = TRUE), basename(model()))
      inside <- setdiff(files_of(model()), exported_files)
      left <- c(beside, inside)
      if (length(left)) wrong(what, ": the next export leaves ", paste(left, collapse = " "))
    }
  )
}
version_way <- function() list(
  prepare = function() dir.create(place("base")),
  act = function() export(whole, place("base"), overwrite = FALSE),
  check = function(what) {
    for (path in dir(place("base"), "^[0-9]+$", full.names = TRUE)) {
      if (!identical(apart(function() predicted(path)), newer)) wrong(what, " is not whole")
    }
  },
  done = function(what) {
    if (!length(dir(place("base"), "^[0-9]+$"))) wrong(what, ": it is not there")
  },
  again = function(what) {
    result <- apart(function() predicted(export(whole, place("base"), overwrite = FALSE)))
    if (!identical(result, newer)) wrong(what, ": the next export: ", result)
    left <- grep("^[0-9]+$", dir(place("base"), all.files = TRUE, no.. = TRUE), invert = TRUE)
    if (length(left)) wrong(what, ": the next export leaves something")
  }
)

# --- user-defined savers and sessions

own_value <- function(step) step * c(1, 10, 100)
# Saves a variable with tf$train$Saver(). `numbered`: each step has its own file name.
save_to <- function(folder, steps, numbered = TRUE) {
  with(tf$Graph()$as_default(), {
    v <- tf$get_variable("v", 3L)
    value <- tf$placeholder("float32", shape(3L))
    assign <- tf$assign(v, value)
    saver <- tf$train$Saver(max_to_keep = 2L)
    with(tf$Session() %as% session, {
      latest <- latest_checkpoint(folder)
      session$run(tf$global_variables_initializer())
      if (!is.null(latest)) {
        saver$restore(session, latest)
        saver$recover_last_checkpoints(
          unlist(tf$train$get_checkpoint_state(folder)$all_model_checkpoint_paths)
        )
      }
      for (step in steps) {
        session$run(assign, feed_dict = dict("Placeholder:0" = own_value(step)))
        saver$save(session, file.path(folder, "own"), if (numbered) step)
      }
    })
  })
}
own_in <- function(folder) {
  path <- latest_checkpoint(folder)
  if (!is.null(path)) runhooks:::cpp_checkpoint_values(path, "v")[[1]]
}
saver_way <- function(numbered) {
  before <- file.path(here, paste0("own", numbered))
  dir.create(before)
  apart(function() save_to(before, 1:2, numbered))
  last <- file.path(here, paste0("own-last", numbered))
  dir.create(last)
  apart(function() save_to(last, 1:6, numbered))
  known <- files_of(last)
  check <- function(what, steps) {
    value <- tryCatch(own_in(place("own")), error = conditionMessage)
    if (!any(vapply(steps, function(step) identical(as.numeric(value), own_value(step)), NA))) {
      wrong(what, " has ", value)
    }
  }
  list(
    prepare = function() copy_to(before, place("own")),
    act = function() save_to(place("own"), 3:4, numbered),
    check = function(what) check(what, 2:4),
    done = function(what) check(what, 4),
    again = function(what) {
      result <- apart(function() save_to(place("own"), 5:6, numbered))
      if (inherits(result, "failed")) wrong(what, ": the next one fails: ", result)
      check(paste(what, "and the next one"), 6)
      check_left(place("own"), known, what)
    }
  )
}

# Trains with a hook that saves the input's position to separate files.
loop_to <- function(folder, steps) {
  model <- model_in(folder, save_summary_steps = 1)
  train(model, input_fn(input(), x, y), max_steps = steps, hooks = list(
    hook_checkpoint_input_pipeline(model), hook_profiler(save_steps = 2, output_dir = folder)
  ))
}
monitored_to <- function(folder, steps) {
  with(tf$Graph()$as_default(), {
    step <- tf$train$get_or_create_global_step()
    v <- tf$get_variable("v", initializer = tf$zeros(3L))
    train <- tf$group(tf$assign_add(step, tf$cast(1L, "int64")), tf$assign_add(v, tf$ones(3L)))
    hooks <- list(
      hook_checkpoint_saver(folder, save_steps = 1),
      tf$train$StopAtStepHook(last_step = steps)
    )
    with(monitored_training_session(checkpoint_dir = folder, hooks = hooks,
      save_checkpoint_secs = NULL, save_summaries_steps = NULL, log_step_count_steps = NULL
    ) %as% session, {
      while (!session$should_stop()) session$run(train)
    })
  })
}
# The position is saved after the model, in separate files, as in TensorFlow. A process that is
# killed between the two resumes at an earlier row, with a message.
is_position_of_step <- function(folder) {
  state <- file.path(folder, "checkpoint_input")
  path <- if (file.exists(state)) grep("^model_checkpoint_path", readLines(state), value = TRUE)
  identical(as.numeric(sub('.*-([0-9]+)"$', "\\1", path)), as.numeric(steps_of(folder)))
}

# Tests the training function `go_to`. An undisturbed run is the reference if `agrees` is TRUE for
# the folder.
loop_way <- function(go_to, name, agrees = function(folder) TRUE) {
  whole <- file.path(here, paste0("whole-", name))
  dir.create(whole)
  values <- apart(function() {
    lapply(1:6, function(step) {
      go_to(whole, step)
      values_of(whole)
    })
  })
  if (inherits(values, "failed")) stop(values)
  before <- file.path(here, paste0("begun-", name))
  dir.create(before)
  apart(function() go_to(before, 3))
  known <- c(files_of(whole), "time.json") # written by the profiler
  list(
    prepare = function() copy_to(before, place("run")),
    act = function() go_to(place("run"), 5),
    check = function(what) check_model(place("run"), 3, what, values),
    done = function(what) check_model(place("run"), 5, what, values),
    again = function(what) {
      wanted <- if (agrees(place("run"))) values
      check_next(place("run"), what, function() go_to(place("run"), 6), wanted, known)
    }
  )
}

# --- single files that replace older ones

file_way <- function(name, write) {
  both <- file.path(here, paste0(name, 1:2))
  for (k in 1:2) apart(function() write(both[[k]], k))
  stopifnot(all(file.exists(both)))
  wanted <- tools::md5sum(both)
  check <- function(what, known) {
    if (!tools::md5sum(place("file")) %in% known) wrong(what, " is neither the old nor the new one")
  }
  list(
    prepare = function() file.copy(both[[1]], place("file")),
    act = function() write(place("file"), 2),
    check = function(what) check(what, wanted),
    done = function(what) check(what, wanted[[2]]),
    again = function(what) {
      apart(function() write(place("file"), 2))
      check(paste(what, "and the next one"), wanted[[2]])
      left <- setdiff(dir(place(""), all.files = TRUE, no.. = TRUE), "file")
      if (length(left)) wrong(what, ": the next one leaves ", left)
    }
  )
}
with_own_graph <- function(k, code) {
  with(tf$Graph()$as_default(), {
    for (i in seq_len(20 * k)) tf$constant(i, name = paste0("c", i))
    code
  })
}

mounted <- list(disk = place("model"))
makers <- list(
  save = function() training_way(empty, 0, 4),
  resume = function() training_way(begun, 3, 5),
  grow_trees = growing_way,
  resume_with_another_hook = function() training_way(begun, 3, 4, "other"),
  evaluate = evaluation_way,
  exporters = exporters_way,
  export = function() export_way(),
  export_without_links = function() export_way(list(links = TRUE)),
  export_without_exchange = function() export_way(list(exchange = TRUE), steps = TRUE),
  export_without_both = function() export_way(list(exchange = TRUE, links = TRUE), steps = TRUE),
  export_on_a_disk = function() export_way(mounted, steps = TRUE),
  export_a_version = version_way,
  saver = function() saver_way(TRUE),
  saver_of_one_name = function() saver_way(FALSE),
  checkpoint_saver_hook = function() loop_way(monitored_to, "monitored"),
  input_position = function() loop_way(loop_to, "position", is_position_of_step),
  graph = function() {
    file_way("graph", function(path, k) {
      with_own_graph(k, tf$train$write_graph(tf$get_default_graph(), dirname(path), basename(path)))
    })
  },
  meta_graph = function() {
    file_way("meta", function(path, k) with_own_graph(k, tf$train$export_meta_graph(path)))
  },
  records = function() {
    file_way("records", function(path, k) write_tfrecord(data.frame(x = seq_len(20 * k)), path))
  }
)
ways <- lapply(makers[grepl(wanted, names(makers))], function(make) make())
