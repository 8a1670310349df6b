# Checks the compiled kernels: `Rscript tools/check_kernels.R <folder of objects>`. The linker may
# replace a function of another object by a weak symbol that uses a newer instruction set. A source
# whose target pragma is ignored compiles without an error. Both show only in the objects.
source("tools/common.R")

# The registers that *_avx2.o or *_avx512.o must use, and that *_base.o must not use.
wide_registers <- c(avx2 = "%ymm", avx512 = "%zmm")

# Returns the weak symbols in the output of nm. DW.ref.__gxx_personality_v0 is no problem: it is
# data that every object with a frame shares.
weak_symbols <- function(nm_lines) {
  weak <- grep(" [VWu] ", nm_lines, value = TRUE)
  setdiff(sub("^.* [VWu] ", "", weak), "DW.ref.__gxx_personality_v0")
}

check_object <- function(file, nm_lines, disassembly) {
  weak <- weak_symbols(nm_lines)
  text <- sprintf("weak symbol %s: kernels must contain plain C only", weak)
  found <- violations(file, rep(1L, length(weak)), "weak", text)
  isa <- sub("^.*_([a-z0-9]+)[.]o$", "\\1", file)
  wide <- wide_registers[isa]
  if (!is.na(wide) && !any(grepl(wide, disassembly, fixed = TRUE))) {
    text <- sprintf("no %s register: the compiler ignored the target pragma", wide)
    found <- rbind(found, violations(file, 1L, "isa", text))
  }
  if (isa == "base" && any(grepl("%[yz]mm", disassembly))) {
    text <- "wide registers in the base object: older processors would crash"
    found <- rbind(found, violations(file, 1L, "isa", text))
  }
  found
}

# Returns the reason why objects cannot be checked here (no x86 or no binutils), or "".
cannot_check <- function() {
  if (!grepl("^(x86_64|amd64)$", Sys.info()[["machine"]])) return("not an x86-64 machine")
  missing <- c("nm", "objdump")[!nzchar(Sys.which(c("nm", "objdump")))]
  if (length(missing)) return(paste(missing, "is missing", collapse = ", "))
  ""
}

check_kernels <- function(folder) {
  objects <- list.files(folder, "[.]o$", full.names = TRUE)
  do.call(rbind, c(list(violations()), lapply(objects, function(object) {
    nm_lines <- system2("nm", object, stdout = TRUE)
    disassembly <- system2("objdump", c("-d", "--no-show-raw-insn", object), stdout = TRUE)
    check_object(object, nm_lines, disassembly)
  })))
}

run_tool(function(arguments) {
  reason <- cannot_check()
  if (nzchar(reason)) {
    cat("check_kernels: skipped,", reason, "\n")
    return(0L)
  }
  found <- check_kernels(arguments[1])
  report("check_kernels", found, "no weak symbol, and each instruction set is used")
}, sys.nframe())
