# Checks the house rules. `lint: allow <rule>` in a comment on the line, or alone on the line above,
# permits an exception.
source("tools/common.R")
source("tools/non_api.R")

cpp_files <- "[.](cpp|cc|c|h|hpp|inc)$"
r_files <- "[.][rR]$"
text_files <- paste0(cpp_files, "|[.]([rR]|Rmd|qmd|sh|mk|win|py)$|(^|/)(Makefile|Makevars|run)$")

# The start of an absolute path.
absolute <- "(/(home|tmp|usr|opt|work|root|var|etc|mnt|Users|private)\\b|[A-Za-z]:[\\\\/])"

allowed_here <- function(lines, rule) grepl(paste("lint: allow", rule), lines, fixed = TRUE)
allowed_at <- function(lines, at, rule) {
  above <- ifelse(at > 1, lines[pmax(at - 1, 1)], "")
  allowed_here(lines[at], rule) | (grepl("^\\s*(#|//)", above) & allowed_here(above, rule))
}

# Rules that consist of one pattern. `view`: whether the pattern is applied to all text ("raw"), to
# C++ without comments ("strings"), or to C++ without comments and strings ("code").
pattern_rules <- list(
  list(
    rule = "rf-error", folders = "src", files = cpp_files, view = "code",
    pattern = "\\bRf_(error|errorcall)\\b",
    message = "Rf_error jumps over C++ destructors: throw, r/values/conditions.cpp raises the condition"
  ),
  list(
    rule = "non-api", folders = "src/r", files = cpp_files, view = "code",
    pattern = sprintf("\\b(%s)\\b", paste(non_api, collapse = "|")),
    message = "not an entry point of R for packages, and newer versions of R do not declare it"
  ),
  list(
    rule = "printf", folders = "src", files = cpp_files, view = "code",
    pattern = paste0(
      "(?<!\\w)(v?f?printf|puts|putchar|perror)\\s*\\(|",
      "\\bstd::(cout|cerr|clog)\\b|\\b(cout|cerr|clog)\\s*<<"
    ),
    message = "the core does not print: queue a log line, or throw"
  ),
  list(
    rule = "omp", folders = "src", files = cpp_files, view = "code",
    pattern = "\\bomp_set_num_threads\\b",
    message = "changes the whole process: use num_threads(n) on the region"
  ),
  list(
    rule = "path", folders = c("src", "tests/cpp"), files = cpp_files, view = "strings",
    pattern = paste0("\"", absolute),
    message = "an absolute path: use a temporary folder or a path that is passed in"
  ),
  list(
    rule = "op-type", folders = "src", except = "^src/(ops|io)/", files = cpp_files,
    view = "strings",
    pattern = paste0(
      "\\btype\\(\\)\\s*((==|!=)\\s*\"|[.](compare|r?find)\\()|",
      "\"\\s*(==|!=)\\s*[\\w.>()-]*\\btype\\(\\)|",
      "\\bstring&?\\s+\\w+\\s*=[^=]*(\\.|->)type\\(\\)"
    ),
    message = "depends on the name of an op: use a trait of op.def()"
  ),
  list(
    rule = "file", folders = "src", files = cpp_files, view = "code",
    except = "^src/(base/system_files)[.]cpp$",
    pattern = paste0(
      "\\b(i|o)?fstream\\b|\\b(fopen|freopen|mkstemp|tmpfile|tmpnam|creat)\\s*\\(|",
      "\\bO_(CREAT|RDONLY|WRONLY|RDWR)\\b|\\b(fs|filesystem|std)::rename\\b"
    ),
    message = "use InputFile, TextFile or AtomicFile, which handle links, pipes and devices"
  ),
  list(
    rule = "processor", folders = "src", files = cpp_files, view = "strings",
    except = "^src/(kernels/|base/(denormals[.]h|ticks[.]cpp)|io/(files/crc32c|formats/csv_reader)[.]cpp)",
    pattern = "^\\s*#\\s*(include\\s*|if.*__has_include\\s*[(]\\s*)[<\"](\\w*intrin|cpuid|arm_\\w+|altivec)[.]h[>\"]",
    message = "a header of one processor: its instructions are used in kernels/, with a portable loop next to them"
  ),
  list(
    rule = "windows", folders = c("src", "tests/cpp"), files = cpp_files, view = "strings",
    except = "^src/base/windows[.]h$",
    pattern = "^\\s*#\\s*include\\s*<(windows|winsock2?|winbase)[.]h>",
    message = "its macros rename variables of the whole unit: include base/windows.h"
  ),
  list(
    rule = "system", folders = "src", files = cpp_files, view = "strings",
    except = "^src/(base/|io/files/|cluster/(shared_memory|mpi_communicator)[.]cpp$|tensor/variable_arena[.]cpp$)",
    pattern = paste0(
      "^\\s*#\\s*include\\s*<((sys|linux|mach|mach-o|asm|arpa|net|netinet)/\\w+|fcntl|unistd|dlfcn|poll|signal|",
      "pthread|sched|spawn|dirent|glob|pwd|grp|netdb|ifaddrs|iconv|langinfo|termios|execinfo|syslog|",
      "io|direct|process|malloc)[.]h>"
    ),
    message = "a header of one system: its calls are in base/ or io/files/, with a portable fallback"
  ),
  list(
    rule = "system", folders = "src", files = cpp_files, view = "code",
    except = "^src/(base/|io/files/|kernels/dispatch[.]cpp$|cluster/(shared_memory|mpi_communicator)[.]cpp$|tensor/variable_arena[.]cpp$)",
    pattern = "\\b(__linux__|__APPLE__|__GLIBC__|_WIN32|_WIN64|__MINGW32__|_MSC_VER|__unix__|__FreeBSD__)\\b",
    message = "code for one system: it is in base/ or io/files/, with a portable fallback"
  ),
  list(
    rule = "locale", folders = "src", files = cpp_files, view = "code",
    except = "^src/base/number_text[.]cpp$",
    pattern = paste0(
      "\\b(to(lower|upper)|is(alnum|alpha|digit|space|upper|lower|xdigit|punct|print|blank)|",
      "str(n?casecmp|coll|tod|tof|told)|sto(d|f|ld)|atof|v?sn?printf|sscanf|setlocale)\\s*[(),;>]|",
      "<(cctype|ctype[.]h|c?locale([.]h)?|iostream|sstream|iomanip|regex)>|\\bw?[io]?stringstream\\b"
    ),
    message = "depends on the locale: base/ascii.h, base/number_text.h and base/split_text.h do not"
  ),
  list(
    rule = "text", folders = "src/r", files = cpp_files, view = "code",
    except = "^src/r/values/(text[.](h|cpp)|guarded_allocation[.]h)$",
    pattern = paste0(
      "\\bRf_mk(String|Char\\w*)\\b|\\bRf_translateChar\\w*|(?<!\\w)(R_)?CHAR\\s*\\(|",
      "\\bRcpp::String\\b|\\bas<\\s*(const\\s+)?(char|(std::vector<\\s*)?std::string)"
    ),
    message = "convert text with r/values/text.h, which handles encodings"
  ),
  list(
    rule = "todo", files = text_files, view = "raw",
    folders = c("R", "src", "tests", "tools", "inst", "vignettes", "bench", "Makefile", ".ci"),
    pattern = "\\b(TO[D]O|FIX[M]E)\\b",
    message = "finish it, or open an issue"
  )
)

