#include "text_class.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "unicode_ranges.h"

namespace voice {
namespace {

constexpr auto kAscii = [] {
  std::array<CharClass, 128> classes{};
  const auto set = [&classes](std::string_view characters, CharClass kind) {
    for (const char character : characters) classes[static_cast<size_t>(character)] = kind;
  };
  classes.fill(CharClass::symbol);
  for (char c = '0'; c <= '9'; c++) classes[static_cast<size_t>(c)] = CharClass::digit;
  for (char c = 'A'; c <= 'Z'; c++) classes[static_cast<size_t>(c)] = CharClass::upper;
  for (char c = 'a'; c <= 'z'; c++) classes[static_cast<size_t>(c)] = CharClass::lower;
  set("\t ", CharClass::space);
  set("\n\r\v\f", CharClass::newline);
  set(".", CharClass::dot);
  set("?!", CharClass::stop);
  set(",;:", CharClass::clause);
  set("\"'`*_~", CharClass::quote);
  set("([{", CharClass::opener);
  set(")]}", CharClass::closer);
  set("-", CharClass::dash);
  return classes;
}();

struct Special {
  char32_t first;
  char32_t last;
  CharClass kind;
};

/** Punctuation outside ASCII, sorted. Superscript digits mark footnotes and close like a bracket. */
constexpr Special kSpecials[] = {
    {0x85, 0x85, CharClass::newline},         {0xA0, 0xA0, CharClass::space},
    {0xA1, 0xA1, CharClass::opener},          {0xAB, 0xAB, CharClass::quote},
    {0xB2, 0xB3, CharClass::closer},          {0xB9, 0xB9, CharClass::closer},
    {0xBB, 0xBB, CharClass::quote},           {0xBF, 0xBF, CharClass::opener},
    {0x589, 0x589, CharClass::stop},          {0x60C, 0x60C, CharClass::clause},
    {0x61B, 0x61B, CharClass::clause},        {0x61F, 0x61F, CharClass::stop},
    {0x6D4, 0x6D4, CharClass::stop},          {0x964, 0x965, CharClass::stop},
    {0x104A, 0x104B, CharClass::stop},        {0x1362, 0x1362, CharClass::stop},
    {0x1367, 0x1368, CharClass::stop},        {0x1680, 0x1680, CharClass::space},
    {0x17D4, 0x17D5, CharClass::stop},        {0x2000, 0x200A, CharClass::space},
    {0x2010, 0x2015, CharClass::dash},        {0x2018, 0x201F, CharClass::quote},
    {0x2022, 0x2023, CharClass::dash},        {0x2025, 0x2026, CharClass::ellipsis},
    {0x2028, 0x2029, CharClass::newline},     {0x202F, 0x202F, CharClass::space},
    {0x2039, 0x203A, CharClass::quote},       {0x203C, 0x203D, CharClass::stop},
    {0x2043, 0x2043, CharClass::dash},        {0x2047, 0x2049, CharClass::stop},
    {0x205F, 0x205F, CharClass::space},       {0x2070, 0x2070, CharClass::closer},
    {0x2074, 0x2079, CharClass::closer},      {0x2212, 0x2212, CharClass::dash},
    {0x25E6, 0x25E6, CharClass::dash},        {0x3000, 0x3000, CharClass::space},
    {0x3001, 0x3001, CharClass::wide_clause}, {0x3002, 0x3002, CharClass::wide_stop},
    {0x3008, 0x3008, CharClass::opener},      {0x3009, 0x3009, CharClass::closer},
    {0x300A, 0x300A, CharClass::opener},      {0x300B, 0x300B, CharClass::closer},
    {0x300C, 0x300C, CharClass::opener},      {0x300D, 0x300D, CharClass::closer},
    {0x300E, 0x300E, CharClass::opener},      {0x300F, 0x300F, CharClass::closer},
    {0x3010, 0x3010, CharClass::opener},      {0x3011, 0x3011, CharClass::closer},
    {0x3014, 0x3014, CharClass::opener},      {0x3015, 0x3015, CharClass::closer},
    {0x3016, 0x3016, CharClass::opener},      {0x3017, 0x3017, CharClass::closer},
    {0x3018, 0x3018, CharClass::opener},      {0x3019, 0x3019, CharClass::closer},
    {0x301A, 0x301A, CharClass::opener},      {0x301B, 0x301B, CharClass::closer},
    {0x301D, 0x301D, CharClass::opener},      {0x301E, 0x301F, CharClass::closer},
    {0xFF01, 0xFF01, CharClass::wide_stop},   {0xFF02, 0xFF02, CharClass::quote},
    {0xFF07, 0xFF07, CharClass::quote},       {0xFF08, 0xFF08, CharClass::opener},
    {0xFF09, 0xFF09, CharClass::closer},      {0xFF0C, 0xFF0C, CharClass::wide_clause},
    {0xFF0E, 0xFF0E, CharClass::dot},         {0xFF1A, 0xFF1B, CharClass::wide_clause},
    {0xFF1F, 0xFF1F, CharClass::wide_stop},   {0xFF3B, 0xFF3B, CharClass::opener},
    {0xFF3D, 0xFF3D, CharClass::closer},      {0xFF5B, 0xFF5B, CharClass::opener},
    {0xFF5D, 0xFF5D, CharClass::closer},      {0xFF5F, 0xFF5F, CharClass::opener},
    {0xFF60, 0xFF60, CharClass::closer},      {0xFF61, 0xFF61, CharClass::wide_stop},
    {0xFF62, 0xFF62, CharClass::opener},      {0xFF63, 0xFF63, CharClass::closer},
    {0xFF64, 0xFF64, CharClass::wide_clause},
};

/** The entry that contains `code_point`, or null. */
template <typename Entry, size_t Size>
const Entry* find(const Entry (&entries)[Size], char32_t code_point) {
  const Entry* after = std::upper_bound(std::begin(entries), std::end(entries), code_point,
                                        [](char32_t value, const Entry& entry) { return value < entry.first; });
  if (after == std::begin(entries)) return nullptr;
  const Entry* entry = std::prev(after);
  return code_point <= entry->last ? entry : nullptr;
}

CharClass class_of_range(const UnicodeRange& range, char32_t code_point) {
  const bool odd = ((code_point - range.first) & 1u) != 0;
  switch (range.kind) {
    case RangeKind::upper:
      return CharClass::upper;
    case RangeKind::lower:
      return CharClass::lower;
    case RangeKind::digit:
      return CharClass::digit;
    case RangeKind::mark:
      return CharClass::mark;
    case RangeKind::emoji:
      return CharClass::emoji;
    case RangeKind::upper_lower:
      return odd ? CharClass::lower : CharClass::upper;
    case RangeKind::lower_upper:
      return odd ? CharClass::upper : CharClass::lower;
  }
  return CharClass::letter;
}

struct Span {
  char32_t first;
  char32_t last;
};

/** UAX 29: Prepend. */
constexpr Span kPrefixes[] = {
    {0x600, 0x605},     {0x6DD, 0x6DD},     {0x70F, 0x70F},     {0x890, 0x891},
    {0x8E2, 0x8E2},     {0xD4E, 0xD4E},     {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
    {0x111C2, 0x111C3}, {0x113D1, 0x113D1}, {0x1193F, 0x1193F}, {0x11941, 0x11941},
    {0x11A3A, 0x11A3A}, {0x11A84, 0x11A89}, {0x11D46, 0x11D46}, {0x11F02, 0x11F02},
};

/** Indic_Conjunct_Break=Linker: viramas, which join two consonants into one cluster. */
constexpr Span kViramas[] = {
    {0x94D, 0x94D},     {0x9CD, 0x9CD},     {0xACD, 0xACD},     {0xB4D, 0xB4D},     {0xC4D, 0xC4D},
    {0xD4D, 0xD4D},     {0x1039, 0x1039},   {0x17D2, 0x17D2},   {0x1A60, 0x1A60},   {0x1B44, 0x1B44},
    {0x1BAB, 0x1BAB},   {0xA9C0, 0xA9C0},   {0xAAF6, 0xAAF6},   {0x10A3F, 0x10A3F}, {0x11133, 0x11133},
    {0x113D0, 0x113D0}, {0x1193E, 0x1193E}, {0x11A47, 0x11A47}, {0x11A99, 0x11A99}, {0x11F42, 0x11F42},
};

constexpr char32_t kZeroWidthJoiner = 0x200D;
/** First code point that can bind neighbours (combining marks), apart from CR and LF. */
constexpr char32_t kFirstBinding = 0x300;

bool within(char32_t code_point, char32_t first, char32_t last) { return code_point >= first && code_point <= last; }
bool is_leading_jamo(char32_t code_point) {
  return within(code_point, 0x1100, 0x115F) || within(code_point, 0xA960, 0xA97C);
}
bool is_following_jamo(char32_t code_point) {
  return within(code_point, 0x1160, 0x11FF) || within(code_point, 0xD7B0, 0xD7FB);
}
bool is_regional_indicator(char32_t code_point) { return within(code_point, 0x1F1E6, 0x1F1FF); }

}  // namespace

CharClass class_of(char32_t code_point) {
  if (code_point < kAscii.size()) return kAscii[code_point];
  if (const Special* special = find(kSpecials, code_point)) return special->kind;
  if (const UnicodeRange* range = find(kUnicodeRanges, code_point)) return class_of_range(*range, code_point);
  return CharClass::letter;
}

bool is_ideographic(char32_t code_point) {
  return within(code_point, 0x3040, 0x30FF) || within(code_point, 0x3400, 0x4DBF) ||
         within(code_point, 0x4E00, 0x9FFF) || within(code_point, 0xF900, 0xFAFF) ||
         within(code_point, 0x20000, 0x3FFFF);
}

bool GraphemeCursor::may_cut_before(char32_t code_point, CharClass kind) const {
  if (kind == CharClass::mark || binds_next_ || is_following_jamo(code_point)) return false;
  if (code_point == 0xE33 || code_point == 0xEB3) return false;  // Thai and Lao AM: SpacingMark, not \p{M}
  if (code_point == '\n' && previous_ == '\r') return false;
  return !(half_flag_ && is_regional_indicator(code_point));
}

void GraphemeCursor::advance(char32_t code_point, CharClass kind) {
  previous_ = code_point;
  if (code_point < kFirstBinding) {
    half_flag_ = after_virama_ = binds_next_ = false;
    return;
  }
  half_flag_ = is_regional_indicator(code_point) && !half_flag_;
  after_virama_ = find(kViramas, code_point) != nullptr || (after_virama_ && kind == CharClass::mark);
  binds_next_ = after_virama_ || code_point == kZeroWidthJoiner || is_leading_jamo(code_point) ||
                find(kPrefixes, code_point) != nullptr;
}

}  // namespace voice
