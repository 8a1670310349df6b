# Checks that comments, help pages, long strings and Markdown are in plain English. At most 1.2
# lines in 1,000 may match a pattern that technical English hardly ever has. Also limits the size of
# two pages. `VERBOSE=1 Rscript tools/check_prose.R` prints each match.
source("tools/common.R")

max_rate <- 1.2
max_kilobytes <- c("NEWS.md" = 8, "bench/README.md" = 14)

# The strings are short, because long ones would match: this file is checked as well.
subjectless <- paste0("(?:who|whoever|whosoever)\\s+(?!cares)(?:", paste(c(
  "is", "was", "has", "have", "had", "asks?", "waits?", "makes?", "reads?", "writes?", "saves?",
  "calls?", "looks?", "shares?", "takes?", "gives?", "knows?", "wants?", "needs?", "uses?", "may",
  "must", "can", "does", "did", "works?", "comes?", "goes", "stands?"
), collapse = "|"), ")")
what_clause <- paste0("what (?:", paste(c(
  "is", "was", "has", "had", "have", "does", "did", "stands?", "comes?", "came", "goes", "lies",
  "lay", "waits?", "takes?", "follows", "they", "it", "he", "she", "others?", "another"
), collapse = "|"), ")")
odd_pattern <- paste0("\\b(?:", paste(c(
  subjectless, "(?:nobody|somebody)", paste0("none (?:that|of ", "which|is|was|has)"), "of which",
  "by which", "in the midst", paste0("of (?:one's|their|its|", "his|our|ours|mine) own"),
  paste0("of (?:ours|theirs|a ", "stranger's|somebody", " else's)"), what_clause,
  "(?:let|lets) go of", paste0("go(?:es)? on (?:from ", "there|where|as)"),
  paste0("(?:stands?|stood|", "lies|lay) (?:beside|", "behind|there|where)"), "beside",
  paste0("as (?:long|often|many)", " as\\b.*\\bare asked"), "the same the other way",
  paste0("one after the other\\b", ".*\\bnone"), "more than that", "here and there", "will do",
  "is none", "are none", paste0("by itself\\b.*", "\\bby itself"), "in words",
  paste0("says? (?:so|what|", "which|nothing)"), "What lives here", "Who may use it",
  "What it must not know"
), collapse = "|"), ")\\b")

# Names that were replaced by standard terms (glossary in CONTRIBUTING.md).
retired <- c(
  "OfferedWork", "PieceRound", "HoldErrors", "LetErrorsGo", "MayStopWithin", "NearRows",
  "RowsSideBySide", "StayingValues", "TracelessHook", "KnownValues", "HeldTogether", "seats_of",
  "sits_well", "settle_doors", "may_be_door", "know_tensor_methods", "looks[(][)]"
)

# Returns the prose of a file, with its line numbers.
prose_of <- function(file, lines) {
  if (grepl("[.](cpp|h|inc)$", file)) return(captured(lines, "(?:^|\\s)//+\\s?(.*)"))
  if (grepl("[.]R?md$", file)) {
    is_fence <- startsWith(lines, "```")
    at <- which(cumsum(is_fence) %% 2 == 0 & !is_fence & nchar(trimws(lines)) > 3)
    return(data.frame(line = at, text = lines[at]))
  }
  comments <- captured(lines, "^\\s*#+'?\\s?(.*)")
  quoted <- gregexpr('"((?:[^"\\\\]|\\\\.){25,})"', lines, perl = TRUE)
  strings <- regmatches(lines, quoted)
  strings[comments$line] <- list(character())
  at <- rep(seq_along(lines), lengths(strings))
  rbind(comments, data.frame(line = at, text = as.character(unlist(strings))))
}

# Returns the text that the group of the pattern matches, if it has more than three characters.
captured <- function(lines, pattern) {
  matches <- regmatches(lines, regexec(pattern, lines, perl = TRUE))
  text <- vapply(matches, function(groups) if (length(groups)) groups[[2]] else "", "")
  at <- which(nchar(text) > 3)
  data.frame(line = at, text = text[at])
}

prose_files <- function(root) {
  folders <- c(
    "R", "src", "vignettes", "README.Rmd", "NEWS.md", "CONTRIBUTING.md", "tools", "bench",
    "tests/testthat", "tests/cpp"
  )
  files <- tree_files(root, folders, "[.](cpp|h|inc|R|R?md|sh)$")
  grep("golden/|_snaps|symbols[.]|unicode_tables", files, value = TRUE, invert = TRUE)
}

check_retired <- function(root) {
  pattern <- paste0("\\b(?:", paste(retired, collapse = "|"), ")(?!\\w)")
  files <- tree_files(root, c("R", "src"), "[.](cpp|h|inc|R)$")
  do.call(rbind, c(list(violations()), lapply(files, function(file) {
    at <- grep(pattern, read_lines(root, file), perl = TRUE)
    violations(file, at, "retired", "the name was replaced, see the glossary in CONTRIBUTING.md")
  })))
}

check_prose <- function(root, verbose = FALSE) {
  prose <- do.call(rbind, c(list(data.frame()), lapply(prose_files(root), function(file) {
    problems <- prose_of(file, enc2utf8(read_lines(root, file)))
    if (nrow(problems)) cbind(file = file, problems)
  })))
  is_odd <- grepl(odd_pattern, prose$text, perl = TRUE, ignore.case = TRUE)
  odd <- prose[is_odd, ]
  if (verbose) cat(sprintf("%s:%d: %s\n", odd$file, odd$line, substr(odd$text, 1, 140)), sep = "")
  pages <- names(max_kilobytes)[file.exists(file.path(root, names(max_kilobytes)))]
  is_long <- file.size(file.path(root, pages)) > 1000 * max_kilobytes[pages]
  problems <- violations(
    pages[is_long], rep(1L, sum(is_long)), "length",
    sprintf("the page may have %g kB", max_kilobytes[pages][is_long])
  )
  problems <- rbind(problems, check_retired(root))
  if (1000 * nrow(odd) <= max_rate * nrow(prose)) return(problems)
  message <- paste("unusual English, reword it:", trimws(substr(odd$text, 1, 60)))
  rbind(problems, violations(odd$file, odd$line, "prose", message))
}

run_tool(function(arguments) {
  found <- check_prose(".", verbose = nzchar(Sys.getenv("VERBOSE")))
  report("check_prose", found, "comments, messages and pages are in plain English")
}, sys.nframe())
