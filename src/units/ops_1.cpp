// Written by tools/units.R: what an install compiles together; do not edit.
#include "ops/array/array.cpp"
#include "ops/array/array_shape.cpp"
#include "ops/array/array_slice.cpp"
#include "ops/array/gather.cpp"
#include "ops/array/matrix_parts.cpp"
#include "ops/array/one_hot.cpp"
#include "ops/array/strided_slice.cpp"
#include "ops/array/top_k.cpp"
