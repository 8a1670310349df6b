# Snapshots of the code, output, error class and message of each expression of `x`. The form does
# not depend on testthat's version, unlike that of expect_snapshot().
expect_snapshot_text <- function(x, transform = identity) {
  expr <- substitute(x)
  env <- parent.frame()
  exprs <- if (is.call(expr) && identical(expr[[1]], quote(`{`))) as.list(expr[-1]) else list(expr)
  parts <- unlist(lapply(exprs, shown_parts, env = env), recursive = FALSE)
  header <- ""
  lines <- character()
  for (part in parts) {
    if (part$header != header) lines <- c(lines, part$header)
    header <- part$header
    text <- strsplit(part$text, "\n", fixed = TRUE)[[1]]
    lines <- c(lines, paste0("  ", if (header == "Code") text else transform(text)))
  }
  testthat::expect_snapshot_output(cat(lines, sep = "\n"))
}

shown_parts <- function(expr, env) {
  part <- function(header, lines) list(header = header, text = paste(lines, collapse = "\n"))
  error <- NULL
  output <- utils::capture.output({
    error <- tryCatch(
      {
        shown <- withVisible(eval(expr, env))
        if (shown$visible) testthat::testthat_print(shown$value)
        NULL
      },
      error = identity
    )
  })
  parts <- list(
    part("Code", rlang::expr_deparse(expr)), if (length(output)) part("Output", output),
    if (!is.null(error)) part(sprintf("Error <%s>", class(error)[[1]]), conditionMessage(error))
  )
  Filter(Negate(is.null), parts)
}
