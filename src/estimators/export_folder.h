// What lives here: the folder of an export, which is made beside the one that stands and comes into its place at once.
// Who may use it: the bindings, exporters.
// What it must not know: what a model is, R.
#pragma once

#include <string>

namespace runhooks {

// The collection of an export's graph that names its files in the folder `assets.extra`.
constexpr const char* kExtraFiles = "runhooks_assets_extra";

// Where an export for `folder` is made: a path that is not there yet, of which nothing is left by
// others that were killed. A folder of other files is no export: kAlreadyExists, and it is left
// alone.
std::string unfinished_export(const std::string& folder);
// The same for one that gets a folder of its own in `base`.
std::string unfinished_version(const std::string& base);

// Puts a complete export in the place of `folder`, in one step: whoever is killed leaves the old one
// or the new one. What is in the old one and was not written by an export stays.
void place_export(const std::string& from, const std::string& folder);

}  // namespace runhooks
