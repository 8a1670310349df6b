// Ops that hash every combination of the feature values of an example, like TensorFlow's
// SparseCross with hashed_output, but on dense ids (see categorical.h).
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/fingerprint.h"
#include "graph/op_registry.h"
#include "ops/lookup/categorical.h"
#include "ops/lookup/lowering.h"
#include "ops/lookup/per_string.h"

namespace runhooks {

namespace {

class CrossKey {
 public:
  // Reads the values of a key. `present` tells which values of a sparse key exist. It is NULL for
  // dense keys, and for keys that are ids of a categorical column.
  void read(const Tensor& x, const Tensor* present) {
    const bool* has_value = present ? present->data<bool>() : nullptr;
    if (present && present->num_elements() != x.num_elements()) {
      invalid_argument("A sparse key of shape ", x.shape(), " has a mask of shape ",
                       present->shape(), "; the shapes must be equal.");
    }
    const auto n = static_cast<size_t>(x.num_elements());
    const int64_t rows = x.shape().rank() > 0 ? x.shape().dim(0) : 1;
    width = rows > 0 ? x.num_elements() / rows : 0;
    hashes.resize(n);
    is_absent.assign(n, false);
    if (x.dtype() == DType::kString) {
      const uint64_t* table = string_hashes_.values_by_code(
          x.dictionary(), [](const std::string& text) { return fingerprint64(text); });
      const auto* codes = x.data<int32_t>();
      for (size_t i = 0; i < n; ++i) {
        hashes[i] = table[codes[i]];
        is_absent[i] = has_value && !has_value[i];
      }
      return;
    }
    for (size_t i = 0; i < n; ++i) {
      const int64_t value =
          x.dtype() == DType::kInt32 ? x.data<int32_t>()[i] : x.data<int64_t>()[i];
      hashes[i] = static_cast<uint64_t>(value);
      is_absent[i] = has_value ? !has_value[i] : value == kAbsentId;
    }
  }
  int64_t width = 0;
  std::vector<uint64_t> hashes;
  std::vector<bool> is_absent;

 private:
  PerString<uint64_t> string_hashes_;
};

// Returns the number of keys. The inputs are the keys, followed by a bool mask for each sparse key.
int num_keys_of(const Operation& op) {
  const auto& is_sparse = op.attr<std::vector<int64_t>>("is_sparse");
  const auto masks = static_cast<int>(
      std::count_if(is_sparse.begin(), is_sparse.end(), [](int64_t x) { return x != 0; }));
  const int keys = static_cast<int>(op.inputs().size()) - masks;
  for (size_t i = 0; i < op.inputs().size(); ++i) {
    const bool is_mask = static_cast<int>(i) >= keys;
    if (keys > 0 && is_mask == (op.inputs()[i].dtype() == DType::kBool)) continue;
    invalid_argument("A cross takes its keys, then a bool mask for each sparse key.");
  }
  return keys;
}

class CrossIdsKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const auto& is_sparse = c.op().attr<std::vector<int64_t>>("is_sparse");
    int next_mask = num_keys_of(c.op());
    keys_.resize(static_cast<size_t>(next_mask));
    for (size_t k = 0; k < keys_.size(); ++k) {
      const bool has_mask = k < is_sparse.size() && is_sparse[k] != 0;
      keys_[k].read(c.input(static_cast<int>(k)), has_mask ? &c.input(next_mask++) : nullptr);
    }
    const auto buckets = static_cast<uint64_t>(c.op().attr_int("num_buckets"));
    modulus_ = buckets > 0 ? buckets : std::numeric_limits<int64_t>::max();
    // TensorFlow's hash keys use all 64 bits, so the attribute may be negative.
    hash_key_ = static_cast<uint64_t>(c.op().attr_int("hash_key"));
    Tensor& out = c.output(0);
    const int64_t rows = out.shape().dim(0), width = out.shape().dim(1);
    auto* ids = out.data<int64_t>();
    for (int64_t r = 0; r < rows; ++r, ids += width) {
      int64_t* end = append_crosses(0, r, hash_key_, ids);
      std::fill(end, ids + width, kAbsentId);
    }
  }

