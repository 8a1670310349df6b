# lintr's remarks by .lintr, where lintr is installed. They are advice: its versions differ, so
# they fail nothing.
if (!requireNamespace("lintr", quietly = TRUE)) {
  cat("lintr: not installed, skipped\n")
} else {
  remarks <- list(lintr::lint_dir("tools"), if (dir.exists("R")) lintr::lint_package("."))
  for (some in remarks) if (length(some)) print(some)
  cat(sprintf("lintr: %d remarks (advice)\n", sum(lengths(remarks))))
}
