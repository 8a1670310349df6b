// Savers in R: tf$train$Saver.
#include "runhooks_r.h"

namespace runhooks {
namespace r {

namespace {

// What R calls a saver or a scaffold is an environment with the pointer in it.
SEXP pointer_in(SEXP object) {
  static SEXP name = Rf_install(".pointer");
  return TYPEOF(object) == ENVSXP ? Rf_findVarInFrame(object, name) : object;
}

// Variables, those with a name under that one.
std::vector<SaveablePtr> saveables_from_r(SEXP list) {
  std::vector<SaveablePtr> saveables;
  const RList given(list, "`var_list`");
  Rcpp::Shield<SEXP> names(Rf_getAttrib(list, R_NamesSymbol));
  for (R_xlen_t i = 0; i < given.size(); ++i) {
    VariablePtr variable = variable_of(given[i]);
    const char* key = names == R_NilValue ? "" : CHAR(STRING_ELT(names, i));
    if (*key) {
      variable = std::make_shared<Variable>(*variable);
      variable->shared_name = key;
      if (variable->slice) {
        auto slice = std::make_shared<SaveSliceInfo>(*variable->slice);
        slice->full_name = key;
        variable->slice = slice;
      }
    }
    saveables.push_back(variable_saveable(variable));
  }
  if (saveables.empty()) invalid_argument("No variables to save");
  return saveables;
}

}  // namespace

SEXP saver_handle(const std::shared_ptr<Saver>& saver) {
  Rcpp::Shield<SEXP> pointer(make_handle(saver, kSaver));
  Rcpp::Shield<SEXP> call(Rf_lang2(Rf_install("new_saver"), pointer));
  return eval_r(call, package_namespace());
}

bool is_saver(SEXP x) { return TYPEOF(x) == ENVSXP && is_handle(pointer_in(x), kSaver); }

std::shared_ptr<Saver> saver_of(SEXP x) {
  return x == R_NilValue ? nullptr : from_handle<Saver>(pointer_in(x), kSaver);
}

std::shared_ptr<Scaffold> scaffold_of(SEXP x) {
  return x == R_NilValue ? nullptr : from_handle<Scaffold>(pointer_in(x), kScaffold);
}

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// `var_list`: NULL, or variables by the names that they have in checkpoints. Of all variables that
// the default graph has now; with `defer_build` of those that it has when the
// saver is used.
// [[Rcpp::export(rng = false)]]
SEXP cpp_saver_new(double max_to_keep,
                   double every_n_hours,
                   bool relative_paths,
                   bool defer_build,
                   SEXP var_list) {
  return border([&]() -> SEXP {
    SaverOptions options;
    options.max_to_keep = whole_from_r(max_to_keep, "`max_to_keep`");
    options.keep_checkpoint_every_n_hours = every_n_hours;
    options.save_relative_paths = relative_paths;
    auto saver = std::make_shared<Saver>(options);
    const Graph& graph = *default_graph();
    if (var_list != R_NilValue) {
      saver->build(saveables_from_r(var_list));
    } else if (!defer_build) {
      if (variables_in(graph, collection_keys::kGlobalVariables).empty()) {
        invalid_argument("No variables to save");
      }
      saver->build(graph);
    }
    return saver_handle(saver);
  });
}

// The path of the checkpoint. A negative step is none.
// [[Rcpp::export(rng = false)]]
std::string cpp_saver_save(SEXP saver, SEXP session, Text path, double global_step) {
  return border([&] {
    auto& open = *static_cast<Session*>(handle_address(session, kSession));
    const auto& writer = from_handle<Saver>(saver, kSaver);
    if (!writer->is_built()) writer->build(open.graph());
    return writer->save(open, path, whole_from_r(global_step, "`global_step`"));
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_saver_restore(SEXP saver, SEXP session, Text path) {
  border([&] {
    auto& open = *static_cast<Session*>(handle_address(session, kSession));
    const auto& reader = from_handle<Saver>(saver, kSaver);
    if (!reader->is_built()) reader->build(open.graph());
    reader->restore(open, path);
  });
}

// [[Rcpp::export(rng = false)]]
std::vector<std::string> cpp_saver_last_checkpoints(SEXP saver) {
  return border([&] { return from_handle<Saver>(saver, kSaver)->last_checkpoints(); });
}
