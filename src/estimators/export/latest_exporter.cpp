// Exports after each evaluation (tf.estimator.LatestExporter).
#include "estimators/export/exporter.h"

namespace runhooks {

namespace {

class LatestExporter : public Exporter {
 public:
  explicit LatestExporter(const Args& args) {
    check_exports_to_keep(args, "positive number", false);
  }
  bool should_export(const EvaluationResult&) override { return true; }
};

}  // namespace

RUNHOOKS_REGISTER_EXPORTER(LatestExporter,
                           "latest_exporter, estimator.LatestExporter",
                           {"name: " RUNHOOKS_EXPORTED_NAME, RUNHOOKS_EXPORTED_RECEIVER,
                            RUNHOOKS_EXPORTED_FILES, RUNHOOKS_EXPORTS_TO_KEEP});

}  // namespace runhooks
