// Embedding look-up: combines the table rows for each example's ids in one pass, where TensorFlow's
// safe_embedding_lookup_sparse uses a dozen ops.
// A table may have several partitions (strategy "div"). The gradient of each partition is an
// IndexedSlices with distinct indices. Negative ids are skipped. The result of an example without
// ids is zero; as in TensorFlow, the gradient then includes row 0 with zeros.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/lookup/lowering.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

enum class Combiner { kSum, kMean, kSqrtN };

Combiner combiner_of(const Operation& op) {
  const auto& name = op.attr<std::string>("combiner");
  return name == "sum" ? Combiner::kSum : name == "mean" ? Combiner::kMean : Combiner::kSqrtN;
}

// A table with one or several partitions. Kernels reuse the object, so that its vector keeps its
// memory.
template <typename T>
class PartitionedTable {
 public:
  void read(KernelContext& c, int first) {
    const auto n = static_cast<int>(c.op().attr_int("num_params"));
    const Tensor& first_part = c.input(first);
    const int64_t first_part_rows = first_part.shape().dim(0);
    width = first_part_rows > 0 ? first_part.num_elements() / first_part_rows : 0;
    single_partition = first_part.data<T>();
    rows = first_part_rows;
    partitions_.clear();
    if (n == 1) return;
    rows = 0;
    for (int p = 0; p < n; ++p) {
      const Tensor& part = c.input(first + p);
      partitions_.push_back({rows, part.data<T>()});
      rows += part.shape().dim(0);
      if (part.shape().dim(0) > 0) width = part.num_elements() / part.shape().dim(0);
    }
  }
  bool has_one_partition() const { return partitions_.empty(); }
  const T* row(int64_t id) const {
    if (has_one_partition()) return single_partition + id * width;
    const auto& part = partitions_[partition_of(id)];
    return part.values + (id - part.first_row) * width;
  }
  size_t partition_of(int64_t id) const {
    size_t part = partitions_.size() - 1;
    while (partitions_[part].first_row > id) --part;
    return part;
  }
  int64_t first_row(size_t part) const { return partitions_[part].first_row; }
  size_t num_partitions() const { return std::max<size_t>(partitions_.size(), 1); }

  int64_t rows = 0, width = 0;
  const T* single_partition = nullptr;  // set if the table has one partition

 private:
  struct Partition {
    int64_t first_row;
    const T* values;
  };
  std::vector<Partition> partitions_;
};

// The inputs of a look-up: a table, ids [batch, k] and optional weights.
template <typename T>
class Lookup {
 public:
  Lookup(KernelContext& c, int first, PartitionedTable<T>& storage)
      : combiner(combiner_of(c.op())),
        max_norm(static_cast<T>(c.op().attr<float>("max_norm"))),
        table(storage) {
    storage.read(c, first);
    rows = storage.rows;
    width = storage.width;
    const int index = first + static_cast<int>(c.op().attr_int("num_params"));
    ids = c.input(index).data<int64_t>();
    batch = c.input(index).shape().dim(0);
    k = c.input(index).shape().dim(1);
    weights = c.num_inputs() > index + 1 ? c.input(index + 1).data<T>() : nullptr;
    if (weights && c.input(index + 1).num_elements() != batch * k) {
      invalid_argument("The weights of a look-up have shape ", c.input(index + 1).shape(),
                       ", its ids ", c.input(index).shape(), ".");
    }
  }
  // Whether entry i contributes to the result. A mean skips weights that are not positive. Throws
  // if the id is too large.
  bool is_used(int64_t i) const {
    if (ids[i] >= rows) {
      invalid_argument("indices[", i / k, ",", i % k, "] = ", ids[i], " is not in [0, ", rows,
                       ").");
    }
    return ids[i] >= 0 &&
           (!weights || (combiner == Combiner::kSum ? weights[i] != 0 : weights[i] > 0));
  }
  T weight(int64_t i) const { return weights ? weights[i] : T(1); }
  T divisor(int64_t r) const {
    T sum = 0, squares = 0;
    bool has_ids = false;
    for (int64_t i = r * k; i < (r + 1) * k; ++i) {
      if (!is_used(i)) continue;
      has_ids = true;
      sum += weight(i);
      squares += weight(i) * weight(i);
    }
    if (!has_ids) return T(0);
    if (combiner == Combiner::kSum) return T(1);
    return combiner == Combiner::kMean ? sum : std::sqrt(squares);
  }
  T clip_factor(const T* row) const {
    if (max_norm <= 0) return T(1);
    const T norm = norm_of(row);
    return norm > max_norm ? max_norm / norm : T(1);
  }
  T norm_of(const T* row) const {
    T squares = 0;
    for (int64_t j = 0; j < width; ++j) squares += row[j] * row[j];
    return std::sqrt(squares);
  }
  const T* row(int64_t i) const { return table.row(ids[i]); }
  // Whether this is the common case: one id per example, without weights and clipping.
  bool is_plain() const { return k == 1 && !weights && max_norm <= 0; }

