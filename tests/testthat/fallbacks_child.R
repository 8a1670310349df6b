# Trains, saves, resumes, exports and predicts: Rscript fallbacks_child.R folder. RUNHOOKS_DISABLE
# names the system features that the core must do without.
library(runhooks)
here <- commandArgs(TRUE)[[1]]
folder <- file.path(here, "model")
input <- function() {
  input_fn(
    mtcars, response = "mpg", features = c("drat", "cyl"), batch_size = 8, shuffle = FALSE,
    num_epochs = NULL
  )
}
# The layers are large enough for preallocated writes and for variables of several chunks.
model <- dnn_regressor(
  c(1500, 1500), feature_columns(column_numeric("drat"), column_numeric("cyl")),
  model_dir = folder,
  config = run_config(tf_random_seed = 1, save_checkpoints_steps = 2, keep_checkpoint_max = 2)
)
train(model, input(), max_steps = 3)
train(model, input(), max_steps = 6)
words <- file.path(here, "words")
writeLines(c("a", "b"), words)
export <- file.path(here, "export")
for (i in 1:2) suppressMessages(export_savedmodel(model, export))
writeLines("mine", file.path(export, "notes"))
suppressMessages(export_savedmodel(model, export))
saveRDS(
  list(
    step = runhooks:::cpp_saved_global_step(folder),
    predictions = unlist(predict(model, newdata = mtcars)),
    exported = unlist(predict(load_savedmodel(export), mtcars)),
    notes = readLines(file.path(export, "notes")),
    files = sort(sub("tfevents.*", "tfevents", list.files(here, recursive = TRUE, all.files = TRUE))),
    runs = nrow(run_history(folder))
  ),
  file.path(here, "result.rds")
)
