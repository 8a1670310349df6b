#include "base/log.h"
#include "estimators/export/export.h"
#include "estimators/heads/head.h"

namespace runhooks {

namespace {

constexpr const char* kPredict = "tensorflow/serving/predict";
constexpr const char* kClassify = "tensorflow/serving/classify";
constexpr const char* kRegress = "tensorflow/serving/regress";
constexpr const char* kSingleInput = "inputs";

TensorInfo info_of(const Feature& tensor) {
  TensorInfo info(tensor.values);
  if (!tensor.is_sparse()) return info;
  info.name.clear();
  info.shape = Shape::unknown();
  const Output shape = tensor.dense_shape;
  if (shape.shape().has_rank() && shape.shape().rank() == 1 && shape.shape().dim(0) >= 0) {
    info.shape = Shape::unknown_of_rank(static_cast<int>(shape.shape().dim(0)));
  }
  info.values_name = tensor.values.name();
  info.indices_name = tensor.indices.name();
  info.dense_shape_name = tensor.dense_shape.name();
  return info;
}

std::string find_problem(const ExportOutput& export_output, const Named<Feature>& receivers) {
  if (export_output.kind == ExportOutput::Kind::kPredict) return "";
  const bool is_class = export_output.kind == ExportOutput::Kind::kClassification;
  const char* method = is_class ? "Classification" : "Regression";
  if (receivers.size() != 1) {
    return str_cat(method, " input must be a single string Tensor; got ", receivers.size(),
                   " tensors");
  }
  const Feature& input = receivers[0].second;
  if (input.is_sparse() || input.values.dtype() != DType::kString) {
    return str_cat(method, " input must be a single string Tensor; got '", receivers[0].first,
                   "' of type ", dtype_name(input.values.dtype()));
  }
  for (const auto& output : export_output.outputs) {
    const DType expected = output.first == "classes" ? DType::kString : DType::kFloat32;
    if (output.second.dtype() == expected) continue;
    return str_cat(method, " output '", output.first, "' must be of type ", dtype_name(expected),
                   ", not ", dtype_name(output.second.dtype()));
  }
  return "";
}

SignatureDef signature_of(const ExportOutput& export_output, const Named<Feature>& receivers) {
  SignatureDef signature;
  for (const auto& output : export_output.outputs)
    signature.outputs[output.first] = TensorInfo(output.second);
  if (export_output.kind == ExportOutput::Kind::kPredict) {
    signature.method_name = kPredict;
    for (const auto& input : receivers) signature.inputs[input.first] = info_of(input.second);
    return signature;
  }
  signature.method_name =
      export_output.kind == ExportOutput::Kind::kClassification ? kClassify : kRegress;
  signature.inputs[kSingleInput] = info_of(receivers[0].second);
  return signature;
}

// Adds the default signature. A single signature is the default even if it has another name.
Named<ExportOutput> with_default(const EstimatorSpec& spec) {
  Named<ExportOutput> outputs = spec.export_outputs;
  if (outputs.empty()) {
    return {{kDefaultSignature, {ExportOutput::Kind::kPredict, spec.predictions}}};
  }
  for (const auto& output : outputs) {
    if (output.first == kDefaultSignature) return outputs;
  }
  if (outputs.size() > 1) {
    throw Error(Code::kInvalidArgument,
                "Multiple export_outputs were provided, but none of them is specified as the "
                "default.",
                {str_cat("Do this by naming one of them '", kDefaultSignature, "'.")});
  }
  outputs.emplace_back(kDefaultSignature, outputs[0].second);
  return outputs;
}

}  // namespace

std::map<std::string, SignatureDef> export_signatures(const EstimatorSpec& spec,
                                                      const Named<Feature>& receivers) {
  if (receivers.empty()) invalid_argument("A serving input receiver needs a receiver tensor.");
  std::map<std::string, SignatureDef> signatures;
  std::vector<std::string> problems;
  for (const auto& output : with_default(spec)) {
    const std::string problem = find_problem(output.second, receivers);
    if (problem.empty()) {
      signatures[output.first] = signature_of(output.second, receivers);
    } else {
      problems.push_back(str_cat("'", output.first, "': ", problem));
      log(LogLevel::kInfo, str_cat("Signature ", problems.back(), "."));
    }
  }
  if (signatures.empty()) {
    throw Error(Code::kInvalidArgument,
                "No signature of the model matches the inputs of its serving input receiver.",
                problems);
  }
  return signatures;
}

}  // namespace runhooks
