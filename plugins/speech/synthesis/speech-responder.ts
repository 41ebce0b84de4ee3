import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import { SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import type { AudioEncoder, AudioEncoding } from '../../../src/contract/engines/audio-encoder.ts';
import { WHOLE_BYTES } from '../../../src/http/response/content-response.ts';
import { SSE_HEADERS } from '../../../src/http/response/sse.ts';
import { bodyOutcomeOf, idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { started } from '../../../src/kit/async/started.ts';
import type { ByteBudget, ByteShare } from '../../../src/kit/limits/byte-budget.ts';
import { logFailure } from '../../../src/kit/logging/log-failure.ts';
import type { Speech, SpeechRequests } from '../../../src/speak/speech-requests.ts';
import { type AudioBody, encodedBody, streamedWav } from './encoded-body.ts';
import { speechEvents } from './event-body.ts';
import { CONTENT_TYPES, isEncoded } from './formats.ts';
import { captionLines, captionObject, type SpeechContent, speechObject } from './json-body.ts';
import { silentSpeech } from './silent-speech.ts';
import type { SpeechRequest } from './speech-request.ts';
import { TimedWords } from './timed-words.ts';
import { wavBody, wavBudget } from './wav-body.ts';

const JSON_HEADERS = { 'content-type': 'application/json' };
/** Kokoro-FastAPI calls lines of JSON `application/json`, which they are not. */
const LINES_HEADERS = { 'content-type': 'application/x-ndjson' };

/**
 * Maximum length of the audio that is buffered for a `wav` response: 260 MB. Only malicious texts exceed it, but the
 * length is unknown before synthesis: 5000 characters are 5 minutes of prose, or hours of slowly read digits.
 */
const MAX_WAV_S = 90 * 60;

export interface SpeechResponderOptions {
  readonly requests: SpeechRequests;
  readonly encoder: AudioEncoder;
  readonly log: Logger;
  /** Maximum length of the audio of a `wav` response that is sent when it is complete, in seconds. */
  readonly maxWavS?: number;
  /** Memory of the audio of responses that are sent when they are complete. */
  readonly whole?: ByteBudget;
}

/** What a request asks for. */
export interface PresentedRequest extends Omit<SpeechRequest, 'presentation'> {
  /** `captions` and `caption_lines` have the shape of Kokoro-FastAPI. */
  readonly presentation: SpeechRequest['presentation'] | 'captions' | 'caption_lines';
}

/** Synthesizes speech and sends it as a request asks for. */
export class SpeechResponder {
  readonly #options: Required<SpeechResponderOptions>;

  constructor(options: SpeechResponderOptions) {
    this.#options = { maxWavS: MAX_WAV_S, whole: wavBudget(), ...options };
  }

  /** @throws the errors of {@link SpeechRequests.startSpeech}, of the encoder and of the limits. */
  async respond(params: PresentedRequest, request: Request): Promise<Response> {
    const { encoder, log, requests, whole } = this.#options;
    const caller = callerOf(request);
    const {
      input: text,
      voice: voiceId,
      format,
      isStreamed,
      isCompatible,
      presentation,
      hasWords,
      ...spoken
    } = params;
    // Opened before the synthesis, so that a process of the encoders that has to start is ready for the first audio.
    const encoding = isEncoded(format) ? encoder.open(format, caller.keyId) : undefined;
    // Synthesis of a long text may exceed the idle timeout of the connection.
    const idleTimeout = idleTimeoutOf(request);
    idleTimeout.suspend();
    const disconnected = new AbortController();
    const signal = AbortSignal.any([request.signal, disconnected.signal]);
    const words = new TimedWords();
    const share = whole.openShare(caller.keyId);
    let isResponding = false;
    try {
      const synthesis = await requests.startSpeech(
        {
          ...spoken,
          text,
          voiceId,
          voiceParam: 'voice',
          rateHz: SPEECH_RATE_HZ,
          priority: 'interactive',
          delivery: isStreamed && !isWhole(presentation) ? 'stream' : 'whole',
          onWords: hasWords ? (timed) => words.add(timed) : undefined,
          onMarks: presentation === 'audio' ? undefined : (marks) => words.addMarks(marks),
          textParam: 'input',
        },
        caller,
        signal,
      );
      const speech = synthesis ?? (isCompatible ? silentSpeech(text) : undefined);
      if (speech === undefined) {
        throw invalidRequest("'input' contains no speakable text.", 'input', 'invalid_value');
      }
      const body = await this.#body(speech, encoding, params, share);
      if (presentation === 'audio' && body.lengthBytes !== undefined && body.lengthBytes <= WHOLE_BYTES) {
        return new Response(Buffer.concat(await Array.fromAsync(body.chunks)), {
          headers: { 'content-type': CONTENT_TYPES[format] },
        });
      }
      const content = { chunks: body.chunks, format, words, tokens: speech.tokens };
      const onFailure = (error: unknown) => {
        // A disconnected client is not logged as a failure.
        if (signal.aborted) return;
        logFailure(log, 'speech synthesis failed in its stream', error, { request_id: caller.requestId });
      };
      const { chunks, headers } = await presented(content, params, share, onFailure);
      const sent = streamedBody(chunks, disconnected, request);
      const release = () => {
        share.end();
        encoding?.close();
      };
      bodyOutcomeOf(request)?.then(release, release);
      isResponding = true;
      return new Response(sent, { headers });
    } finally {
      if (!isResponding) {
        share.end();
        encoding?.close();
      }
      idleTimeout.resume();
    }
  }

  /** The bytes of the file, and their number if it is known. */
  async #body(
    speech: Speech,
    encoding: AudioEncoding | undefined,
    { format, isStreamed }: PresentedRequest,
    share: ByteShare,
  ): Promise<{ readonly chunks: AudioBody; readonly lengthBytes?: number }> {
    if (encoding !== undefined) return { chunks: await encodedBody(speech, encoding) };
    if (format === 'pcm') return { chunks: speech.audio };
    if (isStreamed) return { chunks: await streamedWav(speech) };
    return await wavBody(speech, this.#options.maxWavS, share);
  }
}

/** Whether all of the audio is sent together. */
function isWhole(presentation: PresentedRequest['presentation']): boolean {
  return presentation === 'json' || presentation === 'captions';
}

/** The body in the form that the request asks for. A form without events has its errors as an HTTP status until its first bytes. */
async function presented(
  content: SpeechContent,
  { presentation, hasWords, format }: PresentedRequest,
  share: ByteShare,
  onFailure: (error: unknown) => void,
): Promise<{ readonly chunks: AudioBody; readonly headers: Readonly<Record<string, string>> }> {
  const { chunks, words, tokens } = content;
  switch (presentation) {
    case 'audio':
      return { chunks, headers: { 'content-type': CONTENT_TYPES[format] } };
    case 'sse':
      return { chunks: speechEvents(chunks, words, tokens, onFailure), headers: SSE_HEADERS };
    case 'json':
      return { chunks: await whole(speechObject(content, hasWords, share)), headers: JSON_HEADERS };
    case 'captions':
      return { chunks: await whole(captionObject(content, share)), headers: JSON_HEADERS };
    case 'caption_lines':
      return { chunks: captionLines(content), headers: LINES_HEADERS };
  }
}

async function whole(object: AudioBody): Promise<AudioBody> {
  return (await started(object)) ?? object;
}
