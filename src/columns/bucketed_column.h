// What lives here: BucketedColumn, what a column says of itself whose elements lie in few buckets.
// Who may use it: columns that are such ones, estimators of trees.
// What it must not know: any particular column, trees, R.
#pragma once

#include <string>
#include <vector>

#include "columns/feature_column.h"

namespace runhooks {

// A dense column each of whose elements is in one of a few buckets: a question can be asked about
// that without more ado.
class BucketedColumn {
 public:
  virtual ~BucketedColumn() = default;
  virtual int64_t buckets() const = 0;   // of an element
  virtual int64_t elements() const = 0;  // of an example
  // TRUE: each element is a word, which is there or not.
  virtual bool is_of_words() const = 0;
  // int32 [batch, elements]
  virtual Output bucket_tensor(TransformationCache& cache) const = 0;
  // How the elements are called where they are looked at: "age_bucketized", or the words' column.
  virtual std::string feature_name() const = 0;
  // Between which its buckets lie; none of words.
  virtual std::vector<float> edges() const { return {}; }
  // How people call an element: the word.
  virtual std::string element_name(int64_t element) const { return str_cat(element); }
};

// A categorical column that knows the words of its buckets.
class NamedBuckets {
 public:
  virtual ~NamedBuckets() = default;
  // "" where it has none.
  virtual std::string bucket_name(int64_t bucket) const = 0;
};

}  // namespace runhooks
