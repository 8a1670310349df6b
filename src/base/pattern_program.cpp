#include "base/pattern_program.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/interrupt.h"
#include "base/status.h"

namespace runhooks {

namespace {

constexpr size_t kMaxInstructions = 100000;

bool is_word(const char* at) { return is_ascii_alnum(*at) || *at == '_'; }

bool assertion_holds(PatternNode::Kind assertion,
                     const char* at,
                     const char* begin,
                     const char* end) {
  switch (assertion) {
    case PatternNode::kTextBegin:
      return at == begin;
    case PatternNode::kTextEnd:
      return at == end;
    case PatternNode::kLineBegin:
      return at == begin || at[-1] == '\n';
    case PatternNode::kLineEnd:
      return at == end || *at == '\n';
    default: {
      const bool is_edge = (at > begin && is_word(at - 1)) != (at < end && is_word(at));
      return is_edge == (assertion == PatternNode::kWordBoundary);
    }
  }
}

}  // namespace

// Compiles backwards, because each instruction needs the index of its successor.

PatternProgram::PatternProgram(const PatternTree& tree) : groups_(tree.groups) {
  const int match = emit({Instruction::kMatch});
  start_ = compile(*tree.root, match);
}

int PatternProgram::emit(Instruction instruction) {
  if (instructions_.size() >= kMaxInstructions) {
    invalid_argument("Invalid pattern: pattern too large - compile failed.");
  }
  instructions_.push_back(instruction);
  return static_cast<int>(instructions_.size()) - 1;
}

int PatternProgram::emit_rune(const RuneSet& runes, int next) {
  Instruction rune{Instruction::kRuneSet, next};
  if (runes.ranges().size() == 1) {
    rune.kind = Instruction::kRuneRange;
    rune.low = runes.ranges()[0].first;
    rune.high = runes.ranges()[0].second;
  } else {
    rune.operand = static_cast<int>(sets_.size());
    sets_.push_back(runes);
  }
  return emit(rune);
}

int PatternProgram::emit_split(int preferred, int alternative, bool is_lazy) {
  Instruction split{Instruction::kSplit};
  split.next = is_lazy ? alternative : preferred;
  split.operand = is_lazy ? preferred : alternative;
  return emit(split);
}

int PatternProgram::compile(const PatternNode& node, int next) {
  switch (node.kind) {
    case PatternNode::kRunes:
      return emit_rune(node.runes, next);
    case PatternNode::kSequence:
      for (size_t i = node.parts.size(); i-- > 0;) next = compile(*node.parts[i], next);
      return next;
    case PatternNode::kAlternation: {
      int alternatives = compile(*node.parts.back(), next);
      for (size_t i = node.parts.size() - 1; i-- > 0;) {
        alternatives = emit_split(compile(*node.parts[i], next), alternatives, false);
      }
      return alternatives;
    }
    case PatternNode::kRepeat:
      return compile_repeat(node, next);
    case PatternNode::kGroup: {
      const int index = 2 * node.group;
      if (index >= PatternMatch::kMaxCaptures) return compile(*node.parts[0], next);
      Instruction capture{Instruction::kCapture};
      capture.next = next;
      capture.operand = index + 1;
      const int end = emit(capture);
      capture.next = compile(*node.parts[0], end);
      capture.operand = index;
      return emit(capture);
    }
    default: {
      Instruction assertion{Instruction::kAssertion, next};
      assertion.assertion = node.kind;
      return emit(assertion);
    }
  }
}

int PatternProgram::compile_repeat(const PatternNode& node, int next) {
  const PatternNode& body = *node.parts[0];
  if (node.max_repeats < 0) {
    next = compile_loop(body, node.is_lazy, next, node.min_repeats == 0);
  } else {
    // x{2,4} compiles as xx(x(x)?)?.
    const int end = next;
    for (int i = node.min_repeats; i < node.max_repeats; ++i) {
      next = emit_split(compile(body, next), end, node.is_lazy);
    }
  }
  for (int i = node.max_repeats < 0 ? 1 : 0; i < node.min_repeats; ++i) next = compile(body, next);
  return next;
}

// Compiles x* or x+. If x can be empty, x* becomes (x+)?. A match attempt that returns to the loop
// without consuming text must have lower priority than one that leaves the loop.
int PatternProgram::compile_loop(const PatternNode& body,
                                 bool is_lazy,
                                 int next,
                                 bool can_repeat_zero_times) {
  const int loop = emit_split(0, next, is_lazy);
  const int begin = compile(body, loop);
  (is_lazy ? instructions_[static_cast<size_t>(loop)].operand
           : instructions_[static_cast<size_t>(loop)].next) = begin;
  if (!can_repeat_zero_times) return begin;
  return body.can_be_empty ? emit_split(begin, next, is_lazy) : loop;
}

// Runs a program on a text. A "thread" is a match attempt at one instruction, not an OS thread. All
// threads advance by one character at a time, in order of priority.
class PatternSearch {
 public:
  PatternSearch(const PatternProgram& program, const std::string& text, bool has_captures)
      : program_(program),
        begin_(text.data()),
        end_(begin_ + text.size()),
        num_captures_(has_captures ? std::min(2 * (program.groups_ + 1), PatternMatch::kMaxCaptures)
                                   : 0) {
    const size_t n = program.instructions_.size();
    for (Threads* threads : {&current_, &next_}) {
      threads->index.assign(n, 0);
      threads->captures.resize(n * num_captures_);
    }
    captures_.resize(num_captures_);
  }

