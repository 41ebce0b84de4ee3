#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/** Character classes of the sentence chunker, and boundaries of grapheme clusters. */
namespace voice {

enum class CharClass : uint8_t {
  space,
  newline,
  dot,          // . and its full-width form
  ellipsis,     // … and ‥
  stop,         // ? ! and the stops of other scripts: end a sentence before white space
  wide_stop,    // 。！？: end a sentence without white space
  clause,       // , ; :
  wide_clause,  // ，、；：
  quote,        // opens or closes depending on its position; also Markdown emphasis
  opener,
  closer,
  dash,  // dashes and bullets
  digit,
  upper,
  lower,
  letter,  // letters without case, and all characters without another class
  symbol,
  emoji,
  mark,  // combining, joining and invisible characters: belong to the previous character
};

CharClass class_of(char32_t code_point);

struct Decoded {
  char32_t code_point;
  size_t units;
};

/** Code point at `at` in UTF-16 text; a lone surrogate is returned unchanged. */
inline Decoded decode_at(std::u16string_view text, size_t at) {
  const char16_t first = text[at];
  if ((first & 0xFC00u) == 0xD800u && at + 1 < text.size()) {
    const char16_t second = text[at + 1];
    if ((second & 0xFC00u) == 0xDC00u) {
      return {0x10000u + ((char32_t{first} & 0x3FFu) << 10u) + (char32_t{second} & 0x3FFu), 2};
    }
  }
  return {first, 1};
}

/** Whether text may be split between two such neighbours, which are written without spaces (ideographs, kana). */
bool is_ideographic(char32_t code_point);

/**
 * Tracks text code point by code point and determines whether it may be split before the next one. It never allows a
 * split that UAX 29 forbids inside a grapheme cluster; it forbids a few more, which is harmless.
 */
class GraphemeCursor {
 public:
  /** `kind` is the class of `code_point`. */
  bool may_cut_before(char32_t code_point, CharClass kind) const;
  void advance(char32_t code_point, CharClass kind);

 private:
  char32_t previous_ = 0;
  /** The previous character binds the next one: a joiner, a prefix, or a virama with its marks. */
  bool binds_next_ = false;
  bool after_virama_ = false;
  /** An odd number of regional indicators precedes: half a flag. */
  bool half_flag_ = false;
};

}  // namespace voice
