/** Streams of voice activity detection in real time on one core, for API process and model together. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../../server/config.ts';
import { CONVERSATION_RATE_HZ, conversation } from '../../conversation.ts';
import { type Row, report } from '../../report.ts';
import type { VadLoad } from '../../vad-streams.ts';

const STREAMS = 300;
/** Pauses of a muted line, which the gate does not send to the model, and of a room, which it does. */
const NOISES = [
  { name: 'silent pauses', noiseDb: -80 },
  { name: 'noise at -50 dB, always judged', noiseDb: -50 },
];
const LAG_TARGET_MS = 100;

export async function benchVoiceActivity(): Promise<void> {
  const { modelsDir } = loadConfig(process.env);
  const folder = await mkdtemp(join(tmpdir(), 'voice-activity-'));
  const rows: Row[] = [];
  const notes: string[] = [];
  try {
    const speech = join(folder, 'speech.f32');
    await Bun.write(speech, await conversation(modelsDir));
    for (const { name, noiseDb } of NOISES) {
      const load = await onOneCore(modelsDir, speech, noiseDb);
      const cores = (load.servingCpuMs + load.modelCpuMs) / load.wallMs;
      rows.push(
        { measure: `${name}: cores in use`, ours: cores, unit: '', target: 1 },
        { measure: `${name}: of it, the serving thread`, ours: load.servingCpuMs / load.wallMs, unit: '' },
        { measure: `${name}: of it, the model`, ours: load.modelCpuMs / load.wallMs, unit: '' },
        { measure: `${name}: streams a core has time for`, ours: STREAMS / cores, unit: '' },
        { measure: `${name}: lag, median`, ours: load.lagsMs.median, unit: 'ms' },
        { measure: `${name}: lag, 99 %`, ours: load.lagsMs.p99, unit: 'ms' },
        { measure: `${name}: lag, most`, ours: load.lagsMs.most, unit: 'ms', target: LAG_TARGET_MS },
      );
      const share = Math.round(load.speechShare * 100);
      notes.push(`${name}: ${load.turns} turns ended, ${share} % of the audio was speech.`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await report(
    'voice-activity',
    `${STREAMS} streams of voice activity detection in real time on one core`,
    rows,
    [
      `Both processes are bound to one core. ${STREAMS} streams at ${CONVERSATION_RATE_HZ} Hz with a write every 20 ms, for 20 s after 2 s of warm-up.`,
      'Lag: from the time of the last sample of a write to the response to the write.',
      ...notes,
    ],
  );
}

/** Runs the streams in a process that is bound, with its child process, to one core. */
async function onOneCore(modelsDir: string, speech: string, noiseDb: number): Promise<VadLoad> {
  const script = fileURLToPath(new URL('../../vad-streams.ts', import.meta.url));
  const child = Bun.spawn(
    ['taskset', '-c', '0', process.execPath, script, modelsDir, speech, `${STREAMS}`, `${noiseDb}`],
    { stdout: 'pipe', stderr: 'inherit' },
  );
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error('The streams could not be measured.');
  return JSON.parse(text) as VadLoad;
}
