// Written by tools/units.R: what an install compiles together; do not edit.
#include "r/values/rows_as_lists.cpp"
#include "RcppExports.cpp"
