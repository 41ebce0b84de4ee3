/**
 * The Whisper engine: splits audio, which may still be arriving, into windows of at most 30 s, transcribes them in order
 * with the pool, and joins their texts.
 */

import { invalidRequest } from '../../../contract/core/error.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import type {
  AudioChunk,
  SttEngine,
  TextToken,
  Transcript,
  TranscriptDelta,
  TranscriptionEvent,
  TranscriptionRequest,
  TranscriptSegment,
  TranscriptWord,
} from '../../../contract/engines/engine.ts';
import type { InferencePool } from '../../../inference/pool/inference-pool.ts';
import { untilAborted } from '../../../kit/async/until-aborted.ts';
import { audioTokens } from '../../../kit/text/token-estimate.ts';
import type { WhisperDescription } from '../model.ts';
import { hasSpaces } from '../shared/languages.ts';
import type { WhisperRequest, WhisperResult, WindowTranscript } from '../shared/protocol.ts';
import { WINDOW_SAMPLES, windowCut } from './window-cutter.ts';

/** UTF-8 byte of a space. */
const SPACE = 0x20;

/** @param pool is not closed by the engine. @param model name of the model in the pool. */
export function whisperEngine(pool: InferencePool, model: string): SttEngine {
  const { languages } = pool.description<WhisperDescription>(model);
  return {
    languages,
    hasPreviews: true,
    transcribe: (audio, request, signal) =>
      new Transcription(pool, model, request, signal).events(audio, languages),
    ready: () => pool.ready(),
    close: async () => undefined,
  };
}

/** @throws ServiceError `invalid_request` for a language or a task that the model does not support. */
function requireSupported(
  supported: readonly string[],
  { languages = [], language, task }: TranscriptionRequest,
): void {
  for (const each of languages) requireLanguage(supported, each);
  requireLanguage(supported, language);
  if (task !== 'translate' || supported.length > 1) return;
  throw invalidRequest(
    "This model supports English only and cannot translate. Request a transcription or use another 'model'.",
    'model',
  );
}

/** @throws ServiceError `invalid_request` for a language that the model does not support. */
function requireLanguage(languages: readonly string[], language: string | undefined): void {
  if (language === undefined || languages.includes(language)) return;
  const allowed = `must be one of ${languages.join(', ')}`;
  throw invalidRequest(`'language' ${allowed}.`, 'language', 'invalid_value');
}

/** Transcription of a window that started before the window was known to be the last. */
interface SpeculativeWindow {
  readonly stop: AbortController;
  /** Undefined after a failure: nothing was sent to the client, so the window is transcribed again. */
  readonly results: Promise<readonly WhisperResult[] | undefined>;
}

class Transcription {
  readonly #pool: InferencePool;
  readonly #model: string;
  readonly #request: TranscriptionRequest;
  readonly #signal: AbortSignal;

  /** Audio after the last window. */
  readonly #buffered = new SampleBuffer();
  /** Number of samples in the windows so far. */
  #consumed = 0;
  #text = '';
  readonly #textTokens: TextToken[] = [];
  /** Language of the request, or the language detected first. */
  #language: string | undefined;
  #latestLanguage: string | undefined;
  #previous: readonly number[] = [];
  #promptTokens = 0;
  #outputTokens = 0;
  readonly #segments: TranscriptSegment[] = [];
  readonly #words: TranscriptWord[] = [];

  constructor(pool: InferencePool, model: string, request: TranscriptionRequest, signal: AbortSignal) {
    this.#pool = pool;
    this.#model = model;
    this.#request = request;
    this.#signal = signal;
    this.#language = request.language;
  }

