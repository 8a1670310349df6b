// Helpers that the ops on segments share. A segment is the set of rows with one segment id.
#pragma once

#include "graph/op_registry.h"
#include "ops/array/index_reader.h"

namespace runhooks {

// Returns the number of segments: the last id plus one. Throws unless the ids are sorted and
// nonnegative.
int64_t count_segments(const Indices& ids);

// Infers the shape of ops with sorted segment ids, which are the last input. There is one id per
// row, or one id per index if input 1 has indices of rows.
void segment_shape(ShapeContext& c);
// Infers the shape of ops with unsorted segment ids (input 1) and the number of segments (input 2).
void unsorted_segment_shape(ShapeContext& c);

// Returns, for each row of input 0, the row of x for its segment; 0 for rows with negative ids.
Output rows_of_segments(Graph& g, Operation& op, Output x);

}  // namespace runhooks
