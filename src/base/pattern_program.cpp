#include "base/pattern_program.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/interrupt.h"
#include "base/status.h"

namespace runhooks {

namespace {

constexpr size_t kMaxInstructions = 100000;

bool is_word(const char* at) { return is_ascii_alnum(*at) || *at == '_'; }

bool assertion_holds(PatternNode::Kind place, const char* at, const char* begin, const char* end) {
  switch (place) {
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
      return is_edge == (place == PatternNode::kWordBoundary);
    }
  }
}

}  // namespace

// --- compiling: backwards, because each instruction needs its successor

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
  Instruction rune{Instruction::kRunes, next};
  if (runes.ranges().size() == 1) {
    rune.kind = Instruction::kRune;
    rune.low = runes.ranges()[0].first;
    rune.high = runes.ranges()[0].second;
  } else {
    rune.other = static_cast<int>(sets_.size());
    sets_.push_back(runes);
  }
  return emit(rune);
}

int PatternProgram::emit_split(int wanted, int other, bool is_lazy) {
  Instruction split{Instruction::kSplit};
  split.next = is_lazy ? other : wanted;
  split.other = is_lazy ? wanted : other;
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
      int chosen = compile(*node.parts.back(), next);
      for (size_t i = node.parts.size() - 1; i-- > 0;) {
        chosen = emit_split(compile(*node.parts[i], next), chosen, false);
      }
      return chosen;
    }
    case PatternNode::kRepeat:
      return compile_repeat(node, next);
    case PatternNode::kGroup: {
      const int place = 2 * node.group;
      if (place >= PatternMatch::kMaxCaptures) return compile(*node.parts[0], next);
      Instruction keep{Instruction::kKeep};
      keep.next = next;
      keep.other = place + 1;
      const int end = emit(keep);
      keep.next = compile(*node.parts[0], end);
      keep.other = place;
      return emit(keep);
    }
    default: {
      Instruction place{Instruction::kCapture, next};
      place.place = node.kind;
      return emit(place);
    }
  }
}

int PatternProgram::compile_repeat(const PatternNode& node, int next) {
  const PatternNode& inside = *node.parts[0];
  if (node.most < 0) {
    next = compile_loop(inside, node.is_lazy, next, node.least == 0);
  } else {
    // x{2,4} compiles as xx(x(x)?)?.
    const int end = next;
    for (int i = node.least; i < node.most; ++i) {
      next = emit_split(compile(inside, next), end, node.is_lazy);
    }
  }
  for (int i = node.most < 0 ? 1 : 0; i < node.least; ++i) next = compile(inside, next);
  return next;
}

// Compiles x* or x+. If x can be empty, x* becomes (x+)?. A thread that returns to the loop without
// consuming text must have lower priority than one that leaves it.
int PatternProgram::compile_loop(const PatternNode& inside,
                                 bool is_lazy,
                                 int next,
                                 bool may_be_none) {
  const int loop = emit_split(0, next, is_lazy);
  const int begin = compile(inside, loop);
  (is_lazy ? instructions_[static_cast<size_t>(loop)].other
           : instructions_[static_cast<size_t>(loop)].next) = begin;
  if (!may_be_none) return begin;
  return inside.can_be_empty ? emit_split(begin, next, is_lazy) : loop;
}

// Threads at one position of the text in order of priority, and the groups recorded by each.
class PatternSearch {
 public:
  PatternSearch(const PatternProgram& program, const std::string& text, bool keeps)
      : program_(program),
        begin_(text.data()),
        end_(begin_ + text.size()),
        width_(keeps ? std::min(2 * (program.groups_ + 1), PatternMatch::kMaxCaptures) : 0) {
    const size_t n = program.instructions_.size();
    for (Threads* threads : {&now_, &next_}) {
      threads->where.assign(n, 0);
      threads->places.resize(n * width_);
    }
    places_.resize(width_);
  }

  bool find(size_t from, PatternProgram::How how, PatternMatch* match);

