# Tests of the tools: a valid scratch tree passes, and each deliberate violation triggers its rule.
# `Rscript tools/test_tools.R`; part of `make lint`.
tools <- c(
  "objects", "check_units", "check_inside", "deps", "check_layers", "check_rules", "check_kernels", "run_tests",
  "attributes", "check_generated", "check_callers", "check_comments", "check_prose",
  "check_modules", "check_pages", "site", "release"
)
for (tool in tools) source(file.path("tools", paste0(tool, ".R")))
counts <- c(passed = 0L, failed = 0L)
expect <- function(what, ok) {
  outcome <- if (isTRUE(ok)) "passed" else "failed"
  counts[[outcome]] <<- counts[[outcome]] + 1L
  if (outcome == "failed") cat("FAILED", what, "\n")
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
# A scratch tree with some files replaced or added.
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
# Changes one file and expects exactly one violation, of this rule at this line.
fires <- function(check, rule, file, line, text) {
  found <- check(scratch(stats::setNames(list(text), file)))
  got <- paste0(found$file, ":", found$line, " ", found$rule, collapse = "; ")
  expect(
    sprintf("%s at %s:%d, got: %s", rule, file, line, got),
    nrow(found) == 1 && found$rule == rule && found$file == file && found$line == line
  )
}
silent <- function(check, what, changes) {
  found <- check(scratch(changes))
  got <- paste(found$rule, found$message, collapse = "; ")
  expect(paste(what, "is fine, got:", got), nrow(found) == 0)
}

# --- layers
silent(check_layers, "the good tree", list())
silent(check_layers, "a family", list("src/graph/family/a.cpp" = "int a;"))
fires(check_layers, "layers", "src/tensor/tensor.cpp", 2, c("", '#include "graph/graph.h"'))
fires(check_layers, "layers", "src/graph/a.cpp", 1, '#include "kernels/gemm.inc"')
fires(check_layers, "layers", "src/hooks/a.cpp", 1, '  #  include "columns/a.h"  // why')
fires(check_layers, "layers", "src/graph/a.cpp", 1, '#include "graph.h"')
fires(check_layers, "layers", "src/graph/a.cpp", 1, '#include "graph/nowhere.h"')
fires(check_layers, "layers", "src/graph/a.cpp", 1, "#include <Rcpp.h>")
fires(check_layers, "layers", "src/graph/a.cpp", 1, "#include <R_ext/Print.h>")
fires(check_layers, "layers", "src/graph/a.cpp", 1, '#include "../r/values/tensor.cpp"')
fires(check_layers, "layers", "src/kernels/a.cpp", 1, "#include <vector>")
fires(check_layers, "layers", "src/kernels/a.inc", 1, '#include "tensor/tensor.h"')
fires(check_layers, "layers", "tests/cpp/a.cpp", 1, "#include <Rinternals.h>")
fires(check_layers, "border", "src/graph/a.cpp", 3, c("/*", "*/", "void f(SEXP x);"))
fires(check_layers, "border", "src/graph/a.cpp", 1, "void f() { R_CheckUserInterrupt(); }")
fires(check_layers, "border", "src/graph/a.cpp", 1, "Rcpp::List f();")
fires(check_layers, "border", "src/graph/a.h", 5, header('void f() { Rprintf(""); }'))
fires(check_layers, "border", "tests/cpp/a.cpp", 1, "void f(SEXP x);")
fires(check_layers, "place", "src/loose.cpp", 1, "int loose;")
fires(check_layers, "place", "src/strange/a.cpp", 1, "int strange;")
fires(check_layers, "place", "src/graph/deep/down/a.cpp", 1, "int deep;")
circle <- check_layers(scratch(list("src/tensor/shape.h" = header('#include "tensor/tensor.h"'))))
expect("a circle of headers", all(circle$rule == "circle"))
expect("it names both", setequal(circle$file, c("src/tensor/shape.h", "src/tensor/tensor.h")))
silent(
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
silent(check_comments, "the good tree", list())
silent(check_comments, "files that are there", list(
  "src/graph/a.cpp" = "// graph.cpp, graph/graph.h, tests/testthat/test-a.R and *.cpp of <folder>.cpp",
  "R/b.R" = c("# R/a.R", 'f <- "gone.R"', "# gone.cpp of TensorFlow; lint: allow file")
))
fires(check_comments, "file", "src/graph/a.cpp", 2, c("int a;", "int b;  // as gone.cpp has it"))
fires(check_comments, "file", "R/b.R", 1, "# src/tensor/graph.cpp")
fires(check_comments, "file", "inst/COPYRIGHTS", 2, c("", "Files: src/base/gone.cpp"))

# --- prose
silent(check_prose, "the good tree", list())
fires(check_prose, "prose", "R/b.R", 2, c("f <- 1", "# Nobody calls f()."))
fires(check_prose, "prose", "src/graph/a.cpp", 1, "// of which it is")
fires(check_prose, "prose", "R/b.R", 1, paste0('stop("Files of ', 'which there is a copy.")'))
fires(check_prose, "prose", "NEWS.md", 2, c("# 1.0", "* What is new"))
fires(check_prose, "length", "NEWS.md", 1, strrep("fine words ", 800))
fires(check_prose, "retired", "R/b.R", 1, "x <- NearRows(1)")

# --- pages
page <- function(..., examples = "f(1)") {
  list(
    NAMESPACE = c("export(f)", "export(g)", 'export("%>%")'),
    "man/f.Rd" = c("\\name{f}", "\\alias{f}", "\\title{F}", ..., "\\examples{", examples, "}")
  )
}
silent(check_pages, "a page with an example", page())
silent(check_pages, "a function that is given", page(examples = "lapply(1:2, f)"))
has_rule <- function(rule, line, files) {
  found <- check_pages(scratch(files))
  identical(found$rule, rule) && identical(found$line, line)
}
expect("no example", has_rule("example", 1L, page(examples = "2 # f(1)")))
expect("one that does not run", has_rule("example", 1L, page(examples = "\\dontrun{f(1)}")))
expect("two functions on a page", has_rule("example", 1L, page("\\alias{g}")))
expect("a raw table", has_rule("table", 4L, page("| a | b |")))
expect("a raw letter in a sentence", has_rule("table", 4L, page("\\description{What |x| is.}")))
expect("in code it may be", !has_rule("table", 4L, page("\\description{So \\code{a | b} is.}")))

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
expect("earlier modules", nrow(with_modules()) == 0)
expect("a later module", identical(with_modules("R/base_a.R" = "f <- function(x) h(x)")$rule, "modules"))
expect("its line", identical(with_modules("R/base_a.R" = c("f <- function(x) {", "  h(x)", "}"))$line, 2L))
expect("no module", identical(with_modules("R/strange.R" = "s <- 1")$rule, "module"))
expect("a local of that name", nrow(with_modules("R/base_a.R" = "f <- function(h) h(1)")) == 0)

# --- rules
silent(check_rules, "is.atomic() on non-NULL values", list(
  "R/b.R" = c("f <- function(x) is.atomic(x) && !is.null(x) # is.atomic(x)", "is_atomic(1)")
))
silent(check_rules, "entry points for packages", list(
  "src/r/a.cpp" = "bool f(SEXP x) { return Rf_isObject(x) || STRING_PTR_RO(x); }  // not OBJECT(x)",
  "src/graph/a.cpp" = "int LEVELS(int x) { return x; }"
))
silent(check_rules, "the good tree", list())
fires(check_rules, "stdout", "R/b.R", 2, c("f <- function(x) {", '  cat(x, "\\n")', "}"))
fires(check_rules, "stdout", "R/b.R", 1, "f <- function(x) base::print(x)")
fires(check_rules, "quit", "R/b.R", 1, "f <- function() quit(\"no\", 1)")
fires(check_rules, "quit", "R/b.R", 1, "f <- function() base::q()")
fires(check_rules, "quit", "R/b.R", 2, c("f <- function() {", "  options(error = quit)", "}"))
silent(check_rules, "a variable q", list("R/b.R" = "f <- function(q) q + 1 # not quit()"))
fires(check_rules, "parse", "R/b.R", 1, "f <- function(x {")
fires(check_rules, "is-atomic", "R/b.R", 1, "f <- function(x) is.list(x) || is.atomic(x)")
fires(check_rules, "is-atomic", "R/b.R", 1, "f <- function(x) vapply(x, is.atomic, NA)")
fires(check_rules, "r-version", "R/b.R", 1, 'f <- function(x) grepv("a", x)')
fires(check_rules, "r-version", "R/b.R", 1, "f <- function(x) x |> g(y = _)")
fires(check_rules, "non-api", "src/r/a.cpp", 1, "bool f(SEXP x) { return OBJECT(x); }")
fires(check_rules, "non-api", "src/r/a.cpp", 1, "SEXP f(SEXP x) { return ATTRIB(x); }")
fires(check_rules, "non-api", "src/r/a.cpp", 1, "auto f = Rf_findVarInFrame;")
fires(check_rules, "rf-error", "src/r/a.cpp", 1, 'void f() { Rf_error("no"); }')
fires(check_rules, "printf", "src/graph/a.cpp", 1, 'void f() { printf("a"); }')
fires(check_rules, "printf", "src/graph/a.cpp", 1, 'void f() { std::fprintf(stderr, "a"); }')
fires(check_rules, "printf", "src/r/a.cpp", 1, "void f() { std::cout << 1; }")
fires(check_rules, "printf", "src/graph/a.cpp", 1, "void f() { std::cerr << 1; }")
fires(check_rules, "omp", "src/kernels/a.cpp", 1, "void f() { omp_set_num_threads(2); }")
for (name in c("immintrin", "emmintrin", "avx512fintrin", "x86intrin", "cpuid", "arm_neon", "arm_sve")) {
  fires(check_rules, "processor", "src/graph/a.cpp", 1, sprintf("#include <%s.h>", name))
}
fires(check_rules, "processor", "src/io/files/a.cpp", 2, c("int a;", "#  include <nmmintrin.h>"))
fires(check_rules, "windows", "src/base/a.cpp", 1, "#include <windows.h>")
fires(check_rules, "processor", "src/data/a.h", 5, header("#if __has_include(<immintrin.h>)"))
fires(check_rules, "processor", "src/session/a.cpp", 1, '#include "smmintrin.h"')
for (name in c("sys/mman", "sys/syscall", "sys/stat", "fcntl", "unistd", "dlfcn", "iconv", "io")) {
  fires(check_rules, "system", "src/data/a.cpp", 1, sprintf("#include <%s.h>", name))
}
fires(check_rules, "system", "src/tensor/a.h", 5, header("#include <unistd.h>"))
for (condition in c("#ifdef __linux__", "#if defined(_WIN32)", "#if !defined(__APPLE__)")) {
  fires(check_rules, "system", "src/data/a.cpp", 1, c(condition, "int a;", "#endif"))
}
silent(check_rules, "headers of a system and of a processor in their places", list(
  "src/kernels/a.cpp" = "#include <immintrin.h>", "src/base/ticks.cpp" = "#include <cpuid.h>",
  "src/base/a.cpp" = "#include <unistd.h>", "src/io/files/a.cpp" = "#include <fcntl.h>",
  "src/tensor/variable_arena.cpp" = "#include <sys/mman.h>", "src/graph/a.cpp" = "// <unistd.h>",
  "src/base/b.cpp" = "#ifdef __linux__\nint a;\n#endif"
))
fires(check_rules, "op-type", "src/graph/a.cpp", 1, 'bool f() { return op->type() == "Const"; }')
fires(check_rules, "op-type", "src/r/a.cpp", 1, 'bool f() { return "Const" != op.type(); }')
fires(check_rules, "op-type", "src/session/a.cpp", 1, "int f() { return op.type().find(x); }")
fires(check_rules, "op-type", "src/graph/a.cpp", 1, "const std::string& a = x.op->type();")
silent(check_rules, "an op among its own", list(
  "src/ops/a.cpp" = 'bool f() { return op->type() == "Const"; }',
  "src/graph/a.cpp" = 'void f() { fail(op.type(), "a"); if (x.dtype() == y) return; }'
))
for (call in c(
  "std::ofstream out(path);", "std::ifstream in(path);", 'auto* f = std::fopen(path, "w");',
  "const int f = open(path, O_CREAT | O_EXCL);", "fs::rename(from, to);", "mkstemp(name);"
)) {
  fires(check_rules, "file", "src/io/a.cpp", 1, paste("void f() {", call, "}"))
}
for (call in c(
  "writeLines(x, path)", "saveRDS(x, path)", "writeBin(x, path)", "utils::write.csv(x, path)",
  "readBin(path, raw())", "readLines(path)", "file.copy(x, path)"
)) {
  fires(check_rules, "file", "R/b.R", 1, paste("f <- function(x, path)", call))
}
op_of_files <- function(asks, says) {
  c(
    sprintf("void f(C& c) { TextFile(%s); }", if (asks) "c.file_rights().readable(p)" else "p"),
    'RUNHOOKS_REGISTER_OP("Read")', paste0("    ", if (says) ".reads_files()", ";")
  )
}
fires(check_rules, "file-rights", "src/ops/a.cpp", 1, op_of_files(FALSE, TRUE))
fires(check_rules, "file-rights", "src/ops/a.cpp", 1, op_of_files(TRUE, FALSE))
silent(check_rules, "files by their one place", list(
  "src/base/system_files.cpp" = "void f() { open(path, O_RDONLY); fs::rename(a, b); }",
  "src/ops/a.cpp" = op_of_files(TRUE, TRUE),
  "R/b.R" = "f <- function(x) writeBin(x, raw(), size = 4)"
))
for (call in c(
  "std::tolower(c)", "isalnum(c)", "std::strtod(text, nullptr)", "parse(field, std::strtof);",
  "std::snprintf(text, n, format, x)", "std::ostringstream out;", "std::stod(text)"
)) {
  fires(check_rules, "locale", "src/graph/a.cpp", 1, paste("void f() {", call, "}"))
}
fires(check_rules, "locale", "src/graph/a.cpp", 1, "#include <cctype>")
fires(check_rules, "locale", "src/graph/a.cpp", 1, "#include <sstream>")
fires(check_rules, "locale", "R/b.R", 1, "f <- function(x) toupper(x)")
for (call in c(
  "Rf_mkString(x)", "Rf_mkCharCE(x, CE_UTF8)", "Rf_translateCharUTF8(x)", "CHAR(x)", "R_CHAR(x)",
  "Rcpp::as<std::string>(x)", "Rcpp::String(x)"
)) {
  fires(check_rules, "text", "src/r/a.cpp", 1, paste("void f() {", call, "}"))
}
silent(check_rules, "text and numbers by their one place", list(
  "src/base/number_text.cpp" = "double f(const char* x) { return std::strtod(x, nullptr); }",
  "src/r/values/text.cpp" = "SEXP f(const char* x) { return Rf_mkCharCE(x, CE_UTF8); }",
  "src/graph/a.cpp" = "bool f(char c) { return is_ascii_digit(ascii_lower(c)); }  // isdigit()",
  "R/b.R" = "f <- function(x) ascii_lower(x)"
))
fires(check_rules, "path", "src/io/a.cpp", 1, 'const char* f = "/tmp/x";')
fires(check_rules, "path", "tests/testthat/test-b.R", 1, "f <- '/home/me/run'")
fires(check_rules, "path", "R/b.R", 1, 'f <- "C:/run"')
fires(check_rules, "size", "src/graph/a.cpp", 601, rep("int a();", 601))
fires(check_rules, "size", "R/b.R", 700, rep("# a", 700))
fires(check_rules, "todo", "src/graph/a.cpp", 1, paste0("// TO", "DO: more"))
fires(check_rules, "todo", "tests/testthat/test-b.R", 1, paste0("# FIX", "ME"))
fires(check_rules, "skip", "tests/testthat/test-b.R", 1, 'test_that("b", skip())')
fires(check_rules, "skip", "tests/testthat/test-b.R", 1, 'testthat::skip("")')
fires(check_rules, "header", "src/graph/a.h", 1, c("// What lives here: a.", "#pragma once"))
fires(check_rules, "header", "src/graph/a.h", 1, c("#pragma once", opening))
fires(check_rules, "header", "src/graph/a.h", 1, c(opening, "// Who may use it: all.", "#pragma once"))
silent(check_rules, "a header of one sentence", list("src/graph/a.h" = c(opening[1], "#pragma once")))
silent(check_rules, "an allowed print", list(
  "R/b.R" = 'print.a <- function(x, ...) cat("a") # lint: allow stdout'
))
silent(check_rules, "cat to a file", list("R/b.R" = 'f <- function(to) cat("a", file = to)'))
silent(check_rules, "an allowed path", list(
  "src/io/a.cpp" = 'auto status = "/proc"; auto path = "/tmp";  // lint: allow path'
))
silent(check_rules, "600 lines", list("src/graph/a.cpp" = rep("int a();", 600)))
silent(check_rules, "generated files", list(
  "src/RcppExports.cpp" = 'void f() { Rf_error("x"); }', "R/RcppExports.R" = "cat(1)"
))

# --- units and object lists
root <- scratch()
expect("absent Makevars are stale", length(stale_makevars(root)) == 2)
expect("absent units are stale", length(stale_units(root)) == 3)
invisible(write_makevars(root))
expect("written ones are fresh", length(c(stale_units(root), stale_makevars(root))) == 0)
lines <- readLines(file.path(root, "src/Makevars"))
expect("units, kernels apart, cold ones last", identical(grep("^O_", lines, value = TRUE), c(
  "O_UNITS = units/ground_1.o units/graph_1.o", "O_APART = kernels/gemm_base.o",
  "O_COLD = units/r_1.o"
)))
expect("OBJECTS", "OBJECTS = $(O_UNITS) $(O_APART) $(O_COLD)" %in% lines)
is_cold_rule <- grepl("-c units/r_1.cpp .*\\$\\(COMPILE_COLD\\)$", lines)
expect("cold units have a separate rule", sum(is_cold_rule) == 1)
expect("no other is cold", identical(is_cold_rule, endsWith(lines, "; $(COMPILE_COLD)")))
expect("no zlib unless told", !any(grepl("-lz", lines)))
gnu <- "[+:?!]=|\\$\\((shell|wildcard|patsubst)|^if(eq|neq|def)|%|override"
expect("no GNU extension", !any(grepl(gnu, lines)))
unit_lines <- function(unit) readLines(file.path(root, "src/units", unit))[-1]
expect("a unit's sources", identical(unit_lines("ground_1.cpp"), '#include "tensor/tensor.cpp"'))
invisible(file.create(file.path(root, "src/tensor/dtype.cpp")))
expect("a new file makes its unit stale", identical(stale_units(root), "src/units/ground_1.cpp"))
invisible(write_makevars(root))
expect("it joins in order", identical(
  unit_lines("ground_1.cpp"), sprintf('#include "tensor/%s.cpp"', c("dtype", "tensor"))
))
family <- stats::setNames(
  rep(list(rep("int a;", 500)), 12), sprintf("src/ops/family/%s.cpp", letters[1:12])
)
family[["src/ops/linalg/solve.cpp"]] <- "int a;"
root <- scratch(family)
invisible(write_makevars(root))
ops <- sprintf("units/ops_%d.cpp", seq_len(ceiling(6000 / (0.9 * longest_unit))))
before <- all_units(root)
expect("a long group is cut evenly", diff(range(lengths(before[ops]))) <= 1)
expect("none is lost", identical(unlist(before[ops], use.names = FALSE), sub("src/", "", names(family))[1:12]))
expect("a family may stand for itself", before[["units/linalg_1.cpp"]] == "ops/linalg/solve.cpp")
writeLines("int a;", file.path(root, "src/ops/family/l.cpp"))
writeLines("int a;", file.path(root, "src/ops/family/a_new.cpp"))
after <- all_units(root)
last <- ops[length(ops)]
expect("a new file joins the shortest unit", "ops/family/a_new.cpp" %in% after[[last]])
expect("the rest stays", identical(after[ops[-length(ops)]], before[ops[-length(ops)]]))
unlink(file.path(root, "src/ops"), recursive = TRUE)
invisible(write_makevars(root))
expect("units of nothing go", !any(grepl("ops", list.files(file.path(root, "src/units")))))
wrapped <- scratch(list("src/RcppExports.cpp" = "using namespace Rcpp;", "src/r/z.cpp" = "int z;"))
expect("the wrappers are a separate object", identical(
  all_units(wrapped)[["units/r_1.cpp"]], c("r/values/tensor.cpp", "r/z.cpp")
))
expect("which is linked", any(grepl("RcppExports.o", makevars(wrapped), fixed = TRUE)))
many <- stats::setNames(as.list(rep("int a;", 40)), sprintf("src/kernels/family_%02d.cpp", 1:40))
many$DESCRIPTION <- c("Package: scratch", "SystemRequirements: C++17, zlib")
lines <- makevars(scratch(many))
expect("long lists wrap at 100 columns", max(nchar(lines)) <= 100)
expect("wrapped lines go on", sum(grepl(" \\\\$", lines)) >= 5)
expect("zlib when DESCRIPTION names it", any(startsWith(lines, "PKG_LIBS = -pthread -lz ")))
expect("the library's calls are bound as configure has found", any(grepl("bound.flags", lines)))
root <- scratch()
write_separate(root)
separate <- readLines(file.path(root, "src/separate.mk"))
expect("separate objects override", identical(
  separate, "override OBJECTS = graph/graph.o kernels/gemm_base.o r/values/tensor.o tensor/tensor.o"
))

# --- duplicate names in a unit
own <- function(...) c("namespace {", ..., "}  // namespace")
silent(check_units, "the good tree", list())
silent(check_units, "file-local names in separate units", list(
  "src/graph/a.cpp" = own("int f(int x) {", "  return x;", "}", "using A = int;", "class C;"),
  "src/graph/b.cpp" = c(own("using A = int;", "class C {};", "void g();"), "int f(int x);"),
  "src/graph/c.cpp" = c("#define M 1", "#undef M"), "src/graph/d.cpp" = "#define M 2",
  "src/kernels/c.cpp" = own("int f(int x) { return x; }"),
  "src/nn/a.cpp" = own("int f(int x) { return x; }")
))
same_names <- list(
  c("int same(int x);", "double same(std::vector<std::pair<int, int>> x) { return 1; }"),
  c("template <typename T>", "struct same {", "};"),
  c("const std::map<int, int> same = {", "};"),
  c("constexpr size_t first = 1, same[2] = {1, 2};", "enum Other : int { one = 1, same, two };"),
  c("enum Other : int {", "  one = 1,", "  same,", "};"),
  c("std::map<std::string, std::function<int(int)>>& same(", "    int x) {", "}"),
  c("int (*same)(double) = nullptr;", "using Other = int;")
)
for (lines in same_names) {
  found <- check_units(scratch(list(
    "src/graph/graph.cpp" = own("class same {};"), "src/graph/b.cpp" = own(lines)
  )))
  expect(
    paste("a name that is twice:", lines[1], found$message),
    nrow(found) == 1 && grepl("^`same` is also in src/graph/b.cpp", found$message)
  )
}
aliases <- list(
  "src/graph/graph.cpp" = own("using A = double;"), "src/graph/b.cpp" = own("using A = int;")
)
expect("an alias of something else", nrow(check_units(scratch(aliases))) == 1)
macros <- list("src/graph/graph.cpp" = "#define M 1", "src/graph/b.cpp" = "#define M 1")
expect("a macro", nrow(check_units(scratch(macros))) == 1)
statics <- list("src/graph/graph.cpp" = "static int s() {", "src/graph/b.cpp" = "static int s = 1;")
expect("what is static", nrow(check_units(scratch(statics))) == 1)
quiet <- function(first, second) {
  list(
    "src/ops/math/quiet_math.h" = header(), "src/ops/a.h" = header(),
    "src/ops/a.cpp" = sprintf("#include \"%s\"", c(first, second)), "src/ops/b.cpp" = "int b();"
  )
}
silent(check_units, "how a source is compiled, first", quiet("ops/math/quiet_math.h", "ops/a.h"))
expect(
  "how a source is compiled, after a header",
  identical(check_units(scratch(quiet("ops/a.h", "ops/math/quiet_math.h")))$line, 2L)
)
units <- all_units(scratch(quiet("ops/math/quiet_math.h", "ops/a.h")))
expect("and in units of its own", identical(units[["units/quiet_1.cpp"]], "ops/a.cpp"))

# --- tests of internals
inside <- list(
  ".Rbuildignore" = "^tests/testthat/(helper-inside|test-b)[.]R$",
  "tests/testthat/helper-inside.R" = "look <- function() 1", "tests/testthat/test-b.R" = "look()"
)
silent(check_inside, "tests that stay here", inside)
found <- check_inside(scratch(c(inside, list("tests/testthat/test-c.R" = c("", "x <- look()")))))
expect("a test that would fail elsewhere", nrow(found) == 1 && found$line == 2 && grepl("test-c", found$file))

# --- precomputed vignettes
root <- scratch(list("vignettes/a.Rmd.orig" = c("---", "title: A", "---", "", "```{r}", "1 + 1", "```")))
expect("one that is not there is stale", identical(stale_vignettes(root), "vignettes/a.Rmd"))
knit_vignette(root, "vignettes/a.Rmd.orig")
expect("its output is in it", "## [1] 2" %in% readLines(file.path(root, "vignettes/a.Rmd")))
expect("its header stays first", readLines(file.path(root, "vignettes/a.Rmd"), 1) == "---")
expect("temporary folders have no name", identical(
  steady_folders("kept in /tmp/RtmpQHg/runhooks-model-77314cd3/best."), "kept in <temporary folder>/best."
))
expect("a knitted one is fresh", length(stale_vignettes(root)) == 0)
cat("more\n", file = file.path(root, "vignettes/a.Rmd.orig"), append = TRUE)
expect("one whose source has changed is stale", identical(stale_vignettes(root), "vignettes/a.Rmd"))

# --- tests that CRAN runs
cran_tests <- function(listed) {
  scratch(list(
    ".Rbuildignore" = "^tests/testthat/test-own_.*[.]R$", "tests/testthat/test-a_long.R" = "",
    "tests/testthat/test-own_b.R" = "", "tests/testthat.R" = c("library(a)", paste("cran_files <-", listed))
  ))
}
expect("a test of each module", nrow(check_cran_files(cran_tests('c("a")'))) == 0)
expect("a module that CRAN does not test", nrow(check_cran_files(cran_tests("character()"))) == 1)
expect("a test that is not there", nrow(check_cran_files(cran_tests('c("a", "gone", "own_b")'))) == 2)

# --- names of test files
named <- check_test_names(scratch(list(
  "R/a.R" = "", "tests/testthat/test-a.R" = "", "tests/testthat/test-a-more.R" = "",
  "tests/testthat/test-suite_b.R" = "", "tests/testthat/test-trace_c.R" = "",
  "tests/testthat/test-d.R" = ""
)))
expect("a test that names no R file", identical(basename(named$file), "test-d.R"))

# --- header dependencies
root <- scratch()
lines <- deps_lines(root)
expect("headers of headers", "tensor/tensor.o: tensor/shape.h tensor/tensor.h" %in% lines)
expect("bindings too", any(grepl("^r/values/tensor[.]o: .*tensor/shape[.]h", lines)))
expect("included fragments", any(grepl("^kernels/gemm_base[.]o: kernels/gemm[.]inc", lines)))
if (nzchar(Sys.which("make"))) {
  source_folder <- file.path(root, "src")
  write_deps(root)
  rules <- c("all: tensor/tensor.o", ".cpp.o:", "\t@echo built $@")
  writeLines(rules, file.path(source_folder, "Makefile"))
  invisible(file.create(file.path(source_folder, "tensor/tensor.o")))
  ages <- c(tensor.cpp = 90, tensor.h = 90, tensor.o = 60, shape.h = 30)
  for (file in names(ages)) {
    Sys.setFileTime(file.path(source_folder, "tensor", file), Sys.time() - ages[[file]])
  }
  make <- function(env) {
    old <- setwd(source_folder)
    on.exit(setwd(old))
    system2("make", c("-s", "all"), stdout = TRUE, env = c("MAKEFLAGS=", env))
  }
  expect("a newer header rebuilds", any(grepl("^built tensor", make("MAKEFILES=deps.mk"))))
  expect("without deps.mk it does not", !any(grepl("^built", make("MAKEFILES="))))
}

# --- kernel objects
judge <- function(file, nm = character(), code = character()) judge_object(file, nm, code)$rule
avx2 <- "vaddps %ymm0,%ymm1,%ymm2"
strong <- c("0000 T f", "     U memcpy", "0000 V DW.ref.__gxx_personality_v0")
expect("a weak symbol", identical(judge("a_base.o", "0000 W _ZSt3maxIiE"), "weak"))
expect("strong symbols", length(judge("a_base.o", strong)) == 0)
expect("avx2 without wide registers", identical(judge("a_avx2.o", code = "addss %xmm0"), "isa"))
expect("avx2 with them", length(judge("a_avx2.o", code = avx2)) == 0)
expect("avx512 with narrow ones", identical(judge("a_avx512.o", code = avx2), "isa"))
expect("wide registers in base", identical(judge("a_base.o", code = avx2), "isa"))
expect("no rule for the dispatcher", length(judge("dispatch.o", code = avx2)) == 0)

# --- functions without a caller
called <- list(
  "R/a.R" = c("f <- function(x) g(x)", "g <- function(x) x", "k <- function() cpp_k()"),
  "R/RcppExports.R" = c("cpp_k <- function() {", "    .Call(`_scratch_cpp_k`)", "}"),
  "NAMESPACE" = c("export(f)", "export(k)"),
  "src/r/values/tensor.cpp" = "#include <Rcpp.h>", "src/tensor/shape.h" = header("#include <vector>"),
  "src/base/a.h" = header("int a();", "inline int b() { return a(); }", "int c(int x);"),
  "src/base/a.cpp" = c("int a() { return 1; }", "int c(int x) {", "  return x ? b() : c(1);", "}")
)
expect("all have callers", nrow(check_callers(scratch(called))) == 0)
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
expect("callers that are waived", nrow(check_callers(scratch(marked))) == 2)
twice <- called
twice[["R/b.R"]] <- "g <- function(y) y"
found <- check_callers(scratch(twice))$message
expect("two of one name", length(found) == 1 && grepl("g is also defined in R/a.R", found, fixed = TRUE))
twice[["R/b.R"]] <- c("`[[.mine` <- function(x, i) i", "`[[.mine` <- function(x, ...) x")
twice[["NAMESPACE"]] <- c(twice[["NAMESPACE"]], "S3method(\"[[\",mine)")
found <- check_callers(scratch(twice))$message
expect("two methods of one operator", any(grepl("[[.mine is also defined in R/b.R", found, fixed = TRUE)))

# --- the lock of a killed install
root <- scratch()
locks <- file.path(root, c(paste0("00LOCK-", basename(root)), "00LOCK-other"))
for (lock in locks) dir.create(lock)
compiler <- normalizePath("tools/compiler.sh")
system(sprintf("cd %1$s && . %2$s && clear_stale_lock %1$s > said", root, compiler))
expect("a stale lock goes, another's stays", identical(dir.exists(locks), c(FALSE, TRUE)))
expect("it is said", any(grepl("which a killed install left", readLines(file.path(root, "said")))))

# --- sources of a source package
root <- scratch(list("src/units/a.cpp" = "", "src/a.h" = "", "src/units/a.o" = "", "src/deps.mk" = ""))
system(sprintf("cd %s && . %s && copy_sources .build/source", root, compiler))
copied <- list.files(file.path(root, ".build/source/src"), recursive = TRUE)
expect("sources are copied", all(c("a.h", "units/a.cpp") %in% copied))
expect("what was built is not", !any(grepl("[.](o|mk)$", copied)))

# --- the counts of `make test`
log <- tempfile()
core_counts <- function(log) log_outcome(log, "core")$counts
expect("no core log at all", identical(core_counts(log), one_failure))
writeLines("make: *** [Makefile:1: x.o] Error 1", log)
expect("a core that did not build", identical(core_counts(log), one_failure))
writeLines(c("FAILED a", "core: 12 passed, 3 failed"), log)
expect("the core's counts", all(core_counts(log) == c(12, 3, 0)))
expect("the core's failures", identical(log_outcome(log, "core")$failed, "core: a"))
expect("a log of another tool", identical(log_outcome(log, "lint")$counts, one_failure))
kinds <- c("success", "success", "failure", "error", "skip", "warning")
expectations <- lapply(paste0("expectation_", kinds), function(kind) structure(1, class = kind))
results <- rep(list(list(file = "test-a.R", test = "b", results = expectations)), 2)
good <- list(file = "test-a.R", test = "c", results = expectations[1:2])
expect("names of failures", identical(r_failed(c(results[1], list(good))), "test-a.R: b"))
expect("testthat's results", all(r_counts(results) == c(4, 4, 2)))
expect("no results", all(r_counts(list()) == 0))
by_size <- dealt(c(a = 1, b = 5, c = 3, d = 2), 2)
expect("files are dealt evenly", identical(by_size, list(c("a", "b"), c("c", "d"))))
expect("one file is one process's", identical(dealt(c(a = 1), 2), list("a")))
expect("the last line", last_line(r_counts(results)) == "4 passed, 4 failed, 2 skipped")

source(file.path("tools", "test_release.R"))
cat(sprintf("test_tools: %d passed, %d failed\n", counts[["passed"]], counts[["failed"]]))
quit(save = "no", status = as.integer(counts[["failed"]] > 0))
