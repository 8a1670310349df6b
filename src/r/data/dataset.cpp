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

// A seed from R's generator makes set.seed() work. Each process shuffles its own rows differently.
uint64_t shuffle_seed(const Graph& graph) {
  if (const ReplicaScope* replicas = ReplicaScope::of(graph)) {
    return static_cast<uint64_t>(seed_of_process(*replicas));
  }
  return graph.has_seed() ? static_cast<uint64_t>(graph.seed()) : fresh_seed();
}

// False for NaN. Bit patterns are ordered like absolute values, which allows a branch-free loop.
bool are_below(const double* values, int64_t n, double limit) {
  int64_t most;
  std::memcpy(&most, &limit, sizeof(most));
  std::atomic<bool> found{false};
  parallel_for_range(n, [&](int64_t first, int64_t count) {
    if (found.load(std::memory_order_relaxed)) return;
    int64_t beyond = 0;  // negative after a value at or above the limit
    for (int64_t i = first; i < first + count; ++i) {
      int64_t bits;
      std::memcpy(&bits, values + i, sizeof(bits));
      beyond |= most - 1 - (bits & INT64_MAX);
    }
    if (beyond < 0) found = true;
  });
  return !found;
}

bool is_below(SEXP x, double limit) {
  const R_xlen_t n = Rf_xlength(x);
  if (TYPEOF(x) == REALSXP) return are_below(REAL(x), n, limit);
  if (TYPEOF(x) != LGLSXP && TYPEOF(x) != INTSXP) {
    invalid_argument("Numbers or logicals are expected, not ", Rf_type2char(TYPEOF(x)), ".");
  }
  const int* values = TYPEOF(x) == LGLSXP ? LOGICAL(x) : INTEGER(x);
  return std::find(values, values + n, NA_INTEGER) == values + n;
}

// A matrix from a file or built by hand may violate the invariants of its class.
void check_columns(const Rcpp::IntegerVector& dim,
                   const Rcpp::IntegerVector& start,
                   const Rcpp::IntegerVector& row,
                   const Rcpp::NumericVector& value) {
  bool good = dim.size() == 2 && dim[0] >= 0 && dim[1] >= 0 && row.size() == value.size();
  good = good && start.size() == static_cast<R_xlen_t>(dim[1]) + 1 && start[0] == 0 &&
         start[start.size() - 1] == row.size() && std::is_sorted(start.begin(), start.end());
  good = good && std::all_of(row.begin(), row.end(), [&](int r) { return r >= 0 && r < dim[0]; });
  if (!good) invalid_argument("A sparse matrix of class dgCMatrix is not valid.");
}

std::shared_ptr<const SparseRows> sparse_rows_from_r(SEXP x) {
  const Rcpp::S4 matrix(x);
  const Rcpp::IntegerVector dim = matrix.slot("Dim"), row = matrix.slot("i"),
                            start = matrix.slot("p");
  const Rcpp::NumericVector value = matrix.slot("x");
  check_columns(dim, start, row, value);
  const auto made = std::make_shared<SparseRows>();
  SparseRows& rows = *made;
  rows.width = dim[1];
  rows.starts.assign(static_cast<size_t>(dim[0]) + 1, 0);
  for (const int r : row) ++rows.starts[static_cast<size_t>(r) + 1];
  for (size_t r = 1; r < rows.starts.size(); ++r) rows.starts[r] += rows.starts[r - 1];
  rows.columns.resize(static_cast<size_t>(row.size()));
  rows.values.resize(static_cast<size_t>(row.size()));
  std::vector<int64_t> next(rows.starts.begin(), rows.starts.end() - 1);
  for (int column = 0; column < dim[1]; ++column) {
    for (int k = start[column]; k < start[column + 1]; ++k) {
      const auto place = static_cast<size_t>(next[static_cast<size_t>(row[k])]++);
      rows.columns[place] = column;
      rows.values[place] = value[k];
    }
  }
  return made;
}

DType wanted_type(SEXP dtypes, R_xlen_t i) {
  if (TYPEOF(dtypes) != STRSXP || i >= Rf_xlength(dtypes)) {
    invalid_argument("Each column of a dataset needs the name of a type, or NA.");
  }
  SEXP name = STRING_ELT(dtypes, i);
  return name == NA_STRING ? DType::kInvalid : dtype_from_name(utf8_of(name));
}

}  // namespace

namespace runhooks {
namespace r {

InMemoryColumn in_memory_column_from_r(SEXP x, DType wanted) {
  if (Rf_inherits(x, "dgCMatrix")) return InMemoryColumn(sparse_rows_from_r(x));
  return InMemoryColumn(rows_from_r(x, wanted));
}

}  // namespace r
}  // namespace runhooks

