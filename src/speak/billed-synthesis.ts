/** Speech that answers requests: billed calls, whose audio leaves at the pace of its reader (spec 4.3, 4.9). */

import { Resampler } from '../audio/resampler.ts';
import type { Caller } from '../contract/accounts/caller.ts';
import type { EndpointLabel } from '../contract/accounts/usage.ts';
import { type ErrorKind, invalidRequest, ServiceError } from '../contract/core/error.ts';
import { mayBeId } from '../contract/core/id.ts';
import { type Int16Samples, SPEECH_RATE_HZ } from '../contract/engines/audio.ts';
import type { SpokenVoice } from '../contract/engines/spoken-voice.ts';
import { requireModel } from '../contract/model-table.ts';
import type { Slots } from '../contract/plugin.ts';
import { type OpenRequest, OpenRequests } from '../kit/limits/open-requests.ts';
import { SpeechUsageMeter } from '../usage/call-tally.ts';
import type { StoredVoices } from './stored-voices.ts';
import { type SynthesizeTextRequest, synthesizeText } from './synthesize-text.ts';

export interface BilledSynthesisDeps extends Pick<Slots, 'tts' | 'calls' | 'clock'> {
  readonly endpoint: EndpointLabel;
  readonly voices: Pick<StoredVoices, 'find'>;
  /** Requests of one organization that may be open at once, so that no key shuts out the others. */
  readonly requestsPerOrganization: number;
}

/** A text to speak that was checked. */
export interface BilledSynthesisRequest extends Omit<SynthesizeTextRequest, 'owner' | 'voice'> {
  readonly model: string;
  /** Of a stored voice, as the client sent it; undefined means the default of the model. */
  readonly voiceId: string | undefined;
  /** What the client calls the field that names it. */
  readonly voiceParam: string;
  /** Unicode code points of `text`. */
  readonly characters: number;
  /** Of the audio that is wanted, {@link MIN_RATE_HZ} to {@link MAX_RATE_HZ}. */
  readonly rateHz: number;
}

/** Signed 16-bit little-endian mono samples, whole ones in each chunk. */
export type SpeechChunk = Uint8Array<ArrayBuffer>;

/** An answer that has begun. What is thrown into `rest` is how it failed; one that is left early stops the work. */
export interface StartedSpeech {
  readonly first: SpeechChunk;
  readonly rest: AsyncGenerator<SpeechChunk, void, undefined>;
}

export class BilledSynthesis {
  readonly #parts: BilledSynthesisDeps;
  readonly #open: OpenRequests;

  constructor(parts: BilledSynthesisDeps) {
    this.#parts = parts;
    this.#open = new OpenRequests('speech', parts.requestsPerOrganization);
  }

  /**
   * Begins an answer. Resolves with the first audio, so that whatever fails before can still be told by a status;
   * undefined when the text holds nothing that can be spoken, which is no call.
   * @throws ServiceError: `invalid_request` for an unknown model or voice, before any synthesis; `rate_limited` when
   *   the organization has too many requests open; `insufficient_quota`; what the engine throws; the signal's reason
   *   after an abort.
   */
  async begin(
    request: BilledSynthesisRequest,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<StartedSpeech | undefined> {
    const { model, characters, rateHz, voiceId, voiceParam, ...ask } = request;
    const engine = requireModel(this.#parts.tts, model);
    const job = this.#open.begin(caller, signal);
    const voice = await this.#voice(voiceId, voiceParam, caller).catch((error: unknown) => {
      job.end();
      throw error;
    });
    const { speed } = ask;
    const tally = new SpeechUsageMeter({ model, characters, speed, endpoint: this.#parts.endpoint }, caller);
    const spoken = synthesizeText(
      engine,
      { ...ask, voice, fairnessKey: caller.keyId },
      this.#parts.clock,
      job.signal,
    );
    const rest = this.#delivered(spoken, rateHz, tally, job);
    try {
      // Runs up to the first audio; what follows comes with the next pulls.
      const first = await rest.next();
      return first.done ? undefined : { first: first.value, rest };
    } catch (error) {
      await rest.return();
      throw error;
    }
  }

  /** Resolves when nothing is running; at the signal it stops what still is. */
  drain(until: AbortSignal): Promise<void> {
    return this.#open.drain(until);
  }

  /** Stops every answer that is being made. */
  stop(): void {
    this.#open.stop();
  }

  async #voice(
    voiceId: string | undefined,
    voiceParam: string,
    { organization }: Caller,
  ): Promise<SpokenVoice | undefined> {
    if (voiceId === undefined) return undefined;
    const { voices } = this.#parts;
    const voice = mayBeId('voice', voiceId) ? await voices.find(voiceId, organization) : undefined;
    if (voice !== undefined) return voice;
    const message = `'${voiceParam}' must be the id of a stored voice of your organization; leave it out for the default voice.`;
    throw invalidRequest(message, voiceParam, 'voice_not_found');
  }

  /** The samples as bytes, counted, of a call that is opened before and closed when they end, for whatever reason. */
  async *#delivered(
    spoken: AsyncGenerator<Int16Samples, void, undefined>,
    rateHz: number,
    tally: SpeechUsageMeter,
    job: OpenRequest,
  ): AsyncGenerator<SpeechChunk, void, undefined> {
    let made = false;
    const runs = atRate(spoken, rateHz, (samples) => {
      made = true;
      tally.addAudio(samples, 0);
    });
    try {
      await tally.open(this.#parts.calls);
      for await (const run of runs) {
        tally.addAudio(0, run.byteLength);
        yield new Uint8Array(run.buffer, run.byteOffset, run.byteLength);
      }
      if (made) await tally.close('completed');
    } catch (error) {
      const refused = !made && error instanceof ServiceError && REFUSALS.has(error.kind);
      if (!refused) await tally.close(job.signal.aborted ? 'cancelled' : 'failed');
      throw error;
    } finally {
      await runs.return();
      await spoken.return();
      // Still open here: the consumer left in the middle, or it becomes a refusal.
      if (made) await tally.close('cancelled');
      else await tally.discard();
      job.end();
    }
  }
}

/** Kinds of failures after which nothing was done. */
const REFUSALS: ReadonlySet<ErrorKind> = new Set(['overloaded', 'invalid_request']);

/**
 * The same speech at another rate; no run is empty.
 * @param made is told how many samples each run had before.
 */
async function* atRate(
  spoken: AsyncIterable<Int16Samples>,
  rateHz: number,
  made: (samples: number) => void,
): AsyncGenerator<Int16Samples, void, undefined> {
  const resampler =
    rateHz === SPEECH_RATE_HZ
      ? undefined
      : new Resampler({ fromHz: SPEECH_RATE_HZ, toHz: rateHz, format: 'int16' });
  try {
    for await (const run of spoken) {
      made(run.length);
      const samples = resampler ? resampler.push(run) : run;
      if (samples.length > 0) yield samples;
    }
    const last = resampler?.flush();
    if (last && last.length > 0) yield last;
  } finally {
    resampler?.close();
  }
}
