// Kernel, the code that computes one operation in one session, and what it sees while it runs.
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

// State that outlives a step: a variable, an iterator, a random generator. A session owns it by
// name.
class Resource {
 public:
  virtual ~Resource() = default;
  // The word by which an op's definition asks for such a thing: "resource: resource, variable".
  virtual const char* kind() const { return "resource"; }
};

class ResourceManager {
 public:
  // The resource of this name and type; made by `create` on first use.
  template <typename R, typename Create>
  R& get_or_create(const std::string& name, Create create) {
    std::unique_ptr<Resource>& slot = resources_[name];
    if (!slot) slot = create();
    auto* resource = dynamic_cast<R*>(slot.get());
    if (!resource) fail(Code::kInvalidArgument, "'", name, "' is a ", slot->kind(), " already.");
    return *resource;
  }
  // NULL where there is none of this name and type.
  template <typename R>
  R* find(const std::string& name) const {
    auto found = resources_.find(name);
    return found == resources_.end() ? nullptr : dynamic_cast<R*>(found->second.get());
  }
  void clear() { resources_.clear(); }

  // Which files kernels may open: all of them, unless the graph is a stranger's.
  const FileAccessPolicy& file_rights() const { return file_rights_; }
  void set_file_access(const FileAccessPolicy& rights) { file_rights_ = rights; }

 private:
  std::unordered_map<std::string, std::unique_ptr<Resource>> resources_;
  FileAccessPolicy file_rights_;
};

// The place of one operation output in a session.
struct Slot {
  Tensor tensor;
  // Grows when the tensor gets another buffer or shape (or a value that only depends on shapes
  // changes): what has been prepared for the old one must be prepared anew.
  uint64_t version = 1;
  // FALSE where the tensor shares the buffer of another one, which must not be written to.
  bool owned = false;
  // What a reference or a handle refers to.
  Resource* resource = nullptr;
};

// Where outputs get their memory from.
class BufferAllocator {
 public:
  virtual ~BufferAllocator() = default;
  // Memory that no other output needs at the same time. What is in it is unspecified.
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
  // Input i read while preparing: the plan prepares anew when its value may have changed.
  const Tensor& parameter(int i) {
    parameters_read_.insert(i);
    return input(i);
  }
  const InputSet& parameters_read() const { return parameters_read_; }
  // What the shape function gave for output 0, for kernels that allocate or share themselves.
  Shape inferred_shape;
  // Said of an op that reads a variable: its output is used after the variable is changed.
  bool needs_snapshot = false;

  int num_outputs() const { return num_outputs_; }
  Tensor& output(int i) { return outputs_[i].tensor; }

  // A buffer of this shape for output i: the old one where it fits. Nothing outside the session
  // holds it (what is fetched is copied), and other outputs use it when this one is no longer
  // needed: each run writes all of it.
  Tensor& allocate_output(int i, DType dtype, const Shape& shape);
  // Output i shares the buffer of `tensor`.
  void alias_output(int i, const Tensor& tensor);
  // Says that a value which others have taken into their preparation is another one now.
  void touch_output(int i) {
    ++outputs_[i].version;
    layout_changed_ = true;
  }

  void set_output_resource(int i, Resource* resource) { outputs_[i].resource = resource; }
  // What input i refers to; of the kind that the op's definition names, which is seen to before.
  template <typename R>
  R& input_resource(int i) const {
    return static_cast<R&>(*inputs_[static_cast<size_t>(i)]->resource);
  }
  Resource* resource_or_null(int i) const { return inputs_[static_cast<size_t>(i)]->resource; }
  ResourceManager& resources() const { return resources_; }
  // To be asked for each path before it is opened.
  const FileAccessPolicy& file_rights() const { return resources_.file_rights(); }

  // Versions only grow, so the sum of several is another one as soon as one is.
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
  // Throws where output i is not declared, or with another type.
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

// Several kernels of one kind that are computed by one call: many small operations cost less so.
class KernelGroup {
 public:
  virtual ~KernelGroup() = default;
  // Does what each of them would do, with the same bits, as long as all stay prepared as they were
  // when the group was made. FALSE where they must be computed one by one now; nothing is done
  // then. No variable moves, no output gets another buffer.
  virtual bool compute() = 0;
};

struct GroupMember {
  Kernel* kernel;
  KernelContext* context;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Called before compute() whenever an input has another buffer or shape than at the last call.
  // The outputs are allocated already, in the shapes that the op's shape function gives. Pointers
  // taken here stay valid until the next call.
  virtual void prepare(KernelContext&) {}
  virtual void compute(KernelContext&) = 0;
  // TRUE where compute() spreads long work over kernel_threads() itself.
  virtual bool uses_threads() const { return false; }
  // FALSE where prepare() has done everything and compute() need not be called.
  virtual bool computes() const { return true; }
  // Whether `other`, of this one's class, may be in a group with it, as both are prepared. The plan
  // asks for those only of which none needs what another one computes.
  virtual bool can_batch_with(const KernelContext& /*own*/, const GroupMember& /*other*/) const {
    return false;
  }
  // The group of kernels that go with this one, which is the first of them.
  virtual std::unique_ptr<KernelGroup> group(const std::vector<GroupMember>& /*members*/) {
    return nullptr;
  }
};

using KernelFactory = std::function<std::unique_ptr<Kernel>(const Operation&)>;

}  // namespace runhooks
