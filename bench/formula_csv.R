# A formula model on a CSV that does not fit into memory: seconds and peak memory of scanning the
# data, one pass of training, and evaluation.
#   Rscript bench/formula_csv.R [gigabytes = 2]
gigabytes <- c(as.numeric(commandArgs(TRUE)), 2)[[1]]
file <- tempfile(fileext = ".csv")

# Writes the same blocks of rows repeatedly.
set.seed(1)
blocks <- lapply(1:4, function(i) {
  n <- 1e5
  x <- rexp(n) + 0.01
  g <- sample(c("north", "east", "south", "west"), n, TRUE)
  d <- data.frame(
    y = round(2 * log(x) + 3 * (g == "west") + rnorm(n), 4), x = round(x, 5), z = round(rnorm(n), 5),
    g, month = sample(12, n, TRUE), id = sprintf("customer-%07d-of-the-shop", sample(1e6, n))
  )
  do.call(paste, c(unname(d), sep = ","))
})
connection <- file(file, "w")
writeLines("y,x,z,g,month,id", connection)
size <- mean(vapply(blocks, function(b) sum(nchar(b)) + length(b), 0))
times <- ceiling(gigabytes * 2^30 / size)
for (i in seq_len(times)) writeLines(blocks[[(i - 1) %% 4 + 1]], connection)
close(connection)
rm(blocks)

library(runhooks)
options(runhooks.progress = FALSE)
peak <- function() {
  line <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}
say <- function(what, seconds) cat(sprintf("%-28s %7.1f s, peak so far %4.0f MB\n", what, seconds, peak()))
invisible(gc())
cat(sprintf("%.2f GB, %s rows\n", file.size(file) / 2^30, format(times * 1e5, big.mark = ",")))
say("begin", 0)
data <- text_line_dataset(file, record_spec = csv_record_spec(file))
seconds <- system.time(
  model <- linear_regressor(y ~ log(x) + z + g + factor(month), data, model_dir = tempfile())
)[[3]]
say("levels and scales", seconds)
say("a pass of training", system.time(train(model, num_epochs = 1, batch_size = 512))[[3]])
say("evaluation", system.time(print(evaluate(model)))[[3]])
unlink(file)
