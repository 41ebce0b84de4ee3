/**
 * When each word of a window was said: openai/whisper's `whisper/timing.py`. Tokens are put together to words,
 * marks to the words beside them, and words that an alignment stretches over a pause are cut back: after the ends of
 * sentences, as there, and wherever nobody is heard.
 */

import type { TranscriptWord } from '../../../contract/engines/engine.ts';
import { hasSpaces } from '../shared/languages.ts';
import { ATTENTION_FRAME_S, type Attention, alignTokens } from '../shared/token-alignment.ts';
import type { WhisperTokenizer } from '../shared/tokenizer.ts';
import type { Pause } from './silences.ts';

/** A segment as its timestamp tokens have it, in seconds of the window. */
export interface TimedSegment {
  readonly startS: number;
  readonly endS: number;
  /** Text tokens alone. */
  readonly tokens: readonly number[];
}

/** A segment with its words; its ends are theirs, unless those were less to be trusted. */
export interface SegmentWords {
  readonly startS: number;
  readonly endS: number;
  readonly words: readonly TranscriptWord[];
}

export interface WindowToAlign {
  readonly attention: Attention;
  /** The row that chose the first text token; the rows after it chose the others of all segments, then the end. */
  readonly firstRow: number;
  readonly segments: readonly TimedSegment[];
  /** ISO code of the text's language. */
  readonly language: string | undefined;
  /** Length of the window's audio. */
  readonly durationS: number;
  /** Where nobody is heard, in order. */
  readonly pauses: readonly Pause[];
  /** When speech ended before this window, in seconds of this one: 0 or less. */
  readonly lastSpeechS: number;
}

/**
 * Words of each segment with times in seconds of the window: in order, not overlapping, within its audio.
 * @throws Error when there are fewer rows than tokens.
 */
export function wordTimes(tokenizer: WhisperTokenizer, window: WindowToAlign): SegmentWords[] {
  const { attention, firstRow, segments, language, durationS } = window;
  const tokens = segments.flatMap((segment) => segment.tokens);
  const rows = firstRow + tokens.length + 1;
  if (attention.rows !== rows) {
    throw new Error(
      `The attention has ${attention.rows} rows; ${tokens.length} tokens of text need ${rows}.`,
    );
  }
  const realFrames = Math.min(attention.frames, Math.max(1, Math.floor(durationS / ATTENTION_FRAME_S)));
  const begins = alignTokens(attention, firstRow, realFrames);
  const words: Word[] = [];
  let token = 0;
  for (const { text, count } of splitWords(tokenizer, tokens, language)) {
    const startS = (begins[token] as number) * ATTENTION_FRAME_S;
    token += count;
    words.push({ text, count, startS, endS: (begins[token] as number) * ATTENTION_FRAME_S });
  }
  const usualS = usualDuration(words);
  cutAtSentenceEnds(words, 2 * usualS);
  mergeMarks(words);
  cutAtPauses(words, window.pauses, 2 * usualS);
  return tidy(fitToSegments(words, segments, usualS, window.lastSpeechS), durationS);
}

/** A word, or a mark beside one, as tokens make it. */
export interface WordText {
  text: string;
  /** Tokens. */
  count: number;
}

interface Word extends WordText {
  startS: number;
  endS: number;
}

const ASCII_MARKS = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';

/**
 * Tokens put together to words: where the next has a space before it or is a mark; in languages without spaces,
 * wherever characters are complete.
 */
export function splitWords(
  tokenizer: Pick<WhisperTokenizer, 'decode'>,
  tokens: readonly number[],
  language: string | undefined,
): WordText[] {
  const spaces = hasSpaces(language);
  const words: WordText[] = [];
  for (const part of wholeCharacters(tokenizer, tokens)) {
    const last = words.at(-1);
    const begins = !spaces || part.text.startsWith(' ') || ASCII_MARKS.includes(part.text.trim());
    if (last === undefined || begins) {
      words.push(part);
    } else {
      last.text += part.text;
      last.count += part.count;
    }
  }
  return words;
}

/** The fewest tokens each that are whole characters, or a broken one that stays broken in the whole text. */
function wholeCharacters(tokenizer: Pick<WhisperTokenizer, 'decode'>, tokens: readonly number[]): WordText[] {
  const whole = tokenizer.decode(tokens);
  const parts: WordText[] = [];
  let begin = 0;
  let offset = 0;
  for (let end = 1; end <= tokens.length; end++) {
    const text = tokenizer.decode(tokens.slice(begin, end));
    const broken = text.indexOf('\ufffd');
    if (broken >= 0 && whole[offset + broken] !== '\ufffd' && end < tokens.length) continue;
    parts.push({ text, count: end - begin });
    begin = end;
    offset += text.length;
  }
  return parts;
}

/** Median length of the words that have one, at most this. */
const MAX_USUAL_S = 0.7;

function usualDuration(words: readonly Word[]): number {
  const lengths = words.map(({ startS, endS }) => endS - startS).filter((length) => length > 0);
  lengths.sort((a, b) => a - b);
  const middle = lengths.length / 2;
  const upper = lengths[Math.floor(middle)] ?? 0;
  const lower = lengths[Math.ceil(middle) - 1] ?? 0;
  return Math.min(MAX_USUAL_S, (lower + upper) / 2);
}

