// What lives here: the folder of an export, which is made beside the one that stands and comes into its place at once.
// Who may use it: the bindings, exporters.
// What it must not know: what a model is, R.
#pragma once

#include <cstddef>
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
// or the new one. What is in the old one and was not written by an export stays. Where the system
// cannot do it in one step the next export ends what was begun: nothing is lost.
void place_export(const std::string& from, const std::string& folder);
// A complete export for `folder` of a process that was killed before it was in its place; "" where
// there is none.
std::string interrupted_export(const std::string& folder);

// Gives a complete export the seconds of now as its name in `base`, or later ones, so that it is the
// newest there: its path.
std::string place_version(const std::string& from, const std::string& base);
// Of folders with such names all but the newest `keep` go. What cannot be removed is a warning.
void remove_old_versions(const std::string& base, size_t keep);

}  // namespace runhooks