  Combiner combiner;
  T max_norm;
  const PartitionedTable<T>& table;
  int64_t rows, width;
  const int64_t* ids;
  int64_t batch, k;
  const T* weights;
};

template <typename T>
class LookupKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Lookup<T> in(c, 0, table_);
    T* out = c.output(0).template data<T>();
    constexpr int64_t kPrefetchDistance = 16;
    if (in.is_plain() && in.width == 1 && table_.has_one_partition()) {
      const T* table = table_.single_partition;
      for (int64_t r = 0; r < in.batch; ++r) {
        if (r + kPrefetchDistance < in.batch)
          __builtin_prefetch(table + in.ids[r + kPrefetchDistance]);
        // As an unsigned number, a negative id is large, so one comparison checks both bounds.
        const auto id = static_cast<uint64_t>(in.ids[r]);
        out[r] =
            id < static_cast<uint64_t>(in.rows) ? table[id] : (in.is_used(r) ? table[id] : T(0));
      }
      return;
    }
    if (in.is_plain()) {
      const size_t bytes = static_cast<size_t>(in.width) * sizeof(T);
      for (int64_t r = 0; r < in.batch; ++r, out += in.width) {
        const int64_t prefetch_at = r + kPrefetchDistance;
        if (prefetch_at < in.batch && in.ids[prefetch_at] >= 0 && in.ids[prefetch_at] < in.rows) {
          __builtin_prefetch(in.row(prefetch_at));
        }
        if (in.is_used(r)) {
          std::memcpy(out, in.row(r), bytes);
        } else {
          std::memset(out, 0, bytes);
        }
      }
      return;
    }
    std::memset(out, 0, c.output(0).num_bytes());
    for (int64_t r = 0; r < in.batch; ++r, out += in.width) {
      const T divisor = in.divisor(r);
      if (divisor == T(0)) continue;
      for (int64_t i = r * in.k; i < (r + 1) * in.k; ++i) {
        if (!in.is_used(i)) continue;
        const T* row = in.row(i);
        const T factor = in.weight(i) * in.clip_factor(row) / divisor;
        for (int64_t j = 0; j < in.width; ++j) out[j] += factor * row[j];
      }
    }
  }

 private:
  PartitionedTable<T> table_;
};

