/**
 * Transcripts from another server that speaks OpenAI's `/v1/audio/transcriptions` and `/v1/audio/translations`:
 * vLLM, SGLang, speaches, Ollama (partner-and-upstreams B.3 to B.7).
 */

import type { Logger } from '../../../contract/core/logger.ts';
import type { UpstreamSttSettings } from '../../../contract/core/settings.ts';
import type {
  AudioChunk,
  ReadyReport,
  SttEngine,
  Transcript,
  TranscriptionEvent,
  TranscriptionRequest,
} from '../../../contract/engines/engine.ts';
import { untilAborted } from '../../../kit/async/until-aborted.ts';
import { audioTokens, textTokens } from '../../../kit/text/token-estimate.ts';
import { bodyText, mediaTypeOf } from '../client/body.ts';
import { upstreamFault } from '../client/errors.ts';
import { eventData } from '../client/event-stream.ts';
import type { UpstreamMeter } from '../client/metrics.ts';
import { type UpstreamCall, UpstreamServer } from '../client/server.ts';
import { Recording } from './recording.ts';
import { readEvent, readTranscript, type UpstreamTranscript } from './response.ts';
import { WholeWords } from './whole-words.ts';

/** What servers answer to a field that they do not know. */
const NO_STREAM = [400, 422, 501];

export interface UpstreamSttOptions {
  readonly settings: UpstreamSttSettings;
  readonly log: Logger;
  readonly meter?: UpstreamMeter;
  /** How long the upstream may take until its first byte, beside the length of the audio, and between two portions. */
  readonly firstByteMs?: number;
  readonly idleMs?: number;
  /** Pause between two looks at an upstream that failed. */
  readonly probeMs?: number;
  /** Longest audio, in seconds; it is held in memory at 32 kB a second. */
  readonly maxS?: number;
}

/** Makes the engine; nothing is sent before the first request. */
export function upstreamSttEngine(options: UpstreamSttOptions): SttEngine {
  return new UpstreamSttEngine(options);
}

class UpstreamSttEngine implements SttEngine {
  /** Only its server knows. */
  readonly languages = undefined;
  readonly #options: UpstreamSttOptions;
  readonly #server: UpstreamServer;
  readonly #firstByteMs: number;
  readonly #idleMs: number;
  /** Until the upstream refuses to. */
  #streams = true;

  constructor(options: UpstreamSttOptions) {
    this.#options = options;
    this.#server = new UpstreamServer(options);
    this.#firstByteMs = options.firstByteMs ?? 60_000;
    this.#idleMs = options.idleMs ?? 60_000;
  }

  async *transcribe(
    audio: AsyncIterable<AudioChunk>,
    request: TranscriptionRequest,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptionEvent, void, undefined> {
    signal.throwIfAborted();
    const recording = new Recording(this.#options.maxS);
    for await (const piece of untilAborted(audio, signal)) if (piece !== 'pause') recording.push(piece);
    const { durationS } = recording;
    const words = new WholeWords();
    const told = yield* this.#ask(recording, request, words, signal);
    yield* delta(words.end());
    yield { kind: 'final', transcript: transcriptOf(request, words.text, durationS, told) };
  }

  ready(): ReadyReport {
    return this.#server.ready();
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** Yields what is certain of the text; `words` holds the rest. Silence of no length is not sent. */
  async *#ask(
    recording: Recording,
    request: TranscriptionRequest,
    words: WholeWords,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptionEvent, UpstreamTranscript | undefined, undefined> {
    const { durationS } = recording;
    if (durationS === 0) return undefined;
    const limits = { firstByteMs: this.#firstByteMs + durationS * 1000, idleMs: this.#idleMs };
    const send = (call: UpstreamCall) => this.#send(call, recording.file(), request);
    return yield* this.#server.call(limits, signal, async function* (call) {
      const response = await send(call);
      const portions = call.portionsOf(response);
      if (mediaTypeOf(response) === 'text/event-stream') {
        yield* spoken(portions, words);
        return undefined;
      }
      const told = readTranscript(await bodyText(portions), durationS);
      yield* delta(words.push(told.text));
      return told;
    });
  }

  /** Servers that do not know `stream` leave it out of their answer, or refuse it: then they are asked again. */
  async #send(call: UpstreamCall, file: File, request: TranscriptionRequest): Promise<Response> {
    const path = request.task === 'translate' ? '/audio/translations' : '/audio/transcriptions';
    const streams = this.#streams && request.timestamps === 'none';
    if (streams) {
      const response = await call.post(path, this.#form(file, request, true), {}, NO_STREAM);
      if (response.ok) return response;
      await response.body?.cancel();
    }
    const response = await call.post(path, this.#form(file, request, false));
    // It takes the same without a stream: that was the fault.
    if (streams) this.#streams = false;
    return response;
  }

  #form(file: File, request: TranscriptionRequest, stream: boolean): FormData {
    const { task, language, prompt, temperature = 0, timestamps } = request;
    const form = new FormData();
    form.append('model', this.#options.settings.model);
    if (language !== undefined && task === 'transcribe') form.append('language', language);
    if (prompt !== undefined) form.append('prompt', prompt);
    if (temperature > 0) form.append('temperature', String(temperature));
    form.append('response_format', timestamps === 'none' ? 'json' : 'verbose_json');
    if (timestamps === 'word') form.append('timestamp_granularities[]', 'word');
    if (timestamps !== 'none') form.append('timestamp_granularities[]', 'segment');
    if (stream) form.append('stream', 'true');
    form.append('file', file);
    return form;
  }
}

/** The text of a stream in whole words. @throws ServiceError `upstream` when it breaks off. */
async function* spoken(
  portions: AsyncIterable<Uint8Array>,
  words: WholeWords,
): AsyncGenerator<TranscriptionEvent, void, undefined> {
  let ended = false;
  for await (const data of eventData(portions)) {
    const event = readEvent(data);
    if (event.kind === 'text') yield* delta(words.push(event.text));
    else if (event.kind === 'segment') {
      // Nothing marks the last of them.
      ended = true;
      yield* delta(words.push(` ${event.text.trim()}`));
    } else if (event.kind === 'end') {
      ended = true;
      // Some servers say everything at the end only.
      if (!words.begun && event.text) yield* delta(words.push(event.text));
    }
  }
  if (!ended) throw upstreamFault('its answer broke off');
}

function* delta(text: string): Generator<TranscriptionEvent, void, undefined> {
  if (text !== '') yield { kind: 'delta', text };
}

/** Tokens are counted here, so that they do not depend on the server. */
function transcriptOf(
  { task, language, prompt = '', timestamps }: TranscriptionRequest,
  text: string,
  durationS: number,
  told: UpstreamTranscript | undefined,
): Transcript {
  return {
    text,
    language: language ?? (task === 'transcribe' ? told?.language : undefined),
    durationS,
    inputTokens: { audio: audioTokens(durationS), text: textTokens(prompt) },
    outputTokens: textTokens(text),
    segments: timestamps === 'none' ? [] : (told?.segments ?? []),
    words: timestamps === 'word' ? (told?.words ?? []) : [],
  };
}
