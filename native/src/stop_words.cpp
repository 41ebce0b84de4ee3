#include "stop_words.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "text_class.h"

namespace voice {
namespace {

using Words = std::string_view;

/** Titles and places before a name; capitalized. English, French, Spanish, Italian and Portuguese. */
constexpr Words kTitles[] = {"adm",  "av",     "avda",  "brig", "br",   "capt", "cmdr", "col", "cpl",  "cpt", "dott",
                             "dr",   "dra",    "exmo",  "fr",   "ft",   "gen",  "gov",  "hon", "ing",  "lic", "lt",
                             "maj",  "messrs", "mlle",  "mme",  "mmes", "mr",   "mrs",  "ms",  "msgr", "mt",  "mx",
                             "pres", "prof",   "profa", "pt",   "pvt",  "rep",  "rev",  "rt",  "sen",  "sgt", "sig",
                             "sra",  "sras",   "sres",  "srs",  "srta", "supt", "ud",   "uds"};

/** Words within a sentence, in any case. */
constexpr Words kConnectors[] = {"approx", "aprox", "bzw",  "ca",   "cf",   "d.h",  "dott", "e.g",  "eg",  "ej", "i.e",
                                 "ie",     "incl",  "p.ej", "p.es", "p.ex", "resp", "sig",  "sigg", "viz", "vs", "z.b"};

/** Words before a number. */
constexpr Words kNumbered[] = {"apt",  "art", "ch",  "chap", "eq",  "eqs", "ex",  "ext", "fig",  "figs",
                               "hwy",  "max", "min", "no",   "nos", "nr",  "op",  "pag", "pagg", "pags",
                               "para", "pg",  "p",   "pp",   "rte", "sec", "tel", "ver", "vol",  "vols"};

/** Shortened names that may also end a sentence; capitalized. */
constexpr Words kNames[] = {"apr", "assn", "aug", "ave",  "blvd",  "bros", "co",   "corp", "dec", "dept",
                            "est", "feb",  "fri", "inc",  "jan",   "jr",   "jul",  "jun",  "llc", "ltd",
                            "mar", "mon",  "nov", "oct",  "rd",    "sat",  "sep",  "sept", "sr",  "st",
                            "ste", "sun",  "thu", "thur", "thurs", "tue",  "tues", "univ", "wed"};

/** Months, and nouns that are often counted; German, with months of Danish and Norwegian. Without diaereses. */
constexpr Words kCounted[] = {"januar",    "janner",    "jan",        "februar",  "feber",        "feb",         "marts",
                              "marz",      "april",     "apr",        "mai",      "maj",          "juni",        "jun",
                              "juli",      "jul",       "august",     "aug",      "september",    "sept",        "sep",
                              "oktober",   "okt",       "november",   "nov",      "dezember",     "desember",    "dez",
                              "december",  "auflage",   "bezirk",     "etage",    "bundesliga",   "geburtstag",  "jahr",
                              "jahrestag", "jahrgang",  "jahrhundert", "kapitel", "jahrhunderts", "klasse",      "liga",
                              "monat",     "platz",     "quartal",    "runde",    "semester",     "spieltag",    "staffel",
                              "stock",     "stockwerk", "tag",        "tage",     "weltkrieg",    "weltkriegs",  "woche"};

constexpr Words kStarters[] = {
    "a",       "after",   "all",    "although", "an",     "and",   "another", "are",    "as",   "at",    "because",
    "before",  "both",    "but",    "by",       "can",    "could", "did",     "do",     "does", "each",  "even",
    "every",   "finally", "first",  "for",      "from",   "have",  "he",      "her",    "here", "his",   "how",
    "however", "i",       "if",     "in",       "is",     "it",    "its",     "let",    "many", "maybe", "meanwhile",
    "most",    "my",      "next",   "no",       "not",    "now",   "of",      "on",     "once", "one",   "or",
    "our",     "perhaps", "please", "she",      "should", "since", "so",      "some",   "such", "that",  "the",
    "their",   "then",    "there",  "these",    "they",   "this",  "those",   "though", "to",   "today", "was",
    "we",      "were",    "what",   "when",     "where",  "while", "who",     "why",    "with", "would", "yes",
    "yet",     "you",     "your"};

/** Lower-case ASCII form, of `á` and `ä` too; an empty view for other characters or too many. */
struct Folded {
  std::array<char, ShortWord::kCapacity> letters{};
  size_t size = 0;

