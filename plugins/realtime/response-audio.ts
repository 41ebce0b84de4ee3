/** The speech of one connection: tasks the synthesis at the reader's pace, each a call that is billed (spec 4.7, rules 5 and 9). */

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

/** Longest audio of one delta. Short ones make playback smooth and let a cancel come between them. */
const DELTA_MS = 200;

/** Says when the reader has retained up so far that more may be generated for it. */
export interface FlowControl {
  /** @throws the signal's reason after an abort. */
  ready(signal: AbortSignal): Promise<void>;
}

/** What to say, as the session was when the response was created. */
export interface SpeechRequest {
  readonly responseId: Id<'response'>;
  readonly text: string;
  readonly model: string;
  /** Id of a stored voice; undefined means the default of the model. */
  readonly voice: string | undefined;
  readonly speed: number;
  /** Of the audio that is reported. */
  readonly format: AudioFormat;
}

export interface ResponseAudioDeps extends Pick<Slots, 'tts' | 'calls' | 'clock' | 'log' | 'tracer'> {
  readonly voices: Pick<StoredVoices, 'find'>;
  readonly caller: Caller;
  readonly flow: FlowControl;
  /** Never called before the call that caused it has returned. */
  readonly report: (event: SynthesisEvent) => void;
}

/**
 * Performs the effects of the response machine. A response is one call, opened before its work; its usage row is
 * stored before its result is reported. After {@link stop} it reports nothing more; its row follows when the engine
 * has let go.
 */
export class ResponseAudio {
  readonly #deps: ResponseAudioDeps;
  readonly #tasks = new TaskGroup<Id<'response'>>();
  /** The request that generated the connection. */
  readonly #cause: Traceparent | undefined;

  /** To be called while the request is answered that makes the connection: traces of responses are linked to it. */
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

  /** Stops what is running. Resolves when every engine has let go and every row is stored. */
  close(): Promise<void> {
    return this.#tasks.close();
  }

  async #chunk(speech: SpeechRequest, signal: AbortSignal): Promise<void> {
    const { model, text, speed } = speech;
    const usageMeter = new SpeechUsageMeter(
      { model, characters: codePoints(text), speed },
      this.#deps.caller,
    );
    const result = await this.#synthesizeText(speech, usageMeter, signal);
    await usageMeter.close(
      result === undefined ? 'cancelled' : result.kind === 'synthesis_completed' ? 'completed' : 'failed',
    );
    if (result !== undefined) this.#report(result, signal);
  }

  /** Nothing is reported of a response that was stopped, however late its engine notices. */
  #report(event: SynthesisEvent, signal: AbortSignal): void {
    if (!signal.aborted) this.#deps.report(event);
  }

  /** Reports the audio; gives back how it ended, or undefined when it was stopped. */
  async #synthesizeText(
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
      logFailure(log, 'speech failed', error, { request_id: caller.requestId });
      return { kind: 'synthesis_failed', responseId, error: toWireError(error) };
    }
  }

  /** As it is now: it may have become better since the session named it, or be gone. */
  async #voice({ voice: id }: SpeechRequest): Promise<SpokenVoice | undefined> {
    if (id === undefined) return undefined;
    const voice = await this.#deps.voices.find(id, this.#deps.caller.organization);
    if (voice !== undefined) return voice;
    throw invalidRequest(VOICE_NOT_FOUND, 'session.audio.output.voice', 'voice_not_found');
  }

  /** The speech in the output format, in encodedDeltas of at most {@link DELTA_MS}, as soon as each can be had. */
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
  'The stored voice of this session does not exist any more; set another with session.update, or null for the default voice.';

/** A response that has onSentence fails by one of two codes, whosever handleError it is (openai-wire 8.7). */
const NOTHING_TO_SPEAK: WireError = {
  type: 'server_error',
  code: 'upstream_error',
  message: 'The text holds nothing that can be spoken.',
};

/** Samples as coded bytes, in encodedDeltas of at most {@link DELTA_MS}. */
function* encodedDeltas(samples: Int16Samples, format: AudioFormat): Generator<Uint8Array<ArrayBuffer>> {
  const bytes = encodeAudio(samples, format.encoding);
  const maxBytes = Math.floor((format.rateHz * DELTA_MS) / 1000) * sampleBytes(format);
  for (let at = 0; at < bytes.length; at += maxBytes) yield bytes.subarray(at, at + maxBytes);
}
