# Prints lintr's remarks according to .lintr, if lintr is installed. They are advice only, because
# lintr's versions differ.
if (!requireNamespace("lintr", quietly = TRUE)) {
  cat("lintr: not installed, skipped\n")
} else {
  remarks <- list(lintr::lint_dir("tools"), if (dir.exists("R")) lintr::lint_package("."))
  for (some in remarks) if (length(some)) print(some)
  cat(sprintf("lintr: %d remarks (advice)\n", sum(lengths(remarks))))
}
