// BucketedColumn: interface of dense columns with few distinct values, on which trees split.
#pragma once

#include <string>
#include <vector>

#include "columns/feature_column.h"

namespace runhooks {

// A dense column whose elements each fall into one of a few buckets, so trees can split on them
// without binning.
class BucketedColumn {
 public:
  virtual ~BucketedColumn() = default;
  virtual int64_t buckets() const = 0;  // per element
  virtual int64_t elements() const = 0;  // per example
  // True if each element says whether a vocabulary entry is present.
  virtual bool is_multi_hot() const = 0;
  // Returns int32 [batch, elements].
  virtual Output bucket_tensor(TransformationCache& cache) const = 0;
  // Base name of the elements in reports, e.g. "age_bucketized" or the categorical column's key.
  virtual std::string feature_name() const = 0;
  // Boundaries between the buckets; empty for categorical data.
  virtual std::vector<float> edges() const { return {}; }
  // Label of an element in reports, e.g. the vocabulary entry.
  virtual std::string element_name(int64_t element) const { return str_cat(element); }
};

// A categorical column that has a label for each bucket.
class NamedBuckets {
 public:
  virtual ~NamedBuckets() = default;
  // "" if the bucket has no label.
  virtual std::string bucket_name(int64_t bucket) const = 0;
};

}  // namespace runhooks
