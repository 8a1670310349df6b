# Saves and restores 200 MB of variables, compared with `cp` of the data file and with TensorFlow if
# installed. Prints wall seconds, with processor seconds in brackets; best of five rounds.
#   Rscript bench/checkpoint.R [folder, on the disk that is meant]
suppressPackageStartupMessages(library(runhooks))
arguments <- commandArgs(TRUE)
options(runhooks.threads = 2)
folder <- tempfile("checkpoint", if (length(arguments)) arguments[[1]] else tempdir())
dir.create(folder)

seconds <- function(expr) {
  took <- system.time(expr)
  c(took[["elapsed"]], sum(took[1:2], na.rm = TRUE))
}

rounds <- with(tf$Graph()$as_default(), {
  for (i in 1:10) {
    tf$get_variable(
      paste0("v", i), shape = c(1000L, 5000L), initializer = tf$random_normal_initializer()
    )
  }
  saver <- tf$train$Saver()
  with(tf$Session() %as% session, {
    session$run(tf$global_variables_initializer())
    replicate(5, simplify = FALSE, {
      prefix <- tempfile("model", folder)
      saved <- seconds(saver$save(session, prefix, write_meta_graph = FALSE))
      restored <- seconds(saver$restore(session, prefix))
      data <- paste0(prefix, ".data-00000-of-00001")
      copied <- seconds(file.copy(data, paste0(data, ".copy")))
      unlink(paste0(data, c("", ".copy")))
      list(save = saved, restore = restored, `R's file.copy()` = copied)
    })
  })
})
best <- function(what) apply(vapply(rounds, `[[`, numeric(2), what), 1, min)
for (what in names(rounds[[1]])) {
  cat(sprintf("%-28s %6.3f (%.3f)\n", what, best(what)[[1]], best(what)[[2]]))
}
python <- system2("sh", "tools/tf_python.sh", stdout = TRUE, stderr = FALSE)
if (length(python) == 1 && nzchar(python)) {
  said <- system2(
    python, c("bench/checkpoint_tf.py", shQuote(folder)), stdout = TRUE, stderr = FALSE
  )
  cat(grep("^TensorFlow", said, value = TRUE), sep = "\n")
}
unlink(folder, recursive = TRUE)
