// Ops that save and restore checkpoints, used by exported graphs.
#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/number_text.h"
#include "base/split_text.h"
#include "graph/op_registry.h"
#include "io/checkpoint/tensor_bundle.h"
#include "io/files/atomic_file.h"

namespace runhooks {

namespace {

// A parsed element of the input `shape_and_slices`. The text "7 2 0,3:0,2" means a slice of a
// tensor of shape [7, 2]: elements 0 to 2 of the first dimension (start 0, length 3), and elements
// 0 and 1 of the second. "-" selects a whole dimension.
struct SliceSpec {
  Shape full;
  TensorSlice slice;
};

[[noreturn]] void throw_invalid_spec(const std::string& spec) {
  invalid_argument("Invalid shape and slice '", spec, "'; expected, for example, '7 2 0,3:0,2'.");
}

int64_t parse_size(const std::string& text, const std::string& spec) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 0 || value > Shape::kMaxElements) {
    throw_invalid_spec(spec);
  }
  return value;
}

SliceSpec parse_slice_spec(const std::string& spec) {
  SliceSpec result;
  std::vector<std::string> dims = split_text(spec + ' ', ' ');
  const std::vector<std::string> ranges = split_text(dims.back() + ':', ':');
  dims.pop_back();
  if (dims.size() != ranges.size() || dims.size() > Shape::kMaxRank) {
    throw_invalid_spec(spec);
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = parse_size(dims[i], spec);
    result.full.append(size);
    if (ranges[i] == "-") {
      result.slice.start.push_back(0);
      result.slice.length.push_back(size);
      continue;
    }
    const std::vector<std::string> range = split_text(ranges[i] + ',', ',');
    if (range.size() != 2) throw_invalid_spec(spec);
    const int64_t start = parse_size(range[0], spec), length = parse_size(range[1], spec);
    if (start + length > size) invalid_argument("The slice '", spec, "' exceeds its shape.");
    result.slice.start.push_back(start);
    result.slice.length.push_back(length);
  }
  return result;
}

Shape shape_of(const TensorSlice& slice) { return Shape(slice.length); }

void check_names(const Tensor& names, const Tensor& slices, size_t num_tensors) {
  const auto n = static_cast<int64_t>(num_tensors);
  if (names.num_elements() != n || slices.num_elements() != n) {
    invalid_argument("Expected ", n, " names and slices, one per tensor; got ",
                     names.num_elements(), " and ", slices.num_elements(), ".");
  }
}

class SaveKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor &names = c.input(1), &slices = c.input(2);
    const int first = 3;
    check_names(names, slices, static_cast<size_t>(c.num_inputs() - first));
    const std::string& prefix = c.input(0).string_at(0);
    if (prefix.empty()) invalid_argument("The prefix of SaveV2 must not be empty.");
    c.file_access_policy().check_writable(prefix);
    BundleWriter writer(prefix);
    for (int i = first; i < c.num_inputs(); ++i) {
      const std::string& spec = slices.string_at(i - first);
      if (spec.empty()) {
        writer.add(names.string_at(i - first), c.input(i));
        continue;
      }
      const SliceSpec part = parse_slice_spec(spec);
      if (c.input(i).shape() != shape_of(part.slice)) {
        invalid_argument("Slice '", spec, "' of '", names.string_at(i - first),
                         "' does not match the tensor's shape ", c.input(i).shape(), ".");
      }
      writer.add_slice(names.string_at(i - first), part.full, part.slice, c.input(i));
    }
    const std::string folder = parent_folder(prefix);
    if (!folder.empty()) create_directories(folder);
    writer.finish();
  }
};

class RestoreKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor &names = c.input(1), &slices = c.input(2);
    check_names(names, slices, static_cast<size_t>(c.num_outputs()));
    const BundleReader reader(c.input(0).string_at(0), c.file_access_policy());
    for (int i = 0; i < c.num_outputs(); ++i) {
      const std::string& spec = slices.string_at(i);
      const std::string& name = names.string_at(i);
      const Tensor value =
          spec.empty() ? reader.read(name) : reader.read_slice(name, parse_slice_spec(spec).slice);
      const DType expected_dtype = c.op().output_dtype(i);
      if (value.dtype() != expected_dtype) {
        invalid_argument("Tensor '", name, "' of ", reader.prefix(), " has type ",
                         dtype_name(value.dtype()), ", not ", dtype_name(expected_dtype), ".");
      }
      c.alias_output(i, value);
    }
  }
};

