import type { Id } from '../../../src/contract/core/id.ts';
import type { JobQueue } from '../../../src/contract/core/jobs.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { VoiceFitter } from '../../../src/contract/engines/voice.ts';
import type { VoiceStore } from '../../../src/contract/stores/voice-store.ts';
import { JobReconciler } from '../../../src/kit/jobs/job-reconciler.ts';
import { listAll } from '../../../src/kit/storage/list-all.ts';

export interface VoiceReconcilerDeps {
  readonly voices: Pick<VoiceStore, 'listAdaptations' | 'invalidateAdaptation' | 'listImproving'>;
  readonly voiceFitter: Pick<VoiceFitter, 'isNeeded' | 'isCurrent'>;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  readonly log: Logger;
  readonly intervalMs?: number;
}

/** Queues jobs for voices that are improving, and once for voices whose adaptation the current models cannot use. */
export function startVoiceReconciler(deps: VoiceReconcilerDeps): JobReconciler<Id<'voice'>> {
  return new JobReconciler({
    ...{ ...deps, kind: 'voice', what: 'voices', listOpen: deps.voices.listImproving },
    prepare: (signal) => invalidateOutdated(deps, signal),
  });
}

/** Marks voices with an outdated adaptation as improving, and deletes the adaptation. */
async function invalidateOutdated(
  { voices, voiceFitter }: VoiceReconcilerDeps,
  signal: AbortSignal,
): Promise<void> {
  if (!voiceFitter.isNeeded) return;
  type Voice = Awaited<ReturnType<VoiceStore['listAdaptations']>>[number];
  const listPage = (limit: number, last?: Voice) => voices.listAdaptations(limit, last?.id);
  for await (const { id, adaptation } of listAll(listPage, signal)) {
    if (adaptation !== undefined && voiceFitter.isCurrent(adaptation)) continue;
    await voices.invalidateAdaptation(id, adaptation);
  }
}
