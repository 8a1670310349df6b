// Embedding look-up: combines the table rows for each example's ids in one pass, where TensorFlow's
// safe_embedding_lookup_sparse uses a dozen ops.
// A table may have several partitions (strategy "div"). The gradient of each is IndexedSlices with
// distinct indices. Negative ids are skipped. An example without ids gets zeros and, as in
// TensorFlow, contributes a zero gradient to id 0.
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

// A possibly partitioned table. Kernels reuse the object to avoid allocating its vectors.
template <typename T>
class Table {
 public:
  void read(KernelContext& c, int first) {
    const auto n = static_cast<int>(c.op().attr_int("num_params"));
    const Tensor& front = c.input(first);
    const int64_t front_rows = front.shape().dim(0);
    width = front_rows > 0 ? front.num_elements() / front_rows : 0;
    base = front.data<T>();
    rows = front_rows;
    parts_.clear();
    if (n == 1) return;
    rows = 0;
    for (int p = 0; p < n; ++p) {
      const Tensor& part = c.input(first + p);
      // Stores the global number of the first row.
      parts_.push_back({rows, part.data<T>()});
      rows += part.shape().dim(0);
      if (part.shape().dim(0) > 0) width = part.num_elements() / part.shape().dim(0);
    }
  }
  bool is_whole() const { return parts_.empty(); }
  const T* row(int64_t id) const {
    if (is_whole()) return base + id * width;
    const auto& part = parts_[part_of(id)];
    return part.values + (id - part.first_row) * width;
  }
  size_t part_of(int64_t id) const {
    size_t part = parts_.size() - 1;
    while (parts_[part].first_row > id) --part;
    return part;
  }
  int64_t first_row(size_t part) const { return parts_[part].first_row; }
  size_t num_parts() const { return std::max<size_t>(parts_.size(), 1); }

  int64_t rows = 0, width = 0;
  const T* base = nullptr;  // set if the table has one partition

 private:
  struct Part {
    int64_t first_row;
    const T* values;
  };
  std::vector<Part> parts_;
};