 private:
  using Instruction = PatternProgram::Instruction;
  // A sparse set: `where[pc]` is valid only if `list` contains `pc` at that index.
  struct Threads {
    std::vector<int> list, where;
    std::vector<const char*> places;
    bool has(int pc) const {
      const auto at = static_cast<size_t>(where[static_cast<size_t>(pc)]);
      return at < list.size() && list[at] == pc;
    }
    void add(int pc) {
      where[static_cast<size_t>(pc)] = static_cast<int>(list.size());
      list.push_back(pc);
    }
    const char** captures_of(int pc, size_t width) {
      return places.data() + static_cast<size_t>(pc) * width;
    }
  };

  void follow(int pc, const char* at, Threads* threads);
  bool accepts(const Instruction& instruction, int32_t rune) const {
    if (instruction.kind == Instruction::kRune) {
      return rune >= instruction.low && rune <= instruction.high;
    }
    return instruction.kind == Instruction::kRunes &&
           program_.sets_[static_cast<size_t>(instruction.other)].has(rune);
  }

  const PatternProgram& program_;
  const char* begin_;
  const char* end_;
  size_t width_;
  Threads now_, next_;
  std::vector<const char*> places_;
  struct Todo {
    int pc;  // -1: restore places_[place] to `before`
    int place;
    const char* before;
  };
  std::vector<Todo> todo_;
};

// Adds all threads that can be reached from `start` without consuming a character.
void PatternSearch::follow(int start, const char* at, Threads* threads) {
  todo_.push_back({start, 0, nullptr});
  while (!todo_.empty()) {
    const Todo todo = todo_.back();
    todo_.pop_back();
    if (todo.pc < 0) {
      places_[static_cast<size_t>(todo.place)] = todo.before;
      continue;
    }
    if (threads->has(todo.pc)) continue;
    threads->add(todo.pc);
    const Instruction& instruction = program_.instructions_[static_cast<size_t>(todo.pc)];
    switch (instruction.kind) {
      case Instruction::kSplit:
        todo_.push_back({instruction.other, 0, nullptr});
        todo_.push_back({instruction.next, 0, nullptr});
        break;
      case Instruction::kCapture:
        if (assertion_holds(instruction.place, at, begin_, end_)) {
          todo_.push_back({instruction.next, 0, nullptr});
        }
        break;
      case Instruction::kKeep:
        if (width_ > 0) {
          const char*& place = places_[static_cast<size_t>(instruction.other)];
          todo_.push_back({-1, instruction.other, place});
          place = at;
        }
        todo_.push_back({instruction.next, 0, nullptr});
        break;
      default:
        std::copy(places_.begin(), places_.end(), threads->captures_of(todo.pc, width_));
    }
  }
}

bool PatternSearch::find(size_t from, PatternProgram::How how, PatternMatch* match) {
  bool is_found = false;
  now_.list.clear();
  InterruptPoll poll;
  for (const char* at = begin_ + from;;) {
    if (!is_found && (!how.at_begin || at == begin_ + from)) {
      std::fill(places_.begin(), places_.end(), nullptr);
      if (width_ > 0) places_[0] = at;
      follow(program_.start_, at, &now_);
    }
    if (now_.list.empty() && (is_found || how.at_begin)) return is_found;
    const Rune rune = at < end_ ? rune_at(at, end_) : Rune{-1, 1};
    next_.list.clear();
    for (int pc : now_.list) {
      poll();
      const Instruction& instruction = program_.instructions_[static_cast<size_t>(pc)];
      if (instruction.kind == Instruction::kMatch) {
        if (how.at_end && at != end_) continue;
        is_found = true;
        if (!match) return true;
        std::copy_n(now_.captures_of(pc, width_), width_, match->places);
        match->places[1] = at;
        break;  // the threads after it have lower priority
      }
      if (rune.value < 0 || !accepts(instruction, rune.value)) continue;
      if (width_ > 0) std::copy_n(now_.captures_of(pc, width_), width_, places_.begin());
      follow(instruction.next, at + rune.length, &next_);
    }
    if (at >= end_) return is_found;
    at += rune.length;
    std::swap(now_, next_);
  }
}

bool PatternProgram::find(const std::string& text,
                          size_t from,
                          How how,
                          PatternMatch* match) const {
  if (match) std::fill(match->places, match->places + PatternMatch::kMaxCaptures, nullptr);
  return PatternSearch(*this, text, match != nullptr).find(from, how, match);
}

}  // namespace runhooks
