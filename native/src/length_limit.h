#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text_class.h"

namespace voice {

/** Spec 4.3, rule 2, in Unicode code points. White space around a piece does not count. */
inline constexpr size_t kClauseLimit = 400;
inline constexpr size_t kPassLimit = 600;

/**
 * Cuts one sentence after another into pieces that a synthesis pass can take (spec 4.3, rule 2):
 *
 * - up to 400 characters stay whole;
 * - beyond that, the cut is after the last clause mark (`,` `;` `:` with the quotes and the white space
 *   behind it) within 400, or else after the first one within 600;
 * - where 600 hold no clause mark, it is at the last word boundary: white space, or between ideographs;
 * - without that, between two grapheme clusters; a single cluster of more than 600 is cut between code
 *   points.
 *
 * Each piece is decided as soon as the character that settles it is fed, whatever follows. Every
 * character is read at most a few times: a cut leaves behind none of the marks that it was chosen from.
 */
class LengthLimit {
 public:
  /** Reads `text` up to `end`, all of which belongs to the sentence, and appends the pieces it settles. */
  void feed(std::u16string_view text, size_t end, std::vector<std::u16string>& pieces);
  /** Ends the sentence at `end` and appends what is left of it. */
  void finish(std::u16string_view text, size_t end, std::vector<std::u16string>& pieces);

  /** Where the piece in progress starts in the text. */
  size_t start() const { return start_; }
  /** The first `units` of the text, all of them before {@link start}, have been removed. */
  void shift(size_t units);

 private:
  enum class Clause { none, marked, wide };

  void restart(size_t at);
  void cut(std::u16string_view text, size_t at, std::vector<std::u16string>& pieces);
  /** Notes the boundaries that lie before a visible character at `at_`; true if the piece was cut there. */
  bool note_boundaries(std::u16string_view text, char32_t code_point, CharClass kind,
                       std::vector<std::u16string>& pieces);

  size_t start_ = 0;
  /** First unit that has not been read. */
  size_t at_ = 0;
  /** Code points from the first visible one to the last, and the white space read since. */
  size_t count_ = 0;
  size_t spaces_ = 0;
  bool after_space_ = false;
  Clause clause_ = Clause::none;
  char32_t previous_ = 0;
  GraphemeCursor graphemes_;
  /** Ends of the last usable boundary of each kind; 0 for none. */
  size_t last_clause_ = 0;
  size_t last_word_ = 0;
  size_t last_grapheme_ = 0;
};

}  // namespace voice
