# Tests of the tools: a valid scratch tree passes, and each deliberate violation is reported by its
# rule. `make lint` runs `Rscript tools/test_tools.R`.
tools <- c(
  "objects", "check_units", "check_inside", "deps", "check_layers", "check_rules", "check_kernels", "run_tests",
  "attributes", "check_generated", "check_callers", "check_comments", "check_prose",
  "check_modules", "check_pages", "site", "release"
)
for (tool in tools) source(file.path("tools", paste0(tool, ".R")))
counts <- c(passed = 0L, failed = 0L)
expect <- function(description, ok) {
  outcome <- if (isTRUE(ok)) "passed" else "failed"
  counts[[outcome]] <<- counts[[outcome]] + 1L
  if (outcome == "failed") cat("FAILED", description, "\n")
}
opening <- c("// Declares what", "// this header provides,", "// and why it exists.")
header <- function(...) c(opening, "#pragma once", ...)
good_tree <- list(
  "DESCRIPTION" = c("Package: scratch", "SystemRequirements: C++17"),
  "R/a.R" = c("# TODAY is not a promise", 'f <- function(x) message("cat(1)")'),
  "src/tensor/tensor.h" = header(
    '#include "tensor/shape.h"', "// Rprintf, printf( and SEXP are words here"
  ),
  "src/tensor/shape.h" = header(
    "#include <vector>", "// lint: allow locale",
    'inline int f(char* to) { return snprintf(to, 1, "%d", 1); }'
  ),
  "src/tensor/tensor.cpp" = c(
    '#include "tensor/tensor.h"', 'const char* words = "SEXP std::cout /tmp";'
  ),
  "src/graph/graph.cpp" = '#include "tensor/tensor.h"',
  "src/graph/graph.h" = header(),
  "src/kernels/gemm_base.cpp" = c("#include <cstddef>", '#include "kernels/gemm.inc"'),
  "src/kernels/gemm.inc" = "static int k;",
  "src/r/values/tensor.cpp" = c(
    "#include <Rcpp.h>", '#include "tensor/tensor.h"', 'void f() { Rprintf("x"); }'
  ),
  "tests/cpp/test.h" = header('#include "tensor/tensor.h"'),
  "tests/cpp/test_graph.cpp" = c('#include "test.h"', '#include "graph/graph.h"'),
  "tests/testthat/test-a.R" = c(
    'test_that("a", {', '  skip("no such thing here")', "  print(1)", "})"
  )
)
# Creates a scratch tree with some files replaced or added.
scratch <- function(changes = list()) {
  root <- tempfile("tools")
  files <- utils::modifyList(good_tree, changes)
  for (file in names(files)) {
    path <- file.path(root, file)
    dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
    writeLines(files[[file]], path)
  }
  root
}
# Changes one file of the scratch tree and expects exactly one violation: of `rule`, at `line`.
reports <- function(check, rule, file, line, text) {
  problems <- check(scratch(stats::setNames(list(text), file)))
  got <- paste0(problems$file, ":", problems$line, " ", problems$rule, collapse = "; ")
  expect(
    sprintf("%s at %s:%d, got: %s", rule, file, line, got),
    nrow(problems) == 1 && problems$rule == rule && problems$file == file && problems$line == line
  )
}
# Changes files of the scratch tree and expects no violation.
passes <- function(check, description, changes) {
  problems <- check(scratch(changes))
  got <- paste(problems$rule, problems$message, collapse = "; ")
  expect(paste(description, "is fine, got:", got), nrow(problems) == 0)
}

