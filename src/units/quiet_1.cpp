// Written by tools/units.R: what an install compiles together; do not edit.
#include "ops/math/math_binary.cpp"
#include "ops/math/math_special.cpp"
