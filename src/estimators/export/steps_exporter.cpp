// Exports at given global steps (tf.contrib.estimator.StepsExporter).
#include <algorithm>

#include "base/log.h"
#include "estimators/export/exporter.h"

namespace runhooks {

namespace {

// Exports at the first evaluation at or after each step. An evaluation that is the first for
// several steps exports once.
class StepsExporter : public Exporter {
 public:
  explicit StepsExporter(const Args& args)
      : steps_(args.integers("steps_to_keep")), pattern_(args.text("event_file_pattern", "")) {
    const bool is_valid = !steps_.empty() && *std::min_element(steps_.begin(), steps_.end()) > 0;
    if (!is_valid) {
      invalid_argument(args.label("steps_to_keep"),
                       " must contain at least one positive whole number, and no others.");
    }
  }

  bool should_export(const EvaluationResult& evaluation) override {
    if (!pattern_.empty() && loaded_dir_ != evaluation.model_dir) {
      loaded_dir_ = evaluation.model_dir;
      last_step_ = 0;
      for (const auto& metrics : evaluation.previous_metrics(pattern_)) {
        last_step_ = std::max(last_step_, metrics->integer("global_step"));
      }
    }
    const int64_t step = evaluation.step();
    const bool is_due = std::any_of(steps_.begin(), steps_.end(), [&](int64_t target) {
      return target > last_step_ && target <= step;
    });
    last_step_ = std::max(last_step_, step);
    if (is_due) log(LogLevel::kInfo, "Performing steps export.");
    return is_due;
  }

 private:
  std::vector<int64_t> steps_;
  std::string pattern_, loaded_dir_;
  int64_t last_step_ = 0;
};

}  // namespace

RUNHOOKS_REGISTER_EXPORTER(
    StepsExporter,
    "steps_exporter, contrib.estimator.StepsExporter",
    {"steps_to_keep: numbers. Global steps. The first evaluation at or after each of them exports; "
     "these exports are never deleted.",
     "name = 'steps_exporter': " RUNHOOKS_EXPORTED_NAME, RUNHOOKS_EXPORTED_RECEIVER,
     "event_file_pattern = NULL: string. A pattern of event files that tell which steps previous "
     "runs have reached.",
     RUNHOOKS_EXPORTED_FILES});

}  // namespace runhooks