# --- layers
passes(check_layers, "the good tree", list())
passes(check_layers, "a family", list("src/graph/family/a.cpp" = "int a;"))
reports(check_layers, "layers", "src/tensor/tensor.cpp", 2, c("", '#include "graph/graph.h"'))
reports(check_layers, "layers", "src/graph/a.cpp", 1, '#include "kernels/gemm.inc"')
reports(check_layers, "layers", "src/hooks/a.cpp", 1, '  #  include "columns/a.h"  // why')
reports(check_layers, "layers", "src/graph/a.cpp", 1, '#include "graph.h"')
reports(check_layers, "layers", "src/graph/a.cpp", 1, '#include "graph/nowhere.h"')
reports(check_layers, "layers", "src/graph/a.cpp", 1, "#include <Rcpp.h>")
reports(check_layers, "layers", "src/graph/a.cpp", 1, "#include <R_ext/Print.h>")
reports(check_layers, "layers", "src/graph/a.cpp", 1, '#include "../r/values/tensor.cpp"')
reports(check_layers, "layers", "src/kernels/a.cpp", 1, "#include <vector>")
reports(check_layers, "layers", "src/kernels/a.inc", 1, '#include "tensor/tensor.h"')
reports(check_layers, "layers", "tests/cpp/a.cpp", 1, "#include <Rinternals.h>")
reports(check_layers, "boundary", "src/graph/a.cpp", 3, c("/*", "*/", "void f(SEXP x);"))
reports(check_layers, "boundary", "src/graph/a.cpp", 1, "void f() { R_CheckUserInterrupt(); }")
reports(check_layers, "boundary", "src/graph/a.cpp", 1, "Rcpp::List f();")
reports(check_layers, "boundary", "src/graph/a.h", 5, header('void f() { Rprintf(""); }'))
reports(check_layers, "boundary", "tests/cpp/a.cpp", 1, "void f(SEXP x);")
reports(check_layers, "location", "src/loose.cpp", 1, "int loose;")
reports(check_layers, "location", "src/strange/a.cpp", 1, "int strange;")
reports(check_layers, "location", "src/graph/deep/down/a.cpp", 1, "int deep;")
cycle <- check_layers(scratch(list("src/tensor/shape.h" = header('#include "tensor/tensor.h"'))))
expect("a cycle of headers", all(cycle$rule == "cycle"))
expect(
  "both headers of the cycle are reported",
  setequal(cycle$file, c("src/tensor/shape.h", "src/tensor/tensor.h"))
)
passes(
  check_layers, "a header that kernels may include",
  list(
    "src/base/thread_pool.h" = header("int parts();"),
    "src/kernels/b.inc" = header('#include "base/thread_pool.h"')
  )
)
for (layer in names(layers)) {
  known <- match(layers[[layer]], names(layers))
  expect(paste(layer, "points to the ground"), all(known < match(layer, names(layers))))
}

# --- comments
passes(check_comments, "the good tree", list())
passes(check_comments, "existing files", list(
  "src/graph/a.cpp" = "// graph.cpp, graph/graph.h, tests/testthat/test-a.R and *.cpp of <folder>.cpp",
  "R/b.R" = c("# R/a.R", 'f <- "gone.R"', "# gone.cpp of TensorFlow; lint: allow file")
))
reports(check_comments, "file", "src/graph/a.cpp", 2, c("int a;", "int b;  // as gone.cpp has it"))
reports(check_comments, "file", "R/b.R", 1, "# src/tensor/graph.cpp")
reports(check_comments, "file", "inst/COPYRIGHTS", 2, c("", "Files: src/base/gone.cpp"))

# --- prose
passes(check_prose, "the good tree", list())
reports(check_prose, "prose", "R/b.R", 2, c("f <- 1", "# Nobody calls f()."))
reports(check_prose, "prose", "src/graph/a.cpp", 1, "// of which it is")
reports(check_prose, "prose", "R/b.R", 1, paste0('stop("Files of ', 'which there is a copy.")'))
reports(check_prose, "prose", "NEWS.md", 2, c("# 1.0", "* What is new"))
reports(check_prose, "length", "NEWS.md", 1, strrep("fine words ", 800))
reports(check_prose, "retired", "R/b.R", 1, "x <- NearRows(1)")

