// Written by tools/units.R: what an install compiles together; do not edit.
#include "ops/math/segment_extremes.cpp"
#include "ops/nn/conv.cpp"
#include "ops/nn/depthwise_conv.cpp"
#include "ops/nn/image.cpp"
#include "ops/nn/l2_loss.cpp"
#include "ops/nn/patches.cpp"
#include "ops/nn/pool.cpp"
#include "ops/text/string_hash.cpp"
