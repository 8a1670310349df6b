#include "cluster/communicator.h"

#include <cstring>

namespace runhooks {

namespace {

class Alone : public Communicator {
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

std::unique_ptr<Communicator>& current() {
  static auto* one = new std::unique_ptr<Communicator>(std::make_unique<Alone>());
  return *one;
}

}  // namespace

Communicator& communicator() { return *current(); }
void set_communicator(std::unique_ptr<Communicator> other) {
  if (!other) other = std::make_unique<Alone>();
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
