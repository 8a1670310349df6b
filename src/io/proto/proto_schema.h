// Field names and types of TensorFlow's messages, for the text format.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace runhooks {

struct ProtoMessage;
struct ProtoEnum;

enum class ProtoType {
  kInt32,
  kInt64,
  kUint32,
  kUint64,
  kFixed32,
  kBool,
  kEnum,
  kFloat,
  kDouble,
  kString,
  kBytes,
  kMessage,
  kMap,  // repeated message with the fields "key" and "value"; the text format sorts it by key
};

struct ProtoField {
  int number = 0;
  std::string name;
  ProtoType type = ProtoType::kInt32;
  bool is_repeated = false;
  bool is_in_oneof = false;               // if true, a value of zero is written, too
  const ProtoMessage* message = nullptr;  // for kMessage, and for kMap: the message of an entry
  const ProtoEnum* enumeration = nullptr;
};

struct ProtoMessage {
  std::string name;
  std::vector<ProtoField> fields;  // by number
  const ProtoField* find(const std::string& field_name) const;
  const ProtoField* find(int number) const;
};

struct ProtoEnum {
  std::map<int, std::string> names;
  std::map<std::string, int> numbers;
};

// Return NULL if the schema lacks the message. A URL is "type.googleapis.com/tensorflow.<name>".
const ProtoMessage* find_proto_message(const std::string& name);
const ProtoMessage* find_proto_message_of_url(const std::string& url);

// Nesting limit, the same as protobuf's.
constexpr int kMaxProtoDepth = 100;

}  // namespace runhooks
