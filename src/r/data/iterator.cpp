#include "base/interrupt.h"
#include "data/dataset.h"
#include "r/data/input.h"
#include "r/graph/graph_closure.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

SEXP component_to_r(const Tensor& component) {
  if (component.dtype() != DType::kVariant) return tensor_to_r(component);
  return make_handle<CoreObject>(std::static_pointer_cast<Dataset>(component.object()),
                                 kCoreObject);
}

// Returns a pairlist of the arguments that are handles of datasets or functions, or lists.
SEXP handles_in(SEXP args) {
  Rcpp::Shield<SEXP> cells(Rf_cons(R_NilValue, R_NilValue));
  for (R_xlen_t i = 0; i < Rf_xlength(args); ++i) {
    SEXP arg = VECTOR_ELT(args, i);
    // Keeps lists, because a list may contain datasets.
    if (is_handle(arg, kCoreObject) || TYPEOF(arg) == VECSXP)
      SETCDR(cells, Rf_cons(arg, CDR(cells)));
  }
  return CDR(cells);
}

class SaveableObject : public CoreObject {
 public:
  explicit SaveableObject(SaveablePtr saveable) : saveable_(std::move(saveable)) {}
  const char* kind() const override { return "a saveable object"; }
  const SaveablePtr& saveable() const { return saveable_; }

 private:
  SaveablePtr saveable_;
};

}  // namespace

namespace runhooks {
namespace r {

std::shared_ptr<const Dataset> dataset_from_r(SEXP handle) {
  auto dataset =
      std::dynamic_pointer_cast<const Dataset>(from_handle<CoreObject>(handle, kCoreObject));
  if (!dataset) invalid_argument("A dataset is expected.");
  return dataset;
}

std::vector<DType> dtypes_from_r(const Texts& names) {
  std::vector<DType> dtypes;
  for (const std::string& name : names) {
    dtypes.push_back(dtype_from_name(name));
    if (dtypes.back() == DType::kInvalid) invalid_argument("'", name, "' is not a data type.");
  }
  return dtypes;
}

std::vector<Shape> shapes_from_r(SEXP list) {
  std::vector<Shape> shapes;
  const RList shape_list(list, "the shapes of elements");
  for (R_xlen_t i = 0; i < shape_list.size(); ++i) shapes.push_back(shape_from_r(shape_list[i]));
  return shapes;
}

SEXP dataset_handle(const std::shared_ptr<Dataset>& dataset, SEXP inputs) {
  Rcpp::Shield<SEXP> handle(make_handle<CoreObject>(dataset, kCoreObject));
  const std::vector<Output> free_tensors = dataset->free_tensors();
  const auto n = static_cast<R_xlen_t>(free_tensors.size());
  Rcpp::Shield<SEXP> graphs(allocate_vector(VECSXP, n + 1));
  SET_VECTOR_ELT(graphs, n, inputs);
  for (size_t i = 0; i < free_tensors.size(); ++i) {
    SET_VECTOR_ELT(graphs, static_cast<R_xlen_t>(i),
                   graph_handle(free_tensors[i].graph().shared_from_this()));
  }
  R_SetExternalPtrProtected(handle, graphs);
  return handle;
}

SaveablePtr saveable_of(SEXP x) {
  if (!is_handle(x, kCoreObject)) return nullptr;
  const auto object =
      std::dynamic_pointer_cast<SaveableObject>(from_handle<CoreObject>(x, kCoreObject));
  return object ? object->saveable() : nullptr;
}

}  // namespace r
}  // namespace runhooks