  explicit Folded(const ShortWord& word) {
    if (!word.fits()) return;
    for (size_t i = 0; i < word.size(); i++) {
      // "pág.", "März"
      const bool accented = word[i] == 0xE1 || word[i] == 0xC1 || word[i] == 0xE4 || word[i] == 0xC4;
      const char32_t letter = accented ? U'a' : word[i];
      if (letter >= 0x80) return;
      const bool upper = letter >= 'A' && letter <= 'Z';
      letters[i] = static_cast<char>(upper ? letter - 'A' + 'a' : letter);
    }
    size = word.size();
  }

  std::string_view view() const { return {letters.data(), size}; }
};

template <size_t Size>
bool contains(const Words (&words)[Size], std::string_view word) {
  return !word.empty() && std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool is_upper(char32_t letter) { return class_of(letter) == CharClass::upper; }
bool is_letter(char32_t letter) {
  const CharClass kind = class_of(letter);
  return kind == CharClass::upper || kind == CharClass::lower;
}

/** `U.S`, `p.m`, `Ph.D`: letters in groups of one or two between dots. */
bool is_dotted(const ShortWord& word) {
  size_t group = 0;
  bool dotted = false;
  for (size_t i = 0; i < word.size(); i++) {
    if (word[i] == '.') {
      if (group == 0) return false;
      dotted = true;
      group = 0;
    } else if (!is_letter(word[i]) || ++group > 2) {
      return false;
    }
  }
  return dotted && group > 0;
}

/** A number of up to three digits. */
bool is_ordinal(const ShortWord& word) {
  if (word.size() > 3) return false;
  for (size_t i = 0; i < word.size(); i++) {
    if (word[i] < '0' || word[i] > '9') return false;
  }
  return true;
}

/** `1`, `12`, `a`, `iv`: list numbers when they are the first word. */
bool is_enumerator(const ShortWord& word) {
  if (word.size() == 1) return is_letter(word[0]) || class_of(word[0]) == CharClass::digit;
  if (word.size() > 4) return false;
  bool digits = word.size() <= 3;
  bool roman = true;
  for (size_t i = 0; i < word.size(); i++) {
    digits = digits && class_of(word[i]) == CharClass::digit;
    roman = roman && word[i] < 0x80 &&
            std::string_view("ivxIVX").find(static_cast<char>(word[i])) != std::string_view::npos;
  }
  return digits || roman;
}

}  // namespace

StopMeaning meaning_of_stop(const ShortWord& word, bool first) {
  if (word.empty() || !word.fits()) return StopMeaning::sentence;
  if (first && is_enumerator(word)) return StopMeaning::abbreviation;
  if (is_ordinal(word)) return StopMeaning::ordinal;
  const Folded folded(word);
  if (contains(kConnectors, folded.view())) return StopMeaning::abbreviation;
  if (contains(kNumbered, folded.view())) return StopMeaning::before_number;
  if (is_dotted(word)) return StopMeaning::uncertain;
  // A single letter: an initial, or the v. of a law case.
  if ((word.size() == 1 && is_letter(word[0])) || folded.view() == "al") return StopMeaning::uncertain;
  if (!is_upper(word[0])) return StopMeaning::sentence;
  if (contains(kTitles, folded.view())) return StopMeaning::abbreviation;
  return contains(kNames, folded.view()) ? StopMeaning::uncertain : StopMeaning::sentence;
}

bool follows_ordinals(const ShortWord& word) { return contains(kCounted, Folded(word).view()); }

bool starts_sentences(const ShortWord& word) { return contains(kStarters, Folded(word).view()); }

}  // namespace voice
