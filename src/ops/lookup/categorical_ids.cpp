// Ops that convert features to categorical ids (see categorical.h).
#include <algorithm>
#include <memory>

#include "base/fingerprint.h"
#include "base/open_file.h"
#include "graph/op_registry.h"
#include "ops/lookup/categorical.h"
#include "ops/lookup/integer_cache.h"
#include "ops/lookup/lowering.h"
#include "ops/lookup/per_string.h"

namespace runhooks {

namespace {

// Converts the values of a string, int32 or int64 feature to ids. Calls the conversion functions
// once per distinct value and caches the results. With `drop_missing`, "" and -1 are missing
// values.
template <typename NumberToId, typename TextToId>
class DistinctIds {
 public:
  DistinctIds(NumberToId number_to_id, TextToId text_to_id, bool drop_missing)
      : number_to_id_(number_to_id), text_to_id_(text_to_id), drop_missing_(drop_missing) {}
  void compute(const Tensor& x, int64_t* out) {
    const int64_t n = x.num_elements();
    if (x.dtype() == DType::kString) {
      const int64_t* table =
          string_ids_.values_by_code(x.dictionary(), [this](const std::string& text) {
            return drop_missing_ && text.empty() ? kAbsentId : text_to_id_(text);
          });
      const auto* codes = x.data<int32_t>();
      for (int64_t i = 0; i < n; ++i) out[i] = table[codes[i]];
    } else if (x.dtype() == DType::kInt32) {
      compute_integers(x.data<int32_t>(), n, out);
    } else {
      compute_integers(x.data<int64_t>(), n, out);
    }
  }

 private:
  template <typename T>
  void compute_integers(const T* x, int64_t n, int64_t* out) {
    constexpr int64_t kPrefetchDistance = 16;
    for (int64_t i = 0; i < n; ++i) {
      if (i + kPrefetchDistance < n) integer_ids_.prefetch(x[i + kPrefetchDistance]);
      if (integer_ids_.find_small(x[i], &out[i])) continue;
      const bool is_absent = drop_missing_ && x[i] == T(-1);
      out[i] = is_absent ? kAbsentId : integer_ids_.get(x[i], number_to_id_);
    }
  }
  NumberToId number_to_id_;
  TextToId text_to_id_;
  bool drop_missing_;
  PerString<int64_t> string_ids_;
  PerInteger integer_ids_;
};

template <typename NumberToId, typename TextToId>
std::unique_ptr<DistinctIds<NumberToId, TextToId>> distinct_ids(const Operation& op,
                                                                NumberToId number_to_id,
                                                                TextToId text_to_id) {
  return std::make_unique<DistinctIds<NumberToId, TextToId>>(number_to_id, text_to_id,
                                                             op.attr<bool>("drop_missing"));
}

struct HashToBucket {
  uint64_t buckets;
  template <typename Key>
  int64_t operator()(const Key& key) const {
    return static_cast<int64_t>(fingerprint64(key) % buckets);
  }
};

class HashIdsKernel : public Kernel {
 public:
  explicit HashIdsKernel(const Operation& op) {
    const HashToBucket hash{static_cast<uint64_t>(op.attr_int("num_buckets"))};
    ids_ = distinct_ids(op, hash, hash);
  }
  void compute(KernelContext& c) override {
    ids_->compute(c.input(0), c.output(0).data<int64_t>());
  }

 private:
  std::unique_ptr<DistinctIds<HashToBucket, HashToBucket>> ids_;
};

class Vocabulary {
 public:
  Vocabulary(int64_t num_oov, int64_t default_id) : num_oov_(num_oov), default_id_(default_id) {}
  void add(const std::string& entry) { string_ids_.emplace(entry, size_++); }
  void add(int64_t entry) { integer_ids_.emplace(entry, size_++); }
  int64_t size() const { return size_; }
  int64_t id(const std::string& entry) const { return find_id(string_ids_, entry); }
  int64_t id(int64_t entry) const { return find_id(integer_ids_, entry); }

