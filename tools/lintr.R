# Prints the remarks of lintr (configured by .lintr), if it is installed. They are only advice,
# because versions of lintr differ.
if (!requireNamespace("lintr", quietly = TRUE)) {
  cat("lintr: not installed, skipped\n")
} else {
  remarks <- list(lintr::lint_dir("tools"), if (dir.exists("R")) lintr::lint_package("."))
  for (of_folder in remarks) if (length(of_folder)) print(of_folder)
  cat(sprintf("lintr: %d remarks (advice)\n", sum(lengths(remarks))))
}
