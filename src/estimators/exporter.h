// What lives here: Exporter, which says after an evaluation whether the model is to be exported, and its registration.
// Who may use it: one file an exporter, the bindings.
// What it must not know: how a model is exported, any particular exporter, R.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "graph/factory.h"

namespace runhooks {

// An evaluation during a training, as an exporter sees it.
struct Evaluated {
  std::string model_dir;
  std::shared_ptr<Args> metrics;  // by name, the global step among them
  bool is_final = false;          // that of the last step
  // The metrics of evaluations that event files have, of files below the model's folder whose names
  // go by a pattern, without this one.
  std::function<std::vector<std::shared_ptr<Args>>(const std::string&)> earlier;

  int64_t step() const { return metrics->integer("global_step"); }
};

// It may remember from one evaluation to the next.
class Exporter : public CoreObject {
 public:
  const char* kind() const override { return "an exporter"; }
  virtual bool wants(const Evaluated& evaluation) = 0;
};

// `exports_to_keep`; words as TensorFlow has them ("... Got %s"), for each exporter its own.
void check_exports_to_keep(const Args& args, const std::string& words, bool says_what_it_got);

// Arguments that all exporters have: who exports reads the first three, and keeps as many exports as
// `exports_to_keep` says where an exporter has that.
#define RUNHOOKS_EXPORTED_NAME "any; apart. The name of the exporter, and of its folder."
#define RUNHOOKS_EXPORTED_RECEIVER \
  "serving_input_receiver_fn = NULL: function; apart. As of [export_savedmodel()]."
#define RUNHOOKS_EXPORTED_FILES                                  \
  "assets_extra = NULL: any; apart. As of [export_savedmodel()].", \
      "as_text = FALSE: flag; apart. As of [export_savedmodel()]."
#define RUNHOOKS_EXPORTS_TO_KEEP \
  "exports_to_keep = 5: whole number or NULL. How many of the newest exports are kept; `NULL`: all."

// Class, how scripts call its constructor ("x_exporter, estimator.XExporter"), and its arguments as
// ArgSpec has them. Rules between arguments are the constructor's.
#define RUNHOOKS_REGISTER_EXPORTER(Class, ...)                                            \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(exporter_registered_, __COUNTER__) = \
      ::runhooks::Factory<::runhooks::Exporter>::instance().add(                          \
          #Class,                                                                         \
          [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::Exporter> {     \
            return std::make_shared<Class>(args);                                         \
          },                                                                              \
          __VA_ARGS__)

}  // namespace runhooks
