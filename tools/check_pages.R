# Checks reference pages: each exported function occurs in an example that runs on its page, and no
# page contains a raw `|` of a Markdown table. Rscript tools/check_pages.R
source("tools/common.R")

# Returns the code of a page's examples without \dontrun{}.
example_code <- function(rd) {
  tags <- vapply(rd, function(part) attr(part, "Rd_tag"), "")
  examples <- rd[tags == "\\examples"]
  if (length(examples) == 0) return("")
  collect <- function(part) {
    if (identical(attr(part, "Rd_tag"), "\\dontrun")) return("")
    if (is.character(part)) return(part)
    paste(unlist(lapply(part, collect)), collapse = "")
  }
  collect(examples[[1]])
}

called_functions <- function(code) {
  parsed <- getParseData(parse(text = code, keep.source = TRUE))
  unique(parsed$text[parsed$token %in% c("SYMBOL_FUNCTION_CALL", "SYMBOL", "SPECIAL")])
}

exported_names <- function(root) {
  lines <- read_lines(root, "NAMESPACE")
  gsub("\"", "", sub("^export\\((.*)\\)$", "\\1", grep("^export\\(", lines, value = TRUE)))
}

# Returns the lines of running text (not code) that contain the letter.
lines_of_text <- function(rd, letter) {
  if (!is.list(rd)) {
    is_text <- identical(attr(rd, "Rd_tag"), "TEXT") && grepl(letter, rd, fixed = TRUE)
    return(if (is_text) attr(rd, "srcref")[[1]])
  }
  sort(unique(unlist(lapply(rd, lines_of_text, letter))))
}

check_page <- function(root, file, exported) {
  rd <- tools::parse_Rd(file.path(root, file))
  tags <- vapply(rd, function(part) attr(part, "Rd_tag"), "")
  aliases <- vapply(rd[tags == "\\alias"], function(part) as.character(part[[1]]), "")
  if ("internal" %in% unlist(rd[tags == "\\keyword"])) return(violations())
  missing <- setdiff(intersect(aliases, exported), called_functions(example_code(rd)))
  messages <- sprintf("no example that runs calls %s()", missing)
  raw_bars <- lines_of_text(rd, "|")
  rbind(
    violations(file, rep(1L, length(missing)), "example", messages),
    violations(file, raw_bars, "table", "a raw | outside of code")
  )
}

check_pages <- function(root) {
  exported <- exported_names(root)
  # Skips pages of re-exported functions.
  files <- setdiff(tree_files(root, "man", "[.]Rd$"), "man/reexports.Rd")
  do.call(rbind, c(list(violations()), lapply(files, check_page, root = root, exported = exported)))
}

run_tool(function(arguments) {
  report("check_pages", check_pages("."), "each function has an example that runs on its page")
}, sys.nframe())
