// Protobuf's text format: messages from bytes to text and back, by the schema.
#pragma once

#include <string>
#include <string_view>

namespace runhooks {

// How a float is shown: by the fewest digits that give the float back (protobuf's default: 0.05),
// or as the double that it is (tf.train.write_graph(): 0.05000000074505806).
enum class FloatText { kShortest, kAsDouble };

// The text of a serialized message ("GraphDef", ...), character for character as Python's protobuf
// writes it: fields by number, maps by key, two spaces a level. Damaged bytes are kDataLoss and
// name `where`.
std::string proto_to_text(std::string_view bytes,
                          const std::string& message,
                          std::string_view where,
                          FloatText floats = FloatText::kShortest);

// The other way round. A text that is not one of this message: FALSE, and *problem says where and
// why, as Python's protobuf does ("1:1 : Message type \"tensorflow.X\" has no field named \"y\".").
bool text_to_proto(std::string_view text,
                   const std::string& message,
                   std::string* bytes,
                   std::string* problem);

// Quotes and escapes a string: "caf\303\251".
void append_quoted(std::string& out, std::string_view bytes);
// A number as Python shows it: "0.1", "1e-07", "100.0", "inf".
std::string float_text(float value);
std::string double_text(double value);

}  // namespace runhooks