template <typename T>
class LookupGradKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Lookup<T> in(c, 1, table_);
    if (in.is_plain()) return compute_plain(c, in);
    assign_slots(in);
    T* values = nullptr;
    if (table_.has_one_partition()) {
      values = write_rows(c, nullptr);
    } else {
      row_sums_.assign(distinct_rows_.size() * static_cast<size_t>(in.width), T(0));
      values = row_sums_.data();
    }
    accumulate(in, c.input(0).data<T>(), values);
    if (in.max_norm > 0) clip_gradients(in, values);
    if (!table_.has_one_partition()) write_partitions(c, values);
  }

 private:
  // For Lookup::is_plain(): sums the gradients of equal ids in one pass. The first gradient of a
  // row is copied, later ones are added.
  void compute_plain(KernelContext& c, const Lookup<T>& in) {
    begin_slots(in);
    const int64_t width = in.width;
    row_sums_.resize(static_cast<size_t>((in.batch + 1) * width));
    const T* grad = c.input(0).data<T>();
    bool has_empty_example = false;
    for (int64_t r = 0; r < in.batch; ++r, grad += width) {
      if (r + kPrefetchDistance < in.batch && in.ids[r + kPrefetchDistance] >= 0 &&
          in.ids[r + kPrefetchDistance] < in.rows) {
        __builtin_prefetch(slot_of_row_.data() + in.ids[r + kPrefetchDistance], 1);
      }
      if (!in.is_used(r)) {
        has_empty_example = true;
        continue;
      }
      const auto next_slot = static_cast<int32_t>(distinct_rows_.size());
      const int32_t index = slot_for(in.ids[r]);
      T* sum = row_sums_.data() + index * width;
      if (index == next_slot) {
        std::copy(grad, grad + width, sum);
      } else {
        for (int64_t j = 0; j < width; ++j) sum[j] += grad[j];
      }
    }
    if (has_empty_example && in.rows > 0) {
      const auto next_slot = static_cast<int32_t>(distinct_rows_.size());
      if (slot_for(0) == next_slot) std::fill_n(row_sums_.data() + next_slot * width, width, T(0));
    }
    reset_slots();
    if (table_.has_one_partition()) {
      write_rows(c, row_sums_.data());
    } else {
      write_partitions(c, row_sums_.data());
    }
  }
  // For several partitions: writes the gradients of the rows of each partition.
  void write_partitions(KernelContext& c, const T* values) {
    const size_t n = table_.num_partitions();
    const int64_t width = table_.width;
    rows_per_partition_.assign(n, 0);
    for (const int64_t id : distinct_rows_) ++rows_per_partition_[table_.partition_of(id)];
    for (size_t p = 0; p < n; ++p) {
      const int index = static_cast<int>(p),
                num_distinct = static_cast<int>(rows_per_partition_[p]);
      c.allocate_output(index, c.input(1).dtype(), Shape{num_distinct, width});
      c.allocate_output(static_cast<int>(n) + index, DType::kInt64, Shape{num_distinct});
      rows_per_partition_[p] = 0;
    }
    for (const int64_t id : distinct_rows_) {
      const size_t p = table_.partition_of(id);
      const int index = static_cast<int>(p);
      std::copy(values, values + width,
                c.output(index).template data<T>() + rows_per_partition_[p] * width);
      c.output(static_cast<int>(n) + index).template data<int64_t>()[rows_per_partition_[p]] =
          id - table_.first_row(p);
      ++rows_per_partition_[p];
      values += width;
    }
  }
  // Allocates the outputs for the distinct rows and copies their gradients from `values`. If
  // `values` is NULL, the gradients are zeros.
  T* write_rows(KernelContext& c, const T* values) {
    const auto num_distinct = static_cast<int64_t>(distinct_rows_.size());
    Tensor& indices = c.allocate_output(1, DType::kInt64, Shape{num_distinct});
    if (num_distinct > 0) std::memcpy(indices.raw(), distinct_rows_.data(), indices.num_bytes());
    Shape shape = c.input(1).shape();
    shape.set_dim(0, num_distinct);
    Tensor& out = c.allocate_output(0, c.input(1).dtype(), shape);
    if (!values) {
      std::memset(out.raw(), 0, out.num_bytes());
    } else if (num_distinct > 0) {
      std::memcpy(out.raw(), values, out.num_bytes());
    }
    return out.data<T>();
  }
  // Assigns a slot (row of the gradient) to each distinct id. Records the slot of each element of
  // the ids.
  void assign_slots(const Lookup<T>& in) {
    begin_slots(in);
    slot_of_entry_.resize(static_cast<size_t>(in.batch * in.k));
    bool has_empty_example = false;
    const int64_t n = in.batch * in.k;
    for (int64_t r = 0; r < in.batch; ++r) {
      bool has_ids = false;
      const int64_t prefetch_at = r * in.k + kPrefetchDistance;
      if (prefetch_at < n && in.ids[prefetch_at] >= 0 && in.ids[prefetch_at] < in.rows) {
        __builtin_prefetch(slot_of_row_.data() + in.ids[prefetch_at], 1);
      }
      for (int64_t i = r * in.k; i < (r + 1) * in.k; ++i) {
        slot_of_entry_[static_cast<size_t>(i)] = in.is_used(i) ? slot_for(in.ids[i]) : -1;
        has_ids = has_ids || slot_of_entry_[static_cast<size_t>(i)] >= 0;
      }
      has_empty_example = has_empty_example || !has_ids;
    }
    if (has_empty_example && in.rows > 0) slot_for(0);
    reset_slots();
  }
  void begin_slots(const Lookup<T>& in) {
    if (has_assigned_slots_) reset_slots();  // the last run failed because of an invalid id
    has_assigned_slots_ = true;
    slot_of_row_.resize(static_cast<size_t>(in.rows), -1);
    distinct_rows_.clear();
  }
  void reset_slots() {
    for (int64_t id : distinct_rows_) slot_of_row_[static_cast<size_t>(id)] = -1;
    has_assigned_slots_ = false;
  }
  int32_t slot_for(int64_t id) {
    int32_t& slot = slot_of_row_[static_cast<size_t>(id)];
    if (slot < 0) {
      slot = static_cast<int32_t>(distinct_rows_.size());
      distinct_rows_.push_back(id);
    }
    return slot;
  }
  void accumulate(const Lookup<T>& in, const T* grad, T* values) const {
    for (int64_t r = 0; r < in.batch; ++r, grad += in.width) {
      const T divisor = in.divisor(r);
      for (int64_t i = r * in.k; i < (r + 1) * in.k; ++i) {
        const int32_t index = slot_of_entry_[static_cast<size_t>(i)];
        if (index < 0) continue;
        const T factor = in.weight(i) / divisor;
        T* value = values + index * in.width;
        for (int64_t j = 0; j < in.width; ++j) value[j] += factor * grad[j];
      }
    }
  }
  // Applies the derivative of clipping, v -> v * max_norm / |v|, to the gradients of clipped rows
  // v.
  void clip_gradients(const Lookup<T>& in, T* values) const {
    for (const int64_t id : distinct_rows_) {
      const T* row = in.table.row(id);
      const T norm = in.norm_of(row);
      if (norm > in.max_norm) {
        T projection = 0;
        for (int64_t j = 0; j < in.width; ++j) projection += row[j] * values[j];
        projection /= norm * norm;
        for (int64_t j = 0; j < in.width; ++j) {
          values[j] = (values[j] - row[j] * projection) * in.max_norm / norm;
        }
      }
      values += in.width;
    }
  }

  // The distance at which entries are prefetched, because accesses to a large table are scattered.
  static constexpr int64_t kPrefetchDistance = 16;
  std::vector<int32_t> slot_of_row_, slot_of_entry_;  // -1: no slot
  std::vector<int64_t> distinct_rows_;
  std::vector<T> row_sums_;
  std::vector<int64_t> rows_per_partition_;
  PartitionedTable<T> table_;
  bool has_assigned_slots_ = false;  // whether slot_of_row_ has slots
};