# --- pages
page <- function(..., examples = "f(1)") {
  list(
    NAMESPACE = c("export(f)", "export(g)", 'export("%>%")'),
    "man/f.Rd" = c("\\name{f}", "\\alias{f}", "\\title{F}", ..., "\\examples{", examples, "}")
  )
}
passes(check_pages, "a page with an example", page())
passes(check_pages, "a function passed as an argument", page(examples = "lapply(1:2, f)"))
has_rule <- function(rule, line, files) {
  found <- check_pages(scratch(files))
  identical(found$rule, rule) && identical(found$line, line)
}
expect("a page without an example", has_rule("example", 1L, page(examples = "2 # f(1)")))
expect("an example that does not run", has_rule("example", 1L, page(examples = "\\dontrun{f(1)}")))
expect("a second function without an example", has_rule("example", 1L, page("\\alias{g}")))
expect("a raw table", has_rule("table", 4L, page("| a | b |")))
expect("a raw bar in a sentence", has_rule("table", 4L, page("\\description{What |x| is.}")))
expect(
  "a bar in code is allowed", !has_rule("table", 4L, page("\\description{So \\code{a | b} is.}"))
)

# --- modules of R/
modules <- list(
  "R/a.R" = NULL, "R/base_a.R" = "f <- function(x) x",
  "R/tensor.R" = c("g <- function(x, h) h(f(x))", "h <- function(x) base::k(x$l())")
)
with_modules <- function(...) {
  root <- scratch(utils::modifyList(modules[-1], list(...)))
  unlink(file.path(root, "R/a.R"))
  check_modules(root)
}
expect("calls of earlier modules are allowed", nrow(with_modules()) == 0)
expect(
  "a call of a later module",
  identical(with_modules("R/base_a.R" = "f <- function(x) h(x)")$rule, "modules")
)
expect(
  "the line of the call",
  identical(with_modules("R/base_a.R" = c("f <- function(x) {", "  h(x)", "}"))$line, 2L)
)
expect("a file of no module", identical(with_modules("R/strange.R" = "s <- 1")$rule, "module"))
expect(
  "a local function of the same name",
  nrow(with_modules("R/base_a.R" = "f <- function(h) h(1)")) == 0
)

