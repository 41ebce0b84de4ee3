/** Reduces typographic variety to the characters that the rules of the languages expect. English has its own. */

import { TracedText } from '../traced-text.ts';

/** Characters that only control how their neighbours are displayed. Joiners stay: they separate Devanagari letters. */
const INVISIBLE = /(?![\u200c\u200d])[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;
/** Symbols without a spoken form: emoji, control characters, private use. */
const UNSPOKEN =
  /(?![©®™])(?:[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\p{Co}\p{Cs}\p{Cn}]|\u20e3)+/gu;
const REPLACEMENTS: Readonly<Record<string, string>> = {
  '’': "'",
  '‘': "'",
  ʼ: "'",
  '′': "'",
  '“': '“',
  '„': '“',
  '‟': '“',
  '‐': '-',
  '‑': '-',
  '−': '-',
  '―': '—',
  '⁄': '/',
  '。': '. ',
  '！': '! ',
  '？': '? ',
  '，': ', ',
  ﬁ: 'fi',
  ﬂ: 'fl',
};
const REPLACED = new RegExp(`[${Object.keys(REPLACEMENTS).join('')}]`, 'gu');
/** White space in a line of prose, including that of the narrow and fixed spaces of French typography. */
const SPACES = /[^\S\n\r\u2028\u2029]+/gu;
const LINE_BREAK = /[^\S\n\r\u2028\u2029]*(\r\n|[\n\r\u2028\u2029])\s*/gu;
const LIST_ITEM = /^(?:[-*+•]|[0-9]{1,3}[.)]) /;

/** Linear in the length of `text`. */
export function cleanText(text: string): TracedText {
  return withPauses(
    TracedText.of(text)
      .replace(INVISIBLE, () => '')
      .replace(SPACES, () => ' ')
      .replace(UNSPOKEN, () => ' ')
      .replace(/\p{L}\p{M}+/gu, ([letter]) => letter.normalize('NFC'))
      // Before the wide forms, because a comma between wide digits does not group them.
      .replace(REPLACED, ([char]) => REPLACEMENTS[char] ?? char)
      .replace(/[\uff01-\uff5e]/gu, ([char]) => String.fromCodePoint((char.codePointAt(0) ?? 0) - 0xfee0))
      // The danda ends a sentence, after a space in some texts.
      .replace(/ ?[।॥]/gu, () => '.')
      .replace(/\.{3,}/gu, () => '…'),
  )
    .replace(/!?\[([^[\]\n]{1,200})\]\([^()\s]{1,300}\)/gu, ([, label = '']) => label)
    .replace(/<\/?[a-z][^<>]{0,100}>/giu, () => ' ')
    .replace(
      /\*\*|__|~~|`+|(?<![\p{L}\p{N}])[*_](?=[\p{L}\p{N}])|(?<=[\p{L}\p{N}.,!?])[*_](?![\p{L}\p{N}])/gu,
      () => '',
    )
    .trim();
}

/** A blank line, a heading and a list item end a sentence; other line breaks are spaces. */
function withPauses(text: TracedText): TracedText {
  const lines: TracedText[] = [];
  let from = 0;
  let endsBefore = false;
  const add = (end: number, breaks: string) => {
    const line = text.slice(from, end).trim();
    const isItem = LIST_ITEM.test(line.text) || line.text.startsWith('#');
    const last = lines.at(-1);
    if (last !== undefined && (endsBefore || isItem) && !/[.,;:!?…]["”»)]?$/u.test(last.text)) {
      lines[lines.length - 1] = last.append('.');
    }
    const body = line.replace(/^(?:#{1,6}|[-*+•>]) +/gu, () => '');
    if (body.text !== '') lines.push(body);
    endsBefore = isItem || (breaks.match(/[\n\u2028\u2029]|\r(?!\n)/gu)?.length ?? 0) > 1;
  };
  for (const { 0: breaks, index } of text.text.matchAll(LINE_BREAK)) {
    add(index, breaks);
    from = index + breaks.length;
  }
  add(text.text.length, '');
  return TracedText.join(lines, ' ');
}
