#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "length_limit.h"
#include "stop_words.h"
#include "text_class.h"

namespace voice {

/**
 * Cuts text into what is synthesised in one pass each (spec 4.3, rules 1 and 2): sentences, and where a
 * sentence is too long the pieces that {@link LengthLimit} makes of it. The chunks joined are the text,
 * to the last character: white space belongs to the chunk before it. Text is UTF-16 as JavaScript holds
 * it; a lone surrogate is a letter like any other.
 *
 * The chunker is an automaton over code points, so chunks do not depend on how the text was cut into
 * pushes, and the time is linear. A sentence is given once the characters behind it confirm that it ended:
 *
 * - `?`, `!` and the stops of other scripts end it before white space; inside quotes only when no small
 *   letter follows;
 * - `.` and an ellipsis also need something else than a small letter behind the white space, and a word
 *   before them that is not an abbreviation ({@link meaning_of_stop});
 * - `。`, `！`, `？` end it with the brackets that close behind them, without white space;
 * - an empty line ends it; so does a single line break when the line was short or a dash follows, but never
 *   before a small letter: paragraphs that are wrapped at a usual width stay whole;
 * - before the first letter, digit or emoji nothing ends.
 */
class SentenceChunker {
 public:
  /** Appends the chunks that `text` completes. */
  void push(std::u16string_view text, std::vector<std::u16string>& chunks);
  /** Appends what is left and starts anew. */
  void flush(std::vector<std::u16string>& chunks);
  void reset() { *this = SentenceChunker{}; }
  /** UTF-16 units that are held back. */
  size_t pending_units() const { return text_.size(); }

 private:
  enum class Phase : uint8_t {
    body,  // inside a sentence
    stop,  // behind a stop, its brackets and quotes
    gap,   // in white space
    peek,  // reading the word behind the gap that decides
  };

  /** What stood at the end of the sentence that may have ended. */
  struct Stop {
    uint32_t dots = 0;
    bool hard = false;  // ? or !
    bool wide = false;
    bool closed = false;    // a quote or bracket closed behind it
    bool followed = false;  // so it did, or an emoji stands there
    StopMeaning meaning = StopMeaning::sentence;
    bool any() const { return dots > 0 || hard || wide; }
  };

  void scan(bool ended, std::vector<std::u16string>& chunks);
  void on_body(char32_t code_point, CharClass kind);
  void on_stop_mark(CharClass kind);
  void on_space(char32_t code_point, CharClass kind);
  /** Each returns true when the character was used up, false when the phase changed and it must be read again. */
  bool on_stop(char32_t code_point, CharClass kind, std::vector<std::u16string>& chunks);
  bool on_gap(char32_t code_point, CharClass kind, std::vector<std::u16string>& chunks);
  bool on_peek(char32_t code_point, CharClass kind, std::vector<std::u16string>& chunks);

  bool line_break_ends(CharClass next) const;
  /** Goes back to the gap's end and reads on: as a new sentence, or inside the same one. */
  void settle(bool ends, std::vector<std::u16string>& chunks);

  /** From the start of the piece in progress. */
  std::u16string text_;
  size_t next_ = 0;
  LengthLimit limit_;

  Phase phase_ = Phase::body;
  bool has_word_ = false;
  ShortWord word_;
  bool word_is_first_ = false;
  char32_t previous_ = 0;
  /** A French quote is open, so that a » behind white space closes it. */
  bool in_guillemets_ = false;
  Stop stop_;

  /** Code points of the line so far, and of the line that the gap's first break ended. */
  size_t line_ = 0;
  size_t broken_line_ = 0;
  uint32_t breaks_ = 0;

  size_t gap_end_ = 0;
  ShortWord peeked_;
  uint32_t peeked_openers_ = 0;
};

}  // namespace voice