# --- rules
passes(check_rules, "is.atomic() on non-NULL values", list(
  "R/b.R" = c("f <- function(x) is.atomic(x) && !is.null(x) # is.atomic(x)", "is_atomic(1)")
))
passes(check_rules, "entry points for packages", list(
  "src/r/a.cpp" = "bool f(SEXP x) { return Rf_isObject(x) || STRING_PTR_RO(x); }  // not OBJECT(x)",
  "src/graph/a.cpp" = "int LEVELS(int x) { return x; }"
))
passes(check_rules, "the good tree", list())
reports(check_rules, "stdout", "R/b.R", 2, c("f <- function(x) {", '  cat(x, "\\n")', "}"))
reports(check_rules, "stdout", "R/b.R", 1, "f <- function(x) base::print(x)")
reports(check_rules, "quit", "R/b.R", 1, "f <- function() quit(\"no\", 1)")
reports(check_rules, "quit", "R/b.R", 1, "f <- function() base::q()")
reports(check_rules, "quit", "R/b.R", 2, c("f <- function() {", "  options(error = quit)", "}"))
passes(check_rules, "a variable q", list("R/b.R" = "f <- function(q) q + 1 # not quit()"))
reports(check_rules, "parse", "R/b.R", 1, "f <- function(x {")
reports(check_rules, "is-atomic", "R/b.R", 1, "f <- function(x) is.list(x) || is.atomic(x)")
reports(check_rules, "is-atomic", "R/b.R", 1, "f <- function(x) vapply(x, is.atomic, NA)")
reports(check_rules, "r-version", "R/b.R", 1, 'f <- function(x) grepv("a", x)')
reports(check_rules, "r-version", "R/b.R", 1, "f <- function(x) x |> g(y = _)")
reports(check_rules, "non-api", "src/r/a.cpp", 1, "bool f(SEXP x) { return OBJECT(x); }")
reports(check_rules, "non-api", "src/r/a.cpp", 1, "SEXP f(SEXP x) { return ATTRIB(x); }")
reports(check_rules, "non-api", "src/r/a.cpp", 1, "auto f = Rf_findVarInFrame;")
reports(check_rules, "rf-error", "src/r/a.cpp", 1, 'void f() { Rf_error("no"); }')
reports(check_rules, "printf", "src/graph/a.cpp", 1, 'void f() { printf("a"); }')
reports(check_rules, "printf", "src/graph/a.cpp", 1, 'void f() { std::fprintf(stderr, "a"); }')
reports(check_rules, "printf", "src/r/a.cpp", 1, "void f() { std::cout << 1; }")
reports(check_rules, "printf", "src/graph/a.cpp", 1, "void f() { std::cerr << 1; }")
reports(check_rules, "omp", "src/kernels/a.cpp", 1, "void f() { omp_set_num_threads(2); }")
for (name in c("immintrin", "emmintrin", "avx512fintrin", "x86intrin", "cpuid", "arm_neon", "arm_sve")) {
  reports(check_rules, "processor", "src/graph/a.cpp", 1, sprintf("#include <%s.h>", name))
}
reports(check_rules, "processor", "src/io/files/a.cpp", 2, c("int a;", "#  include <nmmintrin.h>"))
reports(check_rules, "windows", "src/base/a.cpp", 1, "#include <windows.h>")
reports(check_rules, "processor", "src/data/a.h", 5, header("#if __has_include(<immintrin.h>)"))
reports(check_rules, "processor", "src/session/a.cpp", 1, '#include "smmintrin.h"')
for (name in c("sys/mman", "sys/syscall", "sys/stat", "fcntl", "unistd", "dlfcn", "iconv", "io")) {
  reports(check_rules, "system", "src/data/a.cpp", 1, sprintf("#include <%s.h>", name))
}
reports(check_rules, "system", "src/tensor/a.h", 5, header("#include <unistd.h>"))
for (condition in c("#ifdef __linux__", "#if defined(_WIN32)", "#if !defined(__APPLE__)")) {
  reports(check_rules, "system", "src/data/a.cpp", 1, c(condition, "int a;", "#endif"))
}
passes(check_rules, "allowed headers of a system or a processor", list(
  "src/kernels/a.cpp" = "#include <immintrin.h>", "src/base/ticks.cpp" = "#include <cpuid.h>",
  "src/base/a.cpp" = "#include <unistd.h>", "src/io/files/a.cpp" = "#include <fcntl.h>",
  "src/tensor/variable_arena.cpp" = "#include <sys/mman.h>", "src/graph/a.cpp" = "// <unistd.h>",
  "src/base/b.cpp" = "#ifdef __linux__\nint a;\n#endif"
))
reports(check_rules, "op-type", "src/graph/a.cpp", 1, 'bool f() { return op->type() == "Const"; }')
reports(check_rules, "op-type", "src/r/a.cpp", 1, 'bool f() { return "Const" != op.type(); }')
reports(check_rules, "op-type", "src/session/a.cpp", 1, "int f() { return op.type().find(x); }")
reports(check_rules, "op-type", "src/graph/a.cpp", 1, "const std::string& a = x.op->type();")
passes(check_rules, "an op's own name, and other types", list(
  "src/ops/a.cpp" = 'bool f() { return op->type() == "Const"; }',
  "src/graph/a.cpp" = 'void f() { fail(op.type(), "a"); if (x.dtype() == y) return; }'
))
for (call in c(
  "std::ofstream out(path);", "std::ifstream in(path);", 'auto* f = std::fopen(path, "w");',
  "const int f = open(path, O_CREAT | O_EXCL);", "fs::rename(from, to);", "mkstemp(name);"
)) {
  reports(check_rules, "file", "src/io/a.cpp", 1, paste("void f() {", call, "}"))
}
for (call in c(
  "writeLines(x, path)", "saveRDS(x, path)", "writeBin(x, path)", "utils::write.csv(x, path)",
  "readBin(path, raw())", "readLines(path)", "file.copy(x, path)"
)) {
  reports(check_rules, "file", "R/b.R", 1, paste("f <- function(x, path)", call))
}
op_of_files <- function(asks, says) {
  c(
    sprintf("void f(C& c) { TextFile(%s); }", if (asks) "c.file_access_policy().readable(p)" else "p"),
    'RUNHOOKS_REGISTER_OP("Read")', paste0("    ", if (says) ".reads_files()", ";")
  )
}
reports(check_rules, "file-rights", "src/ops/a.cpp", 1, op_of_files(FALSE, TRUE))
reports(check_rules, "file-rights", "src/ops/a.cpp", 1, op_of_files(TRUE, FALSE))
passes(check_rules, "allowed ways to open files", list(
  "src/base/system_files.cpp" = "void f() { open(path, O_RDONLY); fs::rename(a, b); }",
  "src/ops/a.cpp" = op_of_files(TRUE, TRUE),
  "R/b.R" = "f <- function(x) writeBin(x, raw(), size = 4)"
))
for (call in c(
  "std::tolower(c)", "isalnum(c)", "std::strtod(text, nullptr)", "parse(field, std::strtof);",
  "std::snprintf(text, n, format, x)", "std::ostringstream out;", "std::stod(text)"
)) {
  reports(check_rules, "locale", "src/graph/a.cpp", 1, paste("void f() {", call, "}"))
}
reports(check_rules, "locale", "src/graph/a.cpp", 1, "#include <cctype>")
reports(check_rules, "locale", "src/graph/a.cpp", 1, "#include <sstream>")
reports(check_rules, "locale", "R/b.R", 1, "f <- function(x) toupper(x)")
for (call in c(
  "Rf_mkString(x)", "Rf_mkCharCE(x, CE_UTF8)", "Rf_translateCharUTF8(x)", "CHAR(x)", "R_CHAR(x)",
  "Rcpp::as<std::string>(x)", "Rcpp::String(x)"
)) {
  reports(check_rules, "text", "src/r/a.cpp", 1, paste("void f() {", call, "}"))
}
passes(check_rules, "allowed conversions of text and numbers", list(
  "src/base/number_text.cpp" = "double f(const char* x) { return std::strtod(x, nullptr); }",
  "src/r/values/text.cpp" = "SEXP f(const char* x) { return Rf_mkCharCE(x, CE_UTF8); }",
  "src/graph/a.cpp" = "bool f(char c) { return is_ascii_digit(ascii_lower(c)); }  // isdigit()",
  "R/b.R" = "f <- function(x) ascii_lower(x)"
))
reports(check_rules, "path", "src/io/a.cpp", 1, 'const char* f = "/tmp/x";')
reports(check_rules, "path", "tests/testthat/test-b.R", 1, "f <- '/home/me/run'")
reports(check_rules, "path", "R/b.R", 1, 'f <- "C:/run"')
reports(check_rules, "size", "src/graph/a.cpp", 601, rep("int a();", 601))
reports(check_rules, "size", "R/b.R", 700, rep("# a", 700))
reports(check_rules, "todo", "src/graph/a.cpp", 1, paste0("// TO", "DO: more"))
reports(check_rules, "todo", "tests/testthat/test-b.R", 1, paste0("# FIX", "ME"))
reports(check_rules, "skip", "tests/testthat/test-b.R", 1, 'test_that("b", skip())')
reports(check_rules, "skip", "tests/testthat/test-b.R", 1, 'testthat::skip("")')
reports(check_rules, "header", "src/graph/a.h", 1, c("// What lives here: a.", "#pragma once"))
reports(check_rules, "header", "src/graph/a.h", 1, c("#pragma once", opening))
reports(
  check_rules, "header", "src/graph/a.h", 1, c(opening, "// Who may use it: all.", "#pragma once")
)
passes(
  check_rules, "a header of one sentence", list("src/graph/a.h" = c(opening[1], "#pragma once"))
)
passes(check_rules, "an allowed print", list(
  "R/b.R" = 'print.a <- function(x, ...) cat("a") # lint: allow stdout'
))
passes(check_rules, "cat to a file", list("R/b.R" = 'f <- function(to) cat("a", file = to)'))
passes(check_rules, "an allowed path", list(
  "src/io/a.cpp" = 'auto status = "/proc"; auto path = "/tmp";  // lint: allow path'
))
passes(check_rules, "600 lines", list("src/graph/a.cpp" = rep("int a();", 600)))
passes(check_rules, "generated files", list(
  "src/RcppExports.cpp" = 'void f() { Rf_error("x"); }', "R/RcppExports.R" = "cat(1)"
))