// The inputs of a look-up: a table, ids [batch, k] and optional weights.
template <typename T>
class Lookup {
 public:
  Lookup(KernelContext& c, int first, Table<T>& whole)
      : combiner(combiner_of(c.op())),
        max_norm(static_cast<T>(c.op().attr<float>("max_norm"))),
        table(whole) {
    whole.read(c, first);
    rows = whole.rows;
    width = whole.width;
    const int at = first + static_cast<int>(c.op().attr_int("num_params"));
    ids = c.input(at).data<int64_t>();
    batch = c.input(at).shape().dim(0);
    k = c.input(at).shape().dim(1);
    weights = c.num_inputs() > at + 1 ? c.input(at + 1).data<T>() : nullptr;
    if (weights && c.input(at + 1).num_elements() != batch * k) {
      invalid_argument("The weights of a look-up have shape ", c.input(at + 1).shape(),
                       ", its ids ", c.input(at).shape(), ".");
    }
  }
  // Whether to use entry i. Non-positive weights are skipped in a mean.
  bool counts(int64_t i) const {
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
    bool any = false;
    for (int64_t i = r * k; i < (r + 1) * k; ++i) {
      if (!counts(i)) continue;
      any = true;
      sum += weight(i);
      squares += weight(i) * weight(i);
    }
    if (!any) return T(0);
    if (combiner == Combiner::kSum) return T(1);
    return combiner == Combiner::kMean ? sum : std::sqrt(squares);
  }
  T clip(const T* row) const {
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
  // The common case: one unweighted id per example.
  bool is_plain() const { return k == 1 && !weights && max_norm <= 0; }

  Combiner combiner;
  T max_norm;
  const Table<T>& table;
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
    if (in.is_plain() && in.width == 1 && table_.is_whole()) {
      const T* table = table_.base;
      for (int64_t r = 0; r < in.batch; ++r) {
        if (r + kPrefetchDistance < in.batch)
          __builtin_prefetch(table + in.ids[r + kPrefetchDistance]);
        // The unsigned comparison tests both bounds, for the common case of a valid id.
        const auto id = static_cast<uint64_t>(in.ids[r]);
        out[r] =
            id < static_cast<uint64_t>(in.rows) ? table[id] : (in.counts(r) ? table[id] : T(0));
      }
      return;
    }
    if (in.is_plain()) {
      const size_t bytes = static_cast<size_t>(in.width) * sizeof(T);
      for (int64_t r = 0; r < in.batch; ++r, out += in.width) {
        const int64_t soon = r + kPrefetchDistance;
        if (soon < in.batch && in.ids[soon] >= 0 && in.ids[soon] < in.rows) {
          __builtin_prefetch(in.row(soon));
        }
        if (in.counts(r)) {
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
        if (!in.counts(i)) continue;
        const T* row = in.row(i);
        const T factor = in.weight(i) * in.clip(row) / divisor;
        for (int64_t j = 0; j < in.width; ++j) out[j] += factor * row[j];
      }
    }
  }

 private:
  Table<T> table_;
};

template <typename T>
class LookupGradKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Lookup<T> in(c, 1, table_);
    if (in.is_plain()) return add_plain(c, in);
    assign_rows(in);
    T* values = nullptr;
    if (table_.is_whole()) {
      values = write_rows(c, nullptr);
    } else {
      sums_.assign(indices_.size() * static_cast<size_t>(in.width), T(0));
      values = sums_.data();
    }
    accumulate(in, c.input(0).data<T>(), values);
    if (in.max_norm > 0) clip_gradients(in, values);
    if (!table_.is_whole()) write_parts(c, values);
  }

 private:
  // One pass: the first gradient of a row is copied, later ones are added.
  void add_plain(KernelContext& c, const Lookup<T>& in) {
    begin_rows(in);
    const int64_t width = in.width;
    sums_.resize(static_cast<size_t>((in.batch + 1) * width));
    const T* grad = c.input(0).data<T>();
    bool any_empty = false;
    for (int64_t r = 0; r < in.batch; ++r, grad += width) {
      if (r + kPrefetchDistance < in.batch && in.ids[r + kPrefetchDistance] >= 0 &&
          in.ids[r + kPrefetchDistance] < in.rows) {
        __builtin_prefetch(slot_.data() + in.ids[r + kPrefetchDistance], 1);
      }
      if (!in.counts(r)) {
        any_empty = true;
        continue;
      }
      const auto before = static_cast<int32_t>(indices_.size());
      const int32_t at = place(in.ids[r]);
      T* sum = sums_.data() + at * width;
      if (at == before) {
        std::copy(grad, grad + width, sum);
      } else {
        for (int64_t j = 0; j < width; ++j) sum[j] += grad[j];
      }
    }
    if (any_empty && in.rows > 0) {
      const auto before = static_cast<int32_t>(indices_.size());
      if (place(0) == before) std::fill_n(sums_.data() + before * width, width, T(0));
    }
    reset_rows();
    if (table_.is_whole()) {
      write_rows(c, sums_.data());
    } else {
      write_parts(c, sums_.data());
    }
  }
  // For a partitioned table: writes the gradient rows of each partition.
  void write_parts(KernelContext& c, const T* values) {
    const size_t n = table_.num_parts();
    const int64_t width = table_.width;
    counts_.assign(n, 0);
    for (const int64_t id : indices_) ++counts_[table_.part_of(id)];
    for (size_t p = 0; p < n; ++p) {
      const int at = static_cast<int>(p), distinct = static_cast<int>(counts_[p]);
      c.allocate_output(at, c.input(1).dtype(), Shape{distinct, width});
      c.allocate_output(static_cast<int>(n) + at, DType::kInt64, Shape{distinct});
      counts_[p] = 0;
    }
    for (const int64_t id : indices_) {
      const size_t p = table_.part_of(id);
      const int at = static_cast<int>(p);
      std::copy(values, values + width, c.output(at).template data<T>() + counts_[p] * width);
      c.output(static_cast<int>(n) + at).template data<int64_t>()[counts_[p]] =
          id - table_.first_row(p);
      ++counts_[p];
      values += width;
    }
  }
  // Allocates the outputs for the rows in indices_; `values` has their gradients, NULL means zeros.
  T* write_rows(KernelContext& c, const T* values) {
    const auto distinct = static_cast<int64_t>(indices_.size());
    Tensor& indices = c.allocate_output(1, DType::kInt64, Shape{distinct});
    if (distinct > 0) std::memcpy(indices.raw(), indices_.data(), indices.num_bytes());
    Shape shape = c.input(1).shape();
    shape.set_dim(0, distinct);
    Tensor& out = c.allocate_output(0, c.input(1).dtype(), shape);
    if (!values) {
      std::memset(out.raw(), 0, out.num_bytes());
    } else if (distinct > 0) {
      std::memcpy(out.raw(), values, out.num_bytes());
    }
    return out.data<T>();
  }
  // slot_of_[i] is the gradient row that entry i adds to.
  void assign_rows(const Lookup<T>& in) {
    begin_rows(in);
    slot_of_.resize(static_cast<size_t>(in.batch * in.k));
    bool any_empty = false;
    const int64_t n = in.batch * in.k;
    for (int64_t r = 0; r < in.batch; ++r) {
      bool any = false;
      const int64_t soon = r * in.k + kPrefetchDistance;
      if (soon < n && in.ids[soon] >= 0 && in.ids[soon] < in.rows) {
        __builtin_prefetch(slot_.data() + in.ids[soon], 1);
      }
      for (int64_t i = r * in.k; i < (r + 1) * in.k; ++i) {
        slot_of_[static_cast<size_t>(i)] = in.counts(i) ? place(in.ids[i]) : -1;
        any = any || slot_of_[static_cast<size_t>(i)] >= 0;
      }
      any_empty = any_empty || !any;
    }
    if (any_empty && in.rows > 0) place(0);
    reset_rows();
  }
  void begin_rows(const Lookup<T>& in) {
    if (has_rows_) reset_rows();  // left over from a run that failed on an invalid id
    has_rows_ = true;
    slot_.resize(static_cast<size_t>(in.rows), -1);
    indices_.clear();
  }
  void reset_rows() {
    for (int64_t id : indices_) slot_[static_cast<size_t>(id)] = -1;
    has_rows_ = false;
  }
  int32_t place(int64_t id) {
    int32_t& known = slot_[static_cast<size_t>(id)];
    if (known < 0) {
      known = static_cast<int32_t>(indices_.size());
      indices_.push_back(id);
    }
    return known;
  }
  void accumulate(const Lookup<T>& in, const T* grad, T* values) const {
    for (int64_t r = 0; r < in.batch; ++r, grad += in.width) {
      const T divisor = in.divisor(r);
      for (int64_t i = r * in.k; i < (r + 1) * in.k; ++i) {
        const int32_t at = slot_of_[static_cast<size_t>(i)];
        if (at < 0) continue;
        const T factor = in.weight(i) / divisor;
        T* value = values + at * in.width;
        for (int64_t j = 0; j < in.width; ++j) value[j] += factor * grad[j];
      }
    }
  }
  // d (v c / |v|) for the clipped rows v.
  void clip_gradients(const Lookup<T>& in, T* values) const {
    for (const int64_t id : indices_) {
      const T* row = in.table.row(id);
      const T norm = in.norm_of(row);
      if (norm > in.max_norm) {
        T along = 0;
        for (int64_t j = 0; j < in.width; ++j) along += row[j] * values[j];
        along /= norm * norm;
        for (int64_t j = 0; j < in.width; ++j) {
          values[j] = (values[j] - row[j] * along) * in.max_norm / norm;
        }
      }
      values += in.width;
    }
  }

  // Prefetch distance, since accesses to a large table are scattered.
  static constexpr int64_t kPrefetchDistance = 16;
  std::vector<int32_t> slot_, slot_of_;
  std::vector<int64_t> indices_;
  std::vector<T> sums_;
  std::vector<int64_t> counts_;  // rows per partition
  Table<T> table_;
  bool has_rows_ = false;  // in slot_
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
      T along = 0;  // dot product of gradient and result
      for (int64_t i = r * in.k; i < (r + 1) * in.k; ++i) {
        if (!in.counts(i)) continue;
        out[i] = dot(in, i, grad) / divisor;
        along += out[i] * in.weight(i);
      }
      if (in.combiner == Combiner::kSum) continue;
      for (int64_t i = r * in.k; i < (r + 1) * in.k; ++i) {
        const T share = in.combiner == Combiner::kMean ? T(1) : in.weight(i) / divisor;
        if (in.counts(i)) out[i] -= along * share / divisor;
      }
    }
  }

 private:
  static T dot(const Lookup<T>& in, int64_t i, const T* grad) {
    T sum = 0;
    for (int64_t j = 0; j < in.width; ++j) sum += grad[j] * in.row(i)[j];
    return sum * in.clip(in.row(i));
  }
  Table<T> table_;
};

