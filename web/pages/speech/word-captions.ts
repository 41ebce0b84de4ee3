/** Captions of synthesized speech from the times of its words: SubRip (`srt`) and WebVTT (`vtt`). */

import type { SpokenWord } from '../../audio/playback/spoken-words.ts';

/** Maximum characters (code points) per line and lines per caption: common limits of broadcasters. */
const LINE_CHARACTERS = 42;
const MAX_LINES = 2;
/** A pause after which a new caption begins, in seconds. */
const PAUSE_S = 1;
/** Shortest caption in seconds: WebVTT requires its end to be after its start. */
const MIN_S = 0.001;
/** Chinese and Japanese words have no space between them. */
const SPACE_BETWEEN_CJK =
  /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー、。，！？；：…”」』】》）]) (?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}“「『【《（])/gu;

export type CaptionFormat = 'srt' | 'vtt';

/** Content type of each format. */
export const CAPTION_TYPES: Readonly<Record<CaptionFormat, string>> = {
  srt: 'application/x-subrip;charset=utf-8',
  vtt: 'text/vtt;charset=utf-8',
};

/** A caption; times in seconds. */
export interface Cue {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** The file of captions. Without words, a WebVTT file has only its header and a SubRip file is empty. */
export function captionsOf(words: readonly SpokenWord[], format: CaptionFormat): string {
  const cues = cuesOf(words);
  if (format === 'srt') {
    return cues
      .map(({ start, end, lines }, index) => {
        return `${index + 1}\n${timeText(start, ',')} --> ${timeText(end, ',')}\n${lines.join('\n')}\n\n`;
      })
      .join('');
  }
  const texts = cues.map(({ start, end, lines }) => {
    // The grammar of WebVTT requires `&` and `<` to be escaped; `-->` must not occur.
    const text = lines.join('\n').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    return `${timeText(start, '.')} --> ${timeText(end, '.')}\n${text}\n\n`;
  });
  return `WEBVTT\n\n${texts.join('')}`;
}

/**
 * Groups words into captions of at most two lines. A caption ends with a sentence, before a pause, or where the next word does
 * not fit: then after the last comma or similar mark of its second half, if there is one.
 */
export function cuesOf(words: readonly SpokenWord[]): Cue[] {
  const cues: SpokenWord[][] = [];
  let open: SpokenWord[] = [];
  for (const word of words.flatMap(fittingWords)) {
    const last = open.at(-1);
    if (last !== undefined && (endsSentence(last.word) || word.start - last.end >= PAUSE_S)) {
      cues.push(open);
      open = [];
    }
    if (open.length > 0 && linesOf([...open, word]) === undefined) {
      const at = clauseEnd(open);
      cues.push(open.slice(0, at));
      open = open.slice(at);
      // The rest after a clause may still be too long for a long word.
      if (open.length > 0 && linesOf([...open, word]) === undefined) {
        cues.push(open);
        open = [];
      }
    }
    open.push(word);
  }
  if (open.length > 0) cues.push(open);
  return cues.map((cue, index) => cueOf(cue, cues[index + 1]?.[0]?.start));
}

function cueOf(words: readonly SpokenWord[], nextStart = Number.POSITIVE_INFINITY): Cue {
  const start = words[0]?.start ?? 0;
  const end = Math.max(start + MIN_S, Math.min(words.at(-1)?.end ?? 0, nextStart));
  return { start, end, lines: linesOf(words) ?? [] };
}

/** A word longer than a line, such as an address, as several; its time is divided by length. */
function fittingWords({ word, start, end }: SpokenWord): SpokenWord[] {
  const letters = [...word.replace(/\s+/gu, ' ').trim()];
  if (letters.length === 0) return [];
  const secondsPerLetter = (end - start) / letters.length;
  const parts: SpokenWord[] = [];
  for (let at = 0; at < letters.length; at += LINE_CHARACTERS) {
    const part = letters.slice(at, at + LINE_CHARACTERS);
    const from = start + at * secondsPerLetter;
    parts.push({ word: part.join(''), start: from, end: from + part.length * secondsPerLetter });
  }
  return parts;
}

/** The words in one line or in two lines of about equal length, if possible with a break after punctuation; undefined if they do not fit. */
function linesOf(words: readonly SpokenWord[]): string[] | undefined {
  const line = (from: number, to?: number) =>
    words
      .slice(from, to)
      .map(({ word }) => word)
      .join(' ')
      .replace(SPACE_BETWEEN_CJK, '');
  const all = line(0);
  if (lengthOf(all) <= LINE_CHARACTERS) return [all];
  if (lengthOf(all) > MAX_LINES * LINE_CHARACTERS + 1) return undefined;
  let best: { readonly lines: string[]; readonly cost: number } | undefined;
  for (let at = 1; at < words.length; at += 1) {
    const lines = [line(0, at), line(at)];
    const [first = 0, second = 0] = lines.map(lengthOf);
    if (first > LINE_CHARACTERS || second > LINE_CHARACTERS) continue;
    const cost = Math.abs(first - second) - (endsClause(words[at - 1]?.word ?? '') ? LINE_CHARACTERS / 2 : 0);
    if (best === undefined || cost < best.cost) best = { lines, cost };
  }
  return best?.lines;
}

/** Number of words up to the last mark in the second half of the words; all of them without one. */
function clauseEnd(words: readonly SpokenWord[]): number {
  const at = words.findLastIndex(({ word }) => endsClause(word)) + 1;
  return at > words.length / 2 ? at : words.length;
}

/** Closing quotes and brackets may follow the mark. An abbreviation such as "Dr." or "p.m." does not end a sentence. */
function endsSentence(word: string): boolean {
  return /[.!?…。！？।]["'”’»)\]]*$/u.test(word) && !/^(?:\p{Lu}\p{L}{1,2}\.|(?:\p{L}\.)+)$/u.test(word);
}

function endsClause(word: string): boolean {
  return /[.!?…。！？।,;:،、，；：–—]["'”’»)\]]*$/u.test(word);
}

function lengthOf(text: string): number {
  return [...text].length;
}

/** Formats a time as `01:02:03,004` or `01:02:03.004`. */
function timeText(seconds: number, mark: ',' | '.'): string {
  const ms = Math.round(seconds * 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const rest = String(ms % 1000).padStart(3, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${mark}${rest}`;
}
