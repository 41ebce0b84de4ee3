import type { Id } from '../../../src/contract/core/id.ts';
import type { JobQueue } from '../../../src/contract/core/jobs.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { VoiceFitter } from '../../../src/contract/engines/voice.ts';
import type { VoiceStore } from '../../../src/contract/stores/voice-store.ts';
import { IntervalTask } from '../../../src/kit/async/interval-task.ts';
import { FailureLog } from '../../../src/kit/logging/failure-log.ts';

const EVERY_MS = 30_000;
/** Of one look into the store. */
const AT_ONCE = 100;

export interface VoiceWatchParts {
  readonly voices: Pick<VoiceStore, 'listAdaptations' | 'invalidateAdaptation' | 'listImproving'>;
  readonly voiceFitter: Pick<VoiceFitter, 'isNeeded' | 'isCurrent'>;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  readonly log: Logger;
  readonly everyMs?: number;
}

/**
 * Finds voices that have work left. At the start: those whose adaptation the models of today cannot use. Then, from time to
 * time: those that the queue has lost, or that nobody could tell it of. Those that it knows are left as they are.
 */
export function voiceWatch(parts: VoiceWatchParts): IntervalTask {
  const failures = new FailureLog(parts.log, 'voices could not be queued');
  let hasSeenAll = false;
  return new IntervalTask({
    intervalMs: parts.everyMs ?? EVERY_MS,
    async runTask(signal) {
      try {
        if (!hasSeenAll) await outdate(parts, signal);
        hasSeenAll = !signal.aborted;
        await queueAll(parts, signal);
        failures.recordSuccess();
      } catch (error) {
        failures.recordFailure(error);
      }
    },
  });
}

/** Marks the voices that must be fitted anew, and forgets what cannot be used. */
async function outdate({ voices, voiceFitter }: VoiceWatchParts, signal: AbortSignal): Promise<void> {
  if (!voiceFitter.isNeeded) return;
  for await (const { id, adaptation } of pages((after) => voices.listAdaptations(AT_ONCE, after), signal)) {
    if (adaptation !== undefined && voiceFitter.isCurrent(adaptation)) continue;
    await voices.invalidateAdaptation(id, adaptation);
  }
}

async function queueAll({ voices, jobs }: VoiceWatchParts, signal: AbortSignal): Promise<void> {
  const next = async (after: Id<'voice'> | undefined) =>
    (await voices.listImproving(AT_ONCE, after)).map((id) => ({ id }));
  for await (const { id } of pages(next, signal)) await jobs.enqueue('voice', id);
}

/** All of them, until the signal fires. */
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
    if (page.length < AT_ONCE) return;
  }
}
