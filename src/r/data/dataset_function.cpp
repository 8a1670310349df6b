#include "data/dataset_function.h"

#include <thread>

#include "base/deferred_errors.h"
#include "data/element_source.h"
#include "r/data/input.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

SEXP call_builder(SEXP builder,
                  const Dataset& input,
                  Graph& graph,
                  const std::vector<Output>& args) {
  const DefaultGraph scope(graph.shared_from_this());
  const std::vector<DType> dtypes = input.dtypes();
  Rcpp::Shield<SEXP> components(allocate_vector(VECSXP, static_cast<R_xlen_t>(dtypes.size())));
  for (size_t k = 0, in_graph = 0; k < dtypes.size(); ++k) {
    const auto index = static_cast<R_xlen_t>(k);
    if (dtypes[k] == DType::kVariant) {
      SET_VECTOR_ELT(
          components, index,
          make_handle<CoreObject>(argument_dataset(graph, k, input.inner(k)), kCoreObject));
    } else {
      SET_VECTOR_ELT(components, index, tensor_handle(args[in_graph++]));
    }
  }
  return call_r_function(builder, {components});
}

SEXP require_alive(const EphemeronValue& value, const char* name) {
  SEXP object = value.get();
  if (object == R_NilValue) {
    fail(Code::kFailedPrecondition, "R has garbage-collected ", name,
         " of a dataset that is still in use.");
  }
  return object;
}

// A stream that calls R closures: `draw` returns an element (a list; NULL at the end), `rewind`,
// `save` and `restore`. The optional `close` releases the resources of the stream.
class RStream : public ElementStream {
 public:
  RStream(SEXP source, SEXP closures, std::vector<DType> dtypes)
      : closures_(source, closures), dtypes_(std::move(dtypes)) {}
  ~RStream() override {
    SEXP closures = closures_.get();
    if (closures == R_NilValue || std::this_thread::get_id() != opened_by_) return;
    SEXP close = list_element(closures, "close");
    if (close == R_NilValue) return;
    try {
      const DeferErrorsScope deferred;
      call_r_function(close);
    } catch (const std::exception&) {  // destructors must not throw
    }
  }

  bool next(int64_t number, Components& element) override {
    Rcpp::Shield<SEXP> n(Rf_ScalarReal(static_cast<double>(number + 1)));
    Rcpp::Shield<SEXP> result(call_r_function(closure("draw"), {n}));
    if (result == R_NilValue) return false;
    const RList components(result, "an element of a generator");
    if (static_cast<size_t>(components.size()) != dtypes_.size()) {
      invalid_argument("Element ", number + 1, " of a generator has ",
                       static_cast<int64_t>(components.size()), " components instead of ",
                       static_cast<int64_t>(dtypes_.size()), ".");
    }
    for (R_xlen_t i = 0; i < components.size(); ++i) {
      element.push_back(tensor_from_r(components[i], dtypes_[static_cast<size_t>(i)]));
    }
    return true;
  }
  void rewind() override { call_r_function(closure("rewind")); }
  NamedTensors save() const override {
    Rcpp::Shield<SEXP> state(call_r_function(closure("save")));
    return {{"state", Tensor::string_scalar(
                          write_plain_data(plain_from_r(state, "A generator's state", "state")))}};
  }
  void restore(const NamedTensors& state) override {
    Rcpp::Shield<SEXP> value(
        plain_to_r(read_plain_data(state_string(state, "state"), "the state of a generator")));
    call_r_function(closure("restore"), {value});
  }

 private:
  SEXP closure(const char* name) const {
    return list_element(require_alive(closures_, "the generator's stream"), name);
  }

  const std::thread::id opened_by_ = std::this_thread::get_id();  // R's main thread
  EphemeronValue closures_;                                       // owned by the source
  std::vector<DType> dtypes_;
};

