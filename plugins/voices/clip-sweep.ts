import type { BlobStore } from '../../src/contract/blob-store.ts';
import type { Clock } from '../../src/contract/clock.ts';
import type { Id } from '../../src/contract/id.ts';
import type { Logger } from '../../src/contract/logger.ts';
import type { VoiceStore } from '../../src/contract/voice-store.ts';
import { prepareUploadFolder } from '../../src/http/multipart.ts';
import { hourlySweep } from '../../src/kit/hourly-sweep.ts';
import { oldBlobs } from '../../src/kit/old-blobs.ts';
import type { RecurringWork } from '../../src/kit/recurring-work.ts';

const CLIPS = 'voices/';

export interface ClipSweepParts {
  readonly voices: Pick<VoiceStore, 'known'>;
  readonly blobs: Pick<BlobStore, 'list' | 'delete' | 'removeUnfinished'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where forms lie while they are worked on. */
  readonly uploads: string;
}

/** Removes clips that uploads, enrollments and deletions left whose process died. */
export function clipSweep(parts: ClipSweepParts): RecurringWork {
  const { blobs, clock, log, uploads } = parts;
  return hourlySweep({
    what: 'clips',
    log,
    sweep: async (signal) => ({
      uploads: await prepareUploadFolder(uploads, clock),
      clips: await removeOrphans(parts, signal),
      unfinished: await blobs.removeUnfinished(signal),
    }),
  });
}

async function removeOrphans(parts: ClipSweepParts, signal: AbortSignal): Promise<number> {
  const { voices, blobs } = parts;
  let count = 0;
  for await (const names of oldBlobs(parts, CLIPS, signal)) {
    const idOf = (name: string) => name.slice(CLIPS.length) as Id<'voice'>;
    const known = await voices.known(names.map(idOf));
    for (const name of names) {
      if (known.has(idOf(name))) continue;
      signal.throwIfAborted();
      if (await blobs.delete(name)) count += 1;
    }
  }
  return count;
}