template <typename T>
class LookupWeightsGradKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Lookup<T> in(c, 1, table_);
    const T* grad = c.input(0).data<T>();
    T* out = c.output(0).template data<T>();
    std::memset(out, 0, c.output(0).num_bytes());
    for (int64_t r = 0; r < in.batch; ++r, grad += in.width) {
      const T divisor = in.divisor(r);
      T projection = 0;  // dot product of the gradient and the result
      for (int64_t i = r * in.k; i < (r + 1) * in.k; ++i) {
        if (!in.is_used(i)) continue;
        out[i] = dot(in, i, grad) / divisor;
        projection += out[i] * in.weight(i);
      }
      if (in.combiner == Combiner::kSum) continue;
      for (int64_t i = r * in.k; i < (r + 1) * in.k; ++i) {
        const T weight_derivative = in.combiner == Combiner::kMean ? T(1) : in.weight(i) / divisor;
        if (in.is_used(i)) out[i] -= projection * weight_derivative / divisor;
      }
    }
  }

 private:
  static T dot(const Lookup<T>& in, int64_t i, const T* grad) {
    T sum = 0;
    for (int64_t j = 0; j < in.width; ++j) sum += grad[j] * in.row(i)[j];
    return sum * in.clip_factor(in.row(i));
  }
  PartitionedTable<T> table_;
};

