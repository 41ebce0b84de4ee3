/**
 * Transcription by an upstream server with OpenAI's `/v1/audio/transcriptions` and `/v1/audio/translations`:
 * vLLM, SGLang, speaches, Ollama (partner-and-upstreams B.3 to B.7).
 */

import type { Logger } from '../../../contract/core/logger.ts';
import type {
  AudioChunk,
  ReadyReport,
  SttEngine,
  Transcript,
  TranscriptionEvent,
  TranscriptionRequest,
} from '../../../contract/engines/engine.ts';
import { untilAborted } from '../../../kit/async/until-aborted.ts';
import { keywordList } from '../../../kit/text/keyword-list.ts';
import { audioTokens, textTokens } from '../../../kit/text/token-estimate.ts';
import { readEvents } from '../client/event-stream.ts';
import type { UpstreamMeter } from '../client/metrics.ts';
import { mediaTypeOf, readBodyText } from '../client/response-body.ts';
import { type UpstreamCall, UpstreamServer } from '../client/server.ts';
import { upstreamError } from '../client/upstream-error.ts';
import type { UpstreamModelSettings } from '../settings.ts';
import { Recording } from './recording.ts';
import { readEvent, readTranscript, type UpstreamTranscript } from './response.ts';
import { TranscriptText } from './transcript-text.ts';

/** Statuses with which servers reject an unsupported `stream` field. */
const STREAM_REJECTION_STATUSES = [400, 422, 501];

export interface UpstreamSttOptions {
  readonly settings: UpstreamModelSettings;
  readonly log: Logger;
  readonly meter?: UpstreamMeter;
  /**
   * Maximum time until the first event, or until the end of a response without events, in addition to the duration of the
   * audio. Default 60,000 ms.
   */
  readonly firstPartMs?: number;
  /** Maximum time between two events, default 60,000 ms. */
  readonly idleMs?: number;
  /** Interval of the health checks of an unavailable server. */
  readonly probeMs?: number;
  /** Maximum duration of the audio in seconds. It is buffered in memory with 32 kB per second. */
  readonly maxS?: number;
}

/** Creates the engine. Nothing is sent before the first request. */
export function upstreamSttEngine(options: UpstreamSttOptions): SttEngine {
  return new UpstreamSttEngine(options);
}

class UpstreamSttEngine implements SttEngine {
  /** Not known to this service. */
  readonly languages = undefined;
  /** Each request would cost money. */
  readonly hasPreviews = false;
  readonly #options: UpstreamSttOptions;
  readonly #server: UpstreamServer;
  readonly #firstPartMs: number;
  readonly #idleMs: number;
  /** Set to false when the server rejects `stream`. */
  #supportsStreaming = true;

  constructor(options: UpstreamSttOptions) {
    this.#options = options;
    this.#server = new UpstreamServer(options);
    this.#firstPartMs = options.firstPartMs ?? 60_000;
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
    const text = new TranscriptText(request.textTokens ?? false);
    const response = yield* this.#requestTranscript(recording, request, text, signal);
    yield* text.flush();
    yield { kind: 'final', transcript: toTranscript(request, text, durationS, response) };
  }

  ready(): ReadyReport {
    return this.#server.ready();
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** Sends the recording and yields complete words; the last one stays in `text`. Empty audio is not sent. */
  async *#requestTranscript(
    recording: Recording,
    request: TranscriptionRequest,
    text: TranscriptText,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptionEvent, UpstreamTranscript | undefined, undefined> {
    const { durationS } = recording;
    if (durationS === 0) return undefined;
    const timeouts = { firstPartMs: this.#firstPartMs + durationS * 1000, idleMs: this.#idleMs };
    const send = (call: UpstreamCall) => this.#send(call, recording.file(), request);
    return yield* this.#server.call(timeouts, signal, async function* (call) {
      const response = await send(call);
      const chunks = call.readChunks(response);
      if (mediaTypeOf(response) === 'text/event-stream') {
        yield* streamedDeltas(call, chunks, text);
        return undefined;
      }
      const transcript = readTranscript(await readBodyText(chunks), durationS);
      text.addTokens(transcript.tokens);
      yield* text.push(transcript.text);
      return transcript;
    });
  }