# --- tests of internals
inside <- list(
  ".Rbuildignore" = "^tests/testthat/(helper-inside|test-b)[.]R$",
  "tests/testthat/helper-inside.R" = "look <- function() 1", "tests/testthat/test-b.R" = "look()"
)
passes(check_inside, "ignored tests of internals", inside)
found <- check_inside(scratch(c(inside, list("tests/testthat/test-c.R" = c("", "x <- look()")))))
expect(
  "a test of internals in the source package",
  nrow(found) == 1 && found$line == 2 && grepl("test-c", found$file)
)

# --- precomputed vignettes
root <- scratch(list("vignettes/a.Rmd.orig" = c("---", "title: A", "---", "", "```{r}", "1 + 1", "```")))
expect("a missing vignette is stale", identical(stale_vignettes(root), "vignettes/a.Rmd"))
knit_vignette(root, "vignettes/a.Rmd.orig")
expect(
  "a vignette contains the output", "## [1] 2" %in% readLines(file.path(root, "vignettes/a.Rmd"))
)
expect(
  "the header of a vignette is first", readLines(file.path(root, "vignettes/a.Rmd"), 1) == "---"
)
expect("names of temporary folders are replaced", identical(
  replace_temporary_folders("kept in /tmp/RtmpQHg/runhooks-model-77314cd3/best."), "kept in <temporary folder>/best."
))
expect("a knitted vignette is up to date", length(stale_vignettes(root)) == 0)
cat("more\n", file = file.path(root, "vignettes/a.Rmd.orig"), append = TRUE)
expect(
  "a vignette with a changed source is stale", identical(stale_vignettes(root), "vignettes/a.Rmd")
)

