#include "cluster/communicator.h"

#include <algorithm>
#include <cstring>

namespace runhooks {

namespace {

class SingleProcess : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int local_rank() const override { return 0; }
  std::string library() const override { return ""; }
  void add(void*, int64_t, DType) override {}
  void largest(int64_t*, int64_t) override {}
  void broadcast(void*, int64_t, int) override {}
  void gather(const void* own, int64_t n, void* all) override {
    if (n > 0) std::memcpy(all, own, static_cast<size_t>(n));
  }
  void abort(int) override {}
  void finish() override {}
};

template <typename T>
void average_in_one_message(Communicator& all,
                            const std::vector<ReduceBuffer>& parts,
                            DType dtype,
                            std::vector<T>& packed) {
  size_t n = 0;
  for (const ReduceBuffer& part : parts) n += static_cast<size_t>(part.n);
  packed.resize(n);
  T* at = packed.data();
  for (const ReduceBuffer& part : parts) {
    const auto* own = static_cast<const T*>(part.values);
    at = std::copy(own, own + part.n, at);
  }
  all.add(packed.data(), static_cast<int64_t>(n), dtype);
  at = packed.data();
  for (const ReduceBuffer& part : parts) {
    auto* mean = static_cast<T*>(part.mean);
    for (int64_t i = 0; i < part.n; ++i) mean[i] = at[i] / static_cast<T>(all.size());
    at += part.n;
  }
}

std::unique_ptr<Communicator>& current() {
  static auto* one = new std::unique_ptr<Communicator>(std::make_unique<SingleProcess>());
  return *one;
}

}  // namespace

void Communicator::average(const std::vector<ReduceBuffer>& parts, DType dtype) {
  if (dtype == DType::kFloat64) {
    average_in_one_message(*this, parts, dtype, packed_doubles_);
  } else {
    average_in_one_message(*this, parts, dtype, packed_floats_);
  }
}

Communicator& communicator() { return *current(); }
void set_communicator(std::unique_ptr<Communicator> other) {
  if (!other) other = std::make_unique<SingleProcess>();
  current() = std::move(other);
}

std::string broadcast_text(Communicator& all, const std::string& text, int root) {
  auto size = static_cast<int64_t>(text.size());
  all.broadcast(&size, sizeof size, root);
  std::string got = all.rank() == root ? text : std::string(static_cast<size_t>(size), '\0');
  all.broadcast(got.data(), size, root);
  return got;
}

std::vector<std::string> gather_texts(Communicator& all, const std::string& own) {
  std::vector<std::string> texts;
  for (int rank = 0; rank < all.size(); ++rank) texts.push_back(broadcast_text(all, own, rank));
  return texts;
}

}  // namespace runhooks
