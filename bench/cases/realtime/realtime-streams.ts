/** Concurrent realtime sessions on one machine: sockets, decoding and turn detection, without transcription. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../../server/config.ts';
import { decodeToFloat32, encodeAudio, float32ToInt16 } from '../../../src/audio/codec.ts';
import type { Float32Samples } from '../../../src/contract/engines/audio.ts';
import { joined, withNoise } from '../../../tools/harness/media/sample-runs.ts';
import { childrenOf, launchService, NO_MODELS } from '../../../tools/harness/services/launcher.ts';
import { WORKER_ENTRIES } from '../../../tools/harness/services/worker-entries.ts';
import { CONVERSATION_RATE_HZ, conversation } from '../../conversation.ts';
import { openLineProcess } from '../../line-process.ts';
import { cpuMs } from '../../processes.ts';
import type { Measured } from '../../realtime/measured.ts';
import type { Delays, StreamLoad, StreamOrder, StreamPlan } from '../../realtime/stream-clients.ts';
import { STUB_MS } from '../../realtime/stub-engine.ts';
import { edgesOf, openDetector } from '../../realtime/turns.ts';
import type { Row } from '../../report.ts';
import { residentAloneKb } from '../../resident-memory.ts';

const MAIN = fileURLToPath(new URL('../../realtime/stub-main.ts', import.meta.url));
const CLIENTS = fileURLToPath(new URL('../../realtime/stream-clients.ts', import.meta.url));
const SESSIONS = 300;
/** Number of start positions in the clip. */
const VARIANTS = 30;
/** The typical and the shortest append of clients. */
const CHUNKS = [{ chunkMs: 100, target: 100 }, { chunkMs: 20 }];
const LENGTH_MS = 22_000;
const WARM_UP_MS = 2000;
/** Room noise, so that the model must also evaluate the pauses. */
const NOISE_DB = -50;
/** Start positions are multiples of this, and so of every append length. */
const STEP_MS = 100;

interface Load extends StreamLoad {
  readonly servingCores: number;
  readonly detectorCores: number;
  readonly servingKb: number;
}

