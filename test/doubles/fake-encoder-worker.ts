/** An encoder process whose formats are commands, for tests of its owner. Every other answer has the id of the process. */

import type { FromEncoderProcess, ToEncoderProcess } from '../../src/media/speech/protocol.ts';

const send = (message: FromEncoderProcess) => process.send?.(message);
const formats = new Map<number, string>();

process.on('message', (message: ToEncoderProcess) => {
  const { encoding } = message;
  if (message.kind === 'open') formats.set(encoding, message.format);
  if (message.kind !== 'encode' && message.kind !== 'finish') return;
  switch (formats.get(encoding)) {
    case 'opus':
      process.exit(0);
      break;
    case 'aac':
      process.kill(process.pid, 'SIGSEGV');
      break;
    case 'flac':
      return;
  }
  send({ kind: 'encoded', encoding, bytes: Uint8Array.from(Buffer.from(String(process.pid))) });
});
process.on('disconnect', () => process.exit(0));
