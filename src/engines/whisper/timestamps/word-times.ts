/**
 * Computes word times from the alignment of tokens, as in openai/whisper `whisper/timing.py`. Joins tokens to words,
 * attaches punctuation to words, and shortens words that the alignment stretches over a pause: at the ends of sentences, as
 * in openai/whisper, and at detected pauses.
 */

import type { TranscriptWord } from '../../../contract/engines/engine.ts';
import { hasSpaces } from '../shared/languages.ts';
import { ATTENTION_FRAME_S, type Attention, alignTokens } from '../shared/token-alignment.ts';
import type { WhisperTokenizer } from '../shared/tokenizer.ts';
import type { Pause } from './silences.ts';

/** A segment with the times of its timestamp tokens, in seconds of the window. */
export interface TimedSegment {
  readonly startS: number;
  readonly endS: number;
  /** Text tokens only. */
  readonly tokens: readonly number[];
}

/** A segment with its words. Its times are those of the words, unless the timestamp tokens are more reliable. */
export interface SegmentWords {
  readonly startS: number;
  readonly endS: number;
  readonly words: readonly TranscriptWord[];
}

export interface WindowToAlign {
  readonly attention: Attention;
  /** Row that chose the first text token. The following rows chose the other text tokens and the end of text. */
  readonly firstRow: number;
  readonly segments: readonly TimedSegment[];
  /** ISO code of the text's language. */
  readonly language: string | undefined;
  /** Duration of the audio of the window. */
  readonly durationS: number;
  /** Pauses of the speech, in order. */
  readonly pauses: readonly Pause[];
  /** End of the speech before this window, in seconds relative to its start: 0 or less. */
  readonly lastSpeechS: number;
}

/**
 * Returns the words of each segment with times in seconds of the window: in order, not overlapping, within its audio.
 * @throws Error when the number of rows does not match the number of tokens.
 */
export function wordTimes(tokenizer: WhisperTokenizer, window: WindowToAlign): SegmentWords[] {
  const { attention, firstRow, segments, language, durationS } = window;
  const tokens = segments.flatMap((segment) => segment.tokens);
  const rows = firstRow + tokens.length + 1;
  if (attention.rows !== rows) {
    throw new Error(
      `The attention has ${attention.rows} rows; ${tokens.length} text tokens require ${rows}.`,
    );
  }
  const realFrames = Math.min(attention.frames, Math.max(1, Math.floor(durationS / ATTENTION_FRAME_S)));
  const starts = alignTokens(attention, firstRow, realFrames);
  const words: Word[] = [];
  let token = 0;
  for (const { text, count } of splitWords(tokenizer, tokens, language)) {
    const startS = (starts[token] as number) * ATTENTION_FRAME_S;
    token += count;
    words.push({ text, count, startS, endS: (starts[token] as number) * ATTENTION_FRAME_S });
  }
  const usualS = usualDuration(words);
  cutAtSentenceEnds(words, 2 * usualS);
  mergePunctuation(words);
  cutAtPauses(words, window.pauses, 2 * usualS);
  return tidy(fitToSegments(words, segments, usualS, window.lastSpeechS), durationS);
}

/** A word, or a punctuation mark, before punctuation is attached. */
export interface WordText {
  text: string;
  /** Number of tokens. */
  count: number;
}

interface Word extends WordText {
  startS: number;
  endS: number;
}

const ASCII_PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';

/**
 * Joins tokens to words. A new word starts at a token with a leading space and at punctuation; in languages without spaces,
 * at every complete character.
 */
export function splitWords(
  tokenizer: Pick<WhisperTokenizer, 'decode'>,
  tokens: readonly number[],
  language: string | undefined,
): WordText[] {
  const spaces = hasSpaces(language);
  const words: WordText[] = [];
  for (const piece of wholeCharacters(tokenizer, tokens)) {
    const last = words.at(-1);
    const isStart = !spaces || piece.text.startsWith(' ') || ASCII_PUNCTUATION.includes(piece.text.trim());
    if (last === undefined || isStart) {
      words.push(piece);
    } else {
      last.text += piece.text;
      last.count += piece.count;
    }
  }
  return words;
}

/** Splits tokens into minimal sequences of complete characters. Bytes that are invalid in the whole text count as complete. */
function wholeCharacters(tokenizer: Pick<WhisperTokenizer, 'decode'>, tokens: readonly number[]): WordText[] {
  const whole = tokenizer.decode(tokens);
  const pieces: WordText[] = [];
  let start = 0;
  let offset = 0;
  for (let end = 1; end <= tokens.length; end++) {
    const text = tokenizer.decode(tokens.slice(start, end));
    const invalid = text.indexOf('\ufffd');
    if (invalid >= 0 && whole[offset + invalid] !== '\ufffd' && end < tokens.length) continue;
    pieces.push({ text, count: end - start });
    start = end;
    offset += text.length;
  }
  return pieces;
}

/** Upper bound of the usual duration of a word, which is the median of the words with a duration. */
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

/** Limits sentence-ending punctuation and the word after it to `maxS`. The rest of their time is a pause. */
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

/** Limits a word that is longer than `maxS` and spans a pause to the side of the pause with the larger part of the word. */
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

/** Punctuation that is attached to the next word, and to the previous word. */
const OPENING = '"\'“¿([{-';
const CLOSING = '"\'.。,，!！?？:：”)]}、';

/** Attaches punctuation to words, in place. The words keep their times; entries of attached punctuation become empty. */
export function mergePunctuation(words: readonly WordText[]): void {
  let following = words.at(-1);
  for (let index = words.length - 2; index >= 0; index--) {
    const word = words[index] as WordText;
    if (following && word.text.startsWith(' ') && OPENING.includes(word.text.trim())) {
      following.text = word.text + following.text;
      following.count += word.count;
      clear(word);
    } else {
      following = word;
    }
  }
  let previous = words[0];
  for (const word of words.slice(1)) {
    if (previous && !previous.text.endsWith(' ') && CLOSING.includes(word.text)) {
      previous.text += word.text;
      previous.count += word.count;
      clear(word);
    } else {
      previous = word;
    }
  }
}

function clear(word: WordText): void {
  word.text = '';
  word.count = 0;
}

/** Pause before a segment, in usual word durations, after which the times of its first words are not trusted. */
const PAUSE_WORDS = 4;
/** The time of a segment is preferred if a word extends beyond it by more than this. */
const TRUSTED_S = 0.5;

/** Assigns the words to the segments and corrects the times of both by each other. */
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

/** Makes times monotonic, limits them to the audio and rounds them to 0.01 s. Trims the words. */
function tidy(
  segments: readonly { startS: number; endS: number; words: readonly Word[] }[],
  durationS: number,
): SegmentWords[] {
  let reachedS = 0;
  const monotonic = (timeS: number): number => {
    const rounded = Math.round(timeS * 100) / 100;
    reachedS = Math.min(durationS, Math.max(reachedS, rounded));
    return reachedS;
  };
  return segments.map((segment) => {
    const startS = monotonic(Math.min(segment.startS, segment.words[0]?.startS ?? segment.startS));
    const words = segment.words.map(({ text, startS, endS }) => ({
      word: text.trim(),
      startS: monotonic(startS),
      endS: monotonic(endS),
    }));
    return { startS, endS: monotonic(segment.endS), words: words.filter(({ word }) => word !== '') };
  });
}
