# Checks that sources of one unit group (tools/units.R) share no file-local name: in an unnamed
# namespace, static, or a macro. Separately both compile, but in one unit the compiler stops, or
# silently uses the other file's overload. Also checks that compile settings are at the top of a
# source.
source("tools/common.R")
source("tools/units.R")

# A declaration starts at the left margin and extends to the first `{`, `;` or, for a value, `=`.
statement_at <- function(code, i) {
  last <- i
  while (!grepl("[;{]", code[last]) && last < min(length(code), i + 40)) last <- last + 1
  list(text = paste(code[i:last], collapse = " "), last = last)
}

# The text without template arguments.
without_templates <- function(text) {
  repeat {
    shorter <- gsub("<[^<>{};]*>", "", text)
    if (identical(shorter, text)) return(text)
    text <- shorter
  }
}

enumerators <- function(code, i) {
  last <- i - 1 + grep("}", code[i:length(code)], fixed = TRUE)[1]
  body <- sub("^[^{]*[{]", "", paste(code[i:last], collapse = " "))
  parts <- strsplit(sub("}.*$", "", body), ",", fixed = TRUE)[[1]]
  names <- trimws(sub("=.*$", "", parts))
  names[nzchar(names)]
}

# The names in a declaration. An alias includes its text, because equal aliases may occur twice.
declared <- function(code, i, text) {
  plain <- trimws(without_templates(sub("^template\\s*", "", text)))
  if (grepl("^using \\w+ =", plain)) return(trimws(text))
  if (grepl("^(using|friend|RUNHOOKS_)", plain)) return(character())
  kind <- "^(class|struct|union|enum( class)?) (\\w+)[^;{]*([;{]).*$"
  if (grepl(kind, plain)) {
    if (sub(kind, "\\4", plain) == ";") return(character())
    own <- sub(kind, "\\3", plain)
    return(c(own, if (grepl("^enum (?!class)", plain, perl = TRUE)) enumerators(code, i)))
  }
  # The name precedes a parenthesis, `=`, `{`, `[` or `;`.
  name <- sub("^[^({=;[]*?([A-Za-z_][\\w:~]*)\\s*[({=;[].*$", "\\1", plain, perl = TRUE)
  if (identical(name, plain) || grepl(":", name)) return(character())
  # A pointer to a function.
  if (grepl("[(][*]\\w+[)]", plain)) return(sub("^.*?[(][*](\\w+)[)].*$", "\\1", plain))
  if (grepl("^[^=]*[(]", plain)) return(name)
  # Several values in one declaration.
  further <- regmatches(plain, gregexpr(", *\\w+ *(?=[=[;,])", plain, perl = TRUE))[[1]]
  c(name, trimws(sub(",", "", further)))
}

# File-local names of a source, with their lines.
own_names <- function(root, file) {
  raw <- read_lines(root, file)
  code <- cpp_code(raw)
  found <- list()
  add <- function(names, line) {
    if (length(names)) found[[length(found) + 1]] <<- data.frame(name = names, line = line)
  }
  macro <- "^#define\\s+(\\w+).*$"
  undone <- sub("^#undef\\s+", "", grep("^#undef", trimws(code), value = TRUE))
  at <- grep(macro, code)
  for (i in at[!sub(macro, "\\1", code[at]) %in% undone]) add(sub(macro, "\\1", code[i]), i)
  is_unnamed <- FALSE
  i <- 1
  while (i <= length(code)) {
    if (grepl("^namespace [{]", code[i])) {
      is_unnamed <- TRUE
    } else if (grepl("^}\\s*// namespace$", raw[i])) {
      is_unnamed <- FALSE
    } else if (grepl("^[A-Za-z_]", code[i]) && !grepl("^namespace\\b", code[i]) &&
                 (is_unnamed || grepl("^static ", code[i]))) {
      statement <- statement_at(code, i)
      add(declared(code, i, statement$text), i)
      i <- statement$last
    }
    i <- i + 1
  }
  do.call(rbind, c(list(data.frame(name = character(), line = integer())), found))
}

# Overloads in one file count as one name.
clashes_in <- function(root, files) {
  names <- do.call(rbind, lapply(files, function(file) {
    own <- own_names(root, file)
    if (nrow(own)) cbind(own[!duplicated(own$name), ], file = file)
  }))
  if (is.null(names)) return(violations())
  is_alias <- grepl("^using ", names$name)
  # Equal aliases are allowed, different ones are not.
  names <- names[!(is_alias & duplicated(names$name)), ]
  names$name <- sub("^using (\\w+) .*$", "\\1", names$name)
  twice <- names[duplicated(names$name), ]
  first <- names[match(twice$name, names$name), ]
  text <- sprintf(
    "`%s` is also in %s:%d, which may be in the same unit: choose a more specific name",
    twice$name, first$file, first$line
  )
  violations(twice$file, twice$line, "units", text)
}

# Functions of headers before the setting would not be inlined into those of the source.
late_quiet <- function(root, file) {
  file <- file.path("src", file)
  includes <- cpp_includes(root, file)
  at <- match("ops/math/quiet_math.h", includes$target)
  if (is.na(at) || at == 1) return(NULL)
  violations(file, includes$line[at], "units", "quiet_math.h must be the first include of a source")
}

check_units <- function(root) {
  files <- unit_sources(root)
  groups <- split(file.path("src", files), group_of(root, files))
  clashes <- lapply(groups, function(group) clashes_in(root, group))
  do.call(rbind, c(list(violations()), clashes, lapply(files, late_quiet, root = root)))
}

run_tool(function(arguments) {
  report("check_units", check_units("."), "sources of a unit share no file-local name")
}, sys.nframe())
