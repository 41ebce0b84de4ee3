/**
 * Billed speech synthesis for the responses of one connection, paced by the reader (spec 4.7, rules 5 and 9).
 */

import { encodeAudio } from '../../src/audio/codec.ts';
import { Resampler } from '../../src/audio/resampler.ts';
import type { Caller } from '../../src/contract/accounts/caller.ts';
import { invalidRequest } from '../../src/contract/core/error.ts';
import type { Id } from '../../src/contract/core/id.ts';
import type { Traceparent } from '../../src/contract/core/tracer.ts';
import { type Int16Samples, SPEECH_RATE_HZ } from '../../src/contract/engines/audio.ts';
import type { SpokenVoice } from '../../src/contract/engines/spoken-voice.ts';
import { requireModel } from '../../src/contract/model-table.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import { TaskGroup } from '../../src/kit/async/task-group.ts';
import { logFailure } from '../../src/kit/logging/log-failure.ts';
import { withSpan } from '../../src/kit/logging/spans.ts';
import { codePoints } from '../../src/kit/validation/code-points.ts';
import { type AudioFormat, sampleBytes } from '../../src/listen/audio-format.ts';
import type { StoredVoices } from '../../src/speak/stored-voices.ts';
import { synthesizeText } from '../../src/speak/synthesize-text.ts';
import { SpeechUsageMeter } from '../../src/usage/usage-meters.ts';
import { toWireError, type WireError } from './protocol/errors.ts';
import type { SynthesisEvent } from './state/response-machine.ts';

/** Maximum audio per delta, in ms. Short deltas make playback smooth and keep the delay of a cancel low. */
const DELTA_MS = 200;

/** Backpressure of the connection. */
export interface FlowControl {
  /**
   * Resolves when the reader can receive more audio.
   * @throws the reason of the signal after an abort.
   */
  ready(signal: AbortSignal): Promise<void>;
}

/** A text to synthesize, with the settings of the session when the response was created. */
export interface SpeechRequest {
  readonly responseId: Id<'response'>;
  readonly text: string;
  readonly model: string;
  /** Id of a stored voice; undefined selects the default voice of the model. */
  readonly voice: string | undefined;
  readonly speed: number;
  /** Format of the reported audio. */
  readonly format: AudioFormat;
}

export interface ResponseAudioDeps extends Pick<Slots, 'tts' | 'calls' | 'clock' | 'log' | 'tracer'> {
  readonly voices: Pick<StoredVoices, 'find'>;
  readonly caller: Caller;
  readonly flow: FlowControl;
  /** Never called synchronously by the methods of this class. */
  readonly report: (event: SynthesisEvent) => void;
}

/**
 * Performs the effects of the response machine. A response is one call, opened before the synthesis; its
 * usage row is committed before the result is reported. After {@link stop} nothing more is reported; the
 * usage row is written when the engine is released.
 */
export class ResponseAudio {
  readonly #deps: ResponseAudioDeps;
  readonly #tasks = new TaskGroup<Id<'response'>>();
  /** Trace context of the request that opened the connection. */
  readonly #cause: Traceparent | undefined;

  /** Must be called while that request is handled, so that the traces of responses are linked to it. */
  constructor(deps: ResponseAudioDeps) {
    this.#deps = deps;
    this.#cause = deps.tracer.currentTraceparent();
  }

  start(speech: SpeechRequest): void {
    const { tracer, caller } = this.#deps;
    const attributes = { request_id: caller.requestId, model: speech.model };
    this.#tasks.start(speech.responseId, (signal) =>
      withSpan(tracer, 'response', { parent: 'none', cause: this.#cause, attributes }, () =>
        this.#chunk(speech, signal),
      ),
    );
  }

  stop(responseId: Id<'response'>): void {
    this.#tasks.stop(responseId);
  }

  /** Stops all responses. Resolves when every engine is released and every usage row is stored. */
  close(): Promise<void> {
    return this.#tasks.close();
  }

