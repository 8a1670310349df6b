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
Tensor& copy_input_to_output(KernelContext& c) {
  const Tensor& x = c.input(0);
  Tensor& copy = c.output(0);
  if (x.num_bytes() > 0) std::memcpy(copy.raw(), x.raw(), x.num_bytes());
  return copy;
}

template <typename T>
class ReduceKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Communicator& comm = group_of(c.op());
    Tensor& sum = copy_input_to_output(c);
    comm.add(sum.raw(), sum.num_elements(), sum.dtype());
    if (c.op().attr<std::string>("final_op") == "Div") {
      divide(sum.data<T>(), sum.num_elements(), comm.size());
    }
  }
};

class FusedReduceKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Communicator& comm = group_of(c.op());
    buffers_.clear();
    for (int i = 0; i < c.num_inputs(); ++i) {
      const Tensor& x = c.input(i);
      buffers_.push_back({x.raw(), c.output(i).raw(), x.num_elements()});
    }
    comm.average(buffers_, c.input(0).dtype());
  }

 private:
  std::vector<ReduceBuffer> buffers_;
};

// Processes may have different numbers of rows, so each process pads its rows to the largest
// number.
class GatherKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Communicator& comm = group_of(c.op());
    const Tensor& x = c.input(0);
    Shape shape = x.shape();
    const size_t row = row_bytes(x);
    std::vector<int64_t> rows(static_cast<size_t>(comm.size()));
    const int64_t num_own_rows = shape.dim(0);
    comm.gather(&num_own_rows, sizeof num_own_rows, rows.data());
    int64_t max_rows = 0, total_rows = 0;
    for (const int64_t n : rows) {
      max_rows = std::max(max_rows, n);
      total_rows += n;
    }
    const size_t block_bytes = static_cast<size_t>(max_rows) * row;
    padded_rows_.resize(block_bytes);
    gathered_rows_.resize(block_bytes * rows.size());
    if (x.num_bytes() > 0) std::memcpy(padded_rows_.data(), x.raw(), x.num_bytes());
    comm.gather(padded_rows_.data(), static_cast<int64_t>(block_bytes), gathered_rows_.data());
    shape.set_dim(0, total_rows);
    auto* to = static_cast<char*>(c.allocate_output(0, x.dtype(), shape).raw());
    for (size_t i = 0; i < rows.size(); ++i) {
      const size_t size = static_cast<size_t>(rows[i]) * row;
      if (size > 0) std::memcpy(to, gathered_rows_.data() + i * block_bytes, size);
      to += size;
    }
  }

 private:
  static size_t row_bytes(const Tensor& x) {
    int64_t width = 1;
    for (int i = 1; i < x.shape().rank(); ++i) width = product_of_dims(width, x.shape().dim(i));
    return static_cast<size_t>(width) * dtype_size(x.dtype());
  }
  std::vector<char> padded_rows_, gathered_rows_;
};

// Returns the rank of the process that sends. Unless exactly one process sends, throws in all of
// them.
int find_sender(const Operation& op, Communicator& comm, bool is_sender) {
  std::vector<int64_t> votes(static_cast<size_t>(comm.size()));
  const int64_t own_vote = is_sender;
  comm.gather(&own_vote, sizeof own_vote, votes.data());
  const auto senders = std::count(votes.begin(), votes.end(), 1);
  if (senders != 1) {
    fail(Code::kFailedPrecondition, "'", op.name(), "': ", static_cast<int64_t>(senders), " of ",
         comm.size(), " processes send. One process must run CollectiveBcastSend, the others ",
         "CollectiveBcastRecv.");
  }
  return static_cast<int>(std::find(votes.begin(), votes.end(), 1) - votes.begin());
}

// Compares type and shape before any data are sent. Every process compares those of all processes.
// So if they differ, all processes throw and none waits forever.
void check_sent_tensor(const Operation& op,
                       Communicator& comm,
                       const Tensor& own_tensor,
                       int sender) {
  const std::string own_type =
      str_cat(dtype_name(own_tensor.dtype()), " of shape ", own_tensor.shape());
  const std::vector<std::string> texts = gather_texts(comm, own_type);
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
    Communicator& comm = group_of(c.op());
    Tensor& sent = copy_input_to_output(c);
    const int sender = find_sender(c.op(), comm, true);
    check_sent_tensor(c.op(), comm, sent, sender);
    comm.broadcast(sent.raw(), static_cast<int64_t>(sent.num_bytes()), sender);
  }
};

class BcastRecvKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Communicator& comm = group_of(c.op());
    Tensor& received = c.output(0);
    const int sender = find_sender(c.op(), comm, false);
    check_sent_tensor(c.op(), comm, received, sender);
    comm.broadcast(received.raw(), static_cast<int64_t>(received.num_bytes()), sender);
  }
};

class StepBarrierKernel : public Kernel {
 public:
  void compute(KernelContext&) override { StepBarrier::vote_ready(); }
};

void copy_input_shapes(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) c.set_output(i, c.input(i));
}

// Replaces the op by TensorFlow's CollectiveReduce for each tensor; TensorFlow has no fused op.
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

void lower_replica_gate(Graph& g, const Operation& op, const std::vector<Output>&) {
  g.op("NoOp").named(op.name() + "/").build();
}

}  // namespace

#define RUNHOOKS_COLLECTIVE_OP(type)            \
  RUNHOOKS_REGISTER_OP(type)                    \
      .output("data: T")                        \
      .attr("T: {float, double, int32, int64}") \
      .attr("group_size: int >= 1")             \
      .attr("group_key: int")                   \
      .attr("instance_key: int")                \
      .stateful()                               \
      .not_differentiable()                     \
      .endpoint("raw_ops." type)

RUNHOOKS_COLLECTIVE_OP("CollectiveReduce")
    .input("input: T")
    .attr("merge_op: {'Add'}")
    .attr("final_op: {'Id', 'Div'}")
    .attr("subdiv_offsets: list(int)")
    .shape(unchanged_shape)
    .kernel(kernel_by_type<ReduceKernel, float, double, int32_t, int64_t>())
    .summary("The sum or mean of a tensor over all processes of a run.");

RUNHOOKS_COLLECTIVE_OP("CollectiveGather")
    .input("input: T, rank >= 1")
    .attr("shape: shape")
    .shape([](ShapeContext& c) {
      Shape shape = c.input(0);
      if (shape.has_rank()) shape.set_dim(0, -1);
      c.set_output(0, shape);
    })
    .kernel(kernel_of<GatherKernel>())
    .allocates_outputs()
    .summary("The concatenated rows of all processes of a run, in order of rank.");

RUNHOOKS_COLLECTIVE_OP("CollectiveBcastSend")
    .input("input: T")
    .attr("shape: shape")
    .shape(unchanged_shape)
    .kernel(kernel_of<BcastSendKernel>())
    .summary("Sends a tensor to all other processes, which run CollectiveBcastRecv.");

RUNHOOKS_COLLECTIVE_OP("CollectiveBcastRecv")
    .attr("shape: shape")
    .shape([](ShapeContext& c) { c.set_output(0, c.op().attr<Shape>("shape")); })
    .kernel(kernel_of<BcastRecvKernel>())
    .summary("Receives the tensor of the process that runs CollectiveBcastSend.");

RUNHOOKS_REGISTER_OP("CollectiveReduceTogether")
    .input("inputs: N * T")
    .output("means: N * T")
    .attr("N: int >= 1")
    .attr("T: {float, double}")
    .attr("group_size: int >= 1")
    .attr("group_key: int")
    .attr("instance_key: int")
    .shape(copy_input_shapes)
    .kernel(kernel_of<FusedReduceKernel>())
    .stateful()
    .not_differentiable()
    .lower(lower_fused_reduce)
    .endpoint("raw_ops.CollectiveReduceTogether")
    .summary("The means of several tensors over all processes of a run, as one message.");

RUNHOOKS_REGISTER_OP("ReplicaGate")
    .shape(no_outputs)
    .kernel(kernel_of<StepBarrierKernel>())
    .stateful()
    .not_differentiable()
    .lower(lower_replica_gate)
    .endpoint("raw_ops.ReplicaGate")
    .summary("Waits until all processes of a run have the data of a step.");

}  // namespace runhooks
