// Written by tools/units.R: what an install compiles together; do not edit.
#include "ops/math/math_logical.cpp"
#include "ops/math/random_ops.cpp"