check_pattern <- function(root, rule) {
  files <- tree_files(root, rule$folders, rule$files)
  if (!is.null(rule$except)) files <- grep(rule$except, files, value = TRUE, invert = TRUE)
  do.call(rbind, lapply(files, function(file) {
    lines <- read_lines(root, file)
    text <- switch(rule$view,
      raw = lines,
      code = cpp_code(lines),
      strings = cpp_code(lines, keep_strings = TRUE)
    )
    at <- grep(rule$pattern, text, perl = TRUE)
    violations(file, at[!allowed_at(lines, at, rule$rule)], rule$rule, rule$message)
  }))
}

# Returns the tokens of an R file, so that strings and comments can be ignored. Returns the parse
# error if there is one.
r_tokens <- function(root, file) {
  parsed <- tryCatch(
    parse(file.path(root, file), keep.source = TRUE, encoding = "UTF-8"),
    error = function(cnd) cnd
  )
  if (!inherits(parsed, "error")) return(utils::getParseData(parsed, includeText = TRUE))
  structure(conditionMessage(parsed), class = "parse_error")
}

# Returns the calls of the given functions: lines and unevaluated calls.
calls_of <- function(tokens, names) {
  at <- tokens[tokens$token == "SYMBOL_FUNCTION_CALL" & tokens$text %in% names, ]
  calls <- lapply(at$parent, function(name_expr) {
    call_expr <- tokens$parent[tokens$id == name_expr]
    str2lang(utils::getParseText(tokens, call_expr))
  })
  list(line = at$line1, call = calls)
}

