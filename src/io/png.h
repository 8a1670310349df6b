// What lives here: images as PNG.
// Who may use it: every layer above io.
// What it must not know: where images come from, summaries, R.
#pragma once

#include <cstdint>
#include <string>

namespace runhooks {

// 8 bits for each of 1 (grey), 2 (grey, alpha), 3 (red, green, blue) or 4 (and alpha) channels; the
// rows stand one after another, the channels of a pixel together.
std::string encode_png(const uint8_t* pixels, int64_t width, int64_t height, int channels);

}  // namespace runhooks