  bool find(size_t from, PatternProgram::Anchors anchors, PatternMatch* match);

 private:
  using Instruction = PatternProgram::Instruction;
  // A sparse set of instructions: `index[pc]` is valid only if `list` contains `pc` at that index.
  // `captures` has one row per instruction.
  struct Threads {
    std::vector<int> list, index;
    std::vector<const char*> captures;
    bool has(int pc) const {
      const auto at = static_cast<size_t>(index[static_cast<size_t>(pc)]);
      return at < list.size() && list[at] == pc;
    }
    void add(int pc) {
      index[static_cast<size_t>(pc)] = static_cast<int>(list.size());
      list.push_back(pc);
    }
    const char** captures_of(int pc, size_t num_captures) {
      return captures.data() + static_cast<size_t>(pc) * num_captures;
    }
  };

  void add_threads(int start, const char* at, Threads* threads);
  bool accepts(const Instruction& instruction, int32_t rune) const {
    if (instruction.kind == Instruction::kRuneRange) {
      return rune >= instruction.low && rune <= instruction.high;
    }
    return instruction.kind == Instruction::kRuneSet &&
           program_.sets_[static_cast<size_t>(instruction.operand)].has(rune);
  }

  const PatternProgram& program_;
  const char* begin_;
  const char* end_;
  size_t num_captures_;
  Threads current_, next_;
  std::vector<const char*> captures_;  // captures of the thread that add_threads() adds
  struct StackEntry {
    int pc;  // index of an instruction; -1: restore captures_[capture] to `previous`
    int capture;
    const char* previous;
  };
  std::vector<StackEntry> stack_;
};

// Adds a match attempt for each instruction that `start` leads to without consuming a character.
void PatternSearch::add_threads(int start, const char* at, Threads* threads) {
  stack_.push_back({start, 0, nullptr});
  while (!stack_.empty()) {
    const StackEntry entry = stack_.back();
    stack_.pop_back();
    if (entry.pc < 0) {
      captures_[static_cast<size_t>(entry.capture)] = entry.previous;
      continue;
    }
    if (threads->has(entry.pc)) continue;
    threads->add(entry.pc);
    const Instruction& instruction = program_.instructions_[static_cast<size_t>(entry.pc)];
    switch (instruction.kind) {
      case Instruction::kSplit:
        stack_.push_back({instruction.operand, 0, nullptr});
        stack_.push_back({instruction.next, 0, nullptr});
        break;
      case Instruction::kAssertion:
        if (assertion_holds(instruction.assertion, at, begin_, end_)) {
          stack_.push_back({instruction.next, 0, nullptr});
        }
        break;
      case Instruction::kCapture:
        if (num_captures_ > 0) {
          const char*& capture = captures_[static_cast<size_t>(instruction.operand)];
          stack_.push_back({-1, instruction.operand, capture});
          capture = at;
        }
        stack_.push_back({instruction.next, 0, nullptr});
        break;
      default:
        std::copy(captures_.begin(), captures_.end(),
                  threads->captures_of(entry.pc, num_captures_));
    }
  }
}

bool PatternSearch::find(size_t from, PatternProgram::Anchors anchors, PatternMatch* match) {
  bool is_found = false;
  current_.list.clear();
  InterruptPoll poll;
  for (const char* at = begin_ + from;;) {
    if (!is_found && (!anchors.at_begin || at == begin_ + from)) {
      std::fill(captures_.begin(), captures_.end(), nullptr);
      if (num_captures_ > 0) captures_[0] = at;
      add_threads(program_.start_, at, &current_);
    }
    if (current_.list.empty() && (is_found || anchors.at_begin)) return is_found;
    const Rune rune = at < end_ ? rune_at(at, end_) : Rune{-1, 1};
    next_.list.clear();
    for (int pc : current_.list) {
      poll();
      const Instruction& instruction = program_.instructions_[static_cast<size_t>(pc)];
      if (instruction.kind == Instruction::kMatch) {
        if (anchors.at_end && at != end_) continue;
        is_found = true;
        if (!match) return true;
        std::copy_n(current_.captures_of(pc, num_captures_), num_captures_, match->captures);
        match->captures[1] = at;
        break;  // the remaining threads in the list have lower priority
      }
      if (rune.value < 0 || !accepts(instruction, rune.value)) continue;
      if (num_captures_ > 0)
        std::copy_n(current_.captures_of(pc, num_captures_), num_captures_, captures_.begin());
      add_threads(instruction.next, at + rune.length, &next_);
    }
    if (at >= end_) return is_found;
    at += rune.length;
    std::swap(current_, next_);
  }
}

bool PatternProgram::find(const std::string& text,
                          size_t from,
                          Anchors anchors,
                          PatternMatch* match) const {
  if (match) std::fill(match->captures, match->captures + PatternMatch::kMaxCaptures, nullptr);
  return PatternSearch(*this, text, match != nullptr).find(from, anchors, match);
}

}  // namespace runhooks
