/** Latency of `/v1/realtime`: transcript after speech, and first audio after text. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchService } from '../../../tools/harness/services/launcher.ts';
import { transcriptionCorpus } from '../../corpus/transcription-corpus.ts';
import { openListener } from '../../listening.ts';
import { openPeer } from '../../python.ts';
import { committedRows } from '../../realtime/committed.ts';
import { firstAudioRows } from '../../realtime/first-audio.ts';
import type { Measured } from '../../realtime/measured.ts';
import { spokenTurnRows } from '../../realtime/spoken-turn.ts';
import { checkpointFolder } from '../../transcription/checkpoint-folder.ts';

const WEIGHTS = 'base';
const PEER_THREADS = 2;
const CONFIG = `
[models."svc-tts"]
kind = "kokoro"

[models."svc-stt"]
kind = "whisper"
weights = "${WEIGHTS}"
`;

export async function measureLatency(): Promise<Measured> {
  const { timed } = await transcriptionCorpus();
  const scratch = mkdtempSync(join(tmpdir(), 'bench-'));
  const opened = new AsyncDisposableStack();
  try {
    opened.defer(() => rmSync(scratch, { recursive: true }));
    const service = opened.adopt(await launchService({ config: CONFIG }), async (it) => {
      await it.stop();
    });
    const speaking = await firstAudioRows(service);
    const engine = opened.adopt(await openListener(WEIGHTS), (it) => it.close());
    const committed = await committedRows(service, engine, timed);
    const peer = opened.adopt(
      await openPeer('faster_whisper_peer.py', [checkpointFolder(scratch, WEIGHTS), String(PEER_THREADS)]),
      (it) => it.close(),
    );
    const turns = await spokenTurnRows(service, peer, timed);
    const all = [committed, turns, speaking];
    return { rows: all.flatMap(({ rows }) => rows), notes: all.flatMap(({ notes }) => notes) };
  } finally {
    await opened.disposeAsync();
  }
}
