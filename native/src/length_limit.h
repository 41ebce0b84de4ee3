#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text_class.h"

namespace voice {

/** Spec 4.3, rule 2, in Unicode code points. White space around a piece is not counted. */
inline constexpr size_t kClauseLimit = 400;
inline constexpr size_t kPassLimit = 600;

/**
 * Splits sentences into pieces that one synthesis step accepts (spec 4.3, rule 2):
 *
 * - up to 400 characters are not split;
 * - longer text is split after the last clause mark (`,` `;` `:` with following quotes and white space) within 400,
 * otherwise after the first one within 600;
 * - if 600 characters contain no clause mark, the split is at the last word boundary: white space, or between
 * ideographs;
 * - otherwise it is between two grapheme clusters; a cluster of more than 600 code points is split between code
 * points.
 * Each piece is emitted as soon as the character that determines it is fed, regardless of what follows. Every
 * character is read at most a few times: after a split, none of the boundaries that it was chosen from remain.
 */
class LengthLimit {
 public:
  /** Reads `text` up to `end`, all of which belongs to the sentence, and appends the pieces that it determines. */
  void feed(std::u16string_view text, size_t end, std::vector<std::u16string>& pieces);
  /** Ends the sentence at `end` and appends the remaining text. */
  void finish(std::u16string_view text, size_t end, std::vector<std::u16string>& pieces);

  /** Start of the piece in progress in the text. */
  size_t start() const { return start_; }
  /** The first `units` of the text, all of them before {@link start}, have been removed. */
  void shift(size_t units);

 private:
  enum class Clause { none, marked, wide };

  void restart(size_t at);
  void cut(std::u16string_view text, size_t at, std::vector<std::u16string>& pieces);
  /** Records the boundaries before a visible character at `at_`; returns true if the piece was split there. */
  bool note_boundaries(std::u16string_view text, char32_t code_point, CharClass kind,
                       std::vector<std::u16string>& pieces);

  size_t start_ = 0;
  /** First unread unit. */
  size_t at_ = 0;
  /** Code points from the first visible one to the last, and white space since then. */
  size_t count_ = 0;
  size_t spaces_ = 0;
  bool after_space_ = false;
  Clause clause_ = Clause::none;
  char32_t previous_ = 0;
  GraphemeCursor graphemes_;
  /** Position of the last usable boundary of each kind; 0 if none. */
  size_t last_clause_ = 0;
  size_t last_word_ = 0;
  size_t last_grapheme_ = 0;
};

}  // namespace voice
