/** The service behind POST /v1/audio/voices: from an uploaded clip to a stored voice. */

import { encodeWav } from '../../src/audio/wav.ts';
import type { Caller } from '../../src/contract/accounts/caller.ts';
import { type ErrorKind, ServiceError } from '../../src/contract/core/error.ts';
import { newId } from '../../src/contract/core/id.ts';
import type { VoiceWork } from '../../src/contract/engines/voice.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import { clipBlob, MAX_CLIP_S, type VoiceRecord } from '../../src/contract/stores/voice-store.ts';
import { once } from '../../src/kit/async/once.ts';
import { unixSeconds } from '../../src/kit/clock.ts';
import { FairSemaphore } from '../../src/kit/limits/fair-semaphore.ts';
import { OpenRequests } from '../../src/kit/limits/open-requests.ts';
import { type ClipWarning, clipWarnings } from './checks/clip-warnings.ts';
import { requireSpeech } from './checks/enough-speech.ts';
import { requireOneSpeaker } from './checks/one-speaker.ts';
import { extractSpeech, speechSpans } from './checks/speech-spans.ts';
import { decodeUploadedClip, type UploadedClip } from './clips/uploaded-clip.ts';
import type { VoiceMetrics } from './metrics.ts';
import type { EnrollmentParams } from './schema.ts';
import { deleteClip } from './service.ts';

/** Clips processed concurrently; limited so that transcriptions can use the decoders. Others are queued. */
const CONCURRENCY = 2;
const MAX_QUEUED = 200;
const RETRY_AFTER_S = 5;
/** Model of the usage row: stored voices belong to this model (spec 1). */
const MODEL = 'svc-tts';

/** Error kinds of the store that guarantee that no record was stored. */
const ROLLED_BACK: ReadonlySet<ErrorKind> = new Set(['invalid_request']);

type EnrollmentSlots = Pick<
  Slots,
  'voices' | 'blobs' | 'audioFiles' | 'vad' | 'speakers' | 'voiceFitter' | 'calls' | 'clock' | 'log'
>;

export interface EnrollmentDeps extends EnrollmentSlots {
  readonly metrics: VoiceMetrics;
  /** Maximum number of concurrent enrollments per organization, including uploads. */
  readonly requestsPerOrganization: number;
  readonly voicesPerOrganization: number;
}

export interface EnrollmentResult {
  readonly voice: VoiceRecord;
  readonly warnings: readonly ClipWarning[];
}

export class EnrollmentService {
  /** Requests in progress. Each starts before its upload is read, because the slots bound the disk space of uploads. */
  readonly open: OpenRequests;
  readonly #deps: EnrollmentDeps;
  readonly #semaphore = new FairSemaphore({
    maxConcurrent: CONCURRENCY,
    maxConcurrentPerKey: 1,
    maxQueued: MAX_QUEUED,
  });

  constructor(deps: EnrollmentDeps) {
    this.#deps = deps;
    this.open = new OpenRequests('voice', deps.requestsPerOrganization);
  }

  /**
   * Checks the voice limit before the upload is read.
   * @throws ServiceError `invalid_request` (code `voice_limit_exceeded`) if the organization has reached its limit.
   */
  requireQuota({ organization }: Caller): Promise<void> {
    const { voices, voicesPerOrganization } = this.#deps;
    return voices.requireCapacity(organization, voicesPerOrganization);
  }

  /**
   * Validates a clip and stores it as a voice, which can be used immediately. After a failure there is neither a voice nor
   * a usage row, except that the voice may exist if the connection to the store was lost.
   * @throws ServiceError `invalid_request` for an unsupported clip or a reached voice limit; `insufficient_quota`;
   *   `overloaded` if a model or store is overloaded or failed; the reason of the signal.
   */
  async enroll(params: EnrollmentParams, caller: Caller, signal: AbortSignal): Promise<EnrollmentResult> {
    const { calls, metrics } = this.#deps;
    const maxUsage = { inputTokens: 0, outputTokens: 0, audioSeconds: MAX_CLIP_S };
    const endpoint = 'POST /v1/audio/voices';
    const call = await calls.openCall({ endpoint, model: MODEL, caller, maxUsage });
    try {
      const enrolled = await this.#enrollWhenFree(params, caller, signal);
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

  async #enrollWhenFree(
    params: EnrollmentParams,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<EnrollmentResult> {
    const release = await this.#semaphore.acquire(caller.keyId, signal);
    try {
      // Checked again, because earlier requests may have used up the quota.
      await this.requireQuota(caller);
      return await this.#enroll(params, caller, signal);
    } finally {
      release();
    }
  }

  async #enroll(params: EnrollmentParams, caller: Caller, signal: AbortSignal): Promise<EnrollmentResult> {
    const { audioFiles, vad, speakers, voiceFitter, clock } = this.#deps;
    const clip = await decodeUploadedClip(audioFiles, params.file.path, signal);
    const { info, durationS, resampled, original } = clip;
    const spans = await speechSpans(vad, resampled, signal);
    requireSpeech(spans, durationS);
    const speech = extractSpeech(resampled, spans);
    const work: VoiceWork = { priority: 'interactive', fairnessKey: caller.keyId };
    const speaker = await this.#asOverloaded(() => speakers.encodeSpeaker(speech, work, signal), signal);
    requireOneSpeaker(speaker.partials);
    const adaptation = voiceFitter.isNeeded ? voiceFitter.createAdaptation(speaker) : undefined;
    const voice: VoiceRecord = {
      id: newId('tts-vc-voice_'),
      organization: caller.organization,
      keyId: caller.keyId,
      name: params.name,
      consent: params.consent,
      refText: params.refText,
      speakerDescription: params.speakerDescription,
      format: info.container,
      durationS: Number(durationS.toFixed(3)),
      sampleRateHz: info.rateHz,
      lengthBytes: params.file.lengthBytes,
      createdAt: unixSeconds(clock),
      adaptation,
    };
    const warnings = clipWarnings({ samples: original.samples, resampled, spans });
    // The last step: nothing can fail once the voice exists.
    await this.#store(voice, clip, signal);
    return { voice, warnings };
  }

  /** The clip is stored first: a voice must not exist without a clip. */
  async #store(voice: VoiceRecord, { original }: UploadedClip, signal: AbortSignal): Promise<void> {
    const { voices, blobs, voicesPerOrganization, log } = this.#deps;
    const { id } = voice;
    await blobs.write(clipBlob(id), once(encodeWav(original.samples, original.rateHz)), signal);
    try {
      await voices.put(voice, voicesPerOrganization);
    } catch (error) {
      // After an unexpected error the voice may exist: the clip is kept, and the cleanup decides.
      if (error instanceof ServiceError && ROLLED_BACK.has(error.kind)) await deleteClip(blobs, id, log);
      throw error;
    }
  }

  /** Converts a model failure into `overloaded`: nothing was stored, and the client can retry. */
  async #asOverloaded<Result>(step: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    try {
      return await step();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ServiceError && error.kind !== 'internal') throw error;
      this.#deps.log.error('failed to create a voice', error);
      throw new ServiceError(
        'overloaded',
        'The voice was not created because a model failed. Nothing was stored; retry the request.',
        { code: 'server_overloaded', retryAfterS: RETRY_AFTER_S, cause: error },
      );
    }
  }
}

function resultOf(error: unknown, signal: AbortSignal): 'rejected' | 'cancelled' | 'failed' {
  if (error instanceof ServiceError) return error.kind === 'invalid_request' ? 'rejected' : 'failed';
  return signal.aborted ? 'cancelled' : 'failed';
}
