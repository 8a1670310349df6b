#include "trees/quantile_resource.h"

#include <algorithm>
#include <cmath>

#include "graph/op_registry.h"

namespace runhooks {

namespace {

std::string boundaries_key(size_t stream) {
  return str_cat("bucket_boundaries_", static_cast<int64_t>(stream));
}
std::string level_key(size_t stream, size_t level) {
  return str_cat("stream_", static_cast<int64_t>(stream), "/level_", static_cast<int64_t>(level));
}

bool is_sorted_floats(const Tensor& x) {
  if (x.dtype() != DType::kFloat32 || x.shape().rank() != 1) return false;
  const float *begin = x.data<float>(), *end = begin + x.num_elements();
  return std::none_of(begin, end, [](float v) { return std::isnan(v); }) &&
         std::is_sorted(begin, end);
}

std::vector<float> floats_of(const Tensor& x) {
  return std::vector<float>(x.data<float>(), x.data<float>() + x.num_elements());
}

}  // namespace

Tensor rows_from_entries(const std::vector<QuantileEntry>& entries) {
  Tensor rows(DType::kFloat32, Shape{static_cast<int64_t>(entries.size()), 4});
  float* at = rows.data<float>();
  for (const QuantileEntry& entry : entries) {
    for (const float x : {entry.value, entry.weight, entry.min_rank, entry.max_rank}) *at++ = x;
  }
  return rows;
}

QuantileSummary summary_from_rows(const Tensor& rows, Code code, const std::string& name) {
  const bool fits =
      rows.dtype() == DType::kFloat32 && rows.shape().rank() == 2 && rows.shape().dim(1) == 4;
  if (!fits) fail(code, name, " must be float32 of shape [n, 4], not ", rows.shape(), ".");
  std::vector<QuantileEntry> entries;
  const float* at = rows.data<float>();
  for (int64_t i = 0; i < rows.shape().dim(0); ++i, at += 4) {
    entries.push_back({at[0], at[1], at[2], at[3]});
    const QuantileEntry& entry = entries.back();
    const bool is_ordered = i == 0 || entries[static_cast<size_t>(i) - 1].value < entry.value;
    const bool is_valid = is_ordered && entry.weight > 0 && entry.min_rank >= 0 &&
                          entry.max_rank >= entry.min_rank && !std::isnan(entry.value);
    if (!is_valid) fail(code, name, " has an invalid entry ", i, ".");
  }
  return QuantileSummary(std::move(entries));
}

std::unique_ptr<StatefulResource> QuantileStreams::make(const Operation&) {
  return std::make_unique<QuantileStreams>();
}

void QuantileStreams::create(double epsilon, int64_t num_streams, int64_t max_elements) {
  if (is_initialized_) return;
  if (!(epsilon > 0) || num_streams < 0) {
    invalid_argument("`epsilon` must be positive and `num_streams` not negative; they are ",
                     epsilon, " and ", num_streams, ".");
  }
  epsilon_ = epsilon;
  max_elements_ = max_elements;
  streams_.assign(static_cast<size_t>(num_streams), QuantileStream(epsilon, max_elements));
  boundaries_.assign(static_cast<size_t>(num_streams), {});
  is_initialized_ = true;
}

void QuantileStreams::check(int64_t num_features) const {
  if (!is_initialized_) {
    fail(Code::kFailedPrecondition, "The quantile streams have not been created.");
  }
  if (num_features != static_cast<int64_t>(boundaries_.size())) {
    invalid_argument("The resource has ", static_cast<int64_t>(boundaries_.size()),
                     " quantile streams, but ", num_features, " features are given.");
  }
}

void QuantileStreams::flush(int64_t num_buckets, bool generate_quantiles) {
  for (size_t i = 0; i < streams_.size(); ++i) {
    const QuantileSummary summary = streams_[i].take();
    boundaries_[i] =
        generate_quantiles ? summary.quantiles(num_buckets - 1) : summary.boundaries(num_buckets);
  }
}

void QuantileStreams::set_boundaries(std::vector<std::vector<float>> boundaries) {
  boundaries_ = std::move(boundaries);
  if (streams_.size() != boundaries_.size()) {
    streams_.assign(boundaries_.size(), QuantileStream(epsilon_, max_elements_));
  }
  is_initialized_ = true;
}

NamedTensors QuantileStreams::save_state() const {
  NamedTensors state;
  for (size_t i = 0; i < boundaries_.size(); ++i) {
    state[boundaries_key(i)] = Tensor::vector<float>(boundaries_[i]);
  }
  return state;
}

void QuantileStreams::restore_state(const NamedTensors& state) {
  std::vector<std::vector<float>> boundaries;
  for (size_t i = 0;; ++i) {
    const auto found = state.find(boundaries_key(i));
    if (found == state.end()) break;
    if (!is_sorted_floats(found->second)) {
      fail(Code::kDataLoss, "'", found->first, "' must be a sorted float32 vector.");
    }
    boundaries.push_back(floats_of(found->second));
  }
  set_boundaries(std::move(boundaries));
}

NamedTensors QuantileStreams::save_streams() {
  NamedTensors state;
  for (size_t i = 0; i < streams_.size(); ++i) {
    const std::vector<QuantileSummary>& levels = streams_[i].levels();
    for (size_t level = 0; level < levels.size(); ++level) {
      if (!levels[level].is_empty())
        state[level_key(i, level)] = rows_from_entries(levels[level].entries());
    }
  }
  return state;
}

std::vector<std::vector<QuantileSummary>> QuantileStreams::read_streams(const NamedTensors& state,
                                                                        size_t num_streams) {
  constexpr size_t kMaxLevels = 64;
  std::vector<std::vector<QuantileSummary>> streams(num_streams);
  for (const auto& [key, rows] : state) {
    bool is_stream_key = false;
    for (size_t i = 0; i < num_streams && !is_stream_key; ++i) {
      for (size_t level = 0; level < kMaxLevels && !is_stream_key; ++level) {
        if (key != level_key(i, level)) continue;
        is_stream_key = true;
        if (streams[i].size() <= level) streams[i].resize(level + 1);
        streams[i][level] = summary_from_rows(rows, Code::kDataLoss, str_cat("'", key, "'"));
      }
    }
    if (!is_stream_key) fail(Code::kDataLoss, "'", key, "' is not the key of a quantile stream.");
  }
  return streams;
}

void QuantileStreams::set_streams(std::vector<std::vector<QuantileSummary>> streams) {
  for (size_t i = 0; i < streams_.size() && i < streams.size(); ++i) {
    streams_[i].set_levels(std::move(streams[i]));
  }
}

namespace {

// The default of the attribute max_elements in TensorFlow's op.
constexpr int64_t kMaxElements = int64_t{1} << 40;

// --- Saveables

class BoundariesSaveable : public ResourceSaveable {
 public:
  BoundariesSaveable(const Operation& op, Operation* create, double epsilon, int64_t num_streams)
      : ResourceSaveable(op, op.name() + ":0_"),
        create_(create),
        epsilon_(epsilon),
        num_streams_(num_streams) {}
  bool is_trainable() const override { return true; }
  Operation* initializer() const override { return create_; }
  bool is_initialized(const ResourceManager& resources) const override {
    const auto* streams = resources.find<QuantileStreams>(op()->name());
    return streams && streams->is_initialized();
  }
  Assign read(const TensorSource& source, const ResourceManager& resources) override {
    for (int64_t i = 0; i < num_streams_; ++i) {
      const std::string key = name() + boundaries_key(static_cast<size_t>(i));
      if (!source.find(key)) throw_missing(source, key);
    }
    return ResourceSaveable::read(source, resources);
  }
  SaveableOps lowered() const override {
    SaveableOps ops;
    for (int64_t i = 0; i < num_streams_; ++i) {
      ops.specs.push_back({name() + boundaries_key(static_cast<size_t>(i)), DType::kFloat32, ""});
    }
    const std::string handle = op()->name();
    const int64_t n = num_streams_;
    ops.values = [handle, n](Graph& g) {
      Operation* read = g.op("BoostedTreesQuantileStreamResourceGetBucketBoundaries",
                             {g.operation(handle)->output(0)})
                            .attr("num_features", n);
      return read->outputs();
    };
    // TensorFlow restores only resources that exist, so the restore op depends on `create`.
    const std::string create = create_->name();
    ops.restore = [handle, create](Graph& g, const std::vector<Output>& values) -> Operation* {
      std::vector<Output> inputs = {g.operation(handle)->output(0)};
      inputs.insert(inputs.end(), values.begin(), values.end());
      return g.op("BoostedTreesQuantileStreamResourceDeserialize", inputs)
          .attr("num_streams", static_cast<int64_t>(values.size()))
          .after({g.operation(create)});
    };
    return ops;
  }

