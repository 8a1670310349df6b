// Written by tools/units.R: what an install compiles together; do not edit.
#include "ops/linalg/batch_matmul.cpp"
#include "ops/linalg/cross.cpp"
#include "ops/linalg/matmul.cpp"
