# Saving, resuming and exporting in processes that are killed, or whose calls fail, at one of their
# changes of files: Rscript faults_child.R folder faults kills seed, with faults.c loaded before
# everything else. Prints "wrong: ..." for what goes wrong, and at last "done: ...".

library(runhooks)
args <- commandArgs(TRUE)
here <- normalizePath(args[[1]])
most_faults <- as.numeric(args[[2]]) # of each way
kills <- as.numeric(args[[3]])
set.seed(as.numeric(args[[4]]))
tf$logging$set_verbosity("ERROR")
options(runhooks.threads = 1)

wrong <- function(...) cat("wrong: ", ..., "\n", sep = "")

# --- calls that change files

dyn.load(Sys.getenv("LD_PRELOAD"))

arm <- function(how, at = 0L, folder = here) {
  modes <- c(nothing = 0L, count = 1L, kill = 2L, fail = 3L)
  .C("faults_arm", modes[[how]], as.integer(at), folder)
  invisible()
}
calls <- function() .C("faults_count", 0L)[[1]]

# In a process of its own; what it gives, or NULL where it was killed. `seconds`: when it is.
apart <- function(code, seconds = NULL) {
  job <- parallel::mcparallel(
    tryCatch(code(), error = function(e) structure(conditionMessage(e), class = "failed")),
    silent = TRUE, mc.set.seed = FALSE
  )
  if (!is.null(seconds)) {
    Sys.sleep(seconds)
    tools::pskill(job$pid, tools::SIGKILL)
  }
  suppressWarnings(parallel::mccollect(job))[[1]]
}

# --- a model whose checkpoints have everything in them

input <- function() {
  set.seed(4)
  data <- data.frame(x = stats::rnorm(40))
  data$y <- 2 * data$x + stats::rnorm(40)
  tensor_slices_dataset(data) %>% dataset_shuffle(20) %>% dataset_repeat() %>% dataset_batch(8)
}
model_in <- function(folder) {
  linear_regressor(
    column_numeric("x"), model_dir = folder, optimizer = "Adam",
    config = run_config(
      tf_random_seed = 3, save_checkpoints_steps = 1, keep_checkpoint_max = 2,
      checkpoint_input_pipeline = TRUE
    )
  )
}
# `name`: under another one the hook begins anew, and what is saved of it changes
train_to <- function(folder, steps, name = "counter") {
  seen <- 0
  counter <- session_run_hook(
    after_run = function(context, values) seen <<- seen + 1,
    save_state = function() list(seen = seen),
    restore_state = function(state) seen <<- state$seen
  )
  hooks <- list(counter)
  names(hooks) <- name
  train(model_in(folder), input_fn(input(), x, y), max_steps = steps, hooks = hooks)
}

values_of <- function(folder) {
  path <- latest_checkpoint(folder)
  if (is.null(path)) return(NULL)
  names <- grep("hook_state", runhooks:::cpp_checkpoint_names(path), invert = TRUE, value = TRUE)
  runhooks:::cpp_checkpoint_values(path, names)
}
steps_of <- function(folder) runhooks:::cpp_saved_global_step(folder)
files_of <- function(folder) {
  files <- list.files(folder, recursive = TRUE, all.files = TRUE)
  # the data file of a step that was saved again has another name
  sort(unique(sub("data-0000.-of-0000.", "data", files[!grepl("tfevents", files)])))
}
copy_to <- function(from, to) {
  unlink(to, recursive = TRUE)
  dir.create(to)
  file.copy(list.files(from, full.names = TRUE), to, recursive = TRUE, copy.date = TRUE)
  to
}

# What a run that nobody disturbs has at each step.
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

check_model <- function(folder, least, what) {
  values <- tryCatch(values_of(folder), error = function(e) conditionMessage(e))
  if (is.null(values)) {
    if (least > 0) wrong(what, " has lost its checkpoints")
    return(invisible())
  }
  step <- tryCatch(steps_of(folder), error = function(e) -1)
  if (step < least) return(wrong(what, " is at step ", step))
  if (step > 0 && !identical(unname(values), unname(at_step[[step]]))) {
    wrong(what, ": other values at step ", step)
  }
}
# The next run goes on, comes to the same end and has removed what was left.
check_next <- function(folder, what) {
  result <- apart(function() {
    train_to(folder, 6)
    TRUE
  })
  if (!isTRUE(result)) return(wrong(what, ": the next run fails: ", result))
  check_model(folder, 6, paste(what, "and the next run"))
  left <- setdiff(files_of(folder), whole_files)
  if (length(left)) wrong(what, ": the next run leaves ", paste(left, collapse = " "))
}

