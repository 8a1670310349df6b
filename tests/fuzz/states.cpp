#include "states.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/fingerprint.h"
#include "dataset_kinds.h"
#include "state_edits.h"

namespace runhooks_fuzz {

using namespace runhooks;
using namespace runhooks_test;

namespace {

const std::vector<DatasetPtr>& kinds() {
  static const std::vector<DatasetPtr> all = [] {
    std::string folder = (std::filesystem::temp_directory_path() / "runhooks-XXXXXX").string();
    if (!mkdtemp(folder.data())) std::abort();
    static std::string made = folder;
    std::atexit([] { std::filesystem::remove_all(made); });
    std::vector<DatasetPtr> kinds = kinds_in_memory();
    const std::vector<DatasetPtr> files = kinds_of_files(folder);
    kinds.insert(kinds.end(), files.begin(), files.end());
    return kinds;
  }();
  return all;
}

}  // namespace

void read_state_of_iterator(const std::string& bytes) {
  std::mt19937_64 random(fingerprint64(std::string_view(bytes)));
  const Dataset& dataset = *kinds()[random() % kinds().size()];
  const auto whole = dataset.make_iterator();
  elements_of(*whole, random() % 12);
  const auto edited = dataset.make_iterator();
  edited->restore(random_edits(whole->save(), random).state);
  // what it has taken over is used, and saved again
  text_of(elements_of(*edited, 30));
  edited->save();
}

}  // namespace runhooks_fuzz
