// BucketedColumn: interface of dense columns with few distinct values, on which trees split.
#pragma once

#include <string>
#include <vector>

#include "columns/feature_column.h"

namespace runhooks {

// A dense column whose elements fall into a few buckets. Trees can split on the buckets, so the
// elements need no binning.
class BucketedColumn {
 public:
  virtual ~BucketedColumn() = default;
  virtual int64_t buckets() const = 0;   // buckets of each element
  virtual int64_t elements() const = 0;  // elements of each example
  // Returns true if the elements are indicators of the buckets of a categorical column.
  virtual bool is_multi_hot() const = 0;
  // Returns the bucket of each element: int32 [batch, elements].
  virtual Output bucket_tensor(TransformationCache& cache) const = 0;
  // Returns the name of the feature in reports: "age_bucketized", or the name of the categorical
  // column.
  virtual std::string feature_name() const = 0;
  // Returns the boundaries between the buckets; empty for categorical data.
  virtual std::vector<float> edges() const { return {}; }
  // Returns the label of an element in reports, such as an entry of the vocabulary.
  virtual std::string element_name(int64_t element) const { return str_cat(element); }
};

// A categorical column with labels for its buckets.
class NamedBuckets {
 public:
  virtual ~NamedBuckets() = default;
  // Returns the label of a bucket; "" if the bucket has no label.
  virtual std::string bucket_name(int64_t bucket) const = 0;
};

}  // namespace runhooks
