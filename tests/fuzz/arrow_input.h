// An Arrow stream whose schema, batches and values are derived from fuzzer bytes.
#pragma once

#include <memory>
#include <string>

#include "io/formats/arrow_stream.h"

namespace runhooks_fuzz {

// Arrow's interface has no buffer sizes, so buffers match the sizes of the batches. Everything else
// may be wrong: formats, codes, string offsets, counts, missing pointers. The stream refers to
// `bytes` until it is released.
ArrowArrayStream arrow_stream_of(const std::string& bytes);

}  // namespace runhooks_fuzz