namespace {

std::vector<InMemoryColumn> columns_of_batches(const RList& given,
                                               SEXP dtypes,
                                               int64_t batch_size) {
  std::vector<DType> wanted;
  for (R_xlen_t i = 0; i < given.size(); ++i) wanted.push_back(wanted_type(dtypes, i));
  const auto in_place = large_rows_in_place(given, wanted, batch_size);
  std::vector<InMemoryColumn> columns;
  for (size_t i = 0; i < wanted.size(); ++i) {
    columns.push_back(in_place[i]
                          ? InMemoryColumn(in_place[i])
                          : in_memory_column_from_r(given[static_cast<R_xlen_t>(i)], wanted[i]));
  }
  return columns;
}

SEXP all_below(SEXP columns, double limit) {
  const RList given(columns, "the columns of data");
  Rcpp::LogicalVector are(given.size());
  for (R_xlen_t i = 0; i < given.size(); ++i) are[i] = is_below(given[i], limit);
  return are;
}

}  // namespace

// Whether all values of each vector are finite. Unlike is.finite(), allocates no logical vector.
// [[Rcpp::export(rng = false)]]
SEXP cpp_all_finite(SEXP columns) {
  return guarded_entry([&]() -> SEXP {
    return all_below(columns, std::numeric_limits<double>::infinity());
  });
}

// The same, but values that are infinite in float32 are not finite either.
// [[Rcpp::export(rng = false)]]
SEXP cpp_all_float32(SEXP columns) {
  return guarded_entry([&]() -> SEXP { return all_below(columns, 0x1.ffffffp127); });
}

// Returns tensors of the default graph. `dtypes` has a type name or NA for each column. A `seed`
// below 0 uses shuffle_seed(). With `on_other_data`, checkpoints save the position. `reader`:
// list(rank, size). `says_content` adds a fingerprint. `internal_only`: users never see the
// tensors.
// [[Rcpp::export(rng = false)]]
SEXP cpp_next_batch(SEXP columns,
                    SEXP dtypes,
                    double batch_size,
                    double num_epochs,
                    bool shuffle,
                    double seed,
                    SEXP on_other_data = R_NilValue,
                    bool says_content = false,
                    SEXP reader = R_NilValue,
                    bool internal_only = false) {
  return guarded_entry([&]() -> SEXP {
    const SuppressMethodRegistration handles(internal_only);
    InMemoryOptions options;
    options.batch_size = whole_from_r(batch_size, "`batch_size`");
    const RList given(columns, "the columns of a dataset");
    std::vector<InMemoryColumn> rows = columns_of_batches(given, dtypes, options.batch_size);
    options.num_epochs = whole_from_r(num_epochs, "`num_epochs`");
    options.shuffle = shuffle;
    options.seed = seed < 0 ? shuffle_seed(*default_graph())
                            : static_cast<uint64_t>(whole_from_r(seed, "`seed`"));
    for (R_xlen_t i = 0; given.has_names() && i < given.size(); ++i) {
      options.names.push_back(given.name(i));
    }
    if (reader != R_NilValue) {
      const RList which(reader, "a reader");
      options.reader = whole_from_r(Rcpp::as<double>(which[0]), "`rank`");
      options.readers = whole_from_r(Rcpp::as<double>(which[1]), "`size`");
    }
    const int64_t num_rows = rows.empty() ? 0 : rows[0].shape().dim(0);
    const std::vector<Output> outputs =
        next_element(*default_graph(), in_memory_dataset(std::move(rows), options));
    add_endpoint(*default_graph(), "rows_in_memory", "", outputs[0]);
    const bool is_one = options.batch_size > num_rows && options.num_epochs == 1;
    if (options.readers == 1 && (options.batch_size == num_rows || is_one)) {
      add_endpoint(*default_graph(), "all_rows", "", outputs[0]);
      if (!shuffle) add_endpoint(*default_graph(), "same_rows", "", outputs[0]);
    }
    if (on_other_data != R_NilValue) {
      const SaveablePtr position =
          make_resumable_input(outputs[0].op->input(0), num_rows, options.num_epochs,
                               on_other_data_from_name(string_from_r(on_other_data)));
      default_graph()->add_to_collection(
          collection_keys::kSaveableObjects,
          input_of_replica(position, replicas_of(*default_graph())));
    }
    Rcpp::List list(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) list[i] = tensor_handle(outputs[i]);
    if (says_content) list.attr("content") = content_of_columns(columns);
    return list;
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_tensors_dataset(Text type, SEXP columns, SEXP dtypes, Text owner) {
  return guarded_entry([&]() -> SEXP {
    const bool has_rows = type == "TensorSliceDataset";
    const auto components = std::make_shared<ValueList>();
    const RList given(columns, "the tensors of a dataset");
    for (R_xlen_t i = 0; i < given.size(); ++i) {
      const DType wanted = wanted_type(dtypes, i);
      if (is_tensor(given[i]) || is_variable(given[i])) {
        components->push_back(
            Value::of(is_tensor(given[i]) ? tensor_of(given[i]) : variable_of(given[i])->snapshot));
        continue;
      }
      if (!has_rows) {
        components->push_back(Value::of(tensor_from_r(given[i], wanted)));
        continue;
      }
      const InMemoryColumn column = in_memory_column_from_r(given[i], wanted);
      if (column.sparse) {
        components->push_back(
            Value::of(std::shared_ptr<CoreObject>(std::const_pointer_cast<SparseRows>(column.sparse))));
      } else {
        components->push_back(Value::of(column.tensor));
      }
    }
    Args args(owner);
    args.set("components", Value::of(components));
    return dataset_handle(make_dataset(type, args));
  });
}
