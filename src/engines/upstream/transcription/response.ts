/** Reads transcription responses of OpenAI, vLLM, SGLang, speaches and Ollama (partner-and-upstreams B). */

import type { TextToken, TranscriptSegment, TranscriptWord } from '../../../contract/engines/engine.ts';
import { languageCode } from '../../../kit/validation/languages.ts';
import { upstreamError } from '../client/upstream-error.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../client/wire-values.ts';

/** A complete transcript of a server. */
export interface UpstreamTranscript {
  readonly text: string;
  readonly language: string | undefined;
  readonly segments: readonly TranscriptSegment[];
  readonly words: readonly TranscriptWord[];
  /** Undefined if the server reports none. */
  readonly tokens: readonly TextToken[] | undefined;
}

/** One event of a stream. */
export type UpstreamEvent =
  | { readonly kind: 'text'; readonly text: string; readonly tokens?: readonly TextToken[] | undefined }
  /** A segment of the text, which is separated from the next one by a space. */
  | { readonly kind: 'segment'; readonly text: string }
  /** End of the stream. `text` is the complete text and `tokens` are its tokens, if the server sends them. */
  | {
      readonly kind: 'end';
      readonly text?: string | undefined;
      readonly tokens?: readonly TextToken[] | undefined;
    }
  | { readonly kind: 'other' };

/**
 * Reads the data of one event: OpenAI's `transcript.text.delta` and `.done`, vLLM's chat-style chunks, or `{text}` of
 * speaches for each segment.
 * @throws ServiceError `upstream` for an error event.
 */
export function readEvent(data: string): UpstreamEvent {
  if (data.trim() === '[DONE]') return { kind: 'end' };
  const event = parseFields(data);
  if (event.error || event.type === 'error') throw upstreamError('it reported an error during the response');
  if (event.type === 'transcript.text.delta')
    return { kind: 'text', text: textOf(event.delta), tokens: tokensOf(event.logprobs) };
  if (event.type === 'transcript.text.done')
    return { kind: 'end', text: textOf(event.text), tokens: tokensOf(event.logprobs) };
  if (Array.isArray(event.choices)) return chunkOf(event.choices);
  if (event.type === undefined && typeof event.text === 'string')
    return { kind: 'segment', text: event.text };
  return { kind: 'other' };
}

/**
 * Reads a `json` or `verbose_json` body. Times are clamped to the duration and made non-decreasing. Without segments in
 * the response, one segment spans the whole audio.
 * @throws ServiceError `upstream` when the body is not a transcript.
 */
export function readTranscript(body: string, durationS: number): UpstreamTranscript {
  const fields = parseFields(body);
  if (typeof fields.text !== 'string') throw upstreamError('the response is not a transcript');
  const text = fields.text.trim();
  const times = new TimeRangeReader(durationS);
  const segments = listOf(fields.segments).map((segment) => segmentOf(segment, times));
  if (segments.length === 0 && text !== '') segments.push(segmentOf({ end: durationS, text }, times));
  const wordTimes = new TimeRangeReader(durationS);
  return {
    text,
    language: typeof fields.language === 'string' ? languageCode(fields.language) : undefined,
    segments,
    words: listOf(fields.words).map((word) => wordOf(word, wordTimes)),
    tokens: tokensOf(fields.logprobs),
  };
}

function chunkOf(choices: readonly unknown[]): UpstreamEvent {
  const choice = fieldsOf(choices[0]);
  const text = textOf(fieldsOf(choice.delta).content);
  if (text !== '') return { kind: 'text', text };
  return typeof choice.finish_reason === 'string' ? { kind: 'end' } : { kind: 'other' };
}

function segmentOf(segment: Fields, times: TimeRangeReader): TranscriptSegment {
  const { startS, endS } = times.read(segment.start, segment.end);
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

/** Reads `logprobs`. A list with an entry that is not a token counts as none. */
function tokensOf(logprobs: unknown): readonly TextToken[] | undefined {
  if (!Array.isArray(logprobs)) return undefined;
  const tokens = listOf(logprobs).flatMap(({ token, bytes, logprob }) => {
    if (typeof logprob !== 'number' || !Number.isFinite(logprob)) return [];
    return [
      { bytes: bytesOf(bytes) ?? [...Buffer.from(textOf(token))], logProbability: Math.min(0, logprob) },
    ];
  });
  return tokens.length === logprobs.length ? tokens : undefined;
}

function bytesOf(value: unknown): number[] | undefined {
  const isBytes =
    Array.isArray(value) && value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255);
  return isBytes ? value : undefined;
}

function wordOf(word: Fields, times: TimeRangeReader): TranscriptWord {
  return { word: textOf(word.word).trim(), ...times.read(word.start, word.end) };
}

/** Reads consecutive time ranges. The results are non-decreasing and within the duration, even for invalid values. */
class TimeRangeReader {
  readonly #durationS: number;
  #lastS = 0;

  constructor(durationS: number) {
    this.#durationS = durationS;
  }

  read(start: unknown, end: unknown): { startS: number; endS: number } {
    const startS = this.#clamp(numberOf(start, this.#lastS));
    this.#lastS = Math.max(startS, this.#clamp(numberOf(end, startS)));
    return { startS, endS: this.#lastS };
  }

  #clamp(seconds: number): number {
    return Math.min(this.#durationS, Math.max(this.#lastS, seconds));
  }
}

function parseFields(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    throw upstreamError('the response is not a transcript');
  }
}

function numberOf(value: unknown, fallback: number): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : fallback;
}