// [[Rcpp::export(rng = false)]]
SEXP cpp_iterator_saveable(SEXP iterator, Text on_other_data) {
  return guarded_entry([&]() -> SEXP {
    return make_handle<CoreObject>(
        std::make_shared<SaveableObject>(make_saveable_from_iterator(
            tensor_of(iterator), resume_mismatch_from_name(on_other_data))),
        kCoreObject);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_dataset(Text type, SEXP args, Text owner) {
  return guarded_entry([&]() -> SEXP {
    const auto dataset = make_dataset(type, *args_from_r(args, owner));
    Rcpp::Shield<SEXP> inputs(handles_in(args));
    return dataset_handle(dataset, inputs);
  });
}

// Returns the description of a dataset, and the types and shapes of its components.
// [[Rcpp::export(rng = false)]]
SEXP cpp_dataset_info(SEXP handle) {
  return guarded_entry([&]() -> SEXP {
    const auto dataset = dataset_from_r(handle);
    std::vector<std::string> dtypes, shapes;
    Rcpp::List dims;
    for (const DType dtype : dataset->dtypes()) dtypes.push_back(dtype_name(dtype));
    for (const Shape& shape : dataset->shapes()) {
      shapes.push_back(shape.to_string());
      dims.push_back(shape_to_r(shape));
    }
    return Rcpp::List::create(Rcpp::_["description"] = dataset->description(),
                              Rcpp::_["dtypes"] = dtypes, Rcpp::_["shapes"] = shapes,
                              Rcpp::_["dims"] = dims, Rcpp::_["is_endless"] = dataset->is_endless(),
                              Rcpp::_["is_part"] = dataset->is_part());
  });
}

// Returns the part of the files that reader number `reader` of `readers` reads; NULL if the dataset
// cannot be divided by file.
// [[Rcpp::export(rng = false)]]
SEXP cpp_dataset_shard_by_file(SEXP handle, int readers, int reader) {
  return guarded_entry([&]() -> SEXP {
    const auto shard = dataset_from_r(handle)->shard_by_file(readers, reader);
    return shard ? dataset_handle(std::const_pointer_cast<Dataset>(shard), handle) : R_NilValue;
  });
}

// [[Rcpp::export(rng = false)]]
bool cpp_dataset_is_constant(SEXP handle) {
  return guarded_entry([&] { return has_constants_only(*dataset_from_r(handle)); });
}

// Returns the number of elements; -1 if it is infinite, -2 if it is unknown.
// [[Rcpp::export(rng = false)]]
double cpp_dataset_cardinality(SEXP handle) {
  return guarded_entry([&] {
    const auto dataset = dataset_from_r(handle);
    const bool is_known = has_constants_only(*dataset);
    return static_cast<double>(is_known ? with_constants(dataset)->cardinality()
                                        : kUnknownCardinality);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_dataset_collect(SEXP handle, double n) {
  return guarded_entry([&]() -> SEXP {
    IteratorContext context(*default_graph());
    const auto iterator = with_constants(dataset_from_r(handle))->iterator(context);
    std::vector<Preserved> elements;
    ComponentsSink sink;
    while (static_cast<double>(elements.size()) < n && iterator->next(sink)) {
      check_interrupt();
      const Components components = sink.take();
      Rcpp::Shield<SEXP> element(allocate_vector(VECSXP, static_cast<R_xlen_t>(components.size())));
      for (size_t i = 0; i < components.size(); ++i) {
        SET_VECTOR_ELT(element, static_cast<R_xlen_t>(i), component_to_r(components[i]));
      }
      elements.emplace_back(element);
    }
    return preserved_to_r(elements);
  });
}

// Adds an iterator to the default graph; `dataset` is NULL for a reinitializable iterator.
// [[Rcpp::export(rng = false)]]
SEXP cpp_iterator(SEXP dataset, Texts dtypes, SEXP shapes) {
  return guarded_entry([&]() -> SEXP {
    const auto source = dataset == R_NilValue ? nullptr : dataset_from_r(dataset);
    Graph& graph = *default_graph();
    Rcpp::Shield<SEXP> handle(tensor_handle(
        make_iterator_op(graph, dtypes_from_r(dtypes), shapes_from_r(shapes), source)));
    if (source) preserve_with_graph(graph, dataset);
    return handle;
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_iterator_initializer(SEXP iterator, SEXP dataset, Text name) {
  return guarded_entry([&]() -> SEXP {
    Operation* op = make_iterator_initializer(tensor_of(iterator), dataset_from_r(dataset), name);
    preserve_with_graph(op->graph(), dataset);
    return operation_handle(op);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_iterator_get_next(SEXP iterator, Text name) {
  return guarded_entry(
      [&]() -> SEXP { return tensors_to_r(iterator_get_next(tensor_of(iterator), name)); });
}
