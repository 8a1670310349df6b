# Counts how many names that TensorFlow scripts use (golden/tf_namespace.tsv) exist in `tf`, by
# priority, and lists the missing ones: Rscript tools/tf_namespace.R, after `make install`.
suppressPackageStartupMessages(library(runhooks))
names <- read.delim(
  "tests/testthat/golden/tf_namespace.tsv", header = FALSE, col.names = c("rank", "name")
)
exists <- vapply(strsplit(names$name, ".", fixed = TRUE), function(path) {
  tryCatch(
    !is.null(Reduce(function(at, part) do.call(`$`, list(at, part)), path, tf)),
    error = function(e) FALSE
  )
}, NA)
for (rank in unique(names$rank)) {
  has_rank <- names$rank == rank
  cat(sprintf("%-7s %3d of %3d", rank, sum(exists[has_rank]), sum(has_rank)))
  missing <- names$name[has_rank & !exists]
  cat(if (length(missing)) paste0("; not there: ", paste(missing, collapse = " ")), "\n", sep = "")
}
