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
 * Splits text into units of synthesis (spec 4.3, rules 1 and 2): sentences, and the pieces that {@link LengthLimit}
 * makes of long sentences. Concatenated, the chunks are the complete text: white space belongs to the chunk before
 * it. Text is UTF-16 as in JavaScript; a lone surrogate is treated as a letter.
 * The chunker is an automaton over code points, so the chunks do not depend on the division of the text into pushes,
 * and the time is linear. A sentence is emitted once the following characters confirm its end:
 *
 * - `?`, `!` and the stops of other scripts end it before white space; inside quotes only if no small letter follows;
 * - `.` and an ellipsis also require that no small letter follows the white space, and that the word before them is
 * not an abbreviation, or an ordinal number before a month ({@link meaning_of_stop});
 * - `。`, `！`, `？` end it with the following closing brackets, without white space;
 * - an empty line ends it; so does a single line break if the line was short or a dash follows, but never before a
 * small letter: paragraphs that are wrapped at a usual width are not split;
 * - nothing ends before the first letter, digit or emoji.
 */
class SentenceChunker {
 public:
  /** Appends the chunks that `text` completes. */
  void push(std::u16string_view text, std::vector<std::u16string>& chunks);
  /** Appends the remaining text and resets the chunker. */
  void flush(std::vector<std::u16string>& chunks);
  void reset() { *this = SentenceChunker{}; }
  /** Number of buffered UTF-16 units. */
  size_t pending_units() const { return text_.size(); }

 private:
  enum class Phase : uint8_t {
    body,  // inside a sentence
    stop,  // after a stop and its brackets and quotes
    gap,   // in white space
    peek,  // reading the word after the gap, which decides
  };

  /** The possible end of a sentence. */
  struct Stop {
    uint32_t dots = 0;
    bool hard = false;  // ? or !
    bool wide = false;
    bool closed = false;    // a quote or bracket closed after it
    bool followed = false;  // as `closed`, or an emoji follows
    StopMeaning meaning = StopMeaning::sentence;
    bool any() const { return dots > 0 || hard || wide; }
  };

  void scan(bool ended, std::vector<std::u16string>& chunks);
  void on_body(char32_t code_point, CharClass kind);
  void on_stop_mark(CharClass kind);
  void on_space(char32_t code_point, CharClass kind);
  /** Each returns true if the character was consumed, false if the phase changed and it must be read again. */
  bool on_stop(char32_t code_point, CharClass kind, std::vector<std::u16string>& chunks);
  bool on_gap(char32_t code_point, CharClass kind, std::vector<std::u16string>& chunks);
  bool on_peek(char32_t code_point, CharClass kind, std::vector<std::u16string>& chunks);

  /** Whether the capitalized word after the gap starts a sentence. */
  bool peeked_starts() const;
  bool line_break_ends(CharClass next) const;
  /** Returns to the end of the gap and continues: with a new sentence, or inside the same one. */
  void settle(bool ends, std::vector<std::u16string>& chunks);

  /** Text from the start of the piece in progress. */
  std::u16string text_;
  size_t next_ = 0;
  LengthLimit limit_;

  Phase phase_ = Phase::body;
  bool has_word_ = false;
  ShortWord word_;
  bool word_is_first_ = false;
  char32_t previous_ = 0;
  /** A French quote is open, so that a » after white space closes it. */
  bool in_guillemets_ = false;
  Stop stop_;

  /** Code points of the current line, and of the line before the gap's first break. */
  size_t line_ = 0;
  size_t broken_line_ = 0;
  uint32_t breaks_ = 0;

  size_t gap_end_ = 0;
  ShortWord peeked_;
  uint32_t peeked_openers_ = 0;
};

}  // namespace voice