# --- tests that CRAN runs
cran_tests <- function(listed) {
  scratch(list(
    ".Rbuildignore" = "^tests/testthat/test-own_.*[.]R$", "tests/testthat/test-a_long.R" = "",
    "tests/testthat/test-own_b.R" = "", "tests/testthat.R" = c("library(a)", paste("cran_files <-", listed))
  ))
}
expect("a test of each module", nrow(check_cran_files(cran_tests('c("a")'))) == 0)
expect("a module that CRAN does not test", nrow(check_cran_files(cran_tests("character()"))) == 1)
expect(
  "a listed test that does not exist",
  nrow(check_cran_files(cran_tests('c("a", "gone", "own_b")'))) == 2
)

# --- names of test files
named <- check_test_names(scratch(list(
  "R/a.R" = "", "tests/testthat/test-a.R" = "", "tests/testthat/test-a-more.R" = "",
  "tests/testthat/test-suite_b.R" = "", "tests/testthat/test-trace_c.R" = "",
  "tests/testthat/test-d.R" = ""
)))
expect("a test that names no R file", identical(basename(named$file), "test-d.R"))

# --- functions without a caller
called <- list(
  "R/a.R" = c("f <- function(x) g(x)", "g <- function(x) x", "k <- function() cpp_k()"),
  "R/RcppExports.R" = c("cpp_k <- function() {", "    .Call(`_scratch_cpp_k`)", "}"),
  "NAMESPACE" = c("export(f)", "export(k)"),
  "src/r/values/tensor.cpp" = "#include <Rcpp.h>", "src/tensor/shape.h" = header("#include <vector>"),
  "src/base/a.h" = header("int a();", "inline int b() { return a(); }", "int c(int x);"),
  "src/base/a.cpp" = c("int a() { return 1; }", "int c(int x) {", "  return x ? b() : c(1);", "}")
)
expect("all functions have callers", nrow(check_callers(scratch(called))) == 0)
uncalled <- called
uncalled[["R/a.R"]][1] <- "f <- function(x) x"
uncalled[["NAMESPACE"]] <- "export(f)"
uncalled[["src/base/a.cpp"]][1] <- "int a() { return d; } int d;"
uncalled[["src/base/a.cpp"]][3] <- "  return x;"
found <- check_callers(scratch(uncalled))
expect(
  paste("no callers, got", paste(found$message, collapse = "; ")),
  identical(sub(".* ", "", found$message), c("g()", "k()", "b()", "c()"))
)
marked <- uncalled
marked[["R/a.R"]][2:3] <- paste(marked[["R/a.R"]][2:3], "# lint: allow caller")
expect("allowed functions without callers", nrow(check_callers(scratch(marked))) == 2)
twice <- called
twice[["R/b.R"]] <- "g <- function(y) y"
found <- check_callers(scratch(twice))$message
expect(
  "two functions of one name",
  length(found) == 1 && grepl("g is also defined in R/a.R", found, fixed = TRUE)
)
twice[["R/b.R"]] <- c("`[[.mine` <- function(x, i) i", "`[[.mine` <- function(x, ...) x")
twice[["NAMESPACE"]] <- c(twice[["NAMESPACE"]], "S3method(\"[[\",mine)")
found <- check_callers(scratch(twice))$message
expect(
  "two methods of one operator", any(grepl("[[.mine is also defined in R/b.R", found, fixed = TRUE))
)