 private:
  // Appends the ids of all crosses of row r that begin with one choice of values for the first `k`
  // keys, whose hash is `hash`. The last key varies fastest. Returns the end of the ids.
  int64_t* append_crosses(size_t k, int64_t r, uint64_t hash, int64_t* out) const {
    if (k == keys_.size()) {
      *out = static_cast<int64_t>(hash % modulus_);
      return out + 1;
    }
    const CrossKey& key = keys_[k];
    for (int64_t i = r * key.width; i < (r + 1) * key.width; ++i) {
      const auto index = static_cast<size_t>(i);
      if (!key.is_absent[index])
        out = append_crosses(k + 1, r, fingerprint_cat64(hash, key.hashes[index]), out);
    }
    return out;
  }
  std::vector<CrossKey> keys_;
  uint64_t modulus_ = 0, hash_key_ = 0;
};

// Counts the ids of each example, or sums their weights.
template <typename T>
class MultiHotKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& ids = c.input(0);
    const T* weights = c.num_inputs() > 1 ? c.input(1).data<T>() : nullptr;
    if (weights && c.input(1).num_elements() != ids.num_elements()) {
      invalid_argument("The weights have shape ", c.input(1).shape(), ", the ids ", ids.shape(),
                       ".");
    }
    Tensor& out = c.output(0);
    std::memset(out.raw(), 0, out.num_bytes());
    const int64_t depth = out.shape().dim(1), k = ids.shape().dim(1);
    for (int64_t i = 0; i < ids.num_elements(); ++i) {
      const int64_t id = ids.data<int64_t>()[i];
      if (id < 0 || id >= depth) continue;
      out.data<T>()[i / k * depth + id] += weights ? weights[i] : T(1);
    }
  }
};

void check_key_type(DType type) {
  if (type == DType::kString || type == DType::kInt64 || type == DType::kInt32) return;
  invalid_argument("The keys of a cross must be strings or integers, not ", dtype_name(type), ".");
}

}  // namespace

RUNHOOKS_REGISTER_OP("CrossIds")
    .input("keys: Tkeys, rank >= 1")
    .output("ids: int64")
    .attr("Tkeys: list(type)")
    .attr("num_buckets: int >= 0 = 0")
    .attr("hash_key: int = 956888297470")
    .attr("is_sparse: list(int)")
    .shape([](ShapeContext& c) {
      int64_t rows = -1, width = 1;
      const int keys = num_keys_of(c.op());
      for (int i = 0; i < keys; ++i) {
        const Shape& key = c.input(i);
        check_key_type(c.op().input(i).dtype());
        if (!key.has_rank()) continue;
        if (key.dim(0) >= 0) {
          if (rows >= 0 && rows != key.dim(0)) {
            invalid_argument("The keys of a cross must have the same number of rows, not ", rows,
                             " and ", key.dim(0), ".");
          }
          rows = key.dim(0);
        }
        for (int d = 1; d < key.rank(); ++d) width = product_of_dims(width, key.dim(d));
      }
      c.set_output(0, Shape{rows, width});
    })
    .kernel(kernel_of<CrossIdsKernel>())
    .not_differentiable()
    .lower(lower_cross_ids)
    .endpoint("raw_ops.CrossIds")
    .summary("The hash of each combination of an example's values.")
    .example("l[2,1]{1,2} l[2,2]{3,4,5,6} | num_buckets=10 is_sparse=[0,0]")
    .example("l[3,2]{1,2,3,4,5,6} s{a,bc,a} b[3,2] | num_buckets=10 is_sparse=[1,0]")
    .example("s{a,bc,a} l[3,2]{1,2,3,4,5,6} b[3,2] | num_buckets=10 is_sparse=[0,1]");

RUNHOOKS_REGISTER_OP("MultiHot")
    .input("ids: int64, rank 2")
    .input("weights: N * T")
    .output("output: T")
    .attr("depth: int >= 1")
    .attr("T: {float, double} = DT_FLOAT")
    .attr("N: int >= 0")
    .shape([](ShapeContext& c) {
      const Shape ids = c.with_rank(0, 2);
      c.set_output(0, Shape{ids.has_rank() ? ids.dim(0) : -1, c.op().attr_int("depth")});
    })
    .kernel(kernel_by_type<MultiHotKernel, float, double>())
    .not_differentiable()
    .lower(lower_multi_hot)
    .endpoint("raw_ops.MultiHot")
    .summary("The count of each id per example, or the sum of its weights.")
    .example("l[2,2]{1,1,3,-1} | depth=4")
    .example("l[2,2]{1,1,3,-1} p[2,2] | depth=4");

}  // namespace runhooks
