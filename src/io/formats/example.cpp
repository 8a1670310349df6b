#include "io/formats/example.h"

namespace runhooks {

namespace {

// Reads a feature, which consists of one list. If damaged data have several, the last one counts.
FeatureView read_feature(WireReader r) {
  FeatureView feature;
  while (r.next()) {
    if (r.field() < 1 || r.field() > 3) continue;
    feature.kind = static_cast<FeatureView::Kind>(r.field());
    feature.list = r.bytes();
  }
  return feature;
}

void read_features(WireReader r, ExampleView& example) {
  while (r.next()) {
    if (r.field() != 1) continue;
    std::string_view name;
    FeatureView feature;
    for (WireReader entry = r.message(); entry.next();) {
      if (entry.field() == 1) name = entry.bytes();
      if (entry.field() == 2) feature = read_feature(entry.message());
    }
    example.emplace_back(name, feature);
  }
}

}  // namespace

const char* feature_kind_name(FeatureView::Kind kind) {
  static const char* const kNames[] = {"none", "bytes", "float", "int64"};
  return kNames[static_cast<int>(kind)];
}

void read_example(std::string_view bytes, std::string_view where, ExampleView& example) {
  example.clear();
  for (WireReader r(bytes, where); r.next();) {
    if (r.field() == 1) read_features(r.message(), example);
  }
}

const FeatureView* find_feature(const ExampleView& example, std::string_view name) {
  for (auto entry = example.rbegin(); entry != example.rend(); ++entry) {
    if (entry->first != name) continue;
    return entry->second.kind == FeatureView::Kind::kNone ? nullptr : &entry->second;
  }
  return nullptr;
}

void read_bytes_list(const FeatureView& feature,
                     std::string_view where,
                     std::vector<std::string_view>& out) {
  for (WireReader r(feature.list, where); r.next();) {
    if (r.field() == 1) out.push_back(r.bytes());
  }
}

void read_float_list(const FeatureView& feature, std::string_view where, std::vector<float>& out) {
  for (WireReader r(feature.list, where); r.next();) {
    if (r.field() == 1) r.append_floats(out);
  }
}

void read_int64_list(const FeatureView& feature,
                     std::string_view where,
                     std::vector<int64_t>& out) {
  for (WireReader r(feature.list, where); r.next();) {
    if (r.field() == 1) r.append_ints(out);
  }
}

void ExampleWriter::add(const std::string& name, FeatureView::Kind kind, const WireWriter& list) {
  WireWriter feature, entry;
  feature.put_message(static_cast<int>(kind), list);
  features_.put_message(1, entry.add_bytes(1, name).put_message(2, feature));
}

void ExampleWriter::add_bytes(const std::string& name,
                              const std::vector<std::string_view>& values) {
  WireWriter list;
  for (const std::string_view value : values) list.put_bytes(1, value);
  add(name, FeatureView::Kind::kBytes, list);
}

void ExampleWriter::add_floats(const std::string& name, const std::vector<float>& values) {
  add(name, FeatureView::Kind::kFloat,
      WireWriter().add_packed_floats(1, values.data(), values.size()));
}

void ExampleWriter::add_ints(const std::string& name, const std::vector<int64_t>& values) {
  add(name, FeatureView::Kind::kInt64, WireWriter().add_packed_ints(1, values));
}

std::string ExampleWriter::take() {
  const std::string bytes = WireWriter().put_message(1, features_).take();
  features_ = WireWriter();
  return bytes;
}

}  // namespace runhooks