const SENTENCE_ENDS = '.。!！?？';

/** No mark that ends a sentence, nor the word after it, is longer than `maxS`: the rest is a pause. */
function cutAtSentenceEnds(words: readonly Word[], maxS: number): void {
  let previous: Word | undefined;
  for (const word of words) {
    if (previous !== undefined && word.endS - word.startS > maxS) {
      if (SENTENCE_ENDS.includes(word.text)) word.endS = word.startS + maxS;
      else if (SENTENCE_ENDS.includes(previous.text)) word.startS = word.endS - maxS;
    }
    previous = word;
  }
}

/** A word that is longer than `maxS` and reaches over a pause is on that side of it where more of the word is. */
function cutAtPauses(words: readonly Word[], pauses: readonly Pause[], maxS: number): void {
  for (const word of words) {
    if (word.endS - word.startS <= maxS) continue;
    for (const pause of pauses) {
      const beforeS = Math.max(0, pause.startS - word.startS);
      const afterS = Math.max(0, word.endS - pause.endS);
      const isInside = pause.startS < word.endS && pause.endS > word.startS;
      if (!isInside || (beforeS === 0 && afterS === 0)) continue;
      if (beforeS >= afterS) word.endS = pause.startS;
      else word.startS = pause.endS;
    }
  }
}

/** Marks that belong to the word after them, and to the one before. */
const OPENING = '"\'“¿([{-';
const CLOSING = '"\'.。,，!！?？:：”)]}、';

/** Puts marks to the words they belong to, which keep their times; what was merged is left empty. */
export function mergeMarks(words: readonly WordText[]): void {
  let following = words.at(-1);
  for (let index = words.length - 2; index >= 0; index--) {
    const word = words[index] as WordText;
    if (following && word.text.startsWith(' ') && OPENING.includes(word.text.trim())) {
      following.text = word.text + following.text;
      following.count += word.count;
      empty(word);
    } else {
      following = word;
    }
  }
  let previous = words[0];
  for (const word of words.slice(1)) {
    if (previous && !previous.text.endsWith(' ') && CLOSING.includes(word.text)) {
      previous.text += word.text;
      previous.count += word.count;
      empty(word);
    } else {
      previous = word;
    }
  }
}

function empty(word: WordText): void {
  word.text = '';
  word.count = 0;
}

/** A pause before a segment, as a multiple of the usual word, after which its first words are doubted. */
const PAUSE_WORDS = 4;
/** A segment's own time is preferred when a word reaches further out than this. */
const TRUSTED_S = 0.5;

/** Hands the words out to the segments and lets the times of both correct each other. */
function fitToSegments(
  words: readonly Word[],
  segments: readonly TimedSegment[],
  usualS: number,
  lastSpeechS: number,
): { startS: number; endS: number; words: Word[] }[] {
  const maxS = 2 * usualS;
  let next = 0;
  let spokenS = lastSpeechS;
  return segments.map((segment) => {
    const own: Word[] = [];
    let tokens = 0;
    while (next < words.length && tokens < segment.tokens.length) {
      const word = words[next++] as Word;
      if (word.text !== '') own.push(word);
      tokens += word.count;
    }
    let { startS, endS } = segment;
    const [first, second] = own;
    const last = own.at(-1);
    if (first && last) {
      const tooLong =
        first.endS - first.startS > maxS || (second !== undefined && second.endS - first.startS > 2 * maxS);
      if (first.endS - spokenS > PAUSE_WORDS * usualS && tooLong) {
        if (second && second.endS - second.startS > maxS) {
          first.endS = Math.max((first.startS + second.endS) / 2, second.endS - maxS);
          second.startS = first.endS;
        }
        first.startS = Math.max(0, first.endS - maxS);
      }
      if (startS < first.endS && startS - TRUSTED_S > first.startS) {
        first.startS = Math.max(0, Math.min(first.endS - usualS, startS));
      } else {
        startS = first.startS;
      }
      if (endS > last.startS && endS + TRUSTED_S < last.endS) {
        last.endS = Math.max(last.startS + usualS, endS);
      } else {
        endS = last.endS;
      }
      spokenS = endS;
    }
    return { startS, endS, words: own };
  });
}

/** Times in order and inside the audio, to the hundredth of a second; words without the spaces around them. */
function tidy(
  segments: readonly { startS: number; endS: number; words: readonly Word[] }[],
  durationS: number,
): SegmentWords[] {
  let reachedS = 0;
  const place = (timeS: number): number => {
    const rounded = Math.round(timeS * 100) / 100;
    reachedS = Math.min(durationS, Math.max(reachedS, rounded));
    return reachedS;
  };
  return segments.map((segment) => {
    const startS = place(Math.min(segment.startS, segment.words[0]?.startS ?? segment.startS));
    const words = segment.words.map(({ text, startS, endS }) => ({
      word: text.trim(),
      startS: place(startS),
      endS: place(endS),
    }));
    return { startS, endS: place(segment.endS), words: words.filter(({ word }) => word !== '') };
  });
}
