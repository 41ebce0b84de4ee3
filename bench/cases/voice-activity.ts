/** Streams of voice activity detection that one core holds in real time, serving thread and model together. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Resampler } from '../../src/audio/resampler.ts';
import { loadConfig } from '../../src/config.ts';
import { resolveModelFiles } from '../../src/engines/model-files.ts';
import { loadPiper } from '../../src/engines/piper/piper-model.ts';
import { type Row, report } from '../report.ts';
import type { VadLoad } from '../vad-streams.ts';

const STREAMS = 300;
const RATE_HZ = 24_000;
/** Of a turn: what is said, then silence of the same length, as the other side speaks. */
const TURNS = [
  'I would like to book a table for two at seven.',
  'Yes, that is right.',
  'Could you tell me whether there is a place to park the car nearby?',
  'No, thank you, that was all.',
  'The harbour was quiet that morning, and two boats lay at the pier.',
];
/** Silence of a muted line, which the gate keeps from the model, and of a room, which it does not. */
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
      `Both processes are bound to one core. ${STREAMS} streams at ${RATE_HZ} Hz, a write every 20 ms each, 20 s after 2 s of warm-up.`,
      'Lag: from the moment at which the last sample of a write is spoken to the answer of the write.',
      ...notes,
    ],
  );
}

/** Turns with silence between, f32 at {@link RATE_HZ}. */
async function conversation(modelsDir: string): Promise<Float32Array<ArrayBuffer>> {
  const files = resolveModelFiles(modelsDir, 'piper-en-us-joe');
  const piper = await loadPiper({
    model: files['en_US-joe-medium.onnx'] ?? '',
    settings: files['en_US-joe-medium.onnx.json'] ?? '',
    runtime: { provider: 'cpu', threads: 1 },
  });
  const samples: number[] = [];
  for (const text of TURNS) {
    const resampler = new Resampler({ fromHz: piper.description.rateHz, toHz: RATE_HZ, format: 'float32' });
    const turn: number[] = [];
    for await (const run of piper.open({ text, speed: 1, delivery: 'whole' })) {
      if (run) turn.push(...resampler.push(run));
    }
    turn.push(...resampler.flush());
    samples.push(...turn, ...new Array<number>(turn.length).fill(0));
  }
  await piper.close();
  return Float32Array.from(samples);
}

/** Runs the streams in a process that, with its child, has one core. */
async function onOneCore(modelsDir: string, speech: string, noiseDb: number): Promise<VadLoad> {
  const script = fileURLToPath(new URL('../vad-streams.ts', import.meta.url));
  const child = Bun.spawn(
    ['taskset', '-c', '0', process.execPath, script, modelsDir, speech, `${STREAMS}`, `${noiseDb}`],
    { stdout: 'pipe', stderr: 'inherit' },
  );
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error('The streams could not be measured.');
  return JSON.parse(text) as VadLoad;
}
