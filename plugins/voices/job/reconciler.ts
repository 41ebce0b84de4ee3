import type { Id } from '../../../src/contract/core/id.ts';
import type { JobQueue } from '../../../src/contract/core/jobs.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { VoiceFitter } from '../../../src/contract/engines/voice.ts';
import type { VoiceStore } from '../../../src/contract/stores/voice-store.ts';
import { IntervalTask } from '../../../src/kit/async/interval-task.ts';
import { FailureLog } from '../../../src/kit/logging/failure-log.ts';

const INTERVAL_MS = 30_000;
/** Number of voices per store query. */
const PAGE_SIZE = 100;

export interface VoiceReconcilerDeps {
  readonly voices: Pick<VoiceStore, 'listAdaptations' | 'invalidateAdaptation' | 'listImproving'>;
  readonly voiceFitter: Pick<VoiceFitter, 'isNeeded' | 'isCurrent'>;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  readonly log: Logger;
  readonly intervalMs?: number;
}

/**
 * Queues jobs for voices with pending work. At start it invalidates adaptations that the current models cannot use. Then,
 * every 30 s, it adds voices that are improving, in case the queue lost them or was unavailable. Adding a voice that is
 * already queued has no effect.
 */
export function startVoiceReconciler(deps: VoiceReconcilerDeps): IntervalTask {
  const failures = new FailureLog(deps.log, 'voices could not be queued');
  let hasInvalidated = false;
  return new IntervalTask({
    intervalMs: deps.intervalMs ?? INTERVAL_MS,
    async runTask(signal) {
      try {
        if (!hasInvalidated) await invalidateOutdated(deps, signal);
        hasInvalidated = !signal.aborted;
        await enqueueImproving(deps, signal);
        failures.recordSuccess();
      } catch (error) {
        failures.recordFailure(error);
      }
    },
  });
}

/** Marks voices with an outdated adaptation as improving, and deletes the adaptation. */
async function invalidateOutdated(
  { voices, voiceFitter }: VoiceReconcilerDeps,
  signal: AbortSignal,
): Promise<void> {
  if (!voiceFitter.isNeeded) return;
  for await (const { id, adaptation } of pages((after) => voices.listAdaptations(PAGE_SIZE, after), signal)) {
    if (adaptation !== undefined && voiceFitter.isCurrent(adaptation)) continue;
    await voices.invalidateAdaptation(id, adaptation);
  }
}

async function enqueueImproving({ voices, jobs }: VoiceReconcilerDeps, signal: AbortSignal): Promise<void> {
  const next = async (after: Id<'voice'> | undefined) =>
    (await voices.listImproving(PAGE_SIZE, after)).map((id) => ({ id }));
  for await (const { id } of pages(next, signal)) await jobs.enqueue('voice', id);
}

/** Yields all voices page by page, until the signal fires. */
async function* pages<Voice extends { readonly id: Id<'voice'> }>(
  next: (after: Id<'voice'> | undefined) => Promise<readonly Voice[]>,
  signal: AbortSignal,
): AsyncGenerator<Voice, void, undefined> {
  let after: Id<'voice'> | undefined;
  for (;;) {
    const page = await next(after);
    for (const voice of page) {
      if (signal.aborted) return;
      yield voice;
    }
    after = page.at(-1)?.id;
    if (page.length < PAGE_SIZE) return;
  }
}
