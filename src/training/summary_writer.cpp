#include "training/summary_writer.h"

#include <map>

#include "tensor/clock.h"

namespace runhooks {

std::shared_ptr<EventFileWriter> summary_writer(const std::string& logdir) {
  static std::map<std::string, std::weak_ptr<EventFileWriter>> writers;
  std::weak_ptr<EventFileWriter>& known = writers[logdir];
  std::shared_ptr<EventFileWriter> writer = known.lock();
  if (!writer) {
    writer = std::make_shared<EventFileWriter>(logdir, "", [] { return now_seconds(); });
    known = writer;
  }
  return writer;
}

}  // namespace runhooks
