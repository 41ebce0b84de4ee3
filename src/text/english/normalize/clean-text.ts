/** Reduces typographic variety to the few characters that the readers support. */

import { TracedText } from '../../traced-text.ts';
import { asciiDigit, latinWord } from './scripts.ts';

/** Characters that are replaced before reading. Fullwidth forms are handled by their offset. */
const REPLACEMENTS: ReadonlyMap<string, string> = new Map([
  ...[...'‘’‛`´ʼ′＇'].map((c): [string, string] => [c, "'"]),
  ...[...'„‟«〝'].map((c): [string, string] => [c, '“']),
  ...[...'»〞'].map((c): [string, string] => [c, '”']),
  ...[...'‐‑⁃'].map((c): [string, string] => [c, '-']),
  ...[...'―⸺⸻'].map((c): [string, string] => [c, '—']),
  ['″', '"'],
  ['。', '. '],
  ['、', ', '],
  ['，', ', '],
  ['！', '! '],
  ['？', '? '],
  ['：', ': '],
  ['；', '; '],
  ['「', ' “'],
  ['」', '” '],
  ['『', ' “'],
  ['』', '” '],
  ['【', ' ('],
  ['】', ') '],
  ['（', ' ('],
  ['）', ') '],
  ['؟', '?'],
  ['،', ','],
  ['؛', ';'],
  ['¿', ''],
  ['¡', ''],
  ['•', '-'],
  ['·', ' '],
  ['﹣', '-'],
  ['⁄', '/'],
  ['∕', '/'],
  ['ﬁ', 'fi'],
  ['ﬂ', 'fl'],
  ['æ', 'ae'],
  ['Æ', 'Ae'],
  ['œ', 'oe'],
  ['Œ', 'Oe'],
  ['ß', 'ss'],
  ['ø', 'o'],
  ['Ø', 'O'],
  ['ł', 'l'],
  ['Ł', 'L'],
  ['đ', 'd'],
  ['Đ', 'D'],
  ['ð', 'th'],
  ['þ', 'th'],
  ['ı', 'i'],
]);

/**
 * Characters that only control how their neighbours are displayed: soft hyphens, zero-width spaces, joiners, direction
 * marks, variation selectors, tags (Unicode, 5.21). A word with one of them is the same word.
 */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;
/** Symbols without a spoken form: emoji, control characters, private use. */
const UNSPOKEN =
  /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\p{Cc}\p{Co}\p{Cs}\p{Cn}]|\u20e3/u;
/** Pictographic according to Unicode, but with a spoken form. */
const SPOKEN_PICTOGRAPHS = new Set([...'©®™']);

/**
 * Removes invisible characters, maps quotes, dashes, fullwidth and CJK punctuation to ASCII, replaces emoji and control characters by
 * spaces, removes accents from Latin letters and converts line structure (bullets, headings, blank lines) to
 * pauses. Linear in the length of `text`.
 */
export function cleanText(text: string): TracedText {
  const lines = linesOf(text);
  const texts = lines.map((line) => line.text);
  const cleaned: TracedText[] = [];
  for (const [i, traced] of lines.entries()) {
    const line = cleanLine(traced);
    if (line.text === '') continue;
    const last = i === lines.length - 1;
    cleaned.push(
      !last && endsParagraph(texts, i) && !/[.,;:!?…”")]$/u.test(line.text) ? line.append('.') : line,
    );
  }
  return TracedText.join(cleaned, ' ');
}

function linesOf(text: string): TracedText[] {
  const source = TracedText.of(text).replace(INVISIBLE, () => '');
  const lines: TracedText[] = [];
  let from = 0;
  for (const { 0: end, index } of source.text.matchAll(/\r\n|[\n\r\u2028\u2029\v\f]/gu)) {
    lines.push(source.slice(from, index));
    from = index + end.length;
  }
  return [...lines, source.slice(from)];
}

/** Whether a line ends a sentence: before a blank line, at a heading and between list items. */
function endsParagraph(lines: readonly string[], at: number): boolean {
  const marker = /^\s{0,12}(?:[-*+•#>]|[0-9]{1,3}[.)])/u;
  const next = lines[at + 1] ?? '';
  return next.trim() === '' || marker.test(lines[at] ?? '') || marker.test(next);
}

function cleanLine(line: TracedText): TracedText {
  return stripMarkup(
    line
      .replace(/[^ -~]|`/gu, ([char]) => REPLACEMENTS.get(char) ?? cleanChar(char))
      .replace(/[\p{L}\p{M}]+/gu, ([word]) => (/^\p{ASCII}+$/u.test(word) ? word : latinWord(word))),
  );
}

function cleanChar(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x20) return ' ';
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCodePoint(code - 0xfee0);
  if (/\s/u.test(char)) return ' ';
  if (UNSPOKEN.test(char) && !SPOKEN_PICTOGRAPHS.has(char)) return ' ';
  const digit = asciiDigit(char);
  if (digit !== undefined) return digit;
  if (/\p{Nl}/u.test(char)) return char.normalize('NFKC');
  if (/\p{Script=Latin}/u.test(char)) return char.normalize('NFD').replace(/\p{M}/gu, '');
  if (/\p{L}/u.test(char)) {
    // Mathematical alphanumeric symbols.
    const plain = char.normalize('NFKC');
    return /^[A-Za-z]+$/.test(plain) ? plain : char;
  }
  // A combining accent after its Latin letter.
  if (code >= 0x0300 && code <= 0x036f) return '';
  return char;
}

/** Removes Markdown syntax from a line and keeps the text. */
function stripMarkup(line: TracedText): TracedText {
  const body = line
    .trim()
    .replace(/^#{1,6}\s+|^[-*+]\s+|^>\s?|^(?:-{3,}|\*{3,}|_{3,}|={3,})$/gu, () => '')
    .replace(/<\/?[a-z][^<>]{0,100}>/gi, () => ' ')
    .replace(/\b(?:Mr|Mrs|Ms|Dr|Prof|e\.g|i\.e)\.(?=\p{L}{2})/gu, ([title]) => `${title} `)
    .replace(/\*\*|__|~~|'{3}/gu, () => '');
  return unwrapPairs(linkText(body));
}

/** "[text](url)" → "text", also "![text](url)". One scan, so that "](](](" stays linear. */
function linkText(line: TracedText): TracedText {
  const { text } = line;
  const kept: TracedText[] = [];
  let from = 0;
  let openAt = -1;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '[') openAt = i;
    if (text[i] !== ']' || text[i + 1] !== '(' || openAt === -1) continue;
    const endAt = text.indexOf(')', i);
    if (endAt === -1) break;
    const imageMark = openAt > from && text[openAt - 1] === '!' ? 1 : 0;
    kept.push(line.slice(from, openAt - imageMark), line.slice(openAt + 1, i));
    from = endAt + 1;
    i = endAt;
    openAt = -1;
  }
  return TracedText.join([...kept, line.slice(from)]);
}

/** Removes `*` and `_` of emphasis: "*bold*" → "bold"; "2 * 3" and snake_case are unchanged. */
function unwrapPairs(line: TracedText): TracedText {
  return line.replace(
    /(?<![\p{L}\p{N}*_])[*_](?=[\p{L}\p{N}“"'(])|(?<=[\p{L}\p{N}.,!?”"')])[*_](?![\p{L}\p{N}*_])/gu,
    () => '',
  );
}