# --- exports

predicted <- function(folder) {
  unlist(predict(load_savedmodel(folder), data.frame(x = c(-1, 0.5))))
}
export <- function(model, to) export_savedmodel(model_in(model), to)
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

check_export <- function(folder, what) {
  now <- apart(function() predicted(folder))
  if (!identical(now, older) && !identical(now, newer)) wrong(what, ": ", now)
  mine <- file.exists(file.path(folder, c("notes", "variables/notes")))
  if (!all(mine)) wrong(what, " has lost files of others")
}
check_next_export <- function(folder, what) {
  result <- apart(function() {
    export(whole, folder)
    predicted(folder)
  })
  if (!identical(result, newer)) return(wrong(what, ": the next export: ", result))
  check_export(folder, paste(what, "and the next one"))
  beside <- setdiff(list.files(dirname(folder), all.files = TRUE, no.. = TRUE), basename(folder))
  if (length(beside)) wrong(what, ": the next export leaves ", paste(beside, collapse = " "))
}

# --- the ways

place <- function(name) file.path(here, "at", name)
ways <- list(
  save = list(
    prepare = function() unlink(place("run"), recursive = TRUE),
    act = function() train_to(place("run"), 4),
    check = function(what) check_model(place("run"), 0, what),
    again = function(what) check_next(place("run"), what)
  ),
  resume = list(
    prepare = function() copy_to(begun, place("run")),
    act = function() train_to(place("run"), 5),
    check = function(what) check_model(place("run"), 3, what),
    again = function(what) check_next(place("run"), what)
  ),
  resume_with_another_hook = list(
    prepare = function() copy_to(begun, place("run")),
    act = function() train_to(place("run"), 4, "other"),
    check = function(what) check_model(place("run"), 3, what),
    again = function(what) check_next(place("run"), what)
  ),
  export = list(
    prepare = function() copy_to(exported, place("model")),
    act = function() export(whole, place("model")),
    check = function(what) check_export(place("model"), what),
    again = function(what) check_next_export(place("model"), what)
  )
)
fresh <- function(way) {
  unlink(file.path(here, "at"), recursive = TRUE)
  dir.create(file.path(here, "at"))
  way$prepare()
}

tried <- 0
for (name in names(ways)) {
  way <- ways[[name]]
  fresh(way)
  points <- apart(function() {
    arm("count", folder = file.path(here, "at"))
    way$act()
    calls()
  })
  if (!is.numeric(points)) {
    wrong(name, " alone: ", points)
    next
  }
  for (how in c("kill", "fail")) {
    for (at in sort(sample(points, min(points, most_faults)))) {
      what <- sprintf("%s, %s at call %d of %d", name, how, at, points)
      fresh(way)
      result <- apart(function() {
        arm(how, at, file.path(here, "at"))
        # that it is told of a failure is not asked for: what is not needed may stay undone
        tryCatch(way$act(), error = function(e) NULL)
        calls()
      })
      if (how == "kill" && !is.null(result)) wrong(what, ": it was not killed")
      if (how == "fail" && !isTRUE(result >= at)) wrong(what, ": the call was not made: ", result)
      way$check(what)
      way$again(what)
      tried <- tried + 1
    }
  }
  cat("tried: ", name, ", ", points, " calls\n", sep = "")
}

# --- at any moment

for (i in seq_len(kills)) {
  name <- names(ways)[[(i - 1) %% length(ways) + 1]]
  way <- ways[[name]]
  fresh(way)
  seconds <- stats::runif(1, 0, 0.15)
  what <- sprintf("%s, killed after %.4f s", name, seconds)
  apart(way$act, seconds)
  way$check(what)
  way$again(what)
}
cat("done: ", tried, " faults, ", kills, " kills\n", sep = "")
