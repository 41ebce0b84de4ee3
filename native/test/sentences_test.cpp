#include "sentences.h"

#include <algorithm>
#include <string>
#include <vector>

#include "check.h"

namespace voice::test {
namespace {

using Chunks = std::vector<std::u16string>;

Chunks split(const std::u16string& text) {
  SentenceChunker chunker;
  Chunks chunks;
  chunker.push(text, chunks);
  chunker.flush(chunks);
  return chunks;
}

std::u16string joined(const Chunks& chunks) {
  std::u16string text;
  for (const auto& chunk : chunks) text += chunk;
  return text;
}

/** `marked` has `|` between its sentences. */
void sentences(const std::u16string& marked) {
  Chunks expected{u""};
  std::u16string text;
  for (const char16_t unit : marked) {
    if (unit == u'|') {
      expected.emplace_back();
    } else {
      expected.back() += unit;
      text += unit;
    }
  }
  check(split(text) == expected, std::string(marked.begin(), marked.end()));
}

void fixed_cases() {
  sentences(u"Hello there. |How are you? |Fine!");
  sentences(u"Mr. Smith met Dr. Who. |J. R. R. Tolkien wrote e.g. Books.");
  sentences(u"The U.S. Government. |He left the U.S. |It rained at 3.14 p.m. today.");
  sentences(u"See https://a.example/b.c?d. |Wait... |What?! |“Yes.” |No");
  sentences(u"\u4ECA\u5929\u3002|\u300C\u597D\uFF01\u300D|\u8D70");
  sentences(u"1. One\n|2. Two\n\n|three");
  sentences(u"Great!\xD83D\xDE00 |Next.");
  sentences(u"Am 3. Mai und 12. M\u00E4rz. |Es waren 12. |Dann im 19. Jahrhundert. |Es sind 3. |\u00D6l.");
  check(split(u"").empty(), "no text, no chunks");
  check(split(u" \n ") == Chunks{u" \n "}, "white space alone");
  check(split(std::u16string(1500, u'x')).size() == 3, "600 at most");
}

/** Random units, with special characters more frequent. */
std::u16string random_text(Random& random) {
  static const std::u16string kMeaningful =
      u"....!?  \n\r\t\"'()[],;:-*aAbTtheHIiUSMr19\u3002\uFF01\u300C\u300D\u3001\u2026\u201C\u201D\u0301\u200D\uFE0F"
      u"\xD83D\xDE00\xD83D\xDC69\xD83C\xDDEF\u094D\u0915\u1100\u1161\u0600\u00A0\u0085\u4ECA\u3068";
  std::u16string text;
  const uint32_t length = random.below(random.below(8) == 0 ? 3000 : 120);
  const uint32_t wild = random.below(4) == 0 ? 2 : 50;
  for (uint32_t i = 0; i < length; i++) {
    if (random.below(wild) == 0) {
      text += static_cast<char16_t>(random.below(65536));
    } else {
      text += kMeaningful[random.below(static_cast<uint32_t>(kMeaningful.size()))];
    }
  }
  return text;
}

size_t visible_length(const std::u16string& chunk) {
  size_t length = 0;
  size_t visible = 0;
  for (size_t at = 0; at < chunk.size();) {
    const auto [code_point, units] = decode_at(chunk, at);
    const CharClass kind = class_of(code_point);
    const bool space = kind == CharClass::space || kind == CharClass::newline;
    if (length > 0 || !space) length++;
    if (!space) visible = length;
    at += units;
  }
  return visible;
}

void random_cases() {
  Random random(2);
  for (int round = 0; round < 3000; round++) {
    const std::u16string text = random_text(random);
    const Chunks whole = split(text);
    check(joined(whole) == text, "chunks are the whole text, round " + std::to_string(round));
    for (const auto& chunk : whole) {
      check(!chunk.empty() && visible_length(chunk) <= kPassLimit, "length, round " + std::to_string(round));
    }

    SentenceChunker chunker;
    Chunks parts;
    for (size_t at = 0; at < text.size();) {
      const size_t count = std::min<size_t>(random.below(random.below(10) == 0 ? 300 : 4), text.size() - at);
      chunker.push(std::u16string_view(text).substr(at, count), parts);
      at += count;
    }
    chunker.flush(parts);
    check(parts == whole, "split, round " + std::to_string(round));
    check(chunker.pending_units() == 0, "flush empties the buffer");
  }
}

void hostile_texts() {
  for (const char16_t* part : {u"x", u"a.", u"\"", u". ", u"( ", u"\u0301", u"\u3002", u"U.S. (", u"\n", u"\xD83D"}) {
    std::u16string text;
    while (text.size() < 200'000) text += part;
    SentenceChunker chunker;
    Chunks chunks;
    for (size_t at = 0; at < text.size(); at += 7) chunker.push(std::u16string_view(text).substr(at, 7), chunks);
    // The buffer is limited by the pass limit, unless it contains only white space.
    if (part[0] != u'\n') check(chunker.pending_units() < 2 * kPassLimit, "the buffer is bounded");
    chunker.flush(chunks);
    check(joined(chunks) == text, "hostile text is returned unchanged");
  }
}

}  // namespace

void test_sentences() {
  fixed_cases();
  random_cases();
  hostile_texts();
}

}  // namespace voice::test
