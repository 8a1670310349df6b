#!/bin/sh
# What lives here: the rules of src/kernels that a compiler does not check.
# Who may use it: make lint, from the root: tools/check_kernels.sh FOLDER_OF_OBJECTS (e.g.
#   .build/cpp/src/kernels, or src/kernels after R CMD INSTALL).
# What it must not know: what the kernels compute.
objects=${1:?"usage: tools/check_kernels.sh FOLDER_OF_OBJECTS [FOLDER_OF_SOURCES]"}
sources=${2:-src/kernels}
failed=0

complain() {
  echo "check_kernels: $*" >&2
  failed=1
}

# Weak symbols: of two copies of a function the linker keeps one, perhaps one that this CPU lacks.
found=0
for object in "$objects"/*.o; do
  [ -f "$object" ] || continue
  found=1
  weak=$(nm "$object" | awk 'NF > 1 && $(NF - 1) ~ /^[uvwVW]$/ { printf " %s", $NF }')
  [ -z "$weak" ] || complain "$object has weak symbols:$weak"
done
[ $found = 1 ] || complain "no objects in $objects"

# A pragma that a compiler ignores leaves a build that looks fine and runs the base code.
machine=$(for object in "$objects"/*.o; do objdump -f "$object" && break; done 2> /dev/null |
  sed -n 's/^architecture: \([^,]*\),.*/\1/p')
case $machine in
  i386:x86-64*)
    for source in "$sources"/*_avx2.cpp "$sources"/*_avx512.cpp; do
      name=$(basename "$source" .cpp)
      case $name in *_avx2) register=ymm ;; *) register=zmm ;; esac
      if [ ! -f "$objects/$name.o" ]; then
        complain "$objects/$name.o is missing"
      elif ! objdump -d "$objects/$name.o" | grep -q "%$register[0-9]"; then
        complain "$objects/$name.o has no $register registers"
      fi
    done
    for object in "$objects"/*_base.o "$objects"/dispatch.o; do
      ! objdump -d "$object" | grep -q '%[yz]mm[0-9]' || complain "$object has wide registers"
    done
    ;;
esac

# Headers: inline functions of the standard library, of Eigen and of R are weak symbols in waiting.
bad=$(grep -n '^ *# *include' "$sources"/*.h "$sources"/*.cpp "$sources"/*.inc |
  grep -v 'include "kernels/[a-z_0-9]*\.\(h\|inc\)"' |
  grep -v 'include <\(stddef\|stdint\|stdlib\|omp\)\.h>')
[ -z "$bad" ] || complain "kernels include more than plain C:
$bad"
bad=$(grep -n 'std::\|omp_set_num_threads' "$sources"/*.h "$sources"/*.cpp "$sources"/*.inc)
[ -z "$bad" ] || complain "not in kernels:
$bad"
bad=$(grep -n '# *pragma GCC target' "$sources"/*.h "$sources"/*.cpp "$sources"/*.inc |
  grep -v 'target("')
[ -z "$bad" ] || complain "the string of a target must be literal:
$bad"

exit $failed
