// AttrValue messages: the attributes of a node in a GraphDef.
#pragma once

#include <optional>
#include <string>

#include "graph/attr_value.h"
#include "io/proto/wire.h"

namespace runhooks {

void put_attr(WireWriter& out, int field, const AttrValue& value);

// Returns nothing for a value that AttrValue cannot represent: functions, placeholders, lists of
// booleans or tensors, and tensors of unsupported types. The message does not tell the type of an
// empty list. `type` is the type in the op definition ("list(string)"); the default is integers.
std::optional<AttrValue> read_attr(WireReader message, const std::string& type = "");

}  // namespace runhooks
