/** A media process that does what its file's name says, for tests of those that watch it. */

import { basename } from 'node:path';
import type { FromMediaProcess, ToMediaProcess } from '../../src/media/process/protocol.ts';

const send = (message: FromMediaProcess) => process.send?.(message);
const INFO = { container: 'wav', codec: 'pcm-s16', rateHz: 16_000, channels: 1 };
const block = (length: number) => ({ kind: 'samples', samples: new Float32Array(length) }) as const;
const kept: Uint8Array[] = [];

/** Touches memory until it is killed. */
function fillMemory(): void {
  setInterval(() => kept.push(new Uint8Array(16 * 2 ** 20).fill(1)), 5);
}

process.on('message', (message: ToMediaProcess) => {
  if (message.kind === 'more') return;
  const doing = basename(message.job.path);
  const blockSamples = message.kind === 'run' ? message.job.blockSamples : 0;
  if (doing === 'unstarted') return;
  send({ kind: 'started' });
  if (doing.startsWith('opened-')) send({ kind: 'opened', info: INFO });
  if (doing.endsWith('silent')) return;
  if (doing.endsWith('spin')) for (;;);
  if (doing.endsWith('exit')) process.exit(0);
  if (doing.endsWith('segfault')) process.kill(process.pid, 'SIGSEGV');
  if (doing.endsWith('memory')) fillMemory();
  if (doing.endsWith('flood')) for (let i = 0; i < 100; i++) send(block(blockSamples));
  if (doing.endsWith('huge')) send(block(blockSamples + 1));
  if (doing.endsWith('chatter')) for (let i = 0; i < 100; i++) send({ kind: 'opened', info: INFO });
});
process.on('disconnect', () => process.exit(0));
