/**
 * Prints native/src/unicode_ranges.h from the Unicode data of the JavaScript engine. Run by hand after an
 * upgrade: `bun native/unicode-tables.ts > native/src/unicode_ranges.h`.
 */

const FIRST_NON_ASCII = 0x80;
const LAST = 0x10ffff;

/** Format characters that start a grapheme cluster instead of extending one (UAX 29, Prepend). */
const PREPEND = /[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]/u;

type Kind = 'upper' | 'lower' | 'digit' | 'mark' | 'emoji';
type RangeKind = Kind | 'upper_lower' | 'lower_upper';

interface Range {
  first: number;
  last: number;
  kind: RangeKind;
}

function kindOf(codePoint: number): Kind | undefined {
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return undefined;
  const text = String.fromCodePoint(codePoint);
  if (PREPEND.test(text)) return undefined;
  if (/[\p{M}\p{Cf}\p{Emoji_Modifier}\uFF9E\uFF9F]/u.test(text)) return 'mark';
  if (/[\p{Lu}\p{Lt}]/u.test(text)) return 'upper';
  if (/\p{Ll}/u.test(text)) return 'lower';
  if (/\p{Nd}/u.test(text)) return 'digit';
  if (/[\p{Extended_Pictographic}\p{Regional_Indicator}]/u.test(text)) return 'emoji';
  return undefined;
}

/** Joins neighbours of the same class, and ranges of alternating capital and small letters. */
function joinRanges(): Range[] {
  const ranges: Range[] = [];
  for (let codePoint = FIRST_NON_ASCII; codePoint <= LAST; codePoint++) {
    const kind = kindOf(codePoint);
    if (kind === undefined) continue;
    const range = ranges.at(-1);
    if (range?.last === codePoint - 1) {
      const length = range.last - range.first + 1;
      if (range.kind === kind) {
        range.last = codePoint;
        continue;
      }
      const pair: RangeKind | undefined =
        kind === 'lower' ? 'upper_lower' : kind === 'upper' ? 'lower_upper' : undefined;
      if (length === 1 && pair?.startsWith(range.kind)) {
        range.kind = pair;
        range.last = codePoint;
        continue;
      }
      const [even, odd] = range.kind.split('_');
      if (odd !== undefined && kind === (length % 2 === 0 ? even : odd)) {
        range.last = codePoint;
        continue;
      }
    }
    ranges.push({ first: codePoint, last: codePoint, kind });
  }
  return ranges;
}

/** Text of the header file. */
export function unicodeHeader(): string {
  const rows = joinRanges().map(
    ({ first, last, kind }) => `    {0x${first.toString(16)}, 0x${last.toString(16)}, RangeKind::${kind}},`,
  );
  return `#pragma once

// Made by native/unicode-tables.ts from Unicode ${process.versions.unicode}; do not edit.

#include <cstdint>

namespace voice {

enum class RangeKind : uint8_t { upper, lower, digit, mark, emoji, upper_lower, lower_upper };

struct UnicodeRange {
  char32_t first;
  char32_t last;
  RangeKind kind;
};

/** Sorted, without overlaps, from U+0080 on. \`upper_lower\` alternates, starting with a capital. */
inline constexpr UnicodeRange kUnicodeRanges[] = {
${rows.join('\n')}
};

}  // namespace voice
`;
}

if (import.meta.main) process.stdout.write(unicodeHeader());
