#include "tensor/dtype.h"

namespace runhooks {

namespace {

struct DTypeInfo {
  DType dtype;
  const char* name;
  size_t size;
};

const DTypeInfo kInfos[] = {
    {DType::kFloat32, "float32", 4},   {DType::kFloat64, "float64", 8},
    {DType::kInt32, "int32", 4},       {DType::kUint8, "uint8", 1},
    {DType::kInt16, "int16", 2},       {DType::kInt8, "int8", 1},
    {DType::kString, "string", 4},     {DType::kInt64, "int64", 8},
    {DType::kBool, "bool", 1},         {DType::kBfloat16, "bfloat16", 2},
    {DType::kUint16, "uint16", 2},     {DType::kFloat16, "float16", 2},
    {DType::kResource, "resource", 0}, {DType::kVariant, "variant", 0},
    {DType::kUint32, "uint32", 4},     {DType::kUint64, "uint64", 8},
};

const DTypeInfo* find(DType dtype) {
  for (const DTypeInfo& info : kInfos) {
    if (info.dtype == dtype) return &info;
  }
  return nullptr;
}

}  // namespace

const char* dtype_name(DType dtype) {
  const DTypeInfo* info = find(dtype);
  return info ? info->name : "invalid";
}

DType dtype_from_name(const std::string& name) {
  if (name == "float") return DType::kFloat32;
  if (name == "double") return DType::kFloat64;
  if (name == "half") return DType::kFloat16;
  for (const DTypeInfo& info : kInfos) {
    if (name == info.name) return info.dtype;
  }
  return DType::kInvalid;
}

size_t dtype_size(DType dtype) {
  const DTypeInfo* info = find(dtype);
  return info ? info->size : 0;
}

bool is_floating(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBfloat16;
}

bool is_integer(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kInt16 || dtype == DType::kInt32 ||
         dtype == DType::kInt64 || dtype == DType::kUint8 || dtype == DType::kUint16 ||
         dtype == DType::kUint32 || dtype == DType::kUint64;
}

bool is_numeric(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kInt32 ||
         dtype == DType::kInt64;
}

}  // namespace runhooks
