// Written by tools/units.R: what an install compiles together; do not edit.
#include "ops/linalg/linalg_eigen.cpp"