int num_params(const Operation& op) { return static_cast<int>(op.attr_int("num_params")); }

// Infers the shape [batch, width] of a look-up whose table starts at input `first`. All partitions
// are matrices of equal width.
Shape result_shape(ShapeContext& c, int first) {
  const int index = first + num_params(c.op());
  Shape params = Shape::unknown_of_rank(2);
  for (int p = first; p < index; ++p) {
    Shape part = c.with_rank(p, 2);
    part.set_dim(0, -1);
    params = params.merge_with(part);
  }
  return Shape{c.with_rank(index, 2).dim(0), params.dim(1)};
}

void lookup_shape(ShapeContext& c) { c.set_output(0, result_shape(c, 0)); }

void lookup_grad_shape(ShapeContext& c) {
  const Shape result = c.input(0).merge_with(result_shape(c, 1));
  const int n = num_params(c.op());
  for (int p = 0; p < n; ++p) {
    c.set_output(p, Shape{-1, result.dim(1)});
    c.set_output(n + p, Shape::unknown_of_rank(1));
  }
}

void lookup_weights_grad_shape(ShapeContext& c) {
  c.input(0).merge_with(result_shape(c, 1));
  c.set_output(0, c.input(num_params(c.op()) + 2));
}

Grads throw_no_second_derivative(Graph&, Operation& op, const Outputs&) {
  fail(Code::kUnimplemented, "Second derivatives of embedding look-ups are not implemented ('",
       op.name(), "').");
}

Grads lookup_gradient(Graph& g, Operation& op, const Outputs& dy) {
  Outputs inputs = {dy[0]};
  inputs.insert(inputs.end(), op.inputs().begin(), op.inputs().end());
  const auto grad_op = [&](const char* type) -> Operation* {
    return g.op(type, inputs)
        .attr("num_params", op.attr_int("num_params"))
        .attr("N", op.attr_int("N"))
        .attr("combiner", op.attr<std::string>("combiner"))
        .attr("max_norm", op.attr<float>("max_norm"))
        .build();
  };
  Operation* rows = grad_op("FusedEmbeddingLookupGrad");
  const int n = num_params(op);
  Grads gradients;
  for (int p = 0; p < n; ++p) {
    gradients.emplace_back(rows->output(p));
    gradients.back().indices = rows->output(n + p);
    gradients.back().dense_shape = shape_of(g, op.input(p));
  }
  gradients.emplace_back();
  if (op.attr_int("N") > 0) {
    gradients.emplace_back(grad_op("FusedEmbeddingLookupWeightsGrad")->output(0));
  }
  return gradients;
}

}  // namespace

RUNHOOKS_REGISTER_OP("FusedEmbeddingLookup")
    .input("params: num_params * T, rank 2")
    .input("ids: Tids, rank 2")
    .input("weights: N * T")
    .output("output: T")
    .attr("T: {float, double}")
    .attr("num_params: int >= 1")
    .attr("Tids: {int64}")
    .attr("N: int >= 0")
    .attr("combiner: {'sum', 'mean', 'sqrtn'} = 'mean'")
    .attr("max_norm: float = 0")
    .shape(lookup_shape)
    .kernel(kernel_by_type<LookupKernel, float, double>())
    .gradient(lookup_gradient)
    .lower(lower_lookup)
    .endpoint("raw_ops.FusedEmbeddingLookup")
    .summary("The sum, mean or sum / sqrt(n) of the table rows for each example's ids.")
    .example("f[4,2] l[3,2]{0,2,-1,2,-1,-1} | num_params=1 N=0 combiner=sum")
    .example("f[4,2] l[3,2]{0,2,-1,2,-1,-1} | num_params=1 N=0 combiner=mean max_norm=1")
    .example("f[4,1] l[3,1]{0,2,2} | num_params=1 N=0 combiner=sqrtn")
    .example("f[4,2] l[3,2]{0,2,-1,2,3,3} p[3,2] | num_params=1 N=1 combiner=sum")
    .example("f[4,2] l[3,2]{0,2,-1,2,3,3} p[3,2] | num_params=1 N=1 combiner=mean")
    .example("f[4,2] l[3,2]{0,2,-1,2,3,3} p[3,2] | num_params=1 N=1 combiner=sqrtn max_norm=2")
    .example("f[2,2] f[1,2] f[1,2] l[3,2]{0,2,-1,2,-1,-1} | num_params=3 N=0 combiner=sqrtn")
    .example("f[2,1] f[2,1] l[4,1]{0,3,-1,1} | num_params=2 N=0 combiner=mean")
    .example("f[2,2] f[2,2] l[3,2]{0,2,-1,2,3,3} p[3,2] | num_params=2 N=1 max_norm=1");

