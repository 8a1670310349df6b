// Written by tools/units.R: what an install compiles together; do not edit.
#include "ops/math/reduce.cpp"
#include "ops/math/scan.cpp"
#include "ops/math/segment.cpp"
