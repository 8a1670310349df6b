# Checks that sources of one unit group (tools/units.R) share no file-local name: one in an unnamed
# namespace, a static one, or a macro. Sources that share a name compile separately. In one unit,
# the compiler reports an error, or silently uses the overload of the other file. Also checks that
# compile settings are at the top of a source.
source("tools/common.R")
source("tools/units.R")

# A declaration starts at the left margin and extends to the first `{`, `;` or, for a value, `=`.
statement_at <- function(code, i) {
  last <- i
  while (!grepl("[;{]", code[last]) && last < min(length(code), i + 40)) last <- last + 1
  list(text = paste(code[i:last], collapse = " "), last = last)
}

# Returns the text without template arguments.
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

# Returns the names in a declaration. An alias includes its text, because equal aliases may occur
# twice.
declared_names <- function(code, i, text) {
  plain <- trimws(without_templates(sub("^template\\s*", "", text)))
  if (grepl("^using \\w+ =", plain)) return(trimws(text))
  if (grepl("^(using|friend|RUNHOOKS_)", plain)) return(character())
  kind <- "^(class|struct|union|enum( class)?) (\\w+)[^;{]*([;{]).*$"
  if (grepl(kind, plain)) {
    if (sub(kind, "\\4", plain) == ";") return(character())
    type_name <- sub(kind, "\\3", plain)
    return(c(type_name, if (grepl("^enum (?!class)", plain, perl = TRUE)) enumerators(code, i)))
  }
  # The name precedes a parenthesis, `=`, `{`, `[` or `;`.
  name <- sub("^[^({=;[]*?([A-Za-z_][\\w:~]*)\\s*[({=;[].*$", "\\1", plain, perl = TRUE)
  if (identical(name, plain) || grepl(":", name)) return(character())
  # The declaration is a pointer to a function.
  if (grepl("[(][*]\\w+[)]", plain)) return(sub("^.*?[(][*](\\w+)[)].*$", "\\1", plain))
  if (grepl("^[^=]*[(]", plain)) return(name)
  # A declaration may define several values.
  other_names <- regmatches(plain, gregexpr(", *\\w+ *(?=[=[;,])", plain, perl = TRUE))[[1]]
  c(name, trimws(sub(",", "", other_names)))
}

# Returns the file-local names of a source, with their lines.
file_local_names <- function(root, file) {
  raw <- read_lines(root, file)
  code <- cpp_code(raw)
  names_by_line <- list()
  add <- function(names, line) {
    if (length(names) == 0) return(invisible())
    names_by_line[[length(names_by_line) + 1]] <<- data.frame(name = names, line = line)
  }
  macro <- "^#define\\s+(\\w+).*$"
  undefined_macros <- sub("^#undef\\s+", "", grep("^#undef", trimws(code), value = TRUE))
  for (i in grep(macro, code)) {
    name <- sub(macro, "\\1", code[i])
    if (!name %in% undefined_macros) add(name, i)
  }
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
      add(declared_names(code, i, statement$text), i)
      i <- statement$last
    }
    i <- i + 1
  }
  do.call(rbind, c(list(data.frame(name = character(), line = integer())), names_by_line))
}

# Returns the names that several of the files define. Overloads in one file count as one name.
clashes_in <- function(root, files) {
  names <- do.call(rbind, lapply(files, function(file) {
    names_of_file <- file_local_names(root, file)
    if (nrow(names_of_file)) cbind(names_of_file[!duplicated(names_of_file$name), ], file = file)
  }))
  if (is.null(names)) return(violations())
  is_alias <- grepl("^using ", names$name)
  # Equal aliases are allowed, different ones are not.
  names <- names[!(is_alias & duplicated(names$name)), ]
  names$name <- sub("^using (\\w+) .*$", "\\1", names$name)
  duplicates <- names[duplicated(names$name), ]
  first <- names[match(duplicates$name, names$name), ]
  text <- sprintf(
    "`%s` is also in %s:%d, which may be in the same unit: choose a more specific name",
    duplicates$name, first$file, first$line
  )
  violations(duplicates$file, duplicates$line, "units", text)
}

# Checks that quiet_math.h, which changes compile settings, is the first include. Functions of
# headers before it would not be inlined into those of the source.
check_quiet_first <- function(root, file) {
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
  do.call(rbind, c(list(violations()), clashes, lapply(files, check_quiet_first, root = root)))
}

run_tool(function(arguments) {
  report("check_units", check_units("."), "sources of a unit share no file-local name")
}, sys.nframe())