prints_to_stdout <- function(call) !any(c("file", "con") %in% names(call))

# Functions of R's base packages that, according to R's NEWS, are newer than R 4.1. DESCRIPTION
# requires only R 4.1.
newer_functions <- c(
  "mtfrm", "Sys.setLanguage", "findCRANmirror", "array2DF", "balancePOSIXlt", "unCfillPOSIXlt",
  "R_compiled_by", "pkg2HTML", "Tailcall", "Exec", "sort_by", "grepv", "cumvar", "bitstring",
  "messageCondition", "psmirnov", "qsmirnov", "rsmirnov"
)

# R functions that open files. They follow links, wait for pipes, and leave partial files after an
# error.
file_functions <- c(
  "writeBin", "writeLines", "writeChar", "saveRDS", "dump", "sink", "write.csv",
  "write.table", "file.copy", "readBin", "readLines", "readChar", "readRDS", "scan",
  "read.csv", "read.table"
)
works_in_memory <- function(call) {
  name <- as.character(call[[1]])
  name[[length(name)]] == "writeBin" && length(call) > 2 && identical(call[[3]], quote(raw()))
}

# If the kernels of an op open files, they must check each path, and the op must declare its access.
opens_files <- paste0(
  "\\b(TextFile|InputFile|OutputFile|AtomicFile|BundleReader|BundleWriter)\\b|",
  "\\b(read_whole_file|write_file_atomically|remove_file|rename_file)\\s*\\("
)
check_ops_of_files <- function(root) {
  do.call(rbind, lapply(tree_files(root, "src", "[.]cpp$"), function(file) {
    code <- cpp_code(read_lines(root, file))
    at <- grep(opens_files, code)
    if (!any(grepl("RUNHOOKS_REGISTER_OP", code)) || length(at) == 0) return(violations())
    checks_access <- any(grepl("file_access_policy()", code, fixed = TRUE))
    declares_access <- any(grepl("[.](reads|writes)_files\\(\\)", code))
    if (checks_access && declares_access) return(violations())
    violations(file, at[[1]], "file-rights", paste(
      "a kernel must check file_access_policy() for each path, and its op declares .reads_files() or",
      ".writes_files(): an untrusted graph must not have side effects"
    ))
  }))
}

lacks_reason <- function(call) {
  length(call) < 2 || (is.character(call[[2]]) && !nzchar(trimws(call[[2]])))
}

