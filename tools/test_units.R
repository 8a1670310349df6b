# Tests of units, object lists, header dependencies and kernel objects. test_tools.R sources this
# file and defines its functions.

# --- units and object lists
root <- scratch()
expect("missing Makevars are stale", length(stale_makevars(root)) == 2)
expect("missing units are stale", length(stale_units(root)) == 3)
invisible(write_makevars(root))
expect(
  "written units and Makevars are up to date",
  length(c(stale_units(root), stale_makevars(root))) == 0
)
lines <- readLines(file.path(root, "src/Makevars"))
expect("units, separate kernels, cold objects last", identical(grep("^O_", lines, value = TRUE), c(
  "O_UNITS = units/ground_1.o units/graph_1.o", "O_APART = kernels/gemm_base.o",
  "O_COLD = units/r_1.o"
)))
expect("OBJECTS", "OBJECTS = $(O_UNITS) $(O_APART) $(O_COLD)" %in% lines)
is_cold_rule <- grepl("-c units/r_1.cpp .*\\$\\(COMPILE_COLD\\)$", lines)
expect("cold units have a separate rule", sum(is_cold_rule) == 1)
expect("no other rule is cold", identical(is_cold_rule, endsWith(lines, "; $(COMPILE_COLD)")))
expect("no zlib unless required", !any(grepl("-lz", lines)))
gnu <- "[+:?!]=|\\$\\((shell|wildcard|patsubst)|^if(eq|neq|def)|%|override"
expect("no GNU extension", !any(grepl(gnu, lines)))
unit_lines <- function(unit) readLines(file.path(root, "src/units", unit))[-1]
expect(
  "the sources of a unit", identical(unit_lines("ground_1.cpp"), '#include "tensor/tensor.cpp"')
)
invisible(file.create(file.path(root, "src/tensor/dtype.cpp")))
expect("a new source makes its unit stale", identical(stale_units(root), "src/units/ground_1.cpp"))
invisible(write_makevars(root))
expect("a new source is inserted in order", identical(
  unit_lines("ground_1.cpp"), sprintf('#include "tensor/%s.cpp"', c("dtype", "tensor"))
))
family <- stats::setNames(
  rep(list(rep("int a;", 500)), 12), sprintf("src/ops/family/%s.cpp", letters[1:12])
)
family[["src/ops/linalg/solve.cpp"]] <- "int a;"
root <- scratch(family)
invisible(write_makevars(root))
ops <- sprintf("units/ops_%d.cpp", seq_len(ceiling(6000 / (0.9 * max_unit_lines))))
before <- all_units(root)
expect("a long group is cut evenly", diff(range(lengths(before[ops]))) <= 1)
expect(
  "no source is lost",
  identical(unlist(before[ops], use.names = FALSE), sub("src/", "", names(family))[1:12])
)
expect("a family has separate units", before[["units/linalg_1.cpp"]] == "ops/linalg/solve.cpp")
writeLines("int a;", file.path(root, "src/ops/family/l.cpp"))
writeLines("int a;", file.path(root, "src/ops/family/a_new.cpp"))
after <- all_units(root)
last <- ops[length(ops)]
expect("a new source joins the shortest unit", "ops/family/a_new.cpp" %in% after[[last]])
expect("other units do not change", identical(after[ops[-length(ops)]], before[ops[-length(ops)]]))
unlink(file.path(root, "src/ops"), recursive = TRUE)
invisible(write_makevars(root))
expect("empty units are removed", !any(grepl("ops", list.files(file.path(root, "src/units")))))
wrapped <- scratch(list("src/RcppExports.cpp" = "using namespace Rcpp;", "src/r/z.cpp" = "int z;"))
expect("the wrappers are a separate object", identical(
  all_units(wrapped)[["units/r_1.cpp"]], c("r/values/tensor.cpp", "r/z.cpp")
))
expect("the wrappers are linked", any(grepl("RcppExports.o", makevars(wrapped), fixed = TRUE)))
many <- stats::setNames(as.list(rep("int a;", 40)), sprintf("src/kernels/family_%02d.cpp", 1:40))
many$DESCRIPTION <- c("Package: scratch", "SystemRequirements: C++17, zlib")
lines <- makevars(scratch(many))
expect("long lists wrap at 100 columns", max(nchar(lines)) <= 100)
expect("wrapped lines are continued", sum(grepl(" \\\\$", lines)) >= 5)
expect("zlib if DESCRIPTION requires it", any(startsWith(lines, "PKG_LIBS = -pthread -lz ")))
expect("the flags that configure found are used", any(grepl("bound.flags", lines)))
root <- scratch()
write_separate(root)
separate <- readLines(file.path(root, "src/separate.mk"))
expect("separate objects override OBJECTS", identical(
  separate, "override OBJECTS = graph/graph.o kernels/gemm_base.o r/values/tensor.o tensor/tensor.o"
))

