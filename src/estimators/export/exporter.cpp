#include "estimators/export/exporter.h"

namespace runhooks {

void check_exports_to_keep(const Args& args, const std::string& requirement, bool shows_value) {
  if (!args.has("exports_to_keep")) return;
  const int64_t keep = args.integer("exports_to_keep");
  if (keep > 0) return;
  invalid_argument("`exports_to_keep`, if provided, must be ", requirement,
                   shows_value ? str_cat(". Got ", keep) : "");
}

}  // namespace runhooks
