#include "length_limit.h"

namespace voice {

void LengthLimit::restart(size_t at) {
  *this = LengthLimit{};
  start_ = at;
  at_ = at;
}

void LengthLimit::shift(size_t units) {
  start_ -= units;
  at_ -= units;
  const auto shift_mark = [units](size_t& mark) { mark = mark == 0 ? 0 : mark - units; };
  shift_mark(last_clause_);
  shift_mark(last_word_);
  shift_mark(last_grapheme_);
}

void LengthLimit::cut(std::u16string_view text, size_t at, std::vector<std::u16string>& pieces) {
  pieces.emplace_back(text.substr(start_, at - start_));
  restart(at);
}

void LengthLimit::finish(std::u16string_view text, size_t end, std::vector<std::u16string>& pieces) {
  feed(text, end, pieces);
  if (start_ < end) cut(text, end, pieces);
}

bool LengthLimit::note_boundaries(std::u16string_view text, char32_t code_point, CharClass kind,
                                  std::vector<std::u16string>& pieces) {
  if (at_ == start_ || count_ == 0 || !graphemes_.may_cut_before(code_point, kind)) return false;
  last_grapheme_ = at_;
  if (after_space_ || (is_ideographic(previous_) && is_ideographic(code_point))) last_word_ = at_;
  const bool closes = kind == CharClass::closer || kind == CharClass::quote;
  if ((clause_ == Clause::marked && after_space_) || (clause_ == Clause::wide && (after_space_ || !closes))) {
    if (count_ > kClauseLimit) {
      cut(text, at_, pieces);
      return true;
    }
    last_clause_ = at_;
  }
  return false;
}

void LengthLimit::feed(std::u16string_view text, size_t end, std::vector<std::u16string>& pieces) {
  while (at_ < end) {
    const auto [code_point, units] = decode_at(text.substr(0, end), at_);
    const CharClass kind = class_of(code_point);
    if (kind == CharClass::space || kind == CharClass::newline) {
      spaces_++;
      after_space_ = true;
    } else {
      if (note_boundaries(text, code_point, kind, pieces)) continue;
      count_ += 1 + (count_ == 0 ? 0 : spaces_);
      spaces_ = 0;
      if (count_ > kClauseLimit && last_clause_ != 0) {
        cut(text, last_clause_, pieces);
        continue;
      }
      if (count_ > kPassLimit) {
        cut(text, last_word_ != 0 ? last_word_ : (last_grapheme_ != 0 ? last_grapheme_ : at_), pieces);
        continue;
      }
      if (kind == CharClass::clause) {
        clause_ = Clause::marked;
      } else if (kind == CharClass::wide_clause) {
        clause_ = Clause::wide;
      } else if (kind != CharClass::mark && (after_space_ || (kind != CharClass::closer && kind != CharClass::quote))) {
        clause_ = Clause::none;
      }
      if (kind != CharClass::mark) after_space_ = false;
    }
    graphemes_.advance(code_point, kind);
    previous_ = code_point;
    at_ += units;
  }
}

}  // namespace voice
