# Counts the names of TensorFlow's scripts (golden/tf_namespace.tsv) that exist in `tf`, by
# priority, and lists missing ones: Rscript tools/tf_namespace.R, after `make install`.
suppressPackageStartupMessages(library(runhooks))
names <- read.delim(
  "tests/testthat/golden/tf_namespace.tsv", header = FALSE, col.names = c("rank", "name")
)
is_there <- vapply(strsplit(names$name, ".", fixed = TRUE), function(path) {
  tryCatch(
    !is.null(Reduce(function(at, part) do.call(`$`, list(at, part)), path, tf)),
    error = function(e) FALSE
  )
}, NA)
for (rank in unique(names$rank)) {
  of_rank <- names$rank == rank
  cat(sprintf("%-7s %3d of %3d", rank, sum(is_there[of_rank]), sum(of_rank)))
  missing <- names$name[of_rank & !is_there]
  cat(if (length(missing)) paste0("; not there: ", paste(missing, collapse = " ")), "\n", sep = "")
}
