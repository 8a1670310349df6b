// AttrValue messages: the attributes of a node in a GraphDef.
#pragma once

#include <optional>
#include <string>

#include "graph/attr_value.h"
#include "io/proto/wire.h"

namespace runhooks {

void put_attr(WireWriter& out, int field, const AttrValue& value);

// Returns nothing for a value that AttrValue cannot represent: functions, placeholders, lists of
// booleans or tensors, and tensors of unsupported types. An empty list has no type in the message;
// it gets `type`, as in the op definition ("list(string)"), or is a list of integers.
std::optional<AttrValue> read_attr(WireReader message, const std::string& type = "");

}  // namespace runhooks
