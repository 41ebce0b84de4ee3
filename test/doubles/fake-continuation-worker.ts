/** A continuation process that executes the path of its clip as a command. Writes its pid to the segment file first. */

import { existsSync, writeFileSync } from 'node:fs';
import type { ContinuationJob, ContinuationResult } from '../../src/engines/continuation/shared/protocol.ts';

const send = (message: ContinuationResult) => process.send?.(message);

process.on('message', ({ clip, to }: ContinuationJob) => {
  const isFirst = !existsSync(to);
  writeFileSync(to, String(process.pid));
  switch (clip) {
    case 'die':
      process.exit(3);
      break;
    case 'die-once':
      if (isFirst) process.exit(3);
      send({ kind: 'done', seconds: 4 });
      break;
    case 'compute':
      for (;;);
    case 'grow': {
      const blocks: Uint8Array[] = [];
      setInterval(() => blocks.push(new Uint8Array(16 * 1024 * 1024).fill(1)), 5);
      break;
    }
    case 'fail':
      send({ kind: 'failed', error: { name: 'UnusableClipError', message: 'broken' } });
      break;
    case 'done':
      send({ kind: 'done', seconds: 4 });
      break;
  }
});