  async #chunk(speech: SpeechRequest, signal: AbortSignal): Promise<void> {
    const { model, text, speed } = speech;
    const usageMeter = new SpeechUsageMeter(
      { model, characters: codePoints(text), speed },
      this.#deps.caller,
    );
    const result = await this.#streamAudio(speech, usageMeter, signal);
    await usageMeter.close(
      result === undefined ? 'cancelled' : result.kind === 'synthesis_completed' ? 'completed' : 'failed',
    );
    if (result !== undefined) this.#report(result, signal);
  }

  /** A stopped response reports nothing, even if its engine reacts late. */
  #report(event: SynthesisEvent, signal: AbortSignal): void {
    if (!signal.aborted) this.#deps.report(event);
  }

  /** Reports the audio. Returns the final event, or undefined if the response was stopped. */
  async #streamAudio(
    speech: SpeechRequest,
    usageMeter: SpeechUsageMeter,
    signal: AbortSignal,
  ): Promise<SynthesisEvent | undefined> {
    const { responseId } = speech;
    try {
      await usageMeter.open(this.#deps.calls);
      const voice = await this.#voice(speech);
      let hasAudio = false;
      for await (const bytes of this.#audio(speech, voice, usageMeter, signal)) {
        hasAudio = true;
        signal.throwIfAborted();
        this.#report({ kind: 'audio_generated', responseId, base64: bytes.toBase64() }, signal);
        usageMeter.addAudio(0, bytes.length);
        await this.#deps.flow.ready(signal);
      }
      if (!hasAudio) return { kind: 'synthesis_failed', responseId, error: NOTHING_TO_SPEAK };
      return { kind: 'synthesis_completed', responseId, tokens: usageMeter.tokens };
    } catch (error) {
      if (signal.aborted) return undefined;
      const { log, caller } = this.#deps;
      logFailure(log, 'speech synthesis failed', error, { request_id: caller.requestId });
      return { kind: 'synthesis_failed', responseId, error: toWireError(error) };
    }
  }

  /** Looks the voice up again: it may have improved, or have been deleted, since the session was updated. */
  async #voice({ voice: id }: SpeechRequest): Promise<SpokenVoice | undefined> {
    if (id === undefined) return undefined;
    const voice = await this.#deps.voices.find(id, this.#deps.caller.organization);
    if (voice !== undefined) return voice;
    throw invalidRequest(VOICE_NOT_FOUND, 'session.audio.output.voice', 'voice_not_found');
  }

  /**
   * Yields the audio in the output format in chunks of at most {@link DELTA_MS}, as soon as each is
   * available.
   */
  async *#audio(
    { responseId, text, model, speed, format }: SpeechRequest,
    voice: SpokenVoice | undefined,
    usageMeter: SpeechUsageMeter,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
    const { clock, flow, caller } = this.#deps;
    const engine = requireModel(this.#deps.tts, model);
    const params = {
      text,
      voice,
      speed,
      priority: 'realtime',
      fairnessKey: caller.keyId,
      delivery: 'stream',
    } as const;
    const onSentence = (sentence: string) =>
      this.#report({ kind: 'sentence_started', responseId, text: sentence }, signal);
    const resampler =
      format.rateHz === SPEECH_RATE_HZ
        ? undefined
        : new Resampler({ fromHz: SPEECH_RATE_HZ, toHz: format.rateHz, format: 'int16' });
    try {
      await flow.ready(signal);
      for await (const chunk of synthesizeText(engine, params, clock, signal, onSentence)) {
        usageMeter.addAudio(chunk.length, 0);
        yield* encodedDeltas(resampler?.push(chunk) ?? chunk, format);
      }
      if (resampler) yield* encodedDeltas(resampler.flush(), format);
    } finally {
      resampler?.close();
    }
  }
}

const VOICE_NOT_FOUND =
  'The stored voice of this session no longer exists; set another with session.update, or null for the default voice.';

/**
 * A started response fails with `upstream_error` or `internal_error`, even if the request caused the failure
 * (openai-wire 8.7).
 */
const NOTHING_TO_SPEAK: WireError = {
  type: 'server_error',
  code: 'upstream_error',
  message: 'The text contains no speakable text.',
};

/** Encodes samples and splits them into chunks of at most {@link DELTA_MS}. */
function* encodedDeltas(samples: Int16Samples, format: AudioFormat): Generator<Uint8Array<ArrayBuffer>> {
  const bytes = encodeAudio(samples, format.encoding);
  const maxBytes = Math.floor((format.rateHz * DELTA_MS) / 1000) * sampleBytes(format);
  for (let at = 0; at < bytes.length; at += maxBytes) yield bytes.subarray(at, at + maxBytes);
}