// A source whose open() calls an R closure, which returns the closures of a new stream.
class RSource : public ElementSource {
 public:
  RSource(std::vector<DType> dtypes, std::vector<Shape> shapes, std::string declared)
      : dtypes_(std::move(dtypes)), shapes_(std::move(shapes)), declared_(std::move(declared)) {}
  // `handle`: the R handle of this source, which the handles of its datasets protect.
  void set_open(SEXP handle, SEXP open) { open_ = std::make_unique<EphemeronValue>(handle, open); }
  std::vector<DType> dtypes() const override { return dtypes_; }
  std::vector<Shape> shapes() const override { return shapes_; }
  const std::string& declared_schema() const override { return declared_; }
  std::unique_ptr<ElementStream> open() override {
    Rcpp::Shield<SEXP> closures(call_r_function(require_alive(*open_, "the generator")));
    return std::make_unique<RStream>(open_->owner(), closures, dtypes_);
  }

 private:
  std::unique_ptr<EphemeronValue> open_;
  std::vector<DType> dtypes_;
  std::vector<Shape> shapes_;
  std::string declared_;
};

}  // namespace

// Makes a function of the elements of `dataset`. The R function `builder` is called once, with the
// components of an element as tensors, and returns a list of tensors.
// [[Rcpp::export(rng = false)]]
SEXP cpp_dataset_function(SEXP dataset, SEXP builder) {
  return guarded_entry([&]() -> SEXP {
    const auto input = dataset_from_r(dataset);
    Preserved object;  // the R object of the graph, which owns the R functions in it
    const auto function = DatasetFunction::make(
        input->dtypes(), input->shapes(),
        [&](Graph& graph, const std::vector<Output>& args) {
          object.reset(graph_handle(graph.shared_from_this()));
          Rcpp::Shield<SEXP> tensors(call_builder(builder, *input, graph, args));
          return tensors_from_r(tensors, "the results of a function");
        },
        default_graph().get());
    Rcpp::Shield<SEXP> handle(
        make_handle<CoreObject>(std::const_pointer_cast<DatasetFunction>(function), kCoreObject));
    R_SetExternalPtrProtected(handle, object.get());
    return handle;
  });
}

// Like cpp_dataset_function(), for a `builder` that returns a dataset.
// [[Rcpp::export(rng = false)]]
SEXP cpp_dataset_valued_function(SEXP dataset, SEXP builder) {
  return guarded_entry([&]() -> SEXP {
    const auto input = dataset_from_r(dataset);
    std::shared_ptr<const Dataset> pattern;
    Preserved object, inner;  // the R objects of the graph and of the closure's dataset
    const auto function = DatasetFunction::make(
        input->dtypes(), input->shapes(),
        [&](Graph& graph, const std::vector<Output>& args) {
          object.reset(graph_handle(graph.shared_from_this()));
          Rcpp::Shield<SEXP> result(call_builder(builder, *input, graph, args));
          pattern = dataset_from_r(result);
          inner.reset(result);
          return pattern->free_tensors();
        },
        default_graph().get());
    Rcpp::Shield<SEXP> handle(make_handle<CoreObject>(
        std::make_shared<DatasetValuedFunction>(function, pattern), kCoreObject));
    Rcpp::Shield<SEXP> owned(Rf_cons(object.get(), inner.get()));
    R_SetExternalPtrProtected(handle, owned);
    return handle;
  });
}

// Makes a dataset that R code generates. `open()` returns the closures of a stream: draw(number),
// rewind(), save(), restore(state).
// [[Rcpp::export(rng = false)]]
SEXP cpp_generator(SEXP open, Texts dtypes, SEXP shapes, Text declared) {
  return guarded_entry([&]() -> SEXP {
    const auto source = std::make_shared<RSource>(dtypes_from_r(dtypes), shapes_from_r(shapes),
                                                  std::string(declared));
    Rcpp::Shield<SEXP> handle(make_handle<CoreObject>(source, kCoreObject));
    source->set_open(handle, function_from_r(open, "`open`"));
    return handle;
  });
}
