# Checks whether the tree can be released, and lists the remaining manual steps: `make release`.
# Quick checks come first. Only a tree that passes them is built and checked by R CMD check.
source("tools/common.R")

field_of <- function(root, name) {
  value <- read.dcf(file.path(root, "DESCRIPTION"), name)[[1]]
  if (is.na(value)) "" else value
}

# Compares titles without quotes and case, because DESCRIPTION quotes names of software.
plain_title <- function(title) tolower(gsub("['\"`]", "", trimws(title)))

# Finds addresses of example.org (RFC 2606) in DESCRIPTION, which the owner of the package must
# replace.
placeholder_faults <- function(root) {
  lines <- grep("PLACEHOLDER|@example[.]org|//example[.]org", read_lines(root, "DESCRIPTION"))
  violations("DESCRIPTION", lines, "placeholder", "replace the placeholder with the owner's data")
}

# NEWS.md must begin with `# <package> <version> (<date>)`, and the date must not be in the future.
news_faults <- function(root, today) {
  line <- c(read_lines(root, "NEWS.md"), "")[[1]]
  expected <- sprintf("# %s %s (", field_of(root, "Package"), field_of(root, "Version"))
  date <- sub("\\)$", "", substring(line, nchar(expected) + 1))
  if (!startsWith(line, expected) || !grepl("^[0-9]{4}-[0-9]{2}-[0-9]{2}$", date)) {
    message <- sprintf("the heading must be `%s<yyyy-mm-dd>)`, not `%s`", expected, line)
    return(violations("NEWS.md", 1L, "news", message))
  }
  date <- as.Date(date, optional = TRUE)
  is_past <- !is.na(date) && date <= today
  violations("NEWS.md", if (is_past) integer() else 1L, "news", "the date is not a day up to today")
}

# README.md must start with the package's name, optionally with its title, and must not name another
# version.
readme_faults <- function(root) {
  lines <- read_lines(root, "README.md")
  package <- field_of(root, "Package")
  headings <- grep("^# ", lines)
  first <- if (length(headings)) lines[[headings[[1]]]] else ""
  title_heading <- paste0(package, ": ", field_of(root, "Title"))
  found <- violations()
  if (!plain_title(sub("^# ", "", first)) %in% plain_title(c(package, title_heading))) {
    text <- "the heading must be `# %s` or `# %s`, not `%s`"
    message <- sprintf(text, package, title_heading, first)
    found <- violations("README.md", c(headings, 1L)[[1]], "readme", message)
  }
  pattern <- paste0("\\b", package, "[ _]([0-9]+[.][0-9]+[.][0-9]+)")
  versions <- regmatches(lines, gregexpr(pattern, lines, perl = TRUE))
  names_other_version <- vapply(versions, function(texts) {
    any(sub(pattern, "\\1", texts, perl = TRUE) != field_of(root, "Version"))
  }, NA)
  message <- paste("names another version than", field_of(root, "Version"))
  rbind(found, violations("README.md", which(names_other_version), "readme", message))
}

# Checks that the package's page and its site have the title of DESCRIPTION.
title_faults <- function(root) {
  title <- plain_title(field_of(root, "Title"))
  found <- violations()
  for (file in c("man/runhooks-package.Rd", "_pkgdown.yml")) {
    lines <- read_lines(root, file)
    has_title <- any(endsWith(sub("[}]+$", "", plain_title(lines)), title))
    if (has_title) next
    message <- paste("lacks the title of DESCRIPTION:", field_of(root, "Title"))
    found <- rbind(found, violations(file, 1L, "title", message))
  }
  found
}

# Checks that the tree is committed on the branch main.
git_faults <- function(root) {
  git <- function(...) system2("git", c("-C", shQuote(root), ...), stdout = TRUE, stderr = TRUE)
  changed <- git("status", "--porcelain")
  branch <- git("rev-parse", "--abbrev-ref", "HEAD")
  messages <- c(
    if (length(changed)) paste("changes are not committed:", paste(changed, collapse = ", ")),
    if (!identical(branch, "main")) {
      paste("the branch is not main but", paste(branch, collapse = " "))
    }
  )
  violations(".", rep(1L, length(messages)), "git", messages)
}

release_faults <- function(root, today = Sys.Date()) {
  rbind(
    placeholder_faults(root), news_faults(root, today), readme_faults(root), title_faults(root),
    git_faults(root)
  )
}

# Returns the faults in the log of R CMD check. CRAN accepts the note about a first submission. The
# note of R < 4.4 about the size of the shared library is information in newer versions.
log_faults <- function(lines) {
  reported <- grep("^\\* .* (ERROR|WARNING|NOTE)$", lines)
  allowed_notes <- "checking (CRAN incoming feasibility|installed package size) .* NOTE$"
  allowed <- grepl(allowed_notes, lines[reported])
  is_complete <- any(startsWith(lines, "Status: "))
  if (!is_complete) return(violations("00check.log", 1L, "check", "no status"))
  violations("00check.log", reported[!allowed], "check", lines[reported[!allowed]])
}

manual_steps <- c(
  "win-builder:  devtools::check_win_devel(), check_win_release(), check_win_oldrelease()",
  "mac-builder:  devtools::check_mac_release()",
  "R-hub:        rhub::rhub_check(), with the platforms of cran-comments.md",
  "cran-comments.md: enter the results of these machines",
  "submit:       https://cran.r-project.org/submit.html, and confirm the mail to the maintainer",
  "tag:          git tag v<version>, push it, then raise the version and open a new part of NEWS.md"
)

run_tool(function(arguments) {
  status <- report("release", release_faults("."), "NEWS, README and DESCRIPTION agree")
  if (status != 0L) return(status)
  if (system2("sh", c("tools/check.sh", "check")) != 0) return(1L)
  log <- file.path(".build/check", paste0(field_of(".", "Package"), ".Rcheck"), "00check.log")
  status <- report("release", log_faults(readLines(log, warn = FALSE)), "R CMD check is clean")
  if (status != 0L) return(status)
  cat("release: left for a person:", paste0("  ", manual_steps), sep = "\n")
  0L
}, sys.nframe())
