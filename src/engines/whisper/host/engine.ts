/**
 * Whisper as an engine: cuts audio that may still be arriving into windows of at most 30 s, has the pool
 * transcribe one after the other, and puts their texts together.
 */

import { invalidRequest } from '../../../contract/core/error.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import type {
  AudioChunk,
  SttEngine,
  Transcript,
  TranscriptionEvent,
  TranscriptionRequest,
  TranscriptSegment,
  TranscriptWord,
} from '../../../contract/engines/engine.ts';
import { untilAborted } from '../../../kit/async/until-aborted.ts';
import { audioTokens } from '../../../kit/text/token-estimate.ts';
import type { InferencePool } from '../../pool/inference-pool.ts';
import type { WhisperDescription } from '../model.ts';
import { hasSpaces } from '../shared/languages.ts';
import type { WhisperRequest, WhisperResult, WindowTranscript } from '../shared/protocol.ts';
import { WINDOW_SAMPLES, windowCut } from './window-cutter.ts';

/** @param model name in the pool, which outlives the engine. */
export function whisperEngine(pool: InferencePool, model: string): SttEngine {
  const { languages } = pool.description<WhisperDescription>(model);
  return {
    languages,
    async *transcribe(audio, request, signal) {
      requireLanguage(languages, request.language);
      if (request.task === 'translate' && languages.length === 1) {
        throw invalidRequest(
          "This model understands English only and cannot translate; ask for a transcription, or name another 'model'.",
          'model',
        );
      }
      yield* new Transcription(pool, model, request, signal).events(audio);
    },
    ready: () => pool.ready(),
    close: async () => undefined,
  };
}

/** @throws ServiceError for a language that the model does not know. */
function requireLanguage(languages: readonly string[], language: string | undefined): void {
  if (language === undefined || languages.includes(language)) return;
  const allowed = `must be one of ${languages.join(', ')}`;
  throw invalidRequest(`'language' ${allowed}.`, 'language', 'invalid_value');
}

/** A window that was worked on before it was known to be the last. */
interface Preparation {
  readonly stop: AbortController;
  /** Undefined when it failed: nothing was promised yet, so the window is worked on again. */
  readonly results: Promise<readonly WhisperResult[] | undefined>;
}

class Transcription {
  readonly #pool: InferencePool;
  readonly #model: string;
  readonly #request: TranscriptionRequest;
  readonly #signal: AbortSignal;

  /** Audio that no window has taken yet. */
  readonly #waiting = new SampleQueue();
  /** Samples that windows have taken. */
  #taken = 0;
  #text = '';
  /** Given, or that of the first words. */
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

