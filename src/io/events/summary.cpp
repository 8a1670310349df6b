#include "io/events/summary.h"

#include <algorithm>
#include <limits>

#include "io/proto/tensor_proto.h"
#include "io/proto/wire.h"

namespace runhooks {

namespace {

// Returns the bucket limits of TensorFlow's histograms: 0, +-1e-12 times powers of 1.1 up to 1e20,
// and the largest doubles. Multiplies repeatedly, because other methods round differently.
std::vector<double> make_limits() {
  std::vector<double> positive;
  for (double limit = 1e-12; limit < 1e20; limit *= 1.1) positive.push_back(limit);
  positive.push_back(std::numeric_limits<double>::max());
  std::vector<double> limits;
  for (auto it = positive.rbegin(); it != positive.rend(); ++it) limits.push_back(-*it);
  limits.push_back(0);
  limits.insert(limits.end(), positive.begin(), positive.end());
  return limits;
}

const std::vector<double>& histogram_limits() {
  static const std::vector<double> limits = make_limits();
  return limits;
}

}  // namespace

Histogram make_histogram(const double* values, size_t count) {
  const std::vector<double>& limits = histogram_limits();
  Histogram h;
  h.min = std::numeric_limits<double>::max();
  h.max = std::numeric_limits<double>::lowest();
  std::vector<double> counts(limits.size());
  for (size_t i = 0; i < count; ++i) {
    const double value = values[i];
    const auto above = std::upper_bound(limits.begin(), limits.end(), value);
    const auto bucket = static_cast<size_t>(above - limits.begin());
    counts[std::min(bucket, limits.size() - 1)] += 1;
    h.min = std::min(h.min, value);
    h.max = std::max(h.max, value);
    h.sum += value;
    h.sum_squares += value * value;
  }
  h.num = static_cast<double>(count);
  for (size_t i = 0; i < limits.size(); ++i) {
    // Joins consecutive empty buckets: only the last of them is written.
    const bool joins_next = counts[i] <= 0 && i + 1 < limits.size() && counts[i + 1] <= 0;
    if (joins_next) continue;
    h.bucket_limit.push_back(limits[i]);
    h.bucket.push_back(counts[i]);
  }
  return h;
}

Histogram make_histogram(const Tensor& values) {
  std::vector<double> numbers;
  numbers.reserve(static_cast<size_t>(values.num_elements()));
  for (int64_t i = 0; i < values.num_elements(); ++i) numbers.push_back(values.number_at(i));
  return make_histogram(numbers.data(), numbers.size());
}

SummaryValue scalar_summary(const std::string& tag, double value) {
  SummaryValue summary;
  summary.tag = tag;
  summary.value = static_cast<float>(value);
  return summary;
}

SummaryValue histogram_summary(const std::string& tag, const Tensor& values) {
  SummaryValue summary;
  summary.tag = tag;
  summary.value = make_histogram(values);
  return summary;
}

// lint: allow caller (only tests write text summaries)
SummaryValue text_summary(const std::string& tag, const Tensor& strings) {
  SummaryValue summary;
  summary.tag = tag;
  summary.metadata = SummaryMetadata();
  summary.metadata->plugin_name = "text";
  summary.value = strings;
  return summary;
}

namespace {

enum ValueField : int {
  kTag = 1,
  kSimpleValue = 2,
  kOldHistogram = 3,
  kImage = 4,
  kHistogram = 5,
  kAudio = 6,
  kNodeName = 7,
  kValueTensor = 8,
  kMetadata = 9,
};

WireWriter write_histogram(const Histogram& h) {
  WireWriter out;
  out.add_double(1, h.min).add_double(2, h.max).add_double(3, h.num);
  out.add_double(4, h.sum).add_double(5, h.sum_squares);
  out.add_packed_doubles(6, h.bucket_limit.data(), h.bucket_limit.size());
  out.add_packed_doubles(7, h.bucket.data(), h.bucket.size());
  return out;
}

Histogram read_histogram(WireReader r) {
  Histogram h;
  double* const numbers[] = {&h.min, &h.max, &h.num, &h.sum, &h.sum_squares};
  while (r.next()) {
    if (r.field() <= 5) *numbers[r.field() - 1] = r.float64();
    if (r.field() == 6) r.append_doubles(h.bucket_limit);
    if (r.field() == 7) r.append_doubles(h.bucket);
  }
  return h;
}

WireWriter write_metadata(const SummaryMetadata& metadata) {
  WireWriter plugin, out;
  plugin.add_bytes(1, metadata.plugin_name).add_bytes(2, metadata.plugin_content);
  if (!plugin.bytes().empty()) out.put_message(1, plugin);
  out.add_bytes(2, metadata.display_name).add_bytes(3, metadata.description);
  return out.add_int(4, metadata.data_class);
}

SummaryMetadata read_metadata(WireReader r) {
  SummaryMetadata metadata;
  while (r.next()) {
    if (r.field() == 2) metadata.display_name = r.text();
    if (r.field() == 3) metadata.description = r.text();
    if (r.field() == 4) metadata.data_class = r.int32();
    if (r.field() != 1) continue;
    for (WireReader plugin = r.message(); plugin.next();) {
      if (plugin.field() == 1) metadata.plugin_name = plugin.text();
      if (plugin.field() == 2) metadata.plugin_content = plugin.text();
    }
  }
  return metadata;
}

// Writes the value of a summary if its place is before or, with `after_node_name`, after the node
// name. TensorFlow orders fields by number, so only a tensor comes after the node name.
void write_content(WireWriter& out, const SummaryValue& value, bool after_node_name) {
  const auto* raw = std::get_if<RawSummary>(&value.value);
  if (value.tensor()) {
    if (after_node_name) out.put_message(kValueTensor, write_tensor(*value.tensor()));
  } else if (!after_node_name) {
    if (value.scalar()) out.put_float(kSimpleValue, *value.scalar());
    if (value.histogram()) out.put_message(kHistogram, write_histogram(*value.histogram()));
    if (raw) out.put_bytes(raw->field, raw->bytes);
  }
}

WireWriter write_summary_value(const SummaryValue& value) {
  WireWriter out;
  out.add_bytes(kTag, value.tag);
  write_content(out, value, false);
  out.add_bytes(kNodeName, value.node_name);
  write_content(out, value, true);
  if (value.metadata) out.put_message(kMetadata, write_metadata(*value.metadata));
  return out;
}

SummaryValue read_summary_value(WireReader r) {
  SummaryValue value;
  while (r.next()) {
    switch (r.field()) {
      case kTag:
        value.tag = r.text();
        break;
      case kSimpleValue:
        value.value = r.float32();
        break;
      case kHistogram:
        value.value = read_histogram(r.message());
        break;
      case kOldHistogram:
      case kImage:
      case kAudio:
        value.value = RawSummary{r.field(), r.text()};
        break;
      case kNodeName:
        value.node_name = r.text();
        break;
      case kValueTensor:
        // A tensor of an unsupported type stays serialized, so that the rest of the file can be
        // read.
        if (auto tensor = read_supported_tensor(r.message())) {
          value.value = std::move(*tensor);
        } else {
          value.value = RawSummary{r.field(), r.text()};
        }
        break;
      case kMetadata:
        value.metadata = read_metadata(r.message());
        break;
    }
  }
  return value;
}

}  // namespace

std::string write_summary(const Summary& summary) {
  WireWriter out;
  for (const SummaryValue& value : summary) out.put_message(1, write_summary_value(value));
  return out.take();
}

Summary read_summary(std::string_view bytes, std::string_view where) {
  Summary summary;
  for (WireReader r(bytes, where); r.next();) {
    if (r.field() == 1) summary.push_back(read_summary_value(r.message()));
  }
  return summary;
}

}  // namespace runhooks
