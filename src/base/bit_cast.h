// bit_cast(): std::bit_cast() for C++17.
#pragma once

#include <cstring>

namespace runhooks {

// Returns the value of type `To` with the same bits.
template <typename To, typename From>
To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace runhooks
