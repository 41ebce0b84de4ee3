/** The service behind POST /v1/audio/voices: from an uploaded clip to a stored voice. */

import type { Caller } from '../../src/contract/accounts/caller.ts';
import { type ErrorKind, ServiceError } from '../../src/contract/core/error.ts';
import { newId } from '../../src/contract/core/id.ts';
import type { VoiceWork } from '../../src/contract/engines/voice.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import { clipBlob, MAX_CLIP_S, type VoiceRecord } from '../../src/contract/stores/voice-store.ts';
import { unixSeconds } from '../../src/kit/clock.ts';
import { FairSemaphore } from '../../src/kit/limits/fair-semaphore.ts';
import { type OpenRequest, OpenRequests } from '../../src/kit/limits/open-requests.ts';
import { type ClipWarning, clipWarnings } from './checks/clip-warnings.ts';
import { requireSpeech } from './checks/enough-speech.ts';
import { requireOneSpeaker } from './checks/one-speaker.ts';
import { speechSpans, spokenParts } from './checks/speech-spans.ts';
import { clipWav, inOnePiece } from './clips/clip-wav.ts';
import { type UploadedClip, uploadedClip } from './clips/uploaded-clip.ts';
import type { VoiceMetrics } from './metrics.ts';
import type { EnrollmentAsk } from './schema.ts';
import { deleteClip } from './service.ts';

/** Clips that are worked on at once, so that transcriptions find decoders; others wait for their turn. */
const AT_ONCE = 2;
const MAX_WAITING = 200;
const RETRY_AFTER_S = 5;
/** A usage row names a model: stored voices are voices of this one (spec 1). */
const MODEL = 'svc-tts';

/** Errors of the store after which nothing was noted. */
const REFUSALS: ReadonlySet<ErrorKind> = new Set(['invalid_request']);

type EnrollmentSlots = Pick<
  Slots,
  'voices' | 'blobs' | 'jobs' | 'audioFiles' | 'vad' | 'speakers' | 'voiceFitter' | 'calls' | 'clock' | 'log'
>;

export interface EnrollmentParts extends EnrollmentSlots {
  readonly metrics: VoiceMetrics;
  /** Enrollments of one organization that may be open at once, uploads included. */
  readonly requestsPerOrganization: number;
  readonly voicesPerOrganization: number;
  /** Whether voices get better after the answer. */
  readonly improves: boolean;
}

export interface Enrolled {
  readonly voice: VoiceRecord;
  readonly warnings: readonly ClipWarning[];
}

export class Enrollments {
  readonly #parts: EnrollmentParts;
  readonly #open: OpenRequests;
  readonly #turns = new FairSemaphore({ maxConcurrent: AT_ONCE, maxConcurrentPerKey: 1, maxQueued: MAX_WAITING });

  constructor(parts: EnrollmentParts) {
    this.#parts = parts;
    this.#open = new OpenRequests('voice', parts.requestsPerOrganization);
  }

  /**
   * Takes a place for a request, before its upload is read: places bound the disk that uploads take.
   * @throws ServiceError `rate_limited` when the organization has too many requests open.
   */
  begin(caller: Caller, signal: AbortSignal): OpenRequest {
    return this.#open.startRequest(caller, signal);
  }

  /**
   * Refuses early what would be refused at the end.
   * @throws ServiceError `invalid_request` (code `voice_limit_exceeded`) when the organization has all its voices.
   */
  requireRoom({ organization }: Caller): Promise<void> {
    const { voices, voicesPerOrganization } = this.#parts;
    return voices.requireCapacity(organization, voicesPerOrganization);
  }

