/** Entry of a media process, which does one job and ends. Never loaded by the serving process. */

import { writeFileSync } from 'node:fs';
import { exitWithParent } from '../kit/process/child-lifecycle.ts';
import { openTrack } from './audio/decode-audio.ts';
import { writeThumbnail } from './clips/clip-thumbnail.ts';
import { cutClip } from './clips/cut-clip.ts';
import { measureClip } from './clips/measure-clip.ts';
import { type ClipAnswer, ClipFaultError, type ClipJob } from './process/clip-protocol.ts';
import { loadCodecs } from './process/codecs.ts';
import {
  type AudioJob,
  type FromMediaProcess,
  MediaFaultError,
  type ToMediaProcess,
} from './process/protocol.ts';

const send = (message: FromMediaProcess) => process.send?.(message);

/** Blocks that may be sent before the reader takes more. */
class Credit {
  #blocks = 0;
  #granted = Promise.withResolvers<void>();

  grant(blocks: number): void {
    this.#blocks += blocks;
    this.#granted.resolve();
  }

  async spend(): Promise<void> {
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
    await credit.spend();
    send({ kind: 'samples', samples });
  }
  return { kind: 'done' };
}

async function answerAbout(job: ClipJob): Promise<ClipAnswer> {
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
    if (error instanceof MediaFaultError) send({ kind: 'refused', fault: error.fault });
    else if (error instanceof ClipFaultError) send({ kind: 'unusable', fault: error.fault });
    // Whatever else it is, the process ends by it, and the reader sees that.
    else process.exit(1);
  }
}

/** When memory runs out, the kernel should end this process and not the one that serves. */
function offerToKernel(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Only Linux has it.
  }
}

process.on('message', (message: ToMediaProcess) => {
  if (message.kind !== 'clip') credit.grant(message.credit);
  if (message.kind === 'more') return;
  send({ kind: 'begun' });
  void run(() => (message.kind === 'clip' ? answerAbout(message.job) : decodeAudio(message.job)));
});
exitWithParent();
process.on('uncaughtException', () => process.exit(1));
// What a decoder throws reaches `run`, and once more this way when the library closes the decoder.
process.on('unhandledRejection', () => undefined);
offerToKernel();
loadCodecs();