  /** @param languages codes of the languages that the model supports. */
  async *events(
    audio: AsyncIterable<AudioChunk>,
    languages: readonly string[],
  ): AsyncGenerator<TranscriptionEvent, void, undefined> {
    requireSupported(languages, this.#request);
    let speculative: SpeculativeWindow | undefined;
    try {
      for await (const chunk of untilAborted(audio, this.#signal)) {
        if (chunk === 'pause') {
          if (this.#buffered.length > 0) speculative ??= this.#speculate();
        } else if (chunk.length > 0) {
          speculative?.stop.abort();
          speculative = undefined;
          this.#buffered.push(chunk);
          while (this.#buffered.length > WINDOW_SAMPLES) {
            const cut = windowCut(this.#buffered.peek(WINDOW_SAMPLES));
            yield* this.#emitWindow(cut, this.#transcribeWindow(cut, this.#signal));
          }
        }
      }
      this.#signal.throwIfAborted();
      const results = await speculative?.results;
      if (results) yield* this.#emitWindow(this.#buffered.length, results);
      for (let rest = this.#buffered.length; rest > 0; rest = this.#buffered.length) {
        yield* this.#emitWindow(rest, this.#transcribeWindow(rest, this.#signal));
      }
    } finally {
      speculative?.stop.abort();
    }
    yield { kind: 'final', transcript: this.#transcript() };
  }

  /** Transcribes the buffered audio as the last window. Aborted when more audio arrives. */
  #speculate(): SpeculativeWindow {
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#signal, stop.signal]);
    const results = Array.fromAsync(this.#transcribeWindow(this.#buffered.length, signal)).then(
      (complete) => {
        this.#reportPreview(complete);
        return complete;
      },
      () => undefined,
    );
    return { stop, results };
  }

  /** Reports the text of the transcript, if the results of the last window are complete. */
  #reportPreview(results: readonly WhisperResult[]): void {
    let text = this.#text;
    let sentenceEnd = 0;
    let isStart = true;
    for (const result of results) {
      if (result.kind === 'window') {
        // The rest of the audio requires another window.
        if (result.transcribedS !== undefined) return;
        ({ sentenceEnd } = result);
      } else {
        text += this.#withSeam(result, isStart).text;
        isStart = false;
      }
    }
    this.#request.onPreview?.({ text, sentenceEnd });
  }

  /** The text of a window starts with a new word. */
  #withSeam(
    { text, tokens, language }: Extract<WhisperResult, { kind: 'text' }>,
    isStart: boolean,
  ): TranscriptDelta {
    if (!isStart || this.#text === '' || !hasSpaces(language)) return { text, tokens };
    // The first delta has a whole word, and so a token.
    const [first, ...others] = tokens ?? [];
    return {
      text: ` ${text}`,
      tokens: first && [{ ...first, bytes: [SPACE, ...first.bytes] }, ...others],
    };
  }

  /** Transcribes the first `length` buffered samples as one window. */
  #transcribeWindow(length: number, signal: AbortSignal): AsyncIterable<WhisperResult> {
    const { task, languages, prompt, keywords, temperature, timestamps, textTokens } = this.#request;
    const { priority, fairnessKey } = this.#request;
    const request: WhisperRequest = {
      samples: this.#buffered.peek(length),
      task,
      language: this.#request.language,
      likelyLanguage: this.#latestLanguage,
      languages,
      prompt,
      keywords,
      temperature,
      timestamps,
      textTokens,
      previous: this.#previous,
      lastSpeechS: (this.#segments.at(-1)?.endS ?? this.#consumedS()) - this.#consumedS(),
    };
    return this.#pool.runJob(this.#model, { request, priority, fairnessKey, delivery: 'text' }, signal);
  }

  /** Yields the text of a window as it arrives, then appends the window to the transcript. */
  async *#emitWindow(
    length: number,
    results: AsyncIterable<WhisperResult> | Iterable<WhisperResult>,
  ): AsyncGenerator<TranscriptionEvent, void, undefined> {
    let isStart = true;
    let transcribed = length;
    for await (const result of results) {
      if (result.kind === 'window') {
        if (result.transcribedS !== undefined) transcribed = transcribedSamples(result.transcribedS, length);
        this.#append(result, transcribed);
        continue;
      }
      const delta = this.#withSeam(result, isStart);
      isStart = false;
      this.#text += delta.text;
      this.#textTokens.push(...(delta.tokens ?? []));
      yield { kind: 'delta', ...delta };
    }
    this.#buffered.drop(transcribed);
    this.#consumed += transcribed;
  }

  #append(window: WindowTranscript, length: number): void {
    const { language, carryOver, promptTokens, outputTokens, segments, words } = window;
    const fromS = this.#consumedS();
    const toS = (this.#consumed + length) / LISTEN_RATE_HZ;
    this.#language ??= language;
    this.#latestLanguage = language ?? this.#latestLanguage;
    this.#previous = carryOver;
    this.#promptTokens = Math.max(this.#promptTokens, promptTokens);
    this.#outputTokens += outputTokens;
    for (const segment of segments) this.#segments.push(shift(segment, fromS, toS));
    for (const word of words) this.#words.push(shift(word, fromS, toS));
  }

  #consumedS(): number {
    return this.#consumed / LISTEN_RATE_HZ;
  }

  #transcript(): Transcript {
    return {
      text: this.#text,
      language: this.#language,
      durationS: this.#consumedS(),
      inputTokens: { audio: audioTokens(this.#consumedS()), text: this.#promptTokens },
      outputTokens: this.#outputTokens,
      segments: this.#segments,
      words: this.#words,
      tokens: this.#request.textTokens ? this.#textTokens : undefined,
    };
  }
}

/** Number of transcribed samples of a window: at least one, so that every window makes progress. */
function transcribedSamples(transcribedS: number, length: number): number {
  return Math.min(length, Math.max(1, Math.round(transcribedS * LISTEN_RATE_HZ)));
}

/** Shifts times by `byS`, limited to `toS` because the sum may exceed the end of the window by a rounding error. */
function shift<Timed extends { readonly startS: number; readonly endS: number }>(
  timed: Timed,
  byS: number,
  toS: number,
): Timed {
  return { ...timed, startS: Math.min(toS, timed.startS + byS), endS: Math.min(toS, timed.endS + byS) };
}

/** A queue of samples. */
class SampleBuffer {
  readonly #chunks: Float32Samples[] = [];
  length = 0;

  push(samples: Float32Samples): void {
    this.#chunks.push(samples);
    this.length += samples.length;
  }

  /** Returns a copy of the first `length` samples. */
  peek(length: number): Float32Samples {
    const samples = new Float32Array(length);
    let offset = 0;
    for (const chunk of this.#chunks) {
      if (offset >= length) break;
      samples.set(chunk.subarray(0, length - offset), offset);
      offset += chunk.length;
    }
    return samples;
  }

  drop(length: number): void {
    this.length -= length;
    let rest = length;
    for (let chunk = this.#chunks[0]; chunk !== undefined && rest > 0; chunk = this.#chunks[0]) {
      if (chunk.length > rest) {
        this.#chunks[0] = chunk.subarray(rest);
        return;
      }
      this.#chunks.shift();
      rest -= chunk.length;
    }
  }
}