RUNHOOKS_REGISTER_OP("FusedEmbeddingLookupGrad")
    .input("grad: T, rank 2")
    .input("params: num_params * T, rank 2")
    .input("ids: Tids, rank 2")
    .input("weights: N * T")
    .output("values: num_params * T")
    .output("indices: num_params * int64")
    .attr("T: {float, double}")
    .attr("num_params: int >= 1")
    .attr("Tids: {int64}")
    .attr("N: int >= 0")
    .attr("combiner: {'sum', 'mean', 'sqrtn'} = 'mean'")
    .attr("max_norm: float = 0")
    .shape(lookup_grad_shape)
    .kernel(kernel_by_type<LookupGradKernel, float, double>())
    .allocates_outputs()
    .distinct_rows()
    .gradient(throw_no_second_derivative)
    .lower(lower_lookup_grad)
    .endpoint("raw_ops.FusedEmbeddingLookupGrad")
    .summary("The gradient of a look-up with respect to the table, with distinct rows.")
    .example("f[3,2] f[4,2] l[3,2]{0,2,-1,2,-1,-1} | num_params=1 N=0")
    .example("f[3,2] f[4,2] l[3,2]{0,2,-1,2,3,3} p[3,2] | num_params=1 N=1 max_norm=1")
    .example("f[3,2] f[3,2] f[1,2] l[3,2]{0,2,-1,2,3,3} | num_params=2 N=0 combiner=sqrtn")
    .example("f[4,1] f[2,1] f[2,1] l[4,1]{0,3,-1,3} | num_params=2 N=0 combiner=sum");

RUNHOOKS_REGISTER_OP("FusedEmbeddingLookupWeightsGrad")
    .input("grad: T, rank 2")
    .input("params: num_params * T, rank 2")
    .input("ids: Tids, rank 2")
    .input("weights: N * T")
    .output("output: T")
    .attr("T: {float, double}")
    .attr("num_params: int >= 1")
    .attr("Tids: {int64}")
    .attr("N: int >= 1")
    .attr("combiner: {'sum', 'mean', 'sqrtn'} = 'mean'")
    .attr("max_norm: float = 0")
    .shape(lookup_weights_grad_shape)
    .kernel(kernel_by_type<LookupWeightsGradKernel, float, double>())
    .gradient(throw_no_second_derivative)
    .lower(lower_lookup_weights_grad)
    .endpoint("raw_ops.FusedEmbeddingLookupWeightsGrad")
    .summary("The gradient of a look-up with respect to the weights.")
    .example("f[3,2] f[4,2] l[3,2]{0,2,-1,2,-1,-1} p[3,2] | num_params=1 N=1")
    .example("f[3,2] f[2,2] f[2,2] l[3,2]{0,2,-1,2,3,3} p[3,2] | num_params=2 N=1 combiner=sqrtn")
    .example(
        "f[3,2] f[4,2] l[3,2]{0,2,-1,2,3,3} p[3,2] | num_params=1 N=1 combiner=sum max_norm=1");

}  // namespace runhooks
