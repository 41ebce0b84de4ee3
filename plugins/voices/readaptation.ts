/**
 * Creates the adaptations of stored voices that the current models cannot use, after an upgrade or a change of CONFIG. It
 * runs once after the start. Until then, requests with such a voice get 503.
 */

import { decodeWav } from '../../src/audio/wav.ts';
import { type ErrorKind, ServiceError } from '../../src/contract/core/error.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import type { VoiceRecord } from '../../src/contract/stores/voice-store.ts';
import { IntervalTask } from '../../src/kit/async/interval-task.ts';
import { FailureLog } from '../../src/kit/logging/failure-log.ts';
import { listAll } from '../../src/kit/storage/list-all.ts';
import { StoredVoices } from '../../src/speak/stored-voices.ts';
import { extractSpeech, speechSpans } from './checks/speech-spans.ts';
import { resampleToListenRate } from './clips/resample.ts';

/** Pause after a run in which a store or a model failed. */
const INTERVAL_MS = 30_000;
/** Error kinds of a clip that was deleted or lost. */
const LOST: ReadonlySet<ErrorKind> = new Set(['not_found', 'internal']);

export interface ReadaptationDeps
  extends Pick<Slots, 'voices' | 'blobs' | 'vad' | 'speakers' | 'voiceFitter' | 'log'> {
  readonly intervalMs?: number;
}

/** Starts the check. It is repeated until all voices have a usable adaptation, except those whose clip is lost. */
export function startReadaptation(deps: ReadaptationDeps): IntervalTask {
  const { voiceFitter, log, intervalMs = INTERVAL_MS } = deps;
  const failures = new FailureLog(log, 'stored voices could not be adapted');
  let isDone = !voiceFitter.isNeeded;
  const runTask = async (signal: AbortSignal) => {
    if (isDone) return;
    try {
      await adaptAll(deps, signal);
      isDone = true;
      failures.recordSuccess();
    } catch (error) {
      if (!signal.aborted) failures.recordFailure(error);
    }
  };
  return new IntervalTask({ runTask, intervalMs });
}

/** @throws the last error of a voice, after trying all of them; errors of the store; the signal's reason. */
async function adaptAll(deps: ReadaptationDeps, signal: AbortSignal): Promise<void> {
  const { voices, voiceFitter } = deps;
  const listPage = (limit: number, last?: Pick<VoiceRecord, 'id'>) => voices.listAdaptations(limit, last?.id);
  // First, so that requests do not fail with an adaptation that the model rejects.
  for await (const { id, adaptation } of listAll(listPage, signal)) {
    if (adaptation !== undefined && !voiceFitter.isCurrent(adaptation))
      await voices.setAdaptation(id, undefined);
  }
  const failed: unknown[] = [];
  for await (const { id, adaptation } of listAll(listPage, signal)) {
    if (adaptation !== undefined) continue;
    // Read again, because another node may have adapted it.
    const voice = await voices.find(id);
    if (voice === undefined || voice.adaptation !== undefined) continue;
    try {
      await adapt(deps, voice, signal);
    } catch (error) {
      signal.throwIfAborted();
      failed.push(error);
    }
  }
  if (failed.length > 0) throw failed.at(-1);
}

async function adapt(deps: ReadaptationDeps, voice: VoiceRecord, signal: AbortSignal): Promise<void> {
  const { voices, vad, speakers, voiceFitter } = deps;
  const clip = await clipOf(deps, voice, signal);
  if (clip === undefined) return;
  const { samples, rateHz } = decodeWav(clip);
  const resampled = await resampleToListenRate(samples, rateHz);
  const speech = extractSpeech(resampled, await speechSpans(vad, resampled, signal));
  const work = { priority: 'batch', fairnessKey: voice.keyId } as const;
  const speaker = await speakers.encodeSpeaker(speech, work, signal);
  await voices.setAdaptation(voice.id, voiceFitter.createAdaptation(speaker));
}

/** Undefined if the clip is permanently missing. */
async function clipOf(deps: ReadaptationDeps, { id, organization }: VoiceRecord, signal: AbortSignal) {
  try {
    return await (await new StoredVoices(deps).find(id, organization))?.clip(signal);
  } catch (error) {
    if (!(error instanceof ServiceError) || !LOST.has(error.kind)) throw error;
    if (error.kind === 'internal') deps.log.error('the clip of a stored voice is lost', error, { voice: id });
    return undefined;
  }
}
