// AttrValue messages, the attributes of a node in a GraphDef.
#pragma once

#include <optional>
#include <string>

#include "graph/attr_value.h"
#include "io/proto/wire.h"

namespace runhooks {

void put_attr(WireWriter& out, int field, const AttrValue& value);

// Nothing for what an AttrValue cannot hold: functions, placeholders, lists of booleans or tensors,
// tensors of foreign types. An empty list does not say of what; `type` does ("list(string)", as in
// an op's definition), otherwise it is of integers.
std::optional<AttrValue> read_attr(WireReader message, const std::string& type = "");

}  // namespace runhooks
