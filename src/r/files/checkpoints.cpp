#include "base/log.h"
#include "base/platform.h"
#include "io/checkpoint/checkpoint_state.h"
#include "io/checkpoint/tensor_bundle.h"
#include "io/events/event_file.h"
#include "r/loop/loop.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

void log_to_r(LogLevel level, const char* kind, const std::string& text) {
  Rcpp::Shield<SEXP> number(Rf_ScalarInteger(static_cast<int>(level)));
  Rcpp::Shield<SEXP> line(Rcpp::wrap(text));
  Rcpp::Shield<SEXP> kind_text(text_to_r(kind));
  Rcpp::Shield<SEXP> is_pending(call_internal("emit_log", {number, line, kind_text}));
  if (Rf_asLogical(is_pending) == TRUE) mark_warning_pending();
}

SEXP path_or_null(const std::string& path) { return path.empty() ? R_NilValue : text_to_r(path); }

}  // namespace

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// [[Rcpp::export(rng = false)]]
void cpp_log_setup() {
  set_log_sink(log_to_r);
  setup_sleep();
  setup_interrupts();
  guarded_entry([] { check_disabled_features(); });
}

// [[Rcpp::export(rng = false)]]
int cpp_log_verbosity(SEXP level) {
  return guarded_entry([&] {
    if (level != R_NilValue) {
      set_log_verbosity(static_cast<LogLevel>(static_cast<int>(number_from_r(level, "`level`"))));
    }
    return static_cast<int>(log_verbosity());
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_latest_checkpoint(Text folder) {
  return guarded_entry([&]() -> SEXP { return path_or_null(newest_checkpoint(folder)); });
}

// Like cpp_latest_checkpoint(), but throws if the newest checkpoint cannot be read.
// [[Rcpp::export(rng = false)]]
SEXP cpp_newest_weights(Text folder) {
  return guarded_entry(
      [&]() -> SEXP { return path_or_null(newest_weights(folder, CheckpointCheck::kFiles)); });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_latest_checkpoint_of(Text folder, Text state_name) {
  return guarded_entry(
      [&]() -> SEXP { return path_or_null(newest_checkpoint(folder, state_name)); });
}

// Returns all checkpoints in the state file, newest last; empty if the file cannot be read.
// [[Rcpp::export(rng = false)]]
SEXP cpp_listed_checkpoints(Text folder, Text state_name) {
  return guarded_entry([&]() -> SEXP {
    const auto state = read_checkpoint_state(folder, nullptr, state_name);
    return Rcpp::wrap(state ? state->all_model_checkpoint_paths : std::vector<std::string>());
  });
}

// [[Rcpp::export(rng = false)]]
double cpp_saved_global_step(Text folder) {
  return guarded_entry([&] { return static_cast<double>(saved_global_step(folder)); });
}

// [[Rcpp::export(rng = false)]]
std::vector<std::string> cpp_checkpoint_names(Text path) {
  return guarded_entry([&] {
    std::vector<std::string> names;
    const BundleReader reader(path);
    for (const auto& tensor : reader.tensors()) names.push_back(tensor.name);
    return names;
  });
}

// Returns the names of the variables that are stored completely. Omits the slots of partitioned
// variables, which TensorFlow stores as incomplete slices.
// [[Rcpp::export(rng = false)]]
SEXP cpp_checkpoint_whole_names(Text path) {
  return guarded_entry([&]() -> SEXP {
    std::vector<std::string> names;
    for (const BundleReader::Info& tensor : BundleReader(path).tensors()) {
      int64_t present = 0;
      for (const TensorSlice& slice : tensor.slices) present += slice.num_elements();
      if (!tensor.is_sliced || present == tensor.shape.num_elements()) names.push_back(tensor.name);
    }
    return Rcpp::wrap(names);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_checkpoint_values(Text path, Texts names) {
  return guarded_entry([&]() -> SEXP {
    const BundleReader reader(path);
    Rcpp::List values(names.size());
    for (size_t i = 0; i < names.size(); ++i) values[i] = tensor_to_r(reader.read(names[i]));
    values.names() = Rcpp::wrap(names);
    return values;
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_checkpoint_tensors(Text path) {
  return guarded_entry([&]() -> SEXP {
    const std::vector<BundleReader::Info> tensors = BundleReader(path).tensors();
    Rcpp::List all(tensors.size());
    Rcpp::CharacterVector names(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      Rcpp::Shield<SEXP> shape(shape_to_r(tensors[i].shape));
      all[i] = Rcpp::List::create(Rcpp::_["dtype"] = dtype_name(tensors[i].dtype),
                                  Rcpp::_["shape"] = shape);
      names[i] = tensors[i].name;
    }
    all.names() = names;
    return all;
  });
}
