import { decodeWav } from '../../../src/audio/wav.ts';
/** Improves a stored voice in the background. If a process crashes, another process resumes its jobs. */

import { type ErrorKind, ServiceError } from '../../../src/contract/core/error.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { JobHandler, JobOutcome } from '../../../src/contract/core/jobs.ts';
import type { Float32Samples } from '../../../src/contract/engines/audio.ts';
import type { Slots } from '../../../src/contract/plugin.ts';
import type { VoiceRecord } from '../../../src/contract/stores/voice-store.ts';
import { StoredVoices } from '../../../src/speak/stored-voices.ts';
import { extractSpeech, speechSpans } from '../checks/speech-spans.ts';
import { resampleToListenRate } from '../clips/resample.ts';
import type { VoiceMetrics } from '../metrics.ts';

export interface VoiceJobDeps
  extends Pick<Slots, 'voices' | 'blobs' | 'vad' | 'speakers' | 'voiceFitter' | 'log'> {
  readonly metrics: VoiceMetrics;
  /** Time budget per voice, in ms; 0 keeps the initial adaptation. */
  readonly fitMs: number;
}

const DONE: JobOutcome = { kind: 'done' };
/** Immediately, but after jobs that are already queued. */
const REQUEUE: JobOutcome = { kind: 'again', delayMs: 0 };

/** Error kinds of a clip that was deleted or lost. */
const LOST: ReadonlySet<ErrorKind> = new Set(['not_found', 'internal']);

/** Fits models to stored voices, one at a time, at low priority. */
export function voiceJob(deps: VoiceJobDeps): JobHandler {
  const stored = new StoredVoices(deps);
  return { kind: 'voice', concurrency: 1, runJob: run };

  async function run(id: string, signal: AbortSignal): Promise<JobOutcome> {
    const { voices, voiceFitter, vad, fitMs } = deps;
    const voice = await voices.find(id as Id<'voice'>);
    if (!voice?.isImproving) return DONE;
    const { adaptation } = voice;
    const isCurrent = voiceFitter.isNeeded && adaptation !== undefined && voiceFitter.isCurrent(adaptation);
    if (!voiceFitter.isNeeded || (isCurrent && fitMs === 0)) return await markReady(voice, adaptation);
    try {
      const clip = await clipOf(voice, signal);
      if (clip === undefined) return await markReady(voice, adaptation);
      const { samples, rateHz } = decodeWav(clip);
      const resampled = await resampleToListenRate(samples, rateHz);
      const speech = extractSpeech(resampled, await speechSpans(vad, resampled, signal));
      // Voices without an adaptation precede voices that are being improved.
      if (!isCurrent) return await createInitial(voice, speech, signal);
      return await improve(voice, speech, adaptation, signal);
    } catch (error) {
      // An interruption by shutdown is not an error.
      if (signal.aborted) return REQUEUE;
      throw error;
    }
  }

  async function createInitial(
    voice: VoiceRecord,
    speech: Float32Samples,
    signal: AbortSignal,
  ): Promise<JobOutcome> {
    const { voices, speakers, voiceFitter, metrics, fitMs } = deps;
    const work = { priority: 'batch', fairnessKey: voice.keyId } as const;
    const first = voiceFitter.createInitial(await speakers.encodeSpeaker(speech, work, signal));
    const exists = await voices.setAdaptation(voice.id, first, fitMs > 0);
    if (exists) metrics.adaptations.add({});
    return exists && fitMs > 0 ? REQUEUE : DONE;
  }

  async function improve(
    voice: VoiceRecord,
    speech: Float32Samples,
    from: string,
    signal: AbortSignal,
  ): Promise<JobOutcome> {
    const { voices, voiceFitter, metrics, fitMs } = deps;
    let last = from;
    for await (const improved of voiceFitter.improveAdaptation(speech, from, fitMs, voice.keyId, signal)) {
      last = improved;
      // The voice was deleted in the meantime.
      if (!(await voices.setAdaptation(voice.id, improved, true))) return DONE;
      metrics.adaptations.add({});
    }
    return await markReady(voice, last);
  }

  async function markReady({ id }: VoiceRecord, adaptation: string | undefined): Promise<JobOutcome> {
    await deps.voices.setAdaptation(id, adaptation, false);
    return DONE;
  }

  /** Undefined if the clip is permanently missing. */
  async function clipOf({ id, organization }: VoiceRecord, signal: AbortSignal) {
    try {
      return await (await stored.find(id, organization))?.clip(signal);
    } catch (error) {
      if (!(error instanceof ServiceError) || !LOST.has(error.kind)) throw error;
      if (error.kind === 'internal')
        deps.log.error('the clip of a stored voice is lost', error, { voice: id });
      return undefined;
    }
  }
}