 protected:
  Assign read_state(const NamedTensors& state,
                    const std::string& where,
                    const ResourceManager& resources) override {
    if (static_cast<int64_t>(state.size()) != num_streams_) {
      fail(Code::kDataLoss, "Checkpoint ", where, " has boundaries of ",
           static_cast<int64_t>(state.size()), " features, but the model has ", num_streams_, ".");
    }
    // Also creates the streams, because a resumed run may have to finish its first pass.
    const Assign assign = ResourceSaveable::read_state(state, where, resources);
    return [this, assign](ResourceManager& resources) {
      resources
          .get_or_create<QuantileStreams>(op()->name(),
                                          [] { return std::make_unique<QuantileStreams>(); })
          .create(epsilon_, num_streams_, kMaxElements);
      assign(resources);
    };
  }
  std::string describe() const override { return str_cat("The boundaries '", op()->name(), "'"); }

 private:
  Operation* create_;
  double epsilon_;
  int64_t num_streams_;
};

// The summaries of an unfinished first pass over the data. They belong to the run, not to the
// model.
class StreamsSaveable : public StateSaveable {
 public:
  StreamsSaveable(const Operation& op, int64_t num_streams)
      : StateSaveable(str_cat("runhooks/quantiles/", escape_path_component(op.name()), "/")),
        op_(op),
        num_streams_(num_streams) {}
  const Operation* op() const override { return &op_; }

