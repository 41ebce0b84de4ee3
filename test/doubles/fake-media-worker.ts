/** A media process that executes the name of its file as commands, for tests of its supervisor. */

import { basename } from 'node:path';
import type { FromMediaProcess, ToMediaProcess } from '../../src/media/process/protocol.ts';

const send = (message: FromMediaProcess) => process.send?.(message);
const INFO = { container: 'wav', codec: 'pcm-s16', rateHz: 16_000, channels: 1 };
const block = (length: number) => ({ kind: 'samples', samples: new Float32Array(length) }) as const;
const blocks: Uint8Array[] = [];

/** Touches memory until it is killed. */
function fillMemory(): void {
  setInterval(() => blocks.push(new Uint8Array(16 * 2 ** 20).fill(1)), 5);
}

process.on('message', (message: ToMediaProcess) => {
  if (message.kind === 'more') return;
  const command = basename(message.job.path);
  const blockSamples = message.kind === 'run' ? message.job.blockSamples : 0;
  if (command === 'unstarted') return;
  send({ kind: 'started' });
  if (command.startsWith('opened-')) send({ kind: 'opened', info: INFO });
  if (command.endsWith('silent')) return;
  if (command.endsWith('spin')) for (;;);
  if (command.endsWith('exit')) process.exit(0);
  if (command.endsWith('segfault')) process.kill(process.pid, 'SIGSEGV');
  if (command.endsWith('memory')) fillMemory();
  if (command.endsWith('flood')) for (let i = 0; i < 100; i++) send(block(blockSamples));
  if (command.endsWith('huge')) send(block(blockSamples + 1));
  if (command.endsWith('chatter')) for (let i = 0; i < 100; i++) send({ kind: 'opened', info: INFO });
});
process.on('disconnect', () => process.exit(0));
