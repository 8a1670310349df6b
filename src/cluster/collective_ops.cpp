// Collective ops, with TensorFlow's names and attributes where TensorFlow has the op.
#include <algorithm>
#include <cstring>

#include "cluster/group.h"
#include "cluster/step_barrier.h"
#include "graph/graph.h"

namespace runhooks {

namespace {

template <typename T>
void divide(T* values, int64_t n, int by) {
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(values[i] / by);
}

// Initializes the output with the input, for in-place collectives.
Tensor& copy_of_input(KernelContext& c) {
  const Tensor& x = c.input(0);
  Tensor& copy = c.output(0);
  if (x.num_bytes() > 0) std::memcpy(copy.raw(), x.raw(), x.num_bytes());
  return copy;
}

template <typename T>
class ReduceKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Communicator& all = group_of(c.op());
    Tensor& sum = copy_of_input(c);
    all.add(sum.raw(), sum.num_elements(), sum.dtype());
    if (c.op().attr<std::string>("final_op") == "Div") {
      divide(sum.data<T>(), sum.num_elements(), all.size());
    }
  }
};

class FusedReduceKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Communicator& all = group_of(c.op());
    parts_.clear();
    for (int i = 0; i < c.num_inputs(); ++i) {
      const Tensor& x = c.input(i);
      parts_.push_back({x.raw(), c.output(i).raw(), x.num_elements()});
    }
    all.average(parts_, c.input(0).dtype());
  }

 private:
  std::vector<ReduceBuffer> parts_;
};

// Processes may have different numbers of rows, so each pads its part to the largest.
class GatherKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Communicator& all = group_of(c.op());
    const Tensor& x = c.input(0);
    Shape shape = x.shape();
    const size_t row = row_bytes(x);
    std::vector<int64_t> rows(static_cast<size_t>(all.size()));
    const int64_t own = shape.dim(0);
    all.gather(&own, sizeof own, rows.data());
    int64_t most = 0, sum = 0;
    for (const int64_t n : rows) {
      most = std::max(most, n);
      sum += n;
    }
    const size_t part = static_cast<size_t>(most) * row;
    own_.resize(part);
    parts_.resize(part * rows.size());
    if (x.num_bytes() > 0) std::memcpy(own_.data(), x.raw(), x.num_bytes());
    all.gather(own_.data(), static_cast<int64_t>(part), parts_.data());
    shape.set_dim(0, sum);
    auto* to = static_cast<char*>(c.allocate_output(0, x.dtype(), shape).raw());
    for (size_t i = 0; i < rows.size(); ++i) {
      const size_t size = static_cast<size_t>(rows[i]) * row;
      if (size > 0) std::memcpy(to, parts_.data() + i * part, size);
      to += size;
    }
  }

 private:
  static size_t row_bytes(const Tensor& x) {
    int64_t width = 1;
    for (int i = 1; i < x.shape().rank(); ++i) width = product_of_dims(width, x.shape().dim(i));
    return static_cast<size_t>(width) * dtype_size(x.dtype());
  }
  std::vector<char> own_, parts_;
};

// Finds the process that sends. Throws in all processes unless there is exactly one.
int sender_of(const Operation& op, Communicator& all, bool is_sender) {
  std::vector<int64_t> votes(static_cast<size_t>(all.size()));
  const int64_t own = is_sender;
  all.gather(&own, sizeof own, votes.data());
  const auto senders = std::count(votes.begin(), votes.end(), 1);
  if (senders != 1) {
    fail(Code::kFailedPrecondition, "'", op.name(), "': ", static_cast<int64_t>(senders), " of ",
         all.size(), " processes send. One process must run CollectiveBcastSend, the others ",
         "CollectiveBcastRecv.");
  }
  return static_cast<int>(std::find(votes.begin(), votes.end(), 1) - votes.begin());
}

// All processes compare type and shape before any data are sent, so that all of them throw.
void check_sent_tensor(const Operation& op, Communicator& all, const Tensor& own, int sender) {
  const std::string own_type = str_cat(dtype_name(own.dtype()), " of shape ", own.shape());
  const std::vector<std::string> texts = gather_texts(all, own_type);
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank] == texts[static_cast<size_t>(sender)]) continue;
    fail(Code::kInvalidArgument, "'", op.name(), "': process ", sender, " sends ",
         texts[static_cast<size_t>(sender)], ", and process ", static_cast<int64_t>(rank),
         " expects ", texts[rank], ".");
  }
}

class BcastSendKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Communicator& all = group_of(c.op());
    Tensor& sent = copy_of_input(c);
    const int sender = sender_of(c.op(), all, true);
    check_sent_tensor(c.op(), all, sent, sender);
    all.broadcast(sent.raw(), static_cast<int64_t>(sent.num_bytes()), sender);
  }
};

class BcastRecvKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Communicator& all = group_of(c.op());
    Tensor& got = c.output(0);
    const int sender = sender_of(c.op(), all, false);
    check_sent_tensor(c.op(), all, got, sender);
    all.broadcast(got.raw(), static_cast<int64_t>(got.num_bytes()), sender);
  }
};

class GateKernel : public Kernel {
 public:
  void compute(KernelContext&) override { StepBarrier::vote_ready(); }
};

void unchanged_shapes(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) c.set_output(i, c.input(i));
}

// TensorFlow reduces each tensor separately.
void lower_fused_reduce(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  std::vector<Output> means;
  for (size_t i = 0; i < inputs.size(); ++i) {
    means.push_back(g.op("CollectiveReduce", {inputs[i]})
                        .attr("group_size", op.attr_int("group_size"))
                        .attr("group_key", op.attr_int("group_key"))
                        .attr("instance_key", op.attr_int("instance_key") + static_cast<int64_t>(i))
                        .attr("merge_op", "Add")
                        .attr("final_op", "Div")
                        .attr("subdiv_offsets", std::vector<int64_t>{0}));
  }
  g.op("IdentityN", means).named(op.name() + "/").build();
}

void lower_gate(Graph& g, const Operation& op, const std::vector<Output>&) {
  g.op("NoOp").named(op.name() + "/").build();
}

}  // namespace

RUNHOOKS_REGISTER_OP("CollectiveReduce")
    .input("input: T")
    .output("data: T")
    .attr("T: {float, double, int32, int64}")
    .attr("group_size: int >= 1")
    .attr("group_key: int")
    .attr("instance_key: int")
    .attr("merge_op: {'Add'}")
    .attr("final_op: {'Id', 'Div'}")
    .attr("subdiv_offsets: list(int)")
    .shape(unchanged_shape)
    .kernel(kernel_by_type<ReduceKernel, float, double, int32_t, int64_t>())
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.CollectiveReduce")
    .summary("The sum or mean of a tensor over all processes of a run.");

RUNHOOKS_REGISTER_OP("CollectiveReduceTogether")
    .input("inputs: N * T")
    .output("means: N * T")
    .attr("N: int >= 1")
    .attr("T: {float, double}")
    .attr("group_size: int >= 1")
    .attr("group_key: int")
    .attr("instance_key: int")
    .shape(unchanged_shapes)
    .kernel(kernel_of<FusedReduceKernel>())
    .stateful()
    .not_differentiable()
    .lower(lower_fused_reduce)
    .endpoint("raw_ops.CollectiveReduceTogether")
    .summary("The means of several tensors over all processes of a run, as one message.");

RUNHOOKS_REGISTER_OP("CollectiveGather")
    .input("input: T, rank >= 1")
    .output("data: T")
    .attr("T: {float, double, int32, int64}")
    .attr("group_size: int >= 1")
    .attr("group_key: int")
    .attr("instance_key: int")
    .attr("shape: shape")
    .shape([](ShapeContext& c) {
      Shape shape = c.input(0);
      if (shape.has_rank()) shape.set_dim(0, -1);
      c.set_output(0, shape);
    })
    .kernel(kernel_of<GatherKernel>())
    .stateful()
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.CollectiveGather")
    .summary("The concatenated rows of all processes of a run, in order of rank.");

RUNHOOKS_REGISTER_OP("CollectiveBcastSend")
    .input("input: T")
    .output("data: T")
    .attr("T: {float, double, int32, int64}")
    .attr("group_size: int >= 1")
    .attr("group_key: int")
    .attr("instance_key: int")
    .attr("shape: shape")
    .shape(unchanged_shape)
    .kernel(kernel_of<BcastSendKernel>())
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.CollectiveBcastSend")
    .summary("Sends a tensor to all other processes, which run CollectiveBcastRecv.");

RUNHOOKS_REGISTER_OP("CollectiveBcastRecv")
    .output("data: T")
    .attr("T: {float, double, int32, int64}")
    .attr("group_size: int >= 1")
    .attr("group_key: int")
    .attr("instance_key: int")
    .attr("shape: shape")
    .shape([](ShapeContext& c) { c.set_output(0, c.op().attr<Shape>("shape")); })
    .kernel(kernel_of<BcastRecvKernel>())
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.CollectiveBcastRecv")
    .summary("Receives the tensor of the process that runs CollectiveBcastSend.");

RUNHOOKS_REGISTER_OP("ReplicaGate")
    .shape(no_outputs)
    .kernel(kernel_of<GateKernel>())
    .stateful()
    .not_differentiable()
    .lower(lower_gate)
    .endpoint("raw_ops.ReplicaGate")
    .summary("Waits until all processes of a run have the data of a step.");

}  // namespace runhooks
