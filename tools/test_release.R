# Tests of release.R and site.R; test_tools.R sources this file and defines its functions.
releasable <- list(
  "DESCRIPTION" = c(
    "Package: scratch", "Title: Nets Without 'TensorFlow'", "Version: 1.2.0",
    'Authors@R: person("A", "B", email = "a@b.org", role = c("aut", "cre"))'
  ),
  "NEWS.md" = c("# scratch 1.2.0 (2026-01-31)", "", "# scratch 1.1.0 (2025-01-01)"),
  "README.md" = c("<!-- # -->", "# scratch", "install scratch_1.2.0.tar.gz"),
  "man/runhooks-package.Rd" = "\\title{scratch: nets without TensorFlow}",
  "_pkgdown.yml" = "  title: Nets without TensorFlow"
)
released <- function(changes = list(), commit = TRUE, branch = "main") {
  root <- scratch(utils::modifyList(releasable, changes))
  git <- function(...) system2("git", c("-C", root, ...), stdout = TRUE, stderr = TRUE)
  git("init", "-q", "-b", branch)
  if (commit) git("add", ".")
  git("-c", "user.name=a", "-c", "user.email=a@b.org", "commit", "-q", "--allow-empty", "-m", "a")
  release_faults(root, as.Date("2026-02-01"))
}
expect("a tree that can be released", nrow(released()) == 0)
release_fault <- function(rule, file, line, ...) {
  found <- released(...)
  got <- paste0(found$file, ":", found$line, " ", found$rule, collapse = "; ")
  expect(
    sprintf("%s at %s:%d, got: %s", rule, file, line, got),
    identical(list(found$rule, found$file, found$line), list(rule, file, as.integer(line)))
  )
}
with_line <- function(file, at, line) {
  lines <- releasable[[file]]
  lines[[at]] <- line
  stats::setNames(list(lines), file)
}
mail <- 'Authors@R: person("A", "B", email = "owner@example.org", role = c("aut", "cre"))'
release_fault("placeholder", "DESCRIPTION", 4, with_line("DESCRIPTION", 4, mail))
release_fault("placeholder", "DESCRIPTION", 5, with_line("DESCRIPTION", 5, "URL: https://example.org/a"))
for (heading in c(
  "# scratch 1.1.0 (2026-01-31)", "# scratch 1.2.0", "# scratch 1.2.0 (2026-02-02)",
  "# scratch 1.2.0 (2026-02-31)", "# Scratch 1.2.0 (2026-01-31)"
)) {
  release_fault("news", "NEWS.md", 1, with_line("NEWS.md", 1, heading))
}
release_fault("readme", "README.md", 2, with_line("README.md", 2, "# scratch: trees without TensorFlow"))
expect(
  "a README with the title",
  nrow(released(with_line("README.md", 2, "# scratch: nets without TensorFlow"))) == 0
)
release_fault("readme", "README.md", 3, with_line("README.md", 3, "scratch 1.1.0 is here"))
release_fault("title", "_pkgdown.yml", 1, list("_pkgdown.yml" = "  title: Nets"))
release_fault("git", ".", 1, commit = FALSE)
release_fault("git", ".", 1, branch = "other")
check_log <- c(
  "* checking CRAN incoming feasibility ... NOTE", "New submission", "* checking tests ... OK",
  "* checking installed package size ... NOTE", "Status: 2 NOTEs"
)
expect("the note of a new submission", nrow(log_faults(check_log)) == 0)
check_log[[3]] <- "* checking tests ... WARNING"
expect("a warning of R CMD check", identical(log_faults(check_log)$line, 3L))
expect("a log without the last line", nrow(log_faults(check_log[1:2])) == 1)
# A page of the site contains its table of contents, and loads no external script for it.
page <- tempfile(fileext = ".html")
writeLines(c(
  "<script src=\"https://cdn.x/bootstrap-toc.min.js\" integrity=\"a\"></script><script src=\"own.js\"></script>",
  "<h2 id=\"one\">One <code>x</code><a class=\"anchor\" href=\"#one\"></a></h2>",
  "<h3 class=\"hasAnchor\" id=\"two\">Two<a class=\"anchor\" href=\"#two\"></a></h3>",
  "<nav id=\"toc\"><h2>On this page</h2>", "    </nav>"
), page)
complete_page(page)
page <- paste(readLines(page), collapse = "\n")
expect(
  "the page has a table of contents",
  grepl("page</h2><ul[^>]*><li><a[^>]*#one\">One x</a><ul", page)
)
expect(
  "the table of contents has two levels", grepl("#two\">Two</a></li></ul></li></ul></nav>", page)
)
expect("other scripts remain", grepl("own.js", page) && !grepl("bootstrap-toc", page))