export async function measureStreams(): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'realtime-streams-'));
  try {
    const clip = await clipWithNoise();
    const path = join(folder, 'clip.f32');
    await Bun.write(path, clip);
    const variants = await variantsOf(clip);
    const rows: Row[] = [];
    const notes = [
      `Streams: ${SESSIONS} sessions with server_vad at ${CONVERSATION_RATE_HZ} Hz, speech and equal silence with noise at ${NOISE_DB} dB, for ${(LENGTH_MS - WARM_UP_MS) / 1000} s after ${WARM_UP_MS / 1000} s of warm-up. The client shares the two cores.`,
      `Delay: from the append that completes the detection (according to the detector alone) to the event; for transcripts minus the ${STUB_MS} ms of the stub engine.`,
    ];
    for (const { chunkMs, target } of CHUNKS) {
      const load = await loadOf({ clip: path, variants, chunkMs });
      rows.push(...rowsOf(load, `${SESSIONS} sessions, appends of ${chunkMs} ms`, target));
      notes.push(noteOf(load, chunkMs));
    }
    return { rows, notes };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The conversation with noise, quantized to 16 bits. */
async function clipWithNoise(): Promise<Float32Samples> {
  const spoken = await conversation(loadConfig(process.env).modelsDir);
  const step = (CONVERSATION_RATE_HZ * STEP_MS) / 1000;
  const whole = spoken.subarray(0, spoken.length - (spoken.length % step));
  return decodeToFloat32(encodeAudio(float32ToInt16(withNoise(whole, NOISE_DB)), 'pcm16'), 'pcm16');
}

/** Start positions with the turn edges that the detector alone finds from there. */
async function variantsOf(clip: Float32Samples): Promise<StreamPlan['variants']> {
  const detector = await openDetector();
  try {
    const clipMs = (clip.length * 1000) / CONVERSATION_RATE_HZ;
    const length = (LENGTH_MS * CONVERSATION_RATE_HZ) / 1000;
    const variant = async (_: unknown, index: number) => {
      const fromMs = Math.floor((index * clipMs) / VARIANTS / STEP_MS) * STEP_MS;
      const from = (fromMs * CONVERSATION_RATE_HZ) / 1000;
      const samples = joined([clip.subarray(from), clip, clip]).subarray(0, length);
      return { fromMs, edges: await edgesOf(detector, samples) };
    };
    return await Promise.all(Array.from({ length: VARIANTS }, variant));
  } finally {
    await detector.close();
  }
}

async function loadOf(varied: Pick<StreamPlan, 'clip' | 'variants' | 'chunkMs'>): Promise<Load> {
  const service = await launchService({ config: NO_MODELS, main: MAIN });
  const clients = openLineProcess([process.execPath, CLIENTS]);
  try {
    const [detector] = childrenOf(service.pid, WORKER_ENTRIES.voiceActivity);
    if (detector === undefined) throw new Error('the voice activity detection has no process');
    const plan: StreamOrder = {
      ...varied,
      kind: 'open',
      baseUrl: service.baseUrl,
      sessions: SESSIONS,
      lengthMs: LENGTH_MS,
      warmUpMs: WARM_UP_MS,
      recogniserMs: STUB_MS,
    };
    await clients.sendRequest(plan);
    const order: StreamOrder = { kind: 'speak' };
    const speaking = clients.sendRequest<StreamLoad>(order);
    await Bun.sleep(WARM_UP_MS);
    const [serving, detecting, startMs] = [cpuMs(service.pid), cpuMs(detector), performance.now()];
    await Bun.sleep(LENGTH_MS - WARM_UP_MS);
    const wallMs = performance.now() - startMs;
    const servingCores = (cpuMs(service.pid) - serving) / wallMs;
    const detectorCores = (cpuMs(detector) - detecting) / wallMs;
    const servingKb = residentAloneKb(service.pid);
    return { ...(await speaking), servingCores, detectorCores, servingKb };
  } finally {
    await clients.close();
    await service.stop();
  }
}

function rowsOf(load: Load, name: string, target: number | undefined): Row[] {
  const { all, delays, servingCores, detectorCores, servingKb, turns, expectedTurns, unexpected } = load;
  const delay = (what: string, { p99 }: Delays) => ({
    measure: `${name}: ${what}, 99 %`,
    ours: p99,
    unit: 'ms',
  });
  return [
    { measure: `${name}: event delay, median`, ours: all.median, unit: 'ms' },
    { ...delay('event delay', all), ...(target === undefined ? {} : { target }) },
    { measure: `${name}: event delay, most`, ours: all.most, unit: 'ms' },
    { measure: `${name}: turns without a text`, ours: expectedTurns - turns, unit: '', target: 0 },
    { measure: `${name}: kinds of events not expected`, ours: unexpected.length, unit: '', target: 0 },
    ...Object.entries(delays).map(([type, each]) => delay(type.replace(/^.*\./, ''), each)),
    { measure: `${name}: cores of the serving process`, ours: servingCores, unit: '' },
    { measure: `${name}: cores of the detector's process`, ours: detectorCores, unit: '' },
    { measure: `${name}: memory of the serving process`, ours: servingKb / 1024, unit: 'MiB' },
  ];
}

function noteOf({ all, lag, cores, turns, expectedTurns, unexpected }: Load, chunkMs: number): string {
  const odd = unexpected.length > 0 ? ` Unexpected: ${unexpected.slice(0, 5).join('; ')}.` : '';
  return (
    `Appends of ${chunkMs} ms: ${all.count} events, ${turns} of ${expectedTurns} turns; ` +
    `the client used ${cores.toFixed(2)} cores and sent 99 % of its appends with a delay of less than ${lag.p99.toFixed(1)} ms.${odd}`
  );
}