  /** Servers without streaming ignore `stream` or reject it. After a rejection, the request is repeated without it. */
  async #send(call: UpstreamCall, file: File, request: TranscriptionRequest): Promise<Response> {
    const path = request.task === 'translate' ? '/audio/translations' : '/audio/transcriptions';
    const stream = this.#supportsStreaming && request.timestamps === 'none';
    if (stream) {
      const response = await call.post(path, this.#form(file, request, true), {}, STREAM_REJECTION_STATUSES);
      if (response.ok) return response;
      await response.body?.cancel();
    }
    const response = await call.post(path, this.#form(file, request, false));
    // The success without `stream` confirms that it was the cause of the rejection.
    if (stream) this.#supportsStreaming = false;
    return response;
  }

  #form(file: File, request: TranscriptionRequest, stream: boolean): FormData {
    const { task, languages = [], temperature = 0, timestamps, textTokens } = request;
    const form = new FormData();
    form.append('model', this.#options.settings.model);
    // Most servers know one language only.
    const language = request.language ?? (languages.length === 1 ? languages[0] : undefined);
    if (task === 'transcribe') {
      if (language !== undefined) form.append('language', language);
      else for (const each of languages) form.append('languages[]', each);
    }
    const prompt = promptOf(request);
    if (prompt !== '') form.append('prompt', prompt);
    if (textTokens) form.append('include[]', 'logprobs');
    if (temperature > 0) form.append('temperature', String(temperature));
    form.append('response_format', timestamps === 'none' ? 'json' : 'verbose_json');
    if (timestamps === 'word') form.append('timestamp_granularities[]', 'word');
    if (timestamps !== 'none') form.append('timestamp_granularities[]', 'segment');
    if (stream) form.append('stream', 'true');
    form.append('file', file);
    return form;
  }
}

/** Yields the text of a stream in complete words. @throws ServiceError `upstream` when it ends prematurely. */
async function* streamedDeltas(
  call: UpstreamCall,
  chunks: AsyncIterable<Uint8Array>,
  text: TranscriptText,
): AsyncGenerator<TranscriptionEvent, void, undefined> {
  let isComplete = false;
  for await (const data of readEvents(chunks)) {
    call.progressed();
    const event = readEvent(data);
    if (event.kind === 'text') {
      text.addTokens(event.tokens);
      yield* text.push(event.text);
    } else if (event.kind === 'segment') {
      // Servers with segment events do not mark the last one.
      isComplete = true;
      yield* text.push(` ${event.text.trim()}`);
    } else if (event.kind === 'end') {
      isComplete = true;
      // Some servers send the complete text and its tokens only in the final event.
      if (text.tokens === undefined) text.addTokens(event.tokens);
      if (!text.hasText && event.text) yield* text.push(event.text);
    }
  }
  if (!isComplete) throw upstreamError('the response ended prematurely');
}

/** Every server knows prompts, but only few know keywords, so these are the end of the prompt. */
function promptOf({ prompt = '', keywords }: TranscriptionRequest): string {
  return [prompt, keywordList(keywords)].filter((part) => part !== '').join(' ');
}

/** Tokens are estimated here, so that they do not depend on the server. */
function toTranscript(
  request: TranscriptionRequest,
  { emitted: text, tokens }: TranscriptText,
  durationS: number,
  response: UpstreamTranscript | undefined,
): Transcript {
  const { task, language, timestamps } = request;
  return {
    text,
    language: language ?? (task === 'transcribe' ? response?.language : undefined),
    durationS,
    inputTokens: { audio: audioTokens(durationS), text: textTokens(promptOf(request)) },
    outputTokens: textTokens(text),
    segments: timestamps === 'none' ? [] : (response?.segments ?? []),
    words: timestamps === 'word' ? (response?.words ?? []) : [],
    tokens: request.textTokens && durationS === 0 ? [] : tokens,
  };
}