int num_params(const Operation& op) { return static_cast<int>(op.attr_int("num_params")); }

// The shape [batch, width] of a look-up whose table starts at input `first`. All partitions are
// matrices of equal width.
Shape looked_up_shape(ShapeContext& c, int first) {
  const int at = first + num_params(c.op());
  Shape params = Shape::unknown_of_rank(2);
  for (int p = first; p < at; ++p) {
    Shape part = c.with_rank(p, 2);
    part.set_dim(0, -1);
    params = params.merge_with(part);
  }
  return Shape{c.with_rank(at, 2).dim(0), params.dim(1)};
}

void lookup_shape(ShapeContext& c) { c.set_output(0, looked_up_shape(c, 0)); }

void lookup_grad_shape(ShapeContext& c) {
  const Shape result = c.input(0).merge_with(looked_up_shape(c, 1));
  const int n = num_params(c.op());
  for (int p = 0; p < n; ++p) {
    c.set_output(p, Shape{-1, result.dim(1)});
    c.set_output(n + p, Shape::unknown_of_rank(1));
  }
}

void lookup_weights_grad_shape(ShapeContext& c) {
  c.input(0).merge_with(looked_up_shape(c, 1));
  c.set_output(0, c.input(num_params(c.op()) + 2));
}

// Fails instead of returning a wrong second derivative.
Grads no_second_derivatives(Graph&, Operation& op, const Outputs&) {
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
    .gradient(no_second_derivatives)
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
    .gradient(no_second_derivatives)
    .lower(lower_lookup_weights_grad)
    .endpoint("raw_ops.FusedEmbeddingLookupWeightsGrad")
    .summary("The gradient of a look-up with respect to the weights.")
    .example("f[3,2] f[4,2] l[3,2]{0,2,-1,2,-1,-1} p[3,2] | num_params=1 N=1")
    .example("f[3,2] f[2,2] f[2,2] l[3,2]{0,2,-1,2,3,3} p[3,2] | num_params=2 N=1 combiner=sqrtn")
    .example(
        "f[3,2] f[4,2] l[3,2]{0,2,-1,2,3,3} p[3,2] | num_params=1 N=1 combiner=sum max_norm=1");

}  // namespace runhooks
