/** Entry point of a media process, which runs one job and exits. Never loaded by the server. */

import { writeFileSync } from 'node:fs';
import { exitWithParent } from '../kit/process/child-lifecycle.ts';
import { openTrack } from './audio/decode-audio.ts';
import { writeThumbnail } from './clips/clip-thumbnail.ts';
import { cutClip } from './clips/cut-clip.ts';
import { measureClip } from './clips/measure-clip.ts';
import { type ClipJob, type ClipResult, UnusableClipError } from './process/clip-protocol.ts';
import { loadCodecs } from './process/codecs.ts';
import {
  type AudioJob,
  type FromMediaProcess,
  type ToMediaProcess,
  UnusableMediaError,
} from './process/protocol.ts';

const send = (message: FromMediaProcess) => process.send?.(message);

/** Flow control: number of blocks that may be sent before the reader requests more. */
class Credit {
  #blocks = 0;
  #granted = Promise.withResolvers<void>();

  grant(blocks: number): void {
    this.#blocks += blocks;
    this.#granted.resolve();
  }

  async consumeCredit(): Promise<void> {
    while (this.#blocks === 0) {
      this.#granted = Promise.withResolvers();
      await this.#granted.promise;
    }
    this.#blocks -= 1;
  }
}

const credit = new Credit();

async function decodeAudio(job: AudioJob): Promise<FromMediaProcess> {
  const { info, declaredS, blocks } = await openTrack(job);
  send({ kind: 'opened', info, declaredS });
  for await (const samples of blocks) {
    await credit.consumeCredit();
    send({ kind: 'samples', samples });
  }
  return { kind: 'done' };
}

async function runClipJob(job: ClipJob): Promise<ClipResult> {
  switch (job.kind) {
    case 'measure':
      return { kind: job.kind, facts: await measureClip(job.path) };
    case 'thumbnail':
      await writeThumbnail(job.path, job.to);
      return { kind: job.kind };
    case 'cut':
      return { kind: job.kind, clip: await cutClip(job.path, job.to, job) };
  }
}

async function run(work: () => Promise<FromMediaProcess>): Promise<void> {
  try {
    send(await work());
  } catch (error) {
    if (error instanceof UnusableMediaError) send({ kind: 'refused', issue: error.issue });
    else if (error instanceof UnusableClipError) send({ kind: 'unusable', issue: error.issue });
    // Any other error ends the process, which the server detects.
    else process.exit(1);
  }
}

/** The OOM killer should end this process rather than the server. */
function preferForOomKill(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Supported on Linux only.
  }
}

process.on('message', (message: ToMediaProcess) => {
  if (message.kind !== 'clip') credit.grant(message.credit);
  if (message.kind === 'more') return;
  send({ kind: 'started' });
  void run(() => (message.kind === 'clip' ? runClipJob(message.job) : decodeAudio(message.job)));
});
exitWithParent();
process.on('uncaughtException', () => process.exit(1));
// A decoder error rejects `run` and, when the library closes the decoder, a second promise.
process.on('unhandledRejection', () => undefined);
preferForOomKill();
loadCodecs();
