// Kernel (computes one operation in a session) and KernelContext (its inputs, outputs and memory).
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

// State that outlives a run: a variable, an iterator, a random generator. The session owns it, and
// its key is the name of the operation that holds it.
class Resource {
 public:
  virtual ~Resource() = default;
  // The kind that argument specs require, such as "variable" in "resource: resource, variable".
  virtual const char* kind() const { return "resource"; }
};

class ResourceManager {
 public:
  // Throws if the name belongs to a resource of another type.
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
  template <typename R>
  R* find(const std::string& name) const {
    auto found = resources_.find(name);
    return found == resources_.end() ? nullptr : dynamic_cast<R*>(found->second.get());
  }
  void clear() { resources_.clear(); }

  // The files that kernels may open. Graphs loaded from untrusted files get a restricted policy.
  const FileAccessPolicy& file_rights() const { return file_rights_; }
  void set_file_access(const FileAccessPolicy& rights) { file_rights_ = rights; }

 private:
  std::unordered_map<std::string, std::unique_ptr<Resource>> resources_;
  FileAccessPolicy file_rights_;
};

// The value of one operation output in a session.
struct Slot {
  Tensor tensor;
  // Increases when the tensor gets another buffer or shape, or when a value that depends only on
  // shapes changes. Kernels prepared for an older version must be prepared again.
  uint64_t version = 1;
  // FALSE if the tensor shares the buffer of another tensor. Such a buffer is read-only.
  bool owned = false;
  // The target of a reference or handle.
  Resource* resource = nullptr;
};

class BufferAllocator {
 public:
  virtual ~BufferAllocator() = default;
  // Returns uninitialized memory that no other live output uses.
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
  // Reads input i during prepare(). The plan prepares the kernel again when this value may change.
  const Tensor& parameter(int i) {
    parameters_read_.insert(i);
    return input(i);
  }
  const InputSet& parameters_read() const { return parameters_read_; }
  // Shape of output 0, for kernels that allocate the output or alias another tensor.
  Shape inferred_shape;
  // Set for reads of a variable: the output is used after an update, so it must be a copy.
  bool needs_snapshot = false;

  int num_outputs() const { return num_outputs_; }
  Tensor& output(int i) { return outputs_[i].tensor; }

  // Reuses the old buffer of output i if type and shape match. Other outputs may have used this
  // memory since the last run, so the kernel must write every element.
  Tensor& allocate_output(int i, DType dtype, const Shape& shape);
  void alias_output(int i, const Tensor& tensor);
  // Invalidates the preparation of kernels that read this output in prepare().
  void touch_output(int i) {
    ++outputs_[i].version;
    layout_changed_ = true;
  }

  void set_output_resource(int i, Resource* resource) { outputs_[i].resource = resource; }
  // The target of handle or reference i. Its kind has been checked against the op's definition.
  template <typename R>
  R& input_resource(int i) const {
    return static_cast<R&>(*inputs_[static_cast<size_t>(i)]->resource);
  }
  Resource* resource_or_null(int i) const { return inputs_[static_cast<size_t>(i)]->resource; }
  ResourceManager& resources() const { return resources_; }
  // Kernels must check each path before they open it.
  const FileAccessPolicy& file_rights() const { return resources_.file_rights(); }

  // Versions only increase, so their sum changes whenever one of them changes.
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
  // Throws unless output i is declared with this type.
  void check_output(int i, DType dtype) const;

  const Operation& op_;
  std::vector<Slot*> inputs_;
  Slot* outputs_;
  int num_outputs_;
  ResourceManager& resources_;
  BufferAllocator& allocator_;
  bool& layout_changed_;
  InputSet parameters_read_;
};

class Kernel;

// Kernels of one class that run in a single call, to save overhead per operation.
class KernelGroup {
 public:
  virtual ~KernelGroup() = default;
  // Computes all members with bitwise the same results as separate calls. Valid until a member is
  // prepared again. Must not move variables or replace output buffers. FALSE means that it did
  // nothing and the members must be computed separately.
  virtual bool compute() = 0;
};

struct GroupMember {
  Kernel* kernel;
  KernelContext* context;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Called before compute() whenever the buffer or shape of an input has changed. The outputs are
  // already allocated with the shapes of the op's shape function. Pointers to inputs and outputs
  // remain valid until the next call.
  virtual void prepare(KernelContext&) {}
  virtual void compute(KernelContext&) = 0;
  // TRUE if compute() is parallelized over kernel_threads().
  virtual bool uses_threads() const { return false; }
  // FALSE if prepare() has done all work.
  virtual bool computes() const { return true; }
  // Whether this kernel and `other`, a prepared kernel of the same class, may form a group. The
  // caller guarantees that neither depends on the other.
  virtual bool can_batch_with(const KernelContext& /*own*/, const GroupMember& /*other*/) const {
    return false;
  }
  // `members` passed can_batch_with(); this kernel is the first of them. NULL means no group.
  virtual std::unique_ptr<KernelGroup> group(const std::vector<GroupMember>& /*members*/) {
    return nullptr;
  }
};

using KernelFactory = std::function<std::unique_ptr<Kernel>(const Operation&)>;

}  // namespace runhooks
