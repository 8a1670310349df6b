// Written by tools/units.R: what an install compiles together; do not edit.
#include "ops/math/math_unary.cpp"
#include "ops/nn/activations.cpp"
#include "ops/nn/softmax.cpp"
