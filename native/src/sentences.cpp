#include "sentences.h"

#include <algorithm>

namespace voice {
namespace {

/** A line with fewer characters is a heading, a list item or a verse; longer lines are wrapped prose. */
constexpr size_t kShortLine = 60;
/** Maximum number of brackets and quotes to skip before the letter that decides. */
constexpr uint32_t kMaxOpeners = 8;

bool is_space(CharClass kind) { return kind == CharClass::space || kind == CharClass::newline; }
bool is_stop(CharClass kind) {
  return kind == CharClass::dot || kind == CharClass::ellipsis || kind == CharClass::stop ||
         kind == CharClass::wide_stop;
}
bool is_cased(CharClass kind) { return kind == CharClass::upper || kind == CharClass::lower; }
bool is_word(CharClass kind) {
  return is_cased(kind) || kind == CharClass::digit || kind == CharClass::letter || kind == CharClass::symbol ||
         kind == CharClass::emoji;
}
bool opens(CharClass kind) { return kind == CharClass::quote || kind == CharClass::opener; }
constexpr char32_t kLeftGuillemet = 0xAB;
constexpr char32_t kRightGuillemet = 0xBB;
bool points_left(char32_t quote) { return quote == 0x2018 || quote == 0x201C; }
bool is_ascii_letter(char32_t code_point) {
  return (code_point >= 'a' && code_point <= 'z') || (code_point >= 'A' && code_point <= 'Z');
}

}  // namespace

void SentenceChunker::push(std::u16string_view text, std::vector<std::u16string>& chunks) {
  text_.append(text);
  scan(false, chunks);
  // The text after the gap may belong to the next sentence.
  limit_.feed(text_, phase_ == Phase::peek ? gap_end_ : next_, chunks);
  const size_t given = limit_.start();
  if (given == 0) return;
  text_.erase(0, given);
  limit_.shift(given);
  next_ -= given;
  gap_end_ -= std::min(gap_end_, given);
}

void SentenceChunker::flush(std::vector<std::u16string>& chunks) {
  scan(true, chunks);
  limit_.finish(text_, text_.size(), chunks);
  reset();
}

void SentenceChunker::scan(bool ended, std::vector<std::u16string>& chunks) {
  while (true) {
    while (next_ < text_.size()) {
      // The second half of a surrogate pair may be in the next push.
      const bool half = next_ + 1 == text_.size() && (text_[next_] & 0xFC00u) == 0xD800u;
      if (half && !ended) return;
      const auto [code_point, units] = decode_at(text_, next_);
      const CharClass kind = class_of(code_point);
      bool used = true;
      if (kind != CharClass::mark) {
        switch (phase_) {
          case Phase::body:
            on_body(code_point, kind);
            break;
          case Phase::stop:
            used = on_stop(code_point, kind, chunks);
            break;
          case Phase::gap:
            used = on_gap(code_point, kind, chunks);
            break;
          case Phase::peek:
            used = on_peek(code_point, kind, chunks);
            break;
        }
      }
      if (used) {
        next_ += units;
        previous_ = code_point;
      }
    }
    if (!ended || phase_ != Phase::peek) return;
    // The end of the text also ends the word.
    settle(peeked_starts(), chunks);
  }
}

void SentenceChunker::on_space(char32_t code_point, CharClass kind) {
  if (phase_ != Phase::gap) {
    phase_ = Phase::gap;
    breaks_ = 0;
  }
  if (kind == CharClass::space) {
    line_++;
    return;
  }
  if (code_point == '\n' && previous_ == '\r') return;
  if (breaks_ == 0) broken_line_ = line_;
  breaks_++;
  line_ = 0;
}

void SentenceChunker::on_stop_mark(CharClass kind) {
  if (phase_ == Phase::body) {
    stop_ = Stop{};
    stop_.meaning = meaning_of_stop(word_, word_is_first_);
    phase_ = Phase::stop;
  }
  line_++;
  if (kind == CharClass::dot) stop_.dots++;
  if (kind == CharClass::ellipsis) stop_.dots += 2;
  if (kind == CharClass::stop) stop_.hard = true;
  if (kind == CharClass::wide_stop) stop_.wide = true;
}

void SentenceChunker::on_body(char32_t code_point, CharClass kind) {
  if (is_stop(kind)) return on_stop_mark(kind);
  if (is_space(kind)) {
    word_.clear();
    stop_ = Stop{};
    return on_space(code_point, kind);
  }
  line_++;
  if (code_point == kLeftGuillemet || code_point == kRightGuillemet) in_guillemets_ = code_point == kLeftGuillemet;
  // Inside a word these are an apostrophe, or part of a time or a URL.
  const bool inner = (kind == CharClass::quote || kind == CharClass::clause) && !word_.empty();
  if (is_word(kind) || inner) {
    if (word_.empty()) word_is_first_ = !has_word_;
    word_.append(code_point);
    has_word_ = has_word_ || is_word(kind);
  } else {
    word_.clear();
  }
}

bool SentenceChunker::on_stop(char32_t code_point, CharClass kind, std::vector<std::u16string>& chunks) {
  if (is_stop(kind)) {
    on_stop_mark(kind);
    return true;
  }
  if (is_space(kind)) {
    word_.clear();
    on_space(code_point, kind);
    return true;
  }
  const bool emoji = kind == CharClass::emoji;
  // In Chinese a left quote after a stop opens; in German it closes.
  const bool opens_next = stop_.wide && points_left(code_point);
  if (kind == CharClass::closer || (kind == CharClass::quote && !opens_next) || emoji) {
    line_++;
    if (code_point == kLeftGuillemet || code_point == kRightGuillemet) in_guillemets_ = code_point == kLeftGuillemet;
    stop_.closed = stop_.closed || !emoji;
    stop_.followed = true;
    has_word_ = has_word_ || emoji;
    return true;
  }
  // A quoted sentence continues with the Japanese quotative particle (to, tte).
  const bool quoted = stop_.closed && (code_point == 0x3068 || code_point == 0x3063);
  const bool ends = stop_.wide && has_word_ && !quoted && kind != CharClass::wide_clause;
  if (ends) {
    gap_end_ = next_;
    settle(true, chunks);
    return false;
  }
  const bool bare = !stop_.followed && !stop_.wide;
  if (bare && stop_.hard && !word_.empty()) {
    word_.append('!');  // a?b=c in a URL
  } else if (bare && stop_.dots == 1 && !stop_.hard) {
    word_.append('.');  // 3.14, e.g, example.com
  } else {
    word_.clear();
  }
  phase_ = Phase::body;
  return false;
}

bool SentenceChunker::peeked_starts() const {
  return stop_.meaning == StopMeaning::ordinal ? !follows_ordinals(peeked_) : starts_sentences(peeked_);
}

bool SentenceChunker::line_break_ends(CharClass next) const {
  if (breaks_ > 1) return true;
  if (breaks_ == 0 || next == CharClass::lower) return false;
  return next == CharClass::dash || broken_line_ < kShortLine;
}

bool SentenceChunker::on_gap(char32_t code_point, CharClass kind, std::vector<std::u16string>& chunks) {
  if (is_space(kind)) {
    on_space(code_point, kind);
    return true;
  }
  gap_end_ = next_;
  const auto decide = [&](bool ends) {
    settle(ends, chunks);
    return false;
  };
  if (code_point == kRightGuillemet && in_guillemets_ && stop_.any() && breaks_ < 2) {
    phase_ = Phase::stop;
    return false;
  }
  if (!has_word_) return decide(false);
  if (breaks_ > 1) return decide(true);
  if (is_stop(kind) || kind == CharClass::closer || kind == CharClass::clause || kind == CharClass::wide_clause) {
    return decide(false);
  }
  if (!stop_.any()) return decide(line_break_ends(kind));
  if (stop_.wide) return decide(true);
  if (stop_.hard && !stop_.closed) return decide(true);
  if (kind == CharClass::lower) return decide(false);
  if (stop_.hard) return decide(true);
  if (stop_.dots > 1) stop_.meaning = StopMeaning::sentence;
  if (!opens(kind) && stop_.meaning == StopMeaning::sentence) return decide(true);
  if (!opens(kind) && stop_.meaning == StopMeaning::abbreviation) return decide(false);
  phase_ = Phase::peek;
  peeked_.clear();
  peeked_openers_ = 0;
  return false;
}

bool SentenceChunker::on_peek(char32_t code_point, CharClass kind, std::vector<std::u16string>& chunks) {
  const auto decide = [&](bool ends) {
    settle(ends, chunks);
    return false;
  };
  const bool ordinal = stop_.meaning == StopMeaning::ordinal;
  const bool letter = ordinal ? is_cased(kind) : is_ascii_letter(code_point);
  if (!peeked_.empty()) {
    if (letter && peeked_.fits()) {
      peeked_.append(code_point);
      return true;
    }
    if (ordinal) return decide(peeked_starts());
    // `A.` and `I.` are initials.
    const bool initial = peeked_.size() == 1 && kind == CharClass::dot;
    return decide(!is_word(kind) && !initial && peeked_starts());
  }
  if (opens(kind) && peeked_openers_ < kMaxOpeners) {
    peeked_openers_++;
    return true;
  }
  if (kind == CharClass::lower || stop_.meaning == StopMeaning::abbreviation) return decide(false);
  if (stop_.meaning == StopMeaning::sentence) return decide(true);
  if (stop_.meaning == StopMeaning::before_number) return decide(kind != CharClass::digit);
  if (!letter) return decide(ordinal);
  peeked_.append(code_point);
  return true;
}

void SentenceChunker::settle(bool ends, std::vector<std::u16string>& chunks) {
  if (ends) {
    limit_.finish(text_, gap_end_, chunks);
    has_word_ = false;
  }
  phase_ = Phase::body;
  word_.clear();
  stop_ = Stop{};
  next_ = gap_end_;
}

}  // namespace voice