  /**
   * Checks a clip and stores it as a voice that can be used at once. After a failure nothing is left, and there is no
   * usage row; only where the store breaks off without an answer it may have the voice.
   * @throws ServiceError: `invalid_request` for a clip that cannot be used and for one voice too many;
   *   `insufficient_quota`; `overloaded` when something has too much to do or failed; the signal's reason after an abort.
   */
  async enroll(ask: EnrollmentAsk, caller: Caller, signal: AbortSignal): Promise<Enrolled> {
    const { calls, metrics } = this.#parts;
    const most = { inputTokens: 0, outputTokens: 0, audioSeconds: MAX_CLIP_S };
    const endpoint = 'POST /v1/audio/voices';
    const call = await calls.openCall({ endpoint, model: MODEL, caller, maxUsage: most });
    try {
      const enrolled = await this.#inTurn(ask, caller, signal);
      const { durationS: audioSeconds } = enrolled.voice;
      await call.close({ status: 'completed', inputTokens: 0, outputTokens: 0, audioSeconds });
      metrics.enrollments.add({ result: 'stored' });
      return enrolled;
    } catch (error) {
      metrics.enrollments.add({ result: resultOf(error, signal) });
      throw error;
    } finally {
      await call.discard();
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

  async #inTurn(ask: EnrollmentAsk, caller: Caller, signal: AbortSignal): Promise<Enrolled> {
    const end = await this.#turns.acquire(caller.keyId, signal);
    try {
      // Those before it may have taken the last room.
      await this.requireRoom(caller);
      return await this.#enroll(ask, caller, signal);
    } finally {
      end();
    }
  }

  async #enroll(ask: EnrollmentAsk, caller: Caller, signal: AbortSignal): Promise<Enrolled> {
    const { audioFiles, vad, speakers, voiceFitter, clock, improves } = this.#parts;
    const clip = await uploadedClip(audioFiles, ask.file.path, signal);
    const { info, durationS, heard, own } = clip;
    const spans = await speechSpans(vad, heard, signal);
    requireSpeech(spans, durationS);
    const speech = spokenParts(heard, spans);
    const work: VoiceWork = { priority: 'interactive', fairnessKey: caller.keyId };
    const speaker = await this.#orLater(() => speakers.encodeSpeaker(speech, work, signal), signal);
    requireOneSpeaker(speaker.partials);
    const { isNeeded } = voiceFitter;
    const adaptation = isNeeded ? voiceFitter.createInitial(speaker) : undefined;
    const voice: VoiceRecord = {
      id: newId('voice'),
      organization: caller.organization,
      keyId: caller.keyId,
      name: ask.name,
      consent: ask.consent,
      refText: ask.refText,
      speakerDescription: ask.speakerDescription,
      format: info.container,
      durationS: Number(durationS.toFixed(3)),
      sampleRateHz: info.rateHz,
      lengthBytes: ask.file.lengthBytes,
      createdAt: unixSeconds(clock),
      adaptation,
      isImproving: isNeeded && improves,
    };
    const warnings = clipWarnings({ samples: own.samples, heard, spans });
    // Last of all: nothing may fail when there is a voice.
    await this.#store(voice, clip, signal);
    return { voice, warnings };
  }

  /** The clip comes first: a voice without one would be half of one. */
  async #store(voice: VoiceRecord, { own }: UploadedClip, signal: AbortSignal): Promise<void> {
    const { voices, blobs, voicesPerOrganization, log } = this.#parts;
    const { id } = voice;
    await blobs.write(clipBlob(id), inOnePiece(clipWav(own)), signal);
    try {
      await voices.put(voice, voicesPerOrganization);
    } catch (error) {
      // Whether a step that failed was stored is not always known: then the clip stays, and the sweep decides.
      if (error instanceof ServiceError && REFUSALS.has(error.kind)) await deleteClip(blobs, id, log);
      throw error;
    }
    if (voice.isImproving) await this.#queue(voice);
  }

  /** The voice is stored, and whoever looks for forgotten ones finds it: it is no reason for a failure. */
  async #queue({ id }: VoiceRecord): Promise<void> {
    const { jobs, log } = this.#parts;
    try {
      await jobs.enqueue('voice', id);
    } catch (error) {
      log.error('a new voice could not be queued and waits for the next look', error, { voice: id });
    }
  }

  /** A model that fails is told as one that is away: nothing was stored, and the request can be sent again. */
  async #orLater<Result>(step: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    try {
      return await step();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ServiceError && error.kind !== 'internal') throw error;
      this.#parts.log.error('a voice could not be made', error);
      throw new ServiceError(
        'overloaded',
        'The voice could not be made now, and nothing was stored. Send the request again.',
        { code: 'server_overloaded', retryAfterS: RETRY_AFTER_S, cause: error },
      );
    }
  }
}

function resultOf(error: unknown, signal: AbortSignal): 'rejected' | 'cancelled' | 'failed' {
  if (error instanceof ServiceError) return error.kind === 'invalid_request' ? 'rejected' : 'failed';
  return signal.aborted ? 'cancelled' : 'failed';
}
