// R data as datasets.
#include "data/in_memory.h"
#include "runhooks_r.h"

using namespace runhooks;
using namespace runhooks::r;

// The next batch of rows of `columns` (vectors, matrices or arrays of which the first dimension
// counts the rows), as a list of tensors in the default graph. `dtypes` holds a type's name or NA
// for each.
// [[Rcpp::export(rng = false)]]
SEXP cpp_next_batch(
    SEXP columns, SEXP dtypes, double batch_size, double num_epochs, bool shuffle, double seed) {
  return border([&]() -> SEXP {
    std::vector<Tensor> tensors;
    for (R_xlen_t i = 0; i < Rf_xlength(columns); ++i) {
      SEXP name = STRING_ELT(dtypes, i);
      const DType wanted = name == NA_STRING ? DType::kInvalid : dtype_from_name(CHAR(name));
      tensors.push_back(rows_from_r(VECTOR_ELT(columns, i), wanted));
    }
    InMemoryOptions options;
    options.batch_size = static_cast<int64_t>(batch_size);
    options.num_epochs = static_cast<int64_t>(num_epochs);
    options.shuffle = shuffle;
    options.seed = static_cast<uint64_t>(seed);
    const std::vector<Output> outputs =
        next_element(*default_graph(), in_memory_dataset(std::move(tensors), options));
    Rcpp::List list(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) list[i] = tensor_handle(outputs[i]);
    return list;
  });
}
