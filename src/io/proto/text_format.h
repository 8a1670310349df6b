// Protobuf's text format: converts messages between bytes and text by the schema.
#pragma once

#include <string>
#include <string_view>

namespace runhooks {

// Format of floats: the shortest text that identifies the float, as protobuf's default (0.05), or
// the same value as a double, as tf.train.write_graph() (0.05000000074505806).
enum class FloatText { kShortest, kAsDouble };

// Returns the text of a serialized message, exactly as Python's protobuf writes it: fields by
// number, maps by key, two spaces per level. Throws kDataLoss, naming `where`, for damaged bytes.
std::string proto_to_text(std::string_view bytes,
                          const std::string& message,
                          std::string_view where,
                          FloatText floats = FloatText::kShortest);

// Parses text. FALSE if it is invalid, with Python protobuf's message in `*problem` ("1:1 : Message
// type \"tensorflow.X\" has no field named \"y\".").
bool text_to_proto(std::string_view text,
                   const std::string& message,
                   std::string* bytes,
                   std::string* problem);

// Appends the bytes as a quoted string with escapes.
void append_quoted(std::string& out, std::string_view bytes);
// Return a number in Python's format: "0.1", "1e-07", "100.0", "inf".
std::string float_text(float value);
std::string double_text(double value);

}  // namespace runhooks
