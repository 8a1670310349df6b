#include "r/files/saver.h"

#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"
#include "training/saver.h"
#include "training/scaffold.h"

namespace runhooks {
namespace r {

namespace {

// Returns the external pointer in an R object of a saver or scaffold, which is an environment.
SEXP pointer_in(SEXP object) {
  static SEXP name = Rf_install(".pointer");
  return TYPEOF(object) == ENVSXP ? frame_variable(object, name) : object;
}

}  // namespace

SEXP saver_handle(const std::shared_ptr<Saver>& saver) {
  Rcpp::Shield<SEXP> pointer(make_handle(saver, kSaver));
  return call_internal("new_saver", {pointer});
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

// Makes a saver. `var_list` is NULL for all variables, or a list of variables whose names, if any,
// are used in checkpoints. With `defer_build`, the saver collects all variables at its first use.
// [[Rcpp::export(rng = false)]]
SEXP cpp_saver_new(SEXP var_list,
                   bool reshape,
                   double max_to_keep,
                   double every_n_hours,
                   bool relative_paths,
                   bool pad_step_number,
                   bool defer_build,
                   bool allow_empty) {
  return guarded_entry([&]() -> SEXP {
    SaverOptions options;
    options.max_to_keep = whole_from_r(max_to_keep, "`max_to_keep`");
    options.keep_checkpoint_every_n_hours = every_n_hours;
    options.save_relative_paths = relative_paths;
    options.pad_step_number = pad_step_number;
    auto saver = std::make_shared<Saver>(options);
    const Graph& graph = *default_graph();
    if (var_list != R_NilValue || reshape) {
      std::vector<SaveablePtr> saveables;
      const RList variables(var_list, "`var_list`");
      for (R_xlen_t i = 0; i < variables.size(); ++i) {
        const std::string name = variables.has_names() ? variables.name(i) : "";
        saveables.push_back(variable_saveable(variable_of(variables[i]), name, reshape));
      }
      if (var_list == R_NilValue) {
        for (const SaveablePtr& saveable : saveables_in(graph)) {
          const VariablePtr variable = saveable->variable();
          saveables.push_back(variable ? variable_saveable(variable, "", reshape) : saveable);
        }
      }
      if (saveables.empty() && !allow_empty) invalid_argument("No variables to save");
      saver->build(std::move(saveables));
    } else if (!defer_build) {
      if (saveables_in(graph).empty() && !allow_empty) {
        invalid_argument("No variables to save");
      }
      saver->build(graph);
    }
    return saver_handle(saver);
  });
}

// Saves a checkpoint and returns its path. The path contains the step unless it is negative.
// [[Rcpp::export(rng = false)]]
std::string cpp_saver_save(SEXP saver,
                           SEXP session,
                           Text path,
                           double global_step,
                           bool write_meta_graph,
                           bool write_state,
                           Text state_name,
                           Text meta_suffix) {
  return guarded_entry([&] {
    auto& core_session = *static_cast<Session*>(handle_address(session, kSession));
    const auto& writer = from_handle<Saver>(saver, kSaver);
    if (!writer->is_built()) writer->build(core_session.graph());
    return writer->save(core_session, path, whole_from_r(global_step, "`global_step`"),
                        write_meta_graph, write_state, {state_name, meta_suffix});
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_saver_restore(SEXP saver, SEXP session, Text path) {
  guarded_entry([&] {
    auto& core_session = *static_cast<Session*>(handle_address(session, kSession));
    const auto& reader = from_handle<Saver>(saver, kSaver);
    if (!reader->is_built()) reader->build(core_session.graph());
    reader->restore(core_session, path);
  });
}

// [[Rcpp::export(rng = false)]]
std::vector<std::string> cpp_saver_last_checkpoints(SEXP saver) {
  return guarded_entry([&] { return from_handle<Saver>(saver, kSaver)->last_checkpoints(); });
}

// Sets the checkpoints that the saver may delete, oldest first.
// [[Rcpp::export(rng = false)]]
void cpp_saver_set_last_checkpoints(SEXP saver, Texts paths, std::vector<double> times) {
  guarded_entry([&] {
    std::vector<std::pair<std::string, double>> last;
    for (size_t i = 0; i < paths.size() && i < times.size(); ++i) {
      last.emplace_back(paths[i], times[i]);
    }
    from_handle<Saver>(saver, kSaver)->set_last_checkpoints(std::move(last));
  });
}