 private:
  template <typename Map, typename Word>
  int64_t find_id(const Map& map, const Word& entry) const {
    auto found = map.find(entry);
    if (found != map.end()) return found->second;
    if (num_oov_ == 0) return default_id_;
    return size_ + static_cast<int64_t>(fingerprint64(entry) % static_cast<uint64_t>(num_oov_));
  }
  std::unordered_map<std::string, int64_t> string_ids_;
  std::unordered_map<int64_t, int64_t> integer_ids_;
  int64_t size_ = 0, num_oov_, default_id_;
};

struct VocabularyLookup {
  const Vocabulary* vocabulary;
  template <typename Key>
  int64_t operator()(const Key& key) const {
    return vocabulary->id(key);
  }
};

class VocabularyIdsKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    if (ids_) return;
    const Operation& op = c.op();
    vocabulary_ =
        std::make_unique<Vocabulary>(op.attr_int("num_oov_buckets"), op.attr_int("default_value"));
    add_vocabulary_entries(c, *vocabulary_);
    ids_ =
        distinct_ids(op, VocabularyLookup{vocabulary_.get()}, VocabularyLookup{vocabulary_.get()});
  }
  void compute(KernelContext& c) override {
    ids_->compute(c.input(0), c.output(0).data<int64_t>());
  }

 private:
  virtual void add_vocabulary_entries(KernelContext& c, Vocabulary& vocabulary) const {
    const Tensor& entries = c.input(1);
    for (int64_t i = 0; i < entries.num_elements(); ++i) {
      if (entries.dtype() == DType::kString) {
        vocabulary.add(entries.string_at(i));
      } else {
        vocabulary.add(entries.data<int64_t>()[i]);
      }
    }
  }

  std::unique_ptr<Vocabulary> vocabulary_;
  std::unique_ptr<DistinctIds<VocabularyLookup, VocabularyLookup>> ids_;
};

class VocabularyFileIdsKernel : public VocabularyIdsKernel {
  void add_vocabulary_entries(KernelContext& c, Vocabulary& vocabulary) const override {
    const Operation& op = c.op();
    const auto& path = op.attr<std::string>("filename");
    TextFile file(c.file_access_policy().readable(path));
    const int64_t size = op.attr_int("vocab_size");
    const bool is_number = op.attr_type("key_dtype") != DType::kString;
    for (std::string line; vocabulary.size() < size && file.next(&line);) {
      if (is_number) {
        vocabulary.add(static_cast<int64_t>(std::strtoll(line.c_str(), nullptr, 10)));
      } else {
        vocabulary.add(line);
      }
    }
    if (vocabulary.size() < size) {
      invalid_argument("The vocabulary file '", path, "' has ", vocabulary.size(),
                       " lines, but vocabulary_size is ", size, ".");
    }
  }
};

class IdentityIdsKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    if (x.dtype() == DType::kInt32) {
      assign_ids(c, x.data<int32_t>());
    } else {
      assign_ids(c, x.data<int64_t>());
    }
  }

 private:
  template <typename T>
  void assign_ids(KernelContext& c, const T* x) const {
    const int64_t buckets = c.op().attr_int("num_buckets");
    const int64_t default_id = c.op().attr_int("default_value");
    const bool drop_missing = c.op().attr<bool>("drop_missing");
    auto* out = c.output(0).data<int64_t>();
    const int64_t n = c.output(0).num_elements(), width = c.output(0).shape().dim(1);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t id = x[i];
      if (id == -1 && drop_missing) {
        out[i] = kAbsentId;
      } else if (id >= 0 && id < buckets) {
        out[i] = id;
      } else if (default_id >= 0) {
        out[i] = default_id;
      } else {
        throw Error(Code::kInvalidArgument,
                    str_cat("Column '", c.op().attr<std::string>("column"), "' has the value ", id,
                            " in row ", i / width + 1, " of the batch, but its ids go from 0 to ",
                            buckets - 1, "."),
                    {"Give column_categorical_with_identity() a larger num_buckets or a "
                     "default_value."});
      }
    }
  }
};

// The bucket of x is the number of boundaries <= x. Each column of the input has a separate range
// of buckets.
template <typename T>
class BucketIdsKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const auto& boundaries = c.op().attr<std::vector<float>>("boundaries");
    const Tensor& x = c.input(0);
    const int64_t n = x.num_elements(), width = c.output(0).shape().dim(1);
    const auto buckets = static_cast<int64_t>(boundaries.size()) + 1;
    auto* out = c.output(0).template data<int64_t>();
    const T* values = x.data<T>();
    for (int64_t i = 0; i < n; ++i) {
      const auto first_greater =
          std::upper_bound(boundaries.begin(), boundaries.end(), values[i],
                           [](T value, float edge) { return value < T(edge); });
      out[i] = first_greater - boundaries.begin() + (i % width) * buckets;
    }
  }
};

