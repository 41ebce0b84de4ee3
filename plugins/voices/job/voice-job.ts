/** What is done for a stored voice after it was stored: by any process, and by another where one died. */

import { type ErrorKind, ServiceError } from '../../../src/contract/core/error.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { JobHandler, JobOutcome } from '../../../src/contract/core/jobs.ts';
import type { Float32Samples } from '../../../src/contract/engines/audio.ts';
import type { Slots } from '../../../src/contract/plugin.ts';
import type { VoiceRecord } from '../../../src/contract/stores/voice-store.ts';
import { StoredVoices } from '../../../src/speak/stored-voices.ts';
import { speechSpans, spokenParts } from '../checks/speech-spans.ts';
import { readClip } from '../clips/clip-wav.ts';
import { atListenRate } from '../clips/listen-rate.ts';
import type { VoiceMetrics } from '../metrics.ts';

export interface VoiceJobParts
  extends Pick<Slots, 'voices' | 'blobs' | 'vad' | 'speakers' | 'voiceFitter' | 'log'> {
  readonly metrics: VoiceMetrics;
  /** Work on one voice, in ms; 0 leaves each at its first adaptation. */
  readonly fitMs: number;
}

const DONE: JobOutcome = { kind: 'done' };
/** At once, after those that wait. */
const AGAIN: JobOutcome = { kind: 'again', delayMs: 0 };

/** Errors of a clip that was deleted, or is not where it should be. */
const LOST: ReadonlySet<ErrorKind> = new Set(['not_found', 'internal']);

/** Fits models to stored voices, one at a time: the work is to leave the machine to everybody else. */
export function voiceJob(parts: VoiceJobParts): JobHandler {
  const stored = new StoredVoices(parts);
  return { kind: 'voice', concurrency: 1, runJob: run };

  async function run(id: string, signal: AbortSignal): Promise<JobOutcome> {
    const { voices, voiceFitter, vad, fitMs } = parts;
    const voice = await voices.find(id as Id<'voice'>);
    if (!voice?.isImproving) return DONE;
    const { adaptation } = voice;
    const isCurrent = voiceFitter.isNeeded && adaptation !== undefined && voiceFitter.isCurrent(adaptation);
    if (!voiceFitter.isNeeded || (isCurrent && fitMs === 0)) return await ready(voice, adaptation);
    try {
      const clip = await clipOf(voice, signal);
      if (clip === undefined) return await ready(voice, adaptation);
      const { samples, rateHz } = readClip(clip);
      const heard = await atListenRate(samples, rateHz);
      const speech = spokenParts(heard, await speechSpans(vad, heard, signal));
      // Those that wait for their first one come before those that get better.
      if (!isCurrent) return await begin(voice, speech, signal);
      return await improve(voice, speech, adaptation, signal);
    } catch (error) {
      // What a stop has broken off is no failure.
      if (signal.aborted) return AGAIN;
      throw error;
    }
  }

  async function begin(voice: VoiceRecord, speech: Float32Samples, signal: AbortSignal): Promise<JobOutcome> {
    const { voices, speakers, voiceFitter, metrics, fitMs } = parts;
    const work = { priority: 'batch', fairnessKey: voice.keyId } as const;
    const first = voiceFitter.createInitial(await speakers.encodeSpeaker(speech, work, signal));
    const isThere = await voices.setAdaptation(voice.id, first, fitMs > 0);
    if (isThere) metrics.adaptations.add({});
    return isThere && fitMs > 0 ? AGAIN : DONE;
  }

  async function improve(
    voice: VoiceRecord,
    speech: Float32Samples,
    from: string,
    signal: AbortSignal,
  ): Promise<JobOutcome> {
    const { voices, voiceFitter, metrics, fitMs } = parts;
    let last = from;
    for await (const better of voiceFitter.improveAdaptation(speech, from, fitMs, voice.keyId, signal)) {
      last = better;
      // It was deleted meanwhile.
      if (!(await voices.setAdaptation(voice.id, better, true))) return DONE;
      metrics.adaptations.add({});
    }
    return await ready(voice, last);
  }

  async function ready({ id }: VoiceRecord, adaptation: string | undefined): Promise<JobOutcome> {
    await parts.voices.setAdaptation(id, adaptation, false);
    return DONE;
  }

  /** Undefined when no later run would find it either. */
  async function clipOf({ id, organization }: VoiceRecord, signal: AbortSignal) {
    try {
      return await (await stored.find(id, organization))?.clip(signal);
    } catch (error) {
      if (!(error instanceof ServiceError) || !LOST.has(error.kind)) throw error;
      if (error.kind === 'internal')
        parts.log.error('a stored voice has lost its clip', error, { voice: id });
      return undefined;
    }
  }
}