check_r_file <- function(root, file) {
  tokens <- r_tokens(root, file)
  if (inherits(tokens, "parse_error")) {
    return(violations(file, 1L, "parse", sub("\n.*", "", sub("^[^\n]*/", "", tokens))))
  }
  if (is.null(tokens) || nrow(tokens) == 0) return(violations())
  lines <- read_lines(root, file)
  violation_at <- function(at, rule, message) {
    violations(file, at[!allowed_at(lines, at, rule)], rule, message)
  }
  found <- violations()
  if (startsWith(file, "R/")) {
    prints <- calls_of(tokens, c("cat", "print"))
    to_stdout <- vapply(prints$call, prints_to_stdout, NA)
    found <- rbind(found, violation_at(
      prints$line[to_stdout], "stdout",
      "no cat() or print() to stdout; print methods need `# lint: allow stdout`"
    ))
  }
  if (startsWith(file, "R/")) {
    # quit() is also found as a value, such as options(error = quit).
    quits <- tokens$token %in% c("SYMBOL", "SYMBOL_FUNCTION_CALL") & tokens$text %in% "quit" |
      tokens$token == "SYMBOL_FUNCTION_CALL" & tokens$text == "q"
    found <- rbind(found, violation_at(
      tokens$line1[quits], "quit", "CRAN forbids packages to end R: raise an error"
    ))
  }
  if (startsWith(file, "R/")) {
    opens <- calls_of(tokens, file_functions)
    in_memory <- vapply(opens$call, works_in_memory, NA)
    found <- rbind(found, violation_at(
      opens$line[!in_memory], "file", "R/ reads by cpp_read_file() and writes by cpp_write_file()"
    ))
  }
  if (startsWith(file, "R/")) {
    by_locale <- calls_of(tokens, c("tolower", "toupper", "casefold"))$line
    found <- rbind(found, violation_at(
      by_locale, "locale", "depends on the locale: ascii_lower() and ascii_upper() do not"
    ))
  }
  if (startsWith(file, "tests/")) {
    skips <- calls_of(tokens, "skip")
    silent <- vapply(skips$call, lacks_reason, NA)
    found <- rbind(found, violation_at(skips$line[silent], "skip", "skip() needs a reason"))
  }
  if (startsWith(file, "R/")) {
    is_newer <- tokens$token == "SYMBOL_FUNCTION_CALL" & tokens$text %in% newer_functions |
      tokens$token == "PLACEHOLDER"
    found <- rbind(found, violation_at(
      tokens$line1[is_newer], "r-version", "newer than R 4.1, which DESCRIPTION asks for"
    ))
    at <- tokens$line1[tokens$text == "is.atomic" & tokens$token != "STR_CONST" & tokens$terminal]
    found <- rbind(found, violation_at(
      at[!grepl("is[.]atomic[(](\\w+)[)] && !is[.]null[(]\\1[)]", lines[at])], "is-atomic",
      "is.atomic(NULL) is FALSE since R 4.4: use is_atomic(), or add && !is.null()"
    ))
  }
  strings <- tokens[tokens$token == "STR_CONST", ]
  # The opening quotes, including those of raw strings.
  at <- strings$line1[grepl(paste0("^[rR]?[\"'][(\\[{-]*", absolute), strings$text, perl = TRUE)]
  message <- "an absolute path: use withr::local_tempdir() or an argument"
  rbind(found, violation_at(at, "path", message))
}

check_size <- function(root, limit = 600L) {
  folders <- c("R", "src", "tests/cpp", "tests/testthat", "tools")
  files <- tree_files(root, folders, paste0(cpp_files, "|", r_files))
  sizes <- vapply(files, function(file) length(read_lines(root, file)), 1L)
  long <- sizes > limit
  message <- sprintf("%d lines, more than %d: split it by subject", sizes[long], limit)
  do.call(rbind, Map(violations, files[long], sizes[long], "size", message))
}

# Lines with which headers used to open, and which are no longer allowed.
header_forms <- "^// (What lives here|Who may use it|What it must not know)"

# A header must open with a sentence about its contents.
check_header <- function(root, file) {
  lines <- read_lines(root, file)
  block <- lines[before_first_false(startsWith(lines, "//"))]
  if (length(block) && !any(grepl(header_forms, block))) return(violations())
  violations(file, 1L, "header", "a header must open with one sentence about its contents")
}

before_first_false <- function(x) cumsum(!x) == 0

check_rules <- function(root) {
  r_sources <- tree_files(root, c("R", "tests", "inst", "bench"), r_files)
  headers <- tree_files(root, c("src", "tests/cpp"), "[.](h|hpp)$")
  do.call(rbind, c(
    list(violations()),
    lapply(pattern_rules, function(rule) check_pattern(root, rule)),
    lapply(r_sources, function(file) check_r_file(root, file)),
    lapply(headers, function(file) check_header(root, file)),
    list(check_size(root), check_ops_of_files(root))
  ))
}

run_tool(function(arguments) {
  report("check_rules", check_rules("."), "the house rules hold")
}, sys.nframe())
