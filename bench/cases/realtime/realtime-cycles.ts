/** Memory while clients connect, talk and disconnect. */

import { loadConfig } from '../../../server/config.ts';
import type { Float32Samples } from '../../../src/contract/engines/audio.ts';
import { withNoise } from '../../../tools/harness/media/sample-runs.ts';
import { launchService } from '../../../tools/harness/services/launcher.ts';
import { conversation } from '../../conversation.ts';
import { appendFrames, SOCKET_RATE_HZ } from '../../realtime/appends.ts';
import { TimedClient } from '../../realtime/client.ts';
import type { Measured } from '../../realtime/measured.ts';
import { edgesOf, openDetector } from '../../realtime/turns.ts';
import { residentAloneKb, residentKb } from '../../resident-memory.ts';
import type { Service } from '../../service.ts';
import { slope } from '../../statistics.ts';

/** Small models are sufficient to detect leaks per connection. */
const CONFIG = `
[models."svc-tts"]
kind = "piper"

[models."svc-stt"]
kind = "whisper"
weights = "tiny.en"
`;
const CYCLES = 2000;
const WARM_UP = 500;
/** Cycles per group. The minimum of a group is the retained memory. */
const GROUP = 100;
const CLIENTS = 4;
const SLOPE_TARGET_KB = 5;
const CHUNK_MS = 100;
const NOISE_DB = -60;
const TEXT = 'Yes, that is right.';
const LONG_TEXT =
  'It was the best of times, it was the worst of times, and we had everything before us. '.repeat(8);
const DETECT = { type: 'server_vad' };

interface Talk {
  /** A turn and the silence that ends it. */
  readonly turn: readonly string[];
  /** The first half of the turn. */
  readonly beginning: readonly string[];
}

/** Actions of a client before it disconnects. Some disconnect before the end of the work. */
const VISITS: readonly ((client: TimedClient, talk: Talk) => Promise<unknown>)[] = [
  async function turn(client, talk) {
    await client.configure({ audio: { input: { turn_detection: DETECT } } });
    for (const frame of talk.turn) client.sendFrame(frame);
    await client.until('conversation.item.input_audio_transcription.completed');
  },
  async function response(client) {
    await client.configure({ output_modalities: ['audio'] });
    create(client, TEXT);
    await client.until('response.done');
  },
  async function disconnectDuringTurn(client, talk) {
    await client.configure({ audio: { input: { turn_detection: DETECT } } });
    for (const frame of talk.beginning) client.sendFrame(frame);
    await client.until('input_audio_buffer.speech_started');
  },
  async function commit(client, talk) {
    for (const frame of talk.beginning) client.sendFrame(frame);
    client.send({ type: 'input_audio_buffer.commit' });
    await client.until('conversation.item.input_audio_transcription.completed');
  },
  async function disconnectDuringResponse(client) {
    await client.configure({ output_modalities: ['audio'] });
    create(client, LONG_TEXT);
    await client.until('response.audio.delta');
  },
  async function disconnectDuringTranscription(client, talk) {
    await client.configure({ audio: { input: { turn_detection: DETECT } } });
    for (const frame of talk.turn) client.sendFrame(frame);
    await client.until('input_audio_buffer.committed');
  },
];

export async function measureCycles(): Promise<Measured> {
  const talk = await oneTurn();
  const service = await launchService({ config: CONFIG });
  const serving: number[] = [];
  const all: number[] = [];
  let started = 0;
  let ended = 0;
  try {
    const visiting = async () => {
      while (started < CYCLES) {
        await visit(service, started++, talk);
        const group = Math.floor(ended++ / GROUP);
        serving[group] = Math.min(serving[group] ?? Number.POSITIVE_INFINITY, residentAloneKb(service.pid));
        if (ended % 10 === 0) {
          all[group] = Math.min(all[group] ?? Number.POSITIVE_INFINITY, residentKb(service.pid));
        }
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, visiting));
  } finally {
    await service.stop();
  }
  const warm = (sizes: readonly number[]) => sizes.slice(WARM_UP / GROUP);
  const mib = (kb = 0) => kb / 1024;
  return {
    rows: [
      {
        measure: `growth of the serving process, cycles ${WARM_UP}–${CYCLES}`,
        ours: slope(warm(serving)) / GROUP,
        unit: 'kB a cycle',
        target: SLOPE_TARGET_KB,
      },
      {
        measure: `growth of all processes, cycles ${WARM_UP}–${CYCLES}`,
        ours: slope(warm(all)) / GROUP,
        unit: 'kB a cycle',
        target: SLOPE_TARGET_KB,
      },
      { measure: `serving process after ${WARM_UP} cycles`, ours: mib(warm(serving)[0]), unit: 'MiB' },
      { measure: `serving process after ${CYCLES} cycles`, ours: mib(serving.at(-1)), unit: 'MiB' },
    ],
    notes: [
      `Cycles: ${CLIENTS} concurrent clients; a detected turn, a response, a commit, and disconnections during a turn, a response and a transcription. Slope of the minimum memory per ${GROUP} cycles.`,
      `Serving process, MiB: ${serving.map((kb) => Math.round(mib(kb))).join(' ')}; all processes: ${all.map((kb) => Math.round(mib(kb))).join(' ')}.`,
    ],
  };
}

async function visit(service: Service, index: number, talk: Talk): Promise<void> {
  const client = await TimedClient.open(service.baseUrl);
  await VISITS[index % VISITS.length]?.(client, talk);
  await client.close();
}

function create(client: TimedClient, text: string): void {
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
  client.send({ type: 'conversation.item.create', item });
  client.send({ type: 'response.create' });
}

/** The first turn of the conversation. */
async function oneTurn(): Promise<Talk> {
  const samples = withNoise(await conversation(loadConfig(process.env).modelsDir), NOISE_DB);
  const detector = await openDetector();
  const edges = await edgesOf(detector, samples).finally(() => detector.close());
  const untilEnd = edges.find(({ kind }) => kind === 'stopped')?.certainMs ?? 0;
  const upTo = (ms: number): Float32Samples => samples.subarray(0, (ms * SOCKET_RATE_HZ) / 1000);
  return {
    turn: appendFrames(upTo(untilEnd + CHUNK_MS), CHUNK_MS),
    beginning: appendFrames(upTo(untilEnd / 2), CHUNK_MS),
  };
}