# --- duplicate names in a unit
own <- function(...) c("namespace {", ..., "}  // namespace")
passes(check_units, "the good tree", list())
passes(check_units, "file-local names in separate units", list(
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
expect("different aliases of one name", nrow(check_units(scratch(aliases))) == 1)
macros <- list("src/graph/graph.cpp" = "#define M 1", "src/graph/b.cpp" = "#define M 1")
expect("a macro in two sources", nrow(check_units(scratch(macros))) == 1)
statics <- list("src/graph/graph.cpp" = "static int s() {", "src/graph/b.cpp" = "static int s = 1;")
expect("a static name in two sources", nrow(check_units(scratch(statics))) == 1)
quiet <- function(first, second) {
  list(
    "src/ops/math/quiet_math.h" = header(), "src/ops/a.h" = header(),
    "src/ops/a.cpp" = sprintf("#include \"%s\"", c(first, second)), "src/ops/b.cpp" = "int b();"
  )
}
passes(check_units, "compile settings in the first line", quiet("ops/math/quiet_math.h", "ops/a.h"))
expect(
  "compile settings after a header",
  identical(check_units(scratch(quiet("ops/a.h", "ops/math/quiet_math.h")))$line, 2L)
)
units <- all_units(scratch(quiet("ops/math/quiet_math.h", "ops/a.h")))
expect(
  "sources with compile settings have separate units",
  identical(units[["units/quiet_1.cpp"]], "ops/a.cpp")
)

# --- header dependencies
root <- scratch()
lines <- deps_lines(root)
expect("indirect headers", "tensor/tensor.o: tensor/shape.h tensor/tensor.h" %in% lines)
expect("headers of bindings", any(grepl("^r/values/tensor[.]o: .*tensor/shape[.]h", lines)))
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
  expect("a newer header without deps.mk does not rebuild", !any(grepl("^built", make("MAKEFILES="))))
}

# --- kernel objects
judge <- function(file, nm = character(), code = character()) check_object(file, nm, code)$rule
avx2 <- "vaddps %ymm0,%ymm1,%ymm2"
strong <- c("0000 T f", "     U memcpy", "0000 V DW.ref.__gxx_personality_v0")
expect("a weak symbol", identical(judge("a_base.o", "0000 W _ZSt3maxIiE"), "weak"))
expect("strong symbols", length(judge("a_base.o", strong)) == 0)
expect("avx2 without wide registers", identical(judge("a_avx2.o", code = "addss %xmm0"), "isa"))
expect("avx2 with wide registers", length(judge("a_avx2.o", code = avx2)) == 0)
expect("avx512 with narrow registers", identical(judge("a_avx512.o", code = avx2), "isa"))
expect("wide registers in base", identical(judge("a_base.o", code = avx2), "isa"))
expect("no rule for the dispatcher", length(judge("dispatch.o", code = avx2)) == 0)
