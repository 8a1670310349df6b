#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "base/parallel_for.h"
#include "base/random.h"
#include "data/in_memory.h"
#include "data/resumable_input.h"
#include "estimators/replicas/replica_graph.h"
#include "estimators/replicas/replica_saveable.h"
#include "graph/endpoints.h"
#include "nn/replicas.h"
#include "r/data/input.h"
#include "r/graph/handle_methods.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

// Returns a seed from R's generator, so that set.seed() makes shuffling reproducible. In
// distributed training, returns the process's own seed, so that processes shuffle differently.
uint64_t shuffle_seed(const Graph& graph) {
  if (const ReplicaScope* replicas = ReplicaScope::of(graph)) {
    return static_cast<uint64_t>(seed_of_process(*replicas));
  }
  return graph.has_seed() ? static_cast<uint64_t>(graph.seed()) : fresh_seed();
}

// Whether all absolute values are below the limit; false for NaN. The bits of absolute values have
// the same order as the values, which allows a loop without branches.
bool all_below_limit(const double* values, int64_t n, double limit) {
  int64_t limit_bits;
  std::memcpy(&limit_bits, &limit, sizeof(limit_bits));
  std::atomic<bool> found{false};
  parallel_for_range(n, [&](int64_t first, int64_t count) {
    if (found.load(std::memory_order_relaxed)) return;
    int64_t beyond = 0;  // negative after a value at or above the limit
    for (int64_t i = first; i < first + count; ++i) {
      int64_t bits;
      std::memcpy(&bits, values + i, sizeof(bits));
      beyond |= limit_bits - 1 - (bits & INT64_MAX);
    }
    if (beyond < 0) found = true;
  });
  return !found;
}

// Whether all absolute values are below the limit. False for NA in integers and logicals, too.
bool is_below(SEXP x, double limit) {
  const R_xlen_t n = Rf_xlength(x);
  if (TYPEOF(x) == REALSXP) return all_below_limit(REAL(x), n, limit);
  if (TYPEOF(x) != LGLSXP && TYPEOF(x) != INTSXP) {
    invalid_argument("Numbers or logicals are expected, not ", Rf_type2char(TYPEOF(x)), ".");
  }
  const int* values = TYPEOF(x) == LGLSXP ? LOGICAL(x) : INTEGER(x);
  return std::find(values, values + n, NA_INTEGER) == values + n;
}

// Throws if the slots of a sparse matrix (dgCMatrix) are inconsistent, for example because the
// matrix was built by hand.
void check_columns(const Rcpp::IntegerVector& dim,
                   const Rcpp::IntegerVector& start,
                   const Rcpp::IntegerVector& row,
                   const Rcpp::NumericVector& value) {
  bool is_valid = dim.size() == 2 && dim[0] >= 0 && dim[1] >= 0 && row.size() == value.size();
  is_valid = is_valid && start.size() == static_cast<R_xlen_t>(dim[1]) + 1 && start[0] == 0 &&
             start[start.size() - 1] == row.size() && std::is_sorted(start.begin(), start.end());
  is_valid =
      is_valid && std::all_of(row.begin(), row.end(), [&](int r) { return r >= 0 && r < dim[0]; });
  if (!is_valid) invalid_argument("A sparse matrix of class dgCMatrix is not valid.");
}

std::shared_ptr<const SparseRows> sparse_rows_from_r(SEXP x) {
  const Rcpp::S4 matrix(x);
  const Rcpp::IntegerVector dim = matrix.slot("Dim"), row = matrix.slot("i"),
                            start = matrix.slot("p");
  const Rcpp::NumericVector value = matrix.slot("x");
  check_columns(dim, start, row, value);
  const auto result = std::make_shared<SparseRows>();
  SparseRows& rows = *result;
  rows.width = dim[1];
  rows.starts.assign(static_cast<size_t>(dim[0]) + 1, 0);
  for (const int r : row) ++rows.starts[static_cast<size_t>(r) + 1];
  for (size_t r = 1; r < rows.starts.size(); ++r) rows.starts[r] += rows.starts[r - 1];
  rows.columns.resize(static_cast<size_t>(row.size()));
  rows.values.resize(static_cast<size_t>(row.size()));
  std::vector<int64_t> next(rows.starts.begin(), rows.starts.end() - 1);
  for (int column = 0; column < dim[1]; ++column) {
    for (int k = start[column]; k < start[column + 1]; ++k) {
      const auto position = static_cast<size_t>(next[static_cast<size_t>(row[k])]++);
      rows.columns[position] = column;
      rows.values[position] = value[k];
    }
  }
  return result;
}

DType requested_dtype(SEXP dtypes, R_xlen_t i) {
  if (TYPEOF(dtypes) != STRSXP || i >= Rf_xlength(dtypes)) {
    invalid_argument("Each column of a dataset needs the name of a type, or NA.");
  }
  SEXP name = STRING_ELT(dtypes, i);
  return name == NA_STRING ? DType::kInvalid : dtype_from_name(utf8_of(name));
}

}  // namespace

namespace runhooks {
namespace r {

InMemoryColumn in_memory_column_from_r(SEXP x, DType requested) {
  if (Rf_inherits(x, "dgCMatrix")) return InMemoryColumn(sparse_rows_from_r(x));
  return InMemoryColumn(rows_from_r(x, requested));
}

}  // namespace r
}  // namespace runhooks

