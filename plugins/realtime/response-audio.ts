/** Speech synthesis for the responses of one connection, paced by the reader (spec 4.7, rules 5 and 9). */

import type { Caller } from '../../src/contract/accounts/caller.ts';
import type { Id } from '../../src/contract/core/id.ts';
import type { Traceparent } from '../../src/contract/core/tracer.ts';
import { requireModel } from '../../src/contract/model-table.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import { TaskGroup } from '../../src/kit/async/task-group.ts';
import { logFailure } from '../../src/kit/logging/log-failure.ts';
import { withSpan } from '../../src/kit/logging/spans.ts';
import { codePoints } from '../../src/kit/validation/code-points.ts';
import type { AudioFormat } from '../../src/listen/audio-format.ts';
import { billedSynthesis } from '../../src/speak/billed-synthesis.ts';
import { selectVoice, type VoiceLookup } from '../../src/speak/stored-voices.ts';
import { SpeechUsageMeter } from '../../src/usage/usage-meters.ts';
import { toWireError } from './protocol/errors.ts';
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
  readonly responseId: Id<'resp_'>;
  readonly text: string;
  readonly model: string;
  /** Id of a stored voice; undefined selects the default voice of the model. */
  readonly voice: string | undefined;
  /** BCP 47 tag of the text; undefined: the language of the voice. */
  readonly language?: string | undefined;
  readonly speed: number;
  /** Format of the reported audio. */
  readonly format: AudioFormat;
}

export interface ResponseAudioDeps
  extends Pick<Slots, 'tts' | 'lexicons' | 'calls' | 'clock' | 'log' | 'tracer'> {
  readonly voices: VoiceLookup;
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
  readonly #tasks = new TaskGroup<Id<'resp_'>>();
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
        this.#synthesize(speech, signal),
      ),
    );
  }

  stop(responseId: Id<'resp_'>): void {
    this.#tasks.stop(responseId);
  }

  /** Stops all responses. Resolves when every engine is released and every usage row is stored. */
  close(): Promise<void> {
    return this.#tasks.close();
  }

  async #synthesize(speech: SpeechRequest, signal: AbortSignal): Promise<void> {
    const result = await this.#streamAudio(speech, signal);
    if (result !== undefined) this.#report(result, signal);
  }

  /** A stopped response reports nothing, even if its engine reacts late. */
  #report(event: SynthesisEvent, signal: AbortSignal): void {
    if (!signal.aborted) this.#deps.report(event);
  }

  /** Reports the audio. Returns the final event, or undefined if the response was stopped. */
  async #streamAudio(
    { responseId, text, model, voice: voiceId, language, speed, format }: SpeechRequest,
    signal: AbortSignal,
  ): Promise<SynthesisEvent | undefined> {
    const { tts, voices, lexicons, calls, clock, flow, log, caller } = this.#deps;
    const meter = new SpeechUsageMeter({ characters: codePoints(text), speed });
    const { encoding, rateHz } = format;
    const audio = billedSynthesis(
      {
        calls,
        caller,
        model,
        clock,
        lexicons,
        meter,
        encoding,
        maxChunkMs: DELTA_MS,
        rejections: 'recorded',
        request: {
          text,
          speed,
          rateHz,
          priority: 'realtime',
          delivery: 'stream',
          fairnessKey: caller.keyId,
        },
        // The voice may have been deleted since the session was updated.
        async selectVoice() {
          const engine = requireModel(tts, model);
          const { organization } = caller;
          const voice = await selectVoice(voices, engine, {
            id: voiceId,
            model,
            param: VOICE_PARAM,
            organization,
            language,
            languageParam: LANGUAGE_PARAM,
          });
          await flow.ready(signal);
          return { engine, ...voice };
        },
        onSentence: (sentence) =>
          this.#report({ kind: 'sentence_started', responseId, text: sentence }, signal),
        onChunk: (bytes) =>
          this.#report({ kind: 'audio_generated', responseId, base64: bytes.toBase64() }, signal),
      },
      signal,
    );
    try {
      for await (const _ of audio) await flow.ready(signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      logFailure(log, 'speech synthesis failed', error, { request_id: caller.requestId });
      return { kind: 'synthesis_failed', responseId, error: toWireError(error) };
    }
    // Without audio if there is nothing to speak, as in `…`: a voice agent continues with its next turn.
    return { kind: 'synthesis_completed', responseId, tokens: meter.tokens };
  }
}

/** Field of the session that names the voice. */
const VOICE_PARAM = 'session.audio.output.voice';
/** Field of the session that names the language. */
const LANGUAGE_PARAM = 'session.audio.output.language';
