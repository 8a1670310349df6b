# Builds the website in .build/site: Rscript tools/site.R. Fails if a topic is missing from the
# groups of _pkgdown.yml.
source("tools/common.R")

# Returns the headings of a page. An external script of pkgdown would build the table of contents
# ("On this page") in the browser. This tool writes it into the page, which then needs no network.
site_headings <- function(page) {
  heading <- "(?s)<h([23])[^>]* id=\"[^\"]+\"[^>]*>.*?<a class=\"anchor\""
  found <- regmatches(page, gregexpr(heading, page, perl = TRUE))[[1]]
  data.frame(
    level = as.integer(sub("^<h([23]).*", "\\1", found)),
    id = sub("(?s)^.*? id=\"([^\"]+)\".*", "\\1", found, perl = TRUE),
    text = gsub("<[^>]*>", "", sub("<a class=\"anchor\"$", "", found))
  )
}

contents_html <- function(headings) {
  if (nrow(headings) == 0) return("")
  link <- sprintf("<a class=\"nav-link\" href=\"#%s\">%s</a>", headings$id, trimws(headings$text))
  groups <- split(seq_along(link), cumsum(headings$level == min(headings$level)))
  items <- vapply(groups, function(rows) {
    sublist <- if (length(rows) > 1) contents_list(link[rows[-1]])
    paste0("<li>", link[rows[[1]]], sublist, "</li>")
  }, "")
  paste0("<ul class=\"nav navbar-nav\">", paste(items, collapse = "\n"), "</ul>")
}

contents_list <- function(links) {
  paste0("<ul class=\"nav navbar-nav\">", paste0("<li>", links, "</li>", collapse = "\n"), "</ul>")
}

complete_page <- function(path) {
  page <- paste(readLines(path, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  page <- sub("<script src=\"https://[^\"]*/bootstrap-toc[^>]*></script>", "", page)
  page <- sub("<img src=\"\" class=\"logo\" alt=\"\">", "", page, fixed = TRUE)
  position <- regexpr("(?<=<h2>On this page</h2>)\\s*(?=</nav>)", page, perl = TRUE)
  if (position > 0) regmatches(page, position) <- contents_html(site_headings(page))
  writeLines(enc2utf8(page), path, useBytes = TRUE)
}

# Removes the calls of external scripts from pkgdown's script.
complete_script <- function(path) {
  script <- paste(readLines(path, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  script <- sub("Toc\\.init\\(\\{[^}]*\\}\\);", "", script)
  headroom_call <- "$('nav.navbar').headroom();"
  script <- sub(headroom_call, paste("if ($.fn.headroom)", headroom_call), script, fixed = TRUE)
  writeLines(enc2utf8(script), path, useBytes = TRUE)
}

run_tool(function(arguments) {
  options(pkgdown.internet = FALSE)
  pkgdown::check_pkgdown()
  pkgdown::build_site(preview = FALSE, install = FALSE, devel = FALSE)
  site <- file.path(".build", "site")
  pages <- list.files(site, "[.]html$", full.names = TRUE, recursive = TRUE)
  for (page in pages) complete_page(page)
  complete_script(file.path(site, "pkgdown.js"))
  0L
}, sys.nframe())