namespace {

std::vector<InMemoryColumn> columns_of_batches(const RList& list, SEXP dtypes, int64_t batch_size) {
  std::vector<DType> dtypes_by_column;
  for (R_xlen_t i = 0; i < list.size(); ++i) dtypes_by_column.push_back(requested_dtype(dtypes, i));
  const auto views = large_rows_in_place(list, dtypes_by_column, batch_size);
  std::vector<InMemoryColumn> columns;
  for (size_t i = 0; i < dtypes_by_column.size(); ++i) {
    columns.push_back(
        views[i] ? InMemoryColumn(views[i])
                 : in_memory_column_from_r(list[static_cast<R_xlen_t>(i)], dtypes_by_column[i]));
  }
  return columns;
}

SEXP all_below(SEXP columns, double limit) {
  const RList list(columns, "the columns of data");
  Rcpp::LogicalVector result(list.size());
  for (R_xlen_t i = 0; i < list.size(); ++i) result[i] = is_below(list[i], limit);
  return result;
}

}  // namespace

// Returns for each vector whether all its values are finite. Unlike is.finite(), allocates no
// logical vector.
// [[Rcpp::export(rng = false)]]
SEXP cpp_all_finite(SEXP columns) {
  return guarded_entry(
      [&]() -> SEXP { return all_below(columns, std::numeric_limits<double>::infinity()); });
}

// Like cpp_all_finite(), but values that become infinite in float32 do not count as finite either.
// [[Rcpp::export(rng = false)]]
SEXP cpp_all_float32(SEXP columns) {
  return guarded_entry([&]() -> SEXP { return all_below(columns, 0x1.ffffffp127); });
}

// Returns tensors of the default graph. `dtypes` has a type name or NA for each column. A negative
// `seed` selects shuffle_seed(). With `on_other_data`, checkpoints save the position of the input.
// `reader` is list(rank, size) of the shard to read. `records_fingerprint` adds a fingerprint of
// the data as an attribute. `internal_only` means that users never see the tensors.
// [[Rcpp::export(rng = false)]]
SEXP cpp_next_batch(SEXP columns,
                    SEXP dtypes,
                    double batch_size,
                    double num_epochs,
                    bool shuffle,
                    double seed,
                    SEXP on_other_data = R_NilValue,
                    bool records_fingerprint = false,
                    SEXP reader = R_NilValue,
                    bool internal_only = false) {
  return guarded_entry([&]() -> SEXP {
    const SuppressMethodRegistration no_methods(internal_only);
    InMemoryOptions options;
    options.batch_size = whole_from_r(batch_size, "`batch_size`");
    const RList column_list(columns, "the columns of a dataset");
    std::vector<InMemoryColumn> rows = columns_of_batches(column_list, dtypes, options.batch_size);
    options.num_epochs = whole_from_r(num_epochs, "`num_epochs`");
    options.shuffle = shuffle;
    options.seed = seed < 0 ? shuffle_seed(*default_graph())
                            : static_cast<uint64_t>(whole_from_r(seed, "`seed`"));
    for (R_xlen_t i = 0; column_list.has_names() && i < column_list.size(); ++i) {
      options.names.push_back(column_list.name(i));
    }
    if (reader != R_NilValue) {
      const RList rank_and_size(reader, "a reader");
      options.reader = whole_from_r(Rcpp::as<double>(rank_and_size[0]), "`rank`");
      options.readers = whole_from_r(Rcpp::as<double>(rank_and_size[1]), "`size`");
    }
    const int64_t num_rows = rows.empty() ? 0 : rows[0].shape().dim(0);
    const std::vector<Output> outputs =
        next_element(*default_graph(), in_memory_dataset(std::move(rows), options));
    add_endpoint(*default_graph(), "rows_in_memory", "", outputs[0]);
    const bool is_single_batch = options.batch_size > num_rows && options.num_epochs == 1;
    if (options.readers == 1 && (options.batch_size == num_rows || is_single_batch)) {
      add_endpoint(*default_graph(), "all_rows", "", outputs[0]);
      if (!shuffle) add_endpoint(*default_graph(), "same_rows", "", outputs[0]);
    }
    if (on_other_data != R_NilValue) {
      const SaveablePtr position =
          make_resumable_input(outputs[0].op->input(0), num_rows, options.num_epochs,
                               resume_mismatch_from_name(string_from_r(on_other_data)));
      default_graph()->add_to_collection(collection_keys::kSaveableObjects,
                                         input_of_replica(position, replicas_of(*default_graph())));
    }
    Rcpp::List list(tensors_to_r(outputs));
    if (records_fingerprint) list.attr("content") = fingerprint_of_columns(columns);
    return list;
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_tensors_dataset(Text type, SEXP columns, SEXP dtypes, Text owner) {
  return guarded_entry([&]() -> SEXP {
    const bool has_rows = type == "TensorSliceDataset";
    const auto components = std::make_shared<ValueList>();
    const RList list(columns, "the tensors of a dataset");
    for (R_xlen_t i = 0; i < list.size(); ++i) {
      const DType requested = requested_dtype(dtypes, i);
      if (is_tensor(list[i]) || is_variable(list[i])) {
        components->push_back(
            Value::of(is_tensor(list[i]) ? tensor_of(list[i]) : variable_of(list[i])->snapshot));
        continue;
      }
      if (!has_rows) {
        components->push_back(Value::of(tensor_from_r(list[i], requested)));
        continue;
      }
      const InMemoryColumn column = in_memory_column_from_r(list[i], requested);
      if (column.sparse) {
        components->push_back(Value::of(
            std::shared_ptr<CoreObject>(std::const_pointer_cast<SparseRows>(column.sparse))));
      } else {
        components->push_back(Value::of(column.tensor));
      }
    }
    Args args(owner);
    args.set("components", Value::of(components));
    return dataset_handle(make_dataset(type, args));
  });
}
