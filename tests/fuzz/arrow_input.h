// Bytes as an Arrow stream: its schema, batches and values are drawn from them.
#pragma once

#include <memory>
#include <string>

#include "io/formats/arrow_stream.h"

namespace runhooks_fuzz {

// Sizes of buffers are no part of Arrow's interface, so buffers hold what the batches say they do;
// all else may be wrong: formats, codes, offsets of strings, counts, what is there at all. The
// stream reads from the bytes as long as it is not released.
ArrowArrayStream arrow_stream_of(const std::string& bytes);

}  // namespace runhooks_fuzz
