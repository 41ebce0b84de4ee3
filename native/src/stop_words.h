#pragma once

#include <cstddef>
#include <string_view>

namespace voice {

/** Meaning of a single full stop after a word. */
enum class StopMeaning {
  sentence,       // a sentence may end here
  abbreviation,   // never ends a sentence: Mr. e.g. vs.
  before_number,  // No. 5, Fig. 3; otherwise like `sentence`
  ordinal,        // 3. Mai, 19. Jahrhundert; otherwise like `sentence`
  uncertain,      // U.S., a.m., Inc., initials: ends a sentence only before a word that usually starts one
};

/** The start of a word; longer words are in none of the lists. */
class ShortWord {
 public:
  void clear() { size_ = 0; }
  void append(char32_t code_point) {
    if (size_ < kCapacity) letters_[size_] = code_point;
    if (size_ <= kCapacity) size_++;
  }
  bool empty() const { return size_ == 0; }
  /** Number of characters; {@link kCapacity} + 1 for longer words. */
  size_t size() const { return size_; }
  bool fits() const { return size_ <= kCapacity; }
  char32_t operator[](size_t at) const { return letters_[at]; }

  static constexpr size_t kCapacity = 12;

 private:
  char32_t letters_[kCapacity] = {};
  size_t size_ = 0;
};

/**
 * Meaning of a stop after `word`, which contains everything since the last white space, bracket or dash, including
 * earlier dots. `first` is true for the first word of a sentence, where `1.` and `a.` number a list.
 */
StopMeaning meaning_of_stop(const ShortWord& word, bool first);

/** Whether a capitalized word follows ordinal numbers, which have a stop in German and other languages: 3. Mai. */
bool follows_ordinals(const ShortWord& word);

/** Whether a capitalized word starts sentences far more often than it is a name: The, It, But. */
bool starts_sentences(const ShortWord& word);

}  // namespace voice
