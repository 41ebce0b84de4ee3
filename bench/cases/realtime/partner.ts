/** The partner platform endpoints of the real service with a simulated platform. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../server/config.ts';
import { launchService, NO_TEXT } from '../../../tools/harness/services/launcher.ts';
import { callerClips, crossTalkRows } from '../../partner/cross-talk.ts';
import { voiceFirstRows } from '../../partner/voice-first.ts';
import { openPeer } from '../../python.ts';
import { report } from '../../report.ts';
import { checkpointFolder } from '../../transcription/checkpoint-folder.ts';

const TURNS = 100;
const WEIGHTS = 'base';
const PEER_THREADS = 2;
const CONFIG = `
[models."svc-tts"]
kind = "kokoro"

[models."svc-tts-fast"]
kind = "piper"

[models."svc-stt"]
kind = "whisper"
weights = "${WEIGHTS}"
${NO_TEXT}`;

export async function benchPartner(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'bench-'));
  const opened = new AsyncDisposableStack();
  try {
    opened.defer(() => rmSync(scratch, { recursive: true }));
    const service = opened.adopt(await launchService({ config: CONFIG }), async (it) => {
      await it.stop();
    });
    const voice = await voiceFirstRows(service);
    const texts = await Bun.file(join(import.meta.dirname, '../../corpus/texts.txt')).text();
    const clips = await callerClips(service, texts.split('\n'), scratch);
    const peer = opened.adopt(
      await openPeer('faster_whisper_peer.py', [checkpointFolder(scratch, WEIGHTS), String(PEER_THREADS)]),
      (it) => it.close(),
    );
    const { silenceMs } = loadConfig({}).partner;
    const turns = await crossTalkRows(service, peer, clips, { turns: TURNS, silenceMs });
    const parts = [turns, voice];
    await report(
      'partner',
      'Calls of a voice-agent platform',
      parts.flatMap(({ rows }) => rows),
      parts.flatMap(({ notes }) => notes),
    );
  } finally {
    await opened.disposeAsync();
  }
}
