// Kernel: computes one operation in a session. KernelContext: the kernel's view of its inputs and
// outputs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/file_access.h"
#include "graph/input_set.h"
#include "tensor/tensor.h"

namespace runhooks {

class Operation;

// State that outlives a step, such as a variable, an iterator or a random generator. A session owns
// it by name.
class Resource {
 public:
  virtual ~Resource() = default;
  // Returns the kind that op definitions name: "variable" in "resource: resource, variable".
  virtual const char* kind() const { return "resource"; }
};

class ResourceManager {
 public:
  // Returns the resource of this name and type. `create` creates it on first use.
  template <typename R, typename Create>
  R& get_or_create(const std::string& name, Create create) {
    std::unique_ptr<Resource>& slot = resources_[name];
    if (!slot) slot = create();
    auto* resource = dynamic_cast<R*>(slot.get());
    if (!resource) {
      fail(Code::kInvalidArgument, "Resource '", name, "' already exists and is a ", slot->kind(),
           ".");
    }
    return *resource;
  }
  // Returns NULL if there is no resource of this name and type.
  template <typename R>
  R* find(const std::string& name) const {
    auto found = resources_.find(name);
    return found == resources_.end() ? nullptr : dynamic_cast<R*>(found->second.get());
  }
  void clear() { resources_.clear(); }

  // Returns the files that kernels may open: all files, unless the graph is untrusted.
  const FileAccessPolicy& file_access_policy() const { return file_access_policy_; }
  void set_file_access(const FileAccessPolicy& policy) { file_access_policy_ = policy; }

 private:
  std::unordered_map<std::string, std::unique_ptr<Resource>> resources_;
  FileAccessPolicy file_access_policy_;
};

// The value of one operation output in a session.
struct Slot {
  Tensor tensor;
  // Incremented if the tensor gets another buffer or shape, or if a value that other kernels read
  // in prepare() changes. Kernels that were prepared for the old version must be prepared again.
  uint64_t version = 1;
  // FALSE if the tensor shares the buffer of another one and must not be modified.
  bool owned = false;
  // The resource that a reference or handle refers to.
  Resource* resource = nullptr;
};

// Provides the memory of outputs.
class BufferAllocator {
 public:
  virtual ~BufferAllocator() = default;
  // Returns memory that no other output uses at the same time. Its content is unspecified.
  virtual Tensor allocate(const Slot& slot, DType dtype, const Shape& shape) = 0;
};

class KernelContext {
 public:
  KernelContext(const Operation& op,
                std::vector<Slot*> inputs,
                Slot* outputs,
                int num_outputs,
                ResourceManager& resources,
                BufferAllocator& allocator,
                bool& layout_changed)
      : op_(op),
        inputs_(std::move(inputs)),
        outputs_(outputs),
        num_outputs_(num_outputs),
        resources_(resources),
        allocator_(allocator),
        layout_changed_(layout_changed) {}

  const Operation& op() const { return op_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const Tensor& input(int i) const { return inputs_[static_cast<size_t>(i)]->tensor; }
  // Reads input i during preparation. The session prepares the kernel again when the value may have
  // changed.
  const Tensor& input_for_prepare(int i) {
    prepare_inputs_.insert(i);
    return input(i);
  }
  const InputSet& prepare_inputs() const { return prepare_inputs_; }
  // The shape of output 0 as the shape function inferred it, for kernels that allocate or share
  // outputs themselves.
  Shape inferred_shape;
  // For an op that reads a variable: whether its output is used after the variable is modified. The
  // output must then be a copy.
  bool needs_snapshot = false;

  int num_outputs() const { return num_outputs_; }
  Tensor& output(int i) { return outputs_[i].tensor; }

  // Returns a buffer of this shape for output i; reuses the old one if it fits. Each run must write
  // the whole buffer, because other outputs use it when output i is no longer needed. Fetched
  // values are copies.
  Tensor& allocate_output(int i, DType dtype, const Shape& shape);
  // Lets output i share the buffer of `tensor`. Nothing may modify the output.
  void alias_output(int i, const Tensor& tensor);
  // Sets output i to a copy of `value`, in the old buffer if the shape is unchanged, so that
  // kernels that read it stay prepared. Strings and variants are shared instead.
  void copy_to_output(int i, const Tensor& value);
  // Declares that the value of output i has changed, so that kernels that read it in prepare() are
  // prepared again.
  void touch_output(int i) {
    ++outputs_[i].version;
    layout_changed_ = true;
  }

  void set_output_resource(int i, Resource* resource) { outputs_[i].resource = resource; }
  // Returns the resource of input i. The kind in the op's definition has been checked before.
  template <typename R>
  R& input_resource(int i) const {
    return static_cast<R&>(*inputs_[static_cast<size_t>(i)]->resource);
  }
  Resource* resource_or_null(int i) const { return inputs_[static_cast<size_t>(i)]->resource; }
  ResourceManager& resources() const { return resources_; }
  // Kernels must check each path with this policy before they open the file.
  const FileAccessPolicy& file_access_policy() const { return resources_.file_access_policy(); }

  // Returns the sum of the versions of all inputs. Versions only increase, so it never repeats.
  uint64_t input_version() const {
    uint64_t sum = 0;
    for (const Slot* slot : inputs_) sum += slot->version;
    return sum;
  }
  uint64_t output_version() const {
    uint64_t sum = 0;
    for (int i = 0; i < num_outputs_; ++i) sum += outputs_[i].version;
    return sum;
  }

 private:
  // Throws if output i is not declared with this type.
  void check_output(int i, DType dtype) const;

  const Operation& op_;
  std::vector<Slot*> inputs_;
  Slot* outputs_;
  int num_outputs_;
  ResourceManager& resources_;
  BufferAllocator& allocator_;
  bool& layout_changed_;
  InputSet prepare_inputs_;
};

class Kernel;

// Computes several kernels of one class by one call, which is faster for many small operations.
class KernelGroup {
 public:
  virtual ~KernelGroup() = default;
  // Computes all kernels. Results have the same bits as separate calls. The group is valid until
  // one of the kernels is prepared again; variables and output buffers do not move until then.
  // Returns FALSE without any effect if the kernels must be computed separately in this step.
  virtual bool compute() = 0;
};

struct GroupMember {
  Kernel* kernel;
  KernelContext* context;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Called before compute() whenever an input has a new buffer or shape. The outputs are already
  // allocated with the inferred shapes. Pointers obtained here are valid until the next call.
  virtual void prepare(KernelContext&) {}
  virtual void compute(KernelContext&) = 0;
  // Returns TRUE if compute() distributes long work over kernel_threads() itself.
  virtual bool uses_threads() const { return false; }
  // Returns FALSE if prepare() computes the result, so that sessions do not call compute().
  virtual bool computes() const { return true; }
  // Whether this kernel and `other` may be in one group. Both are prepared, have the same class and
  // are independent of each other.
  virtual bool can_batch_with(const KernelContext& /*own*/, const GroupMember& /*other*/) const {
    return false;
  }
  // Creates the group of these kernels. The first member is this kernel.
  virtual std::unique_ptr<KernelGroup> group(const std::vector<GroupMember>& /*members*/) {
    return nullptr;
  }
};

using KernelFactory = std::function<std::unique_ptr<Kernel>(const Operation&)>;

}  // namespace runhooks
