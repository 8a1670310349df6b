// Exporter: decides after each evaluation whether to export the model, and its registration.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "graph/factory.h"

namespace runhooks {

struct EvaluationResult {
  std::string model_dir;
  std::shared_ptr<Args> metrics;  // values by metric name, with "global_step"
  bool is_final = false;          // whether it is the evaluation of the last step
  // Returns the metrics of previous evaluations. Reads the event files whose path below the model
  // directory matches the argument, a pattern.
  std::function<std::vector<std::shared_ptr<Args>>(const std::string&)> previous_metrics;

  int64_t step() const { return metrics->integer("global_step"); }
};

class Exporter : public CoreObject {
 public:
  const char* kind() const override { return "an exporter"; }
  virtual bool should_export(const EvaluationResult& evaluation) = 0;
};

// Throws unless the argument `exports_to_keep` is positive or missing. The message contains
// `requirement` and, if `shows_value`, the value.
void check_exports_to_keep(const Args& args, const std::string& requirement, bool shows_value);

// Arguments of all exporters. The calling R code reads the first three and `exports_to_keep`.
#define RUNHOOKS_EXPORTED_NAME "any; apart. The name of the exporter and of its directory."
#define RUNHOOKS_EXPORTED_RECEIVER \
  "serving_input_receiver_fn = NULL: function; apart. See [export_savedmodel()]."
#define RUNHOOKS_EXPORTED_FILES                                  \
  "assets_extra = NULL: any; apart. See [export_savedmodel()].", \
      "as_text = FALSE: flag; apart. See [export_savedmodel()]."
#define RUNHOOKS_EXPORTS_TO_KEEP \
  "exports_to_keep = 5: whole number or NULL. The number of newest exports to keep. `NULL`: all."

// Registers an exporter class with the names of its public constructors ("x_exporter,
// estimator.XExporter") and its arguments as ArgSpec declarations. The C++ constructor checks rules
// between arguments.
#define RUNHOOKS_REGISTER_EXPORTER(Class, ...)                                            \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(exporter_registered_, __COUNTER__) = \
      ::runhooks::Factory<::runhooks::Exporter>::instance().add(                          \
          #Class,                                                                         \
          [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::Exporter> {     \
            return std::make_shared<Class>(args);                                         \
          },                                                                              \
          __VA_ARGS__)

}  // namespace runhooks