void matrix_shape(ShapeContext& c) {
  const Shape& x = c.input(0);
  if (!x.has_rank()) return c.set_output(0, Shape::unknown_of_rank(2));
  int64_t width = 1;
  for (int i = 1; i < x.rank(); ++i) width = product_of_dims(width, x.dim(i));
  c.set_output(0, Shape{x.rank() == 0 ? 1 : x.dim(0), width});
}

template <typename K>
KernelFactory kernel_with_op() {
  return [](const Operation& op) -> std::unique_ptr<Kernel> { return std::make_unique<K>(op); };
}

}  // namespace

RUNHOOKS_REGISTER_OP("HashIds")
    .input("values: T")
    .output("ids: int64")
    .attr("T: {string, int32, int64}")
    .attr("num_buckets: int >= 1")
    .attr("drop_missing: bool = true")
    .shape(matrix_shape)
    .kernel(kernel_with_op<HashIdsKernel>())
    .not_differentiable()
    .lower(lower_hash_ids)
    .endpoint("raw_ops.HashIds")
    .summary("The hash bucket of each value of a feature.")
    .example("s{a,bc,} | num_buckets=10")
    .example("i{3,-1,7} | num_buckets=10")
    .example("s{a,bc,} | num_buckets=10 drop_missing=false");

RUNHOOKS_REGISTER_OP("VocabularyIds")
    .input("values: T")
    .input("vocabulary: Tvocabulary, vector")
    .output("ids: int64")
    .attr("T: {string, int32, int64}")
    .attr("Tvocabulary: {string, int64}")
    .attr("num_oov_buckets: int >= 0 = 0")
    .attr("default_value: int = -1")
    .attr("drop_missing: bool = true")
    .shape(matrix_shape)
    .kernel(kernel_of<VocabularyIdsKernel>())
    .not_differentiable()
    .lower(lower_vocabulary_ids)
    .endpoint("raw_ops.VocabularyIds")
    .summary("The index of each value of a feature in a vocabulary.")
    .example("s{a,bc,} s{bc,a}")
    .example("s{a,bc,} s{bc,} | drop_missing=false")
    .example("i{3,-1,7} l{-1,7} | num_oov_buckets=2 drop_missing=false");

RUNHOOKS_REGISTER_OP("VocabularyFileIds")
    .input("values: T")
    .output("ids: int64")
    .attr("T: {string, int32, int64}")
    .attr("filename: string")
    .attr("vocab_size: int >= 0")
    .attr("key_dtype: type")
    .attr("num_oov_buckets: int >= 0 = 0")
    .attr("default_value: int = -1")
    .attr("drop_missing: bool = true")
    .shape(matrix_shape)
    .kernel(kernel_of<VocabularyFileIdsKernel>())
    .stateful()
    .reads_files()
    .order_insensitive()
    .not_differentiable()
    .lower(lower_vocabulary_file_ids)
    .endpoint("raw_ops.VocabularyFileIds")
    .summary("The index of each value of a feature in a vocabulary file with one value per line.");

RUNHOOKS_REGISTER_OP("IdentityIds")
    .input("values: T")
    .output("ids: int64")
    .attr("T: {int32, int64}")
    .attr("num_buckets: int >= 1")
    .attr("default_value: int = -1")
    .attr("column: string = ''")
    .attr("drop_missing: bool = true")
    .shape(matrix_shape)
    .kernel(kernel_of<IdentityIdsKernel>())
    .not_differentiable()
    .lower(lower_identity_ids)
    .endpoint("raw_ops.IdentityIds")
    .summary("The values of a feature as ids, after a range check.")
    .example("i{3,-1,7} | num_buckets=10")
    .example("i{3,-1,7} | num_buckets=10 default_value=2 drop_missing=false");

RUNHOOKS_REGISTER_OP("BucketIds")
    .input("values: T")
    .output("ids: int64")
    .attr("T: {int32, int64, float, double}")
    .attr("boundaries: list(float)")
    .shape(matrix_shape)
    .kernel(kernel_by_type<BucketIdsKernel, int32_t, int64_t, float, double>())
    .not_differentiable()
    .lower(lower_bucket_ids)
    .endpoint("raw_ops.BucketIds")
    .summary("The bucket between boundaries of each number of a feature.")
    .example("f[3,2] | boundaries=[0,1]");

}  // namespace runhooks
