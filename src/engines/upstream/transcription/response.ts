/** What other servers answer to a transcription: OpenAI, vLLM, SGLang, speaches, Ollama (partner-and-upstreams B). */

import type { TranscriptSegment, TranscriptWord } from '../../../contract/engines/engine.ts';
import { languageCode } from '../../../kit/validation/languages.ts';
import { upstreamFault } from '../client/errors.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../client/wire-values.ts';

/** A whole transcript as its server tells it. */
export interface UpstreamTranscript {
  readonly text: string;
  readonly language: string | undefined;
  readonly segments: readonly TranscriptSegment[];
  readonly words: readonly TranscriptWord[];
}

/** What one event of a stream says. */
export type UpstreamEvent =
  | { readonly kind: 'text'; readonly text: string }
  /** A whole sentence or so, which needs a space to the next one. */
  | { readonly kind: 'segment'; readonly text: string }
  /** Nothing more follows; `text` is all of it, when the server says so. */
  | { readonly kind: 'end'; readonly text?: string | undefined }
  | { readonly kind: 'other' };

/**
 * Reads the data of one event: `transcript.text.delta` and `.done` of OpenAI, chunks in the style of chat of
 * vLLM, `{text}` for each segment of speaches.
 * @throws ServiceError `upstream` for an event that tells of a failure.
 */
export function readEvent(data: string): UpstreamEvent {
  if (data.trim() === '[DONE]') return { kind: 'end' };
  const event = parsed(data);
  if (event.error || event.type === 'error') throw upstreamFault('it failed in the middle of its answer');
  if (event.type === 'transcript.text.delta') return { kind: 'text', text: textOf(event.delta) };
  if (event.type === 'transcript.text.done') return { kind: 'end', text: textOf(event.text) };
  if (Array.isArray(event.choices)) return chunkOf(event.choices);
  if (event.type === undefined && typeof event.text === 'string')
    return { kind: 'segment', text: event.text };
  return { kind: 'other' };
}

/**
 * Reads a JSON body, plain or verbose. Times are put in order and inside the audio; a server that gives no
 * segments has one that spans everything.
 * @throws ServiceError `upstream` when it is no transcript.
 */
export function readTranscript(body: string, durationS: number): UpstreamTranscript {
  const fields = parsed(body);
  if (typeof fields.text !== 'string')
    throw upstreamFault('it answered with something else than a transcript');
  const text = fields.text.trim();
  const clock = new RisingTimes(durationS);
  const segments = listOf(fields.segments).map((segment) => segmentOf(segment, clock));
  if (segments.length === 0 && text !== '') segments.push(segmentOf({ end: durationS, text }, clock));
  const wordClock = new RisingTimes(durationS);
  return {
    text,
    language: typeof fields.language === 'string' ? languageCode(fields.language) : undefined,
    segments,
    words: listOf(fields.words).map((word) => wordOf(word, wordClock)),
  };
}

function chunkOf(choices: readonly unknown[]): UpstreamEvent {
  const choice = fieldsOf(choices[0]);
  const text = textOf(fieldsOf(choice.delta).content);
  if (text !== '') return { kind: 'text', text };
  return typeof choice.finish_reason === 'string' ? { kind: 'end' } : { kind: 'other' };
}

function segmentOf(segment: Fields, clock: RisingTimes): TranscriptSegment {
  const { startS, endS } = clock.next(segment.start, segment.end);
  return {
    startS,
    endS,
    text: textOf(segment.text).trim(),
    tokens: Array.isArray(segment.tokens) ? segment.tokens.filter(Number.isInteger) : [],
    temperature: numberOf(segment.temperature, 0),
    averageLogProbability: numberOf(segment.avg_logprob, 0),
    compressionRatio: numberOf(segment.compression_ratio, 1),
    noSpeechProbability: numberOf(segment.no_speech_prob, 0),
  };
}

function wordOf(word: Fields, clock: RisingTimes): TranscriptWord {
  return { word: textOf(word.word).trim(), ...clock.next(word.start, word.end) };
}

/** Spans that neither go back nor leave the audio, whatever a server says. */
class RisingTimes {
  readonly #durationS: number;
  #lastS = 0;

  constructor(durationS: number) {
    this.#durationS = durationS;
  }

  next(start: unknown, end: unknown): { startS: number; endS: number } {
    const startS = this.#inside(numberOf(start, this.#lastS));
    this.#lastS = Math.max(startS, this.#inside(numberOf(end, startS)));
    return { startS, endS: this.#lastS };
  }

  #inside(seconds: number): number {
    return Math.min(this.#durationS, Math.max(this.#lastS, seconds));
  }
}

function parsed(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    throw upstreamFault('it answered with something else than a transcript');
  }
}

function numberOf(value: unknown, fallback: number): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : fallback;
}