  async *events(audio: AsyncIterable<AudioChunk>): AsyncGenerator<TranscriptionEvent, void, undefined> {
    let prepared: Preparation | undefined;
    try {
      for await (const piece of untilAborted(audio, this.#signal)) {
        if (piece === 'pause') {
          if (this.#waiting.length > 0) prepared ??= this.#prepare();
        } else if (piece.length > 0) {
          prepared?.stop.abort();
          prepared = undefined;
          this.#waiting.push(piece);
          while (this.#waiting.length > WINDOW_SAMPLES) {
            const cut = windowCut(this.#waiting.peek(WINDOW_SAMPLES));
            yield* this.#window(cut, this.#run(cut, this.#signal));
          }
        }
      }
      this.#signal.throwIfAborted();
      const results = await prepared?.results;
      if (results) yield* this.#window(this.#waiting.length, results);
      for (let rest = this.#waiting.length; rest > 0; rest = this.#waiting.length) {
        yield* this.#window(rest, this.#run(rest, this.#signal));
      }
    } finally {
      prepared?.stop.abort();
    }
    yield { kind: 'final', transcript: this.#transcript() };
  }

  /** Transcribes the audio so far as if it were all; whoever hears more of it stops and forgets this. */
  #prepare(): Preparation {
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#signal, stop.signal]);
    const results = Array.fromAsync(this.#run(this.#waiting.length, signal)).catch(() => undefined);
    return { stop, results };
  }

  /** Has the first samples that wait transcribed as a window. */
  #run(length: number, signal: AbortSignal): AsyncGenerator<WhisperResult, void, undefined> {
    const { task, prompt, temperature, timestamps, priority, fairnessKey } = this.#request;
    const request: WhisperRequest = {
      samples: this.#waiting.peek(length),
      task,
      language: this.#request.language,
      likelyLanguage: this.#latestLanguage,
      prompt,
      temperature,
      timestamps,
      previous: this.#previous,
      lastSpeechS: (this.#segments.at(-1)?.endS ?? this.#takenS()) - this.#takenS(),
    };
    return this.#pool.runJob(this.#model, { request, priority, fairnessKey, delivery: 'text' }, signal);
  }

  /** Gives a window's words as they come, then adds what was heard of it to the transcript. */
  async *#window(
    length: number,
    results: AsyncIterable<WhisperResult> | Iterable<WhisperResult>,
  ): AsyncGenerator<TranscriptionEvent, void, undefined> {
    let begun = false;
    let heard = length;
    for await (const result of results) {
      if (result.kind === 'window') {
        if (result.heardS !== undefined) heard = heardSamples(result.heardS, length);
        this.#add(result, heard);
        continue;
      }
      // A window's text begins a word.
      const isSeam = !begun && this.#text !== '' && hasSpaces(result.language);
      const text = isSeam ? ` ${result.text}` : result.text;
      begun = true;
      this.#text += text;
      yield { kind: 'delta', text };
    }
    this.#waiting.drop(heard);
    this.#taken += heard;
  }

  #add(window: WindowTranscript, length: number): void {
    const { language, carryOver, promptTokens, outputTokens, segments, words } = window;
    const fromS = this.#takenS();
    const toS = (this.#taken + length) / LISTEN_RATE_HZ;
    this.#language ??= language;
    this.#latestLanguage = language ?? this.#latestLanguage;
    this.#previous = carryOver;
    this.#promptTokens = Math.max(this.#promptTokens, promptTokens);
    this.#outputTokens += outputTokens;
    for (const segment of segments) this.#segments.push(later(segment, fromS, toS));
    for (const word of words) this.#words.push(later(word, fromS, toS));
  }

  #takenS(): number {
    return this.#taken / LISTEN_RATE_HZ;
  }

  #transcript(): Transcript {
    return {
      text: this.#text,
      language: this.#language,
      durationS: this.#takenS(),
      inputTokens: { audio: audioTokens(this.#takenS()), text: this.#promptTokens },
      outputTokens: this.#outputTokens,
      segments: this.#segments,
      words: this.#words,
    };
  }
}

/** How many of a window's samples were heard: at least one, so that no window is worked on for ever. */
function heardSamples(heardS: number, length: number): number {
  return Math.min(length, Math.max(1, Math.round(heardS * LISTEN_RATE_HZ)));
}

/** A sum of seconds may be a rounding error beyond the end of its window. */
function later<Timed extends { readonly startS: number; readonly endS: number }>(
  timed: Timed,
  byS: number,
  toS: number,
): Timed {
  return { ...timed, startS: Math.min(toS, timed.startS + byS), endS: Math.min(toS, timed.endS + byS) };
}

/** Runs of samples in order, looked at as one. */
class SampleQueue {
  readonly #runs: Float32Samples[] = [];
  length = 0;

  push(samples: Float32Samples): void {
    this.#runs.push(samples);
    this.length += samples.length;
  }

  /** A copy of the first `length` samples. */
  peek(length: number): Float32Samples {
    const samples = new Float32Array(length);
    let at = 0;
    for (const run of this.#runs) {
      if (at >= length) break;
      samples.set(run.subarray(0, length - at), at);
      at += run.length;
    }
    return samples;
  }

  drop(length: number): void {
    this.length -= length;
    let rest = length;
    for (let run = this.#runs[0]; run !== undefined && rest > 0; run = this.#runs[0]) {
      if (run.length > rest) {
        this.#runs[0] = run.subarray(rest);
        return;
      }
      this.#runs.shift();
      rest -= run.length;
    }
  }
}
