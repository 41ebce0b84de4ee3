/** The service behind POST /v1/audio/speech: from a checked request to audio and a usage row. */

import { WAV_HEADER_BYTES, wavHeader } from '../../src/audio/wav.ts';
import { type Int16Samples, SPEECH_RATE_HZ } from '../../src/contract/audio.ts';
import type { Caller } from '../../src/contract/caller.ts';
import { invalidRequest, ServiceError } from '../../src/contract/error.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import { requireModel } from '../../src/http/model-routes.ts';
import { type OpenRequest, OpenRequests } from '../../src/kit/open-requests.ts';
import { startingWith } from '../../src/kit/starting-with.ts';
import { speak } from '../../src/speak/speak.ts';
import { SpeechTally } from '../../src/usage/call-tally.ts';
import type { SpeechRequest } from './model.ts';

/**
 * Longest audio that is held for a `wav` answer: 260 MB. Only hostile texts come near it, and how much one
 * gives cannot be told before it is spoken: 5000 characters are 5 minutes of a story, and hours of digits
 * said slowly.
 */
const LONGEST_WAV_S = 90 * 60;

/** Name of a stored voice for the engine, or undefined when the organization has no such voice. */
export type FindVoice = (voiceId: string, organization: string) => string | undefined;

export interface SynthesizerParts extends Pick<Slots, 'tts' | 'calls' | 'clock'> {
  readonly findVoice: FindVoice;
  /** Requests of one organization that may be open at once, so that no key shuts out the others. */
  readonly requestsPerOrganization: number;
  readonly longestWavS?: number;
}

/** Bytes of an answer. A stream that fails half-way throws; one that is left early stops the synthesis. */
export type SpeechAudio =
  | { readonly format: 'wav'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly format: 'pcm'; readonly chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> };

export class Synthesizer {
  readonly #parts: SynthesizerParts;
  readonly #open: OpenRequests;

  constructor(parts: SynthesizerParts) {
    this.#parts = parts;
    this.#open = new OpenRequests('speech', parts.requestsPerOrganization);
  }

  /**
   * Synthesises one request. Resolves when the first audio (`pcm`) or all of it (`wav`) is there, so that
   * whatever fails before can still be told by a status.
   * @throws ServiceError: `invalid_request` for an unknown model or voice, before any synthesis, and for a
   *   text with nothing to speak; `rate_limited` when the organization has too many requests open;
   *   `insufficient_quota`; what the engine throws; the signal's reason after an abort.
   */
  async synthesize(request: SpeechRequest, caller: Caller, signal: AbortSignal): Promise<SpeechAudio> {
    const engine = requireModel(this.#parts.tts, request.model);
    const voice = this.#voice(request.voice, caller.organization);
    const job = this.#open.begin(caller, signal);
    const tally = new SpeechTally(request, caller);
    const samples = speak(
      engine,
      {
        text: request.input,
        voice,
        speed: request.speed,
        priority: 'interactive',
        owner: caller.keyId,
        delivery: request.format === 'pcm' ? 'stream' : 'whole',
      },
      this.#parts.clock,
      job.signal,
    );
    const chunks = this.#delivered(samples, tally, job);
    try {
      // Runs up to the first audio; what follows comes with the next pulls.
      const first = await chunks.next();
      if (first.done) throw nothingToSpeak();
      if (request.format === 'pcm') return { format: 'pcm', chunks: startingWith(first.value, chunks) };
      return { format: 'wav', bytes: await this.#wav(first.value, chunks, tally) };
    } catch (error) {
      await chunks.return();
      throw error;
    }
  }

  /** Resolves when nothing is running; at the signal it stops what still is. */
  drain(until: AbortSignal): Promise<void> {
    return this.#open.drain(until);
  }

  /** Stops every request that is running. */
  stop(): void {
    this.#open.stop();
  }

  #voice(voiceId: string | undefined, organization: string): string | undefined {
    if (voiceId === undefined) return undefined;
    const voice = this.#parts.findVoice(voiceId, organization);
    if (voice !== undefined) return voice;
    throw invalidRequest(
      "'voice' must be the id of a stored voice of your organization; leave it out for the default voice.",
      'voice',
      'voice_not_found',
    );
  }

  /** The samples as bytes, counted, of a call that is opened before and closed when they end, for whatever reason. */
  async *#delivered(
    samples: AsyncGenerator<Int16Samples, void, undefined>,
    tally: SpeechTally,
    job: OpenRequest,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
    let made = false;
    try {
      await tally.open(this.#parts.calls);
      for await (const run of samples) {
        made = true;
        tally.add(run.length, run.byteLength);
        yield bytesOf(run);
      }
      if (made) await tally.close('completed');
    } catch (error) {
      const refused = !made && error instanceof ServiceError && error.kind === 'overloaded';
      if (!refused) await tally.close(job.signal.aborted ? 'cancelled' : 'failed');
      throw error;
    } finally {
      await samples.return();
      // Still open here: the consumer left in the middle, or it becomes a refusal.
      if (made) await tally.close('cancelled');
      else await tally.discard();
      job.end();
    }
  }

  async #wav(
    first: Uint8Array,
    rest: AsyncIterable<Uint8Array>,
    tally: SpeechTally,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const longestBytes = (this.#parts.longestWavS ?? LONGEST_WAV_S) * SPEECH_RATE_HZ * 2;
    const parts = [new Uint8Array(WAV_HEADER_BYTES), first];
    let dataBytes = first.length;
    for await (const chunk of rest) {
      parts.push(chunk);
      dataBytes += chunk.length;
      if (dataBytes > longestBytes) {
        await tally.close('failed');
        throw invalidRequest(
          "'input' gives more audio than a wav answer can hold; send it in parts, or ask for 'pcm'.",
          'input',
        );
      }
    }
    const bytes = Buffer.concat(parts);
    bytes.set(wavHeader(dataBytes, SPEECH_RATE_HZ));
    return bytes;
  }
}

function nothingToSpeak(): ServiceError {
  return invalidRequest("'input' holds nothing that can be spoken.", 'input', 'invalid_value');
}

function bytesOf(samples: Int16Samples): Uint8Array<ArrayBuffer> {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}
