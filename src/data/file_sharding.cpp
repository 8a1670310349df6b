// Shards files among readers: each reads every n-th file, or every n-th record if there are fewer
// files than readers.
#include "data/file_source.h"
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

Value value_of(const std::shared_ptr<const Dataset>& dataset) {
  return Value::of(std::shared_ptr<CoreObject>(std::const_pointer_cast<Dataset>(dataset)));
}

}  // namespace

std::shared_ptr<const Dataset> Dataset::with_argument(const std::string& name, Value value) const {
  Args args = args_;
  args.set(name, std::move(value));
  return make_dataset(type_, args);
}

std::shared_ptr<const Dataset> Dataset::shard_by_element(int64_t readers, int64_t reader) const {
  Args args("dataset_shard()");
  args.set("dataset", value_of(shared_from_this()));
  args.set("num_shards", Value::of(readers));
  args.set("index", Value::of(reader));
  return make_dataset("ShardDataset", args);
}

std::shared_ptr<const Dataset> Transformation::with_input(
    const std::shared_ptr<const Dataset>& input) const {
  return with_argument("dataset", value_of(input));
}

std::shared_ptr<const Dataset> Dataset::input_argument(const std::string& name) const {
  return args_.object<const Dataset>(name, "a dataset");
}

std::shared_ptr<const Dataset> Transformation::shard_by_file(int64_t readers,
                                                             int64_t reader) const {
  if (!commutes_with_sharding()) return nullptr;
  // Applies this transformation to a shard of the input.
  const std::shared_ptr<const Dataset> shard =
      input_argument("dataset")->shard_by_file(readers, reader);
  return shard ? with_input(shard) : nullptr;
}

std::shared_ptr<const Dataset> FileSource::shard_by_file(int64_t readers, int64_t reader) const {
  if (static_cast<int64_t>(files_.size()) < readers) return shard_by_element(readers, reader);
  const auto shard_files = std::make_shared<ValueList>();
  for (auto i = static_cast<size_t>(reader); i < files_.size(); i += static_cast<size_t>(readers)) {
    shard_files->push_back(Value::of(files_[i]));
  }
  return with_argument("filenames", Value::of(shard_files));
}

}  // namespace runhooks
