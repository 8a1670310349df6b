// The fields of TensorFlow's messages by name, for what is written as text.
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
  kMap,  // a repeated message with the fields "key" and "value", shown in the order of the keys
};

struct ProtoField {
  int number = 0;
  std::string name;
  ProtoType type = ProtoType::kInt32;
  bool is_repeated = false;
  bool is_in_oneof = false;               // then zero is a value like others
  const ProtoMessage* message = nullptr;  // of kMessage and kMap (the entry)
  const ProtoEnum* enumeration = nullptr;
};

struct ProtoMessage {
  std::string name;                // without "tensorflow."
  std::vector<ProtoField> fields;  // by number
  const ProtoField* find(const std::string& field_name) const;
  const ProtoField* find(int number) const;
};

struct ProtoEnum {
  std::map<int, std::string> names;
  std::map<std::string, int> numbers;
};

// "GraphDef", "CheckpointState", ...; NULL for a message that is not in the schema.
const ProtoMessage* find_proto_message(const std::string& name);
// The same by the type URL within an Any: "type.googleapis.com/tensorflow.AssetFileDef".
const ProtoMessage* find_proto_message_of_url(const std::string& url);

// Nested deeper than that, a message is not one of TensorFlow's; protobuf has the same limit.
constexpr int kMaxProtoDepth = 100;

}  // namespace runhooks
