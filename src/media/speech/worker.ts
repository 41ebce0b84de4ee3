/** Entry point of the encoder process. Never loaded by the server. */

import { exitWithParent } from '../../kit/process/child-lifecycle.ts';
import { silenceFfmpeg } from '../process/ffmpeg-log.ts';
import type { FromEncoderProcess, ToEncoderProcess } from './protocol.ts';
import { SpeechFile } from './speech-file.ts';

/** Encodings are opened asynchronously, so their messages are handled in turn. */
const files = new Map<number, Promise<SpeechFile>>();

async function handle(message: ToEncoderProcess): Promise<void> {
  const { encoding } = message;
  if (message.kind === 'open') {
    files.set(encoding, SpeechFile.open(message.format));
    return;
  }
  const file = await files.get(encoding);
  if (file === undefined) return;
  if (message.kind === 'encode') send({ kind: 'encoded', encoding, bytes: file.encode(message.pcm) });
  else if (message.kind === 'finish') send({ kind: 'encoded', encoding, bytes: file.finish() });
  else {
    files.delete(encoding);
    file.close();
  }
}

function send(message: FromEncoderProcess): void {
  process.send?.(message);
}

process.on('message', (message: ToEncoderProcess) => void handle(message));
exitWithParent();
// The server detects the exit.
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(event, () => process.exit(1));
silenceFfmpeg();
