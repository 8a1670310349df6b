// Exports after the evaluation of the last step (tf.estimator.FinalExporter).
#include "base/log.h"
#include "estimators/export/exporter.h"

namespace runhooks {

namespace {

class FinalExporter : public Exporter {
 public:
  explicit FinalExporter(const Args&) {}
  bool should_export(const EvaluationResult& evaluation) override {
    if (!evaluation.is_final) return false;
    log(LogLevel::kInfo, "Performing the final export in the end of training.");
    return true;
  }
};

}  // namespace

RUNHOOKS_REGISTER_EXPORTER(FinalExporter,
                           "final_exporter, estimator.FinalExporter",
                           {"name: " RUNHOOKS_EXPORTED_NAME, RUNHOOKS_EXPORTED_RECEIVER,
                            RUNHOOKS_EXPORTED_FILES});

}  // namespace runhooks