 protected:
  NamedTensors save_state(ResourceManager& resources) override {
    auto* streams = resources.find<QuantileStreams>(op_.name());
    return streams ? streams->save_streams() : NamedTensors();
  }
  Assign read_state(const NamedTensors& state,
                    const std::string& where,
                    const ResourceManager&) override {
    try {
      auto restored = QuantileStreams::read_streams(state, static_cast<size_t>(num_streams_));
      return [this, restored](ResourceManager& resources) {
        auto* streams = resources.find<QuantileStreams>(op_.name());
        if (streams) streams->set_streams(restored);
      };
    } catch (const Error& error) {
      fail(error.code(), "Cannot restore the quantile streams from checkpoint ", where, ": ",
           error.message());
    }
  }

 private:
  const Operation& op_;
  int64_t num_streams_;
};

}  // namespace

QuantilesHandle add_quantiles(Graph& graph,
                              const std::string& name,
                              double epsilon,
                              int64_t num_streams) {
  QuantilesHandle added;
  added.handle = graph.op("BoostedTreesQuantileStreamResourceHandleOp")
                     .attr("shared_name", name + "/")
                     .named(name + "/");
  const NameScope scope(graph, name + "/");
  added.create = graph.op("BoostedTreesCreateQuantileStreamResource",
                          {added.handle, graph.scalar(DType::kFloat32, epsilon, "epsilon"),
                           graph.constant(Tensor::scalar<int64_t>(num_streams), "num_streams")});
  for (const SaveablePtr& saveable :
       {SaveablePtr(std::make_shared<BoundariesSaveable>(*added.handle.op, added.create, epsilon,
                                                         num_streams)),
        SaveablePtr(std::make_shared<StreamsSaveable>(*added.handle.op, num_streams))}) {
    graph.add_to_collection(collection_keys::kSaveableObjects, saveable);
  }
  return added;
}

}  // namespace runhooks