// Merges several tensor bundles (the file format of checkpoints) into one.
class MergeKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& prefixes = c.input(0);
    const std::string& destination = c.input(1).string_at(0);
    if (destination.empty()) {
      invalid_argument("The destination_prefix of MergeV2Checkpoints must not be empty.");
    }
    c.file_access_policy().check_writable(destination);
    BundleWriter writer(destination);
    for (int64_t i = 0; i < prefixes.num_elements(); ++i) {
      const BundleReader reader(prefixes.string_at(i), c.file_access_policy());
      for (const BundleReader::Info& info : reader.tensors()) {
        if (!info.is_sliced) {
          writer.add(info.name, reader.read(info.name));
          continue;
        }
        for (const TensorSlice& slice : info.slices) {
          writer.add_slice(info.name, info.shape, slice, reader.read_slice(info.name, slice));
        }
      }
    }
    writer.finish();
    for (int64_t i = 0; c.op().attr_bool("delete_old_dirs") && i < prefixes.num_elements(); ++i) {
      remove_bundle(prefixes.string_at(i));
    }
  }

 private:
  // Removes the files of a bundle, and the directory that contained them if it is then empty.
  static void remove_bundle(const std::string& prefix) {
    const std::string folder = parent_folder(prefix), base = base_name(prefix);
    if (folder.empty()) return;
    remove_file(prefix + ".index");
    for (const std::string& name : list_names_with_prefix(folder, base + ".data-")) {
      remove_file(join_path(folder, name));
    }
    if (list_directory(folder).empty()) remove_file(folder);
  }
};

class ShardedFilenameKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const std::string text =
        format_text("-%05d-of-%05d", c.input(1).data<int32_t>()[0], c.input(2).data<int32_t>()[0]);
    c.alias_output(0, Tensor::string_scalar(c.input(0).string_at(0) + text));
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("SaveV2")
    .input("prefix: string, scalar")
    .input("tensor_names: string, vector")
    .input("shape_and_slices: string, vector")
    .input("tensors: dtypes")
    .attr("dtypes: list(type) >= 1")
    .shape(no_outputs)
    .kernel(kernel_of<SaveKernel>())
    .stateful()
    .writes_files()
    .not_differentiable()
    .endpoint("raw_ops.SaveV2")
    .summary("Writes tensors to a checkpoint.");

RUNHOOKS_REGISTER_OP("RestoreV2")
    .input("prefix: string, scalar")
    .input("tensor_names: string, vector")
    .input("shape_and_slices: string, vector")
    .output("tensors: dtypes")
    .attr("dtypes: list(type) >= 1")
    .shape([](ShapeContext&) {})
    .kernel(kernel_of<RestoreKernel>())
    .stateful()
    .reads_files()
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.RestoreV2")
    .summary("Reads tensors from a checkpoint.");

RUNHOOKS_REGISTER_OP("MergeV2Checkpoints")
    .input("checkpoint_prefixes: string, vector")
    .input("destination_prefix: string, scalar")
    .attr("delete_old_dirs: bool = true")
    .shape(no_outputs)
    .kernel(kernel_of<MergeKernel>())
    .stateful()
    .reads_files()
    .writes_files()
    .not_differentiable()
    .endpoint("raw_ops.MergeV2Checkpoints")
    .summary("Merges several checkpoints into one.");

RUNHOOKS_REGISTER_OP("ShardedFilename")
    .input("basename: string, scalar")
    .input("shard: int32, scalar")
    .input("num_shards: int32, scalar")
    .output("filename: string")
    .shape(scalar_shape)
    .kernel(kernel_of<ShardedFilenameKernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.ShardedFilename")
    .summary("Returns the file name of a shard of a checkpoint.")
    .example("s:a i:0 i:2");

}  // namespace runhooks