# --- the lock of a killed install
root <- scratch()
locks <- file.path(root, c(paste0("00LOCK-", basename(root)), "00LOCK-other"))
for (lock in locks) dir.create(lock)
compiler <- normalizePath("tools/compiler.sh")
system(sprintf("cd %1$s && . %2$s && clear_stale_lock %1$s > said", root, compiler))
expect("only the stale lock is removed", identical(dir.exists(locks), c(FALSE, TRUE)))
expect(
  "the removal of the lock is reported",
  any(grepl("which a killed install left", readLines(file.path(root, "said"))))
)

# --- sources of a source package
root <- scratch(list("src/units/a.cpp" = "", "src/a.h" = "", "src/units/a.o" = "", "src/deps.mk" = ""))
system(sprintf("cd %s && . %s && copy_sources .build/source", root, compiler))
copied <- list.files(file.path(root, ".build/source/src"), recursive = TRUE)
expect("sources are copied", all(c("a.h", "units/a.cpp") %in% copied))
expect("built files are not copied", !any(grepl("[.](o|mk)$", copied)))

# --- the counts of `make test`
log <- tempfile()
core_counts <- function(log) log_outcome(log, "core")$counts
expect("a missing log", identical(core_counts(log), one_failure))
writeLines("make: *** [Makefile:1: x.o] Error 1", log)
expect("a log without a last line", identical(core_counts(log), one_failure))
writeLines(c("FAILED a", "core: 12 passed, 3 failed"), log)
expect("counts of core tests", all(core_counts(log) == c(12, 3, 0)))
expect("names of failed core tests", identical(log_outcome(log, "core")$failed, "core: a"))
expect("the log of another tool", identical(log_outcome(log, "lint")$counts, one_failure))
kinds <- c("success", "success", "failure", "error", "skip", "warning")
expectations <- lapply(paste0("expectation_", kinds), function(kind) structure(1, class = kind))
results <- rep(list(list(file = "test-a.R", test = "b", results = expectations)), 2)
good <- list(file = "test-a.R", test = "c", results = expectations[1:2])
expect("names of failed tests", identical(r_failed(c(results[1], list(good))), "test-a.R: b"))
expect("counts of testthat results", all(r_counts(results) == c(4, 4, 2)))
expect("counts without results", all(r_counts(list()) == 0))
by_size <- distribute(c(a = 1, b = 5, c = 3, d = 2), 2)
expect("files are distributed evenly", identical(by_size, list(c("a", "b"), c("c", "d"))))
expect("one file needs one process", identical(distribute(c(a = 1), 2), list("a")))
expect("the summary line", summary_line(r_counts(results)) == "4 passed, 4 failed, 2 skipped")

source(file.path("tools", "test_units.R"))
source(file.path("tools", "test_release.R"))
cat(sprintf("test_tools: %d passed, %d failed\n", counts[["passed"]], counts[["failed"]]))
quit(save = "no", status = as.integer(counts[["failed"]] > 0))
