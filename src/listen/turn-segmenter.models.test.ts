/** Uses the real detector and real speech: the segmenter preserves the detected edges. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf } from '../../test/contract/vad-engine.cases.ts';
import { settled } from '../../test/doubles/fake-vad-engine.ts';
import { noMetrics, silentLog } from '../../tools/harness/doubles/doubles.ts';
import { joined, withNoise } from '../../tools/harness/media/sample-runs.ts';
import { SPOKEN_RATE_HZ, silence, speak } from '../../tools/harness/media/spoken.ts';
import { decodeToFloat32, encodeAudio } from '../audio/codec.ts';
import { Resampler } from '../audio/resampler.ts';
import { loadConfig } from '../config/config.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../contract/engines/audio.ts';
import {
  DEFAULT_VAD_SETTINGS,
  type VadEngine,
  type VadEvent,
  type VadSettings,
  type VadStream,
} from '../contract/engines/engine.ts';
import { openVad } from '../engines/silero/host/engine.ts';
import { advanceVad, INITIAL_VAD_STATE, type VadState } from '../engines/silero/host/vad-machine.ts';
import { seededRandom } from '../kit/math/seeded-random.ts';
import { DETECTOR_LOOKBACK_MS } from './detection-timing.ts';
import { type SegmentedTurn, type SegmenterEvent, TurnSegmenter } from './turn-segmenter.ts';

const LISTEN_PER_MS = LISTEN_RATE_HZ / 1000;

let vad: VadEngine;
/** Three turns, one of them with a pause inside, with background noise. */
let talk: Float32Samples;
beforeAll(async () => {
  const { modelsDir } = loadConfig(process.env);
  vad = await openVad({ modelsDir, environment: {}, log: silentLog, metrics: noMetrics });
  const [one, two, three, four] = await speak([
    'The harbour was quiet that morning.',
    'Perhaps.',
    'I would like to book a table',
    'for two at seven.',
  ]);
  if (!one || !two || !three || !four) throw new Error('no speech');
  const parts = [
    silence(700),
    one,
    silence(900),
    two,
    silence(1300),
    three,
    silence(100),
    four,
    silence(1500),
  ];
  talk = withNoise(joined(parts), -62);
});
afterAll(() => vad?.close());

/** The recording as a client sends it. */
function sentBytes(rateHz: number): Uint8Array {
  const resampler = new Resampler({ fromHz: SPOKEN_RATE_HZ, toHz: rateHz, format: 'float32' });
  return encodeAudio(joined([resampler.push(talk), resampler.flush()]), 'pcm16');
}

/** Detects when the detector has processed all writes. */
class ObservedVad implements VadEngine {
  readonly #vad: VadEngine;
  #write: Promise<unknown> | undefined;

  constructor(engine: VadEngine) {
    this.#vad = engine;
  }

  openStream(settings: VadSettings, rateHz: number): VadStream {
    const stream = this.#vad.openStream(settings, rateHz);
    return {
      write: (samples) => {
        const write = stream.write(samples);
        this.#write = write;
        return write;
      },
      end: () => stream.end(),
      close: () => stream.close(),
    };
  }

  async idle(): Promise<void> {
    for (let last: unknown; last !== this.#write; ) {
      last = this.#write;
      await last;
      await settled();
    }
  }

  ready() {
    return this.#vad.ready();
  }

  async close() {}
}

/** Returns the events of the segmenter as lines, and the audio that the reader of each turn received. */
async function segment(
  bytes: Uint8Array,
  rateHz: number,
  settings: VadSettings,
  pieceBytes: () => number,
  isLive: boolean,
) {
  const lines: string[] = [];
  const turns: ReturnType<typeof received>[] = [];
  const detector = new ObservedVad(vad);
  const report = (event: SegmenterEvent) => {
    switch (event.kind) {
      case 'speech_started':
        lines.push(`started ${event.audioStartMs}`);
        turns.push(received(event.turn));
        break;
      case 'speech_stopped':
        lines.push(`stopped ${event.audioEndMs}`);
        break;
      case 'committed':
        break;
      case 'dropped':
      case 'detector_failed':
        throw new Error(event.kind);
    }
  };
  const segmenter = new TurnSegmenter({ vad: detector, maxBufferedBytes: bytes.length, report });
  segmenter.configure({ encoding: 'pcm16', rateHz }, settings);
  for (let at = 0; at < bytes.length; ) {
    const piece = bytes.slice(at, at + pieceBytes());
    expect(segmenter.append(piece)).toBe(true);
    at += piece.length;
    if (isLive) await detector.idle();
  }
  await detector.idle();
  segmenter.close();
  return { lines, received: await Promise.all(turns) };
}

async function received({ audio }: SegmentedTurn) {
  const queues: Float32Samples[] = [];
  let pauses = 0;
  for await (const piece of audio) {
    if (piece === 'pause') pauses += 1;
    else queues.push(piece);
  }
  return { samples: joined(queues), pauses };
}

/** Returns the expected result according to the events of the engine, for samples at 16 kHz. */
function expected(samples: Float32Samples, settings: VadSettings, events: readonly VadEvent[]) {
  const atMs = (sample: number) => Math.round(sample / LISTEN_PER_MS);
  const lines: string[] = [];
  const turns: Float32Samples[] = [];
  let start = 0;
  for (const event of events) {
    if (event.kind === 'started') {
      start = event.startSample;
      lines.push(`started ${atMs(start)}`);
    } else if (event.kind === 'stopped') {
      const { endSample } = event;
      lines.push(`stopped ${atMs(endSample + settings.silenceDurationMs * LISTEN_PER_MS)}`);
      // Audio of the turn, followed by the silence that ended it, up to 100 ms after the end of speech.
      const tailMs = Math.min(settings.silenceDurationMs, 100);
      turns.push(samples.slice(start, endSample + tailMs * LISTEN_PER_MS));
    }
  }
  return { lines, turns };
}

describe('edges and audio equal those of the detector', () => {
  it.each([
    [16_000, {}],
    [24_000, {}],
    [24_000, { silenceDurationMs: 60, prefixPaddingMs: 0 }],
    [8000, { silenceDurationMs: 700, threshold: 0.3 }],
    [48_000, {}],
    [SPOKEN_RATE_HZ, {}],
  ])('at %i Hz with %o', async (rateHz, some) => {
    const settings = { ...DEFAULT_VAD_SETTINGS, ...some };
    const silenceMs = settings.silenceDurationMs;
    const bytes = sentBytes(rateHz);
    const resampler = new Resampler({ fromHz: rateHz, toHz: LISTEN_RATE_HZ, format: 'float32' });
    const samples = resampler.push(decodeToFloat32(bytes, 'pcm16'));
    const events = await eventsOf(vad, samples, { rateHz: LISTEN_RATE_HZ, settings });
    const { lines, turns } = expected(samples, settings, events);
    expect(turns.length).toBeGreaterThanOrEqual(3);
    if (silenceMs >= 500) expect(events.some(({ kind }) => kind === 'resumed')).toBe(true);
    const random = seededRandom(rateHz);
    const pieceBytes = () => 1 + Math.floor(random() * 0.12 * rateHz);
    const live = await segment(bytes, rateHz, settings, pieceBytes, true);
    expect(live.lines).toEqual(lines);
    for (const [i, turn] of turns.entries()) {
      expect(live.received[i]?.samples).toEqual(turn);
      if (silenceMs >= 500) expect(live.received[i]?.pauses).toBeGreaterThanOrEqual(1);
    }
    const inOneAppend = await segment(bytes, rateHz, settings, () => bytes.length, false);
    expect(inOneAppend.lines).toEqual(lines);
    expect(inOneAppend.received.map((turn) => turn.samples)).toEqual(turns);
  });
});

it('an edge is never further back than the audio that the segmenter retains', () => {
  const random = seededRandom(3);
  const settings = {
    ...DEFAULT_VAD_SETTINGS,
    silenceDurationMs: 0,
    prefixPaddingMs: 0,
    minSpeechDurationMs: 200,
  };
  let state: VadState = INITIAL_VAD_STATE;
  let furthestMs = 0;
  let processedMs = 0;
  let [probability, energy] = [0, 0];
  for (let frame = 0; frame < 200_000; frame++) {
    // Segments of any length and probability, including ones that real audio would not produce.
    if (random() < 0.1) probability = random();
    if (random() < 0.1) energy = 10 ** (-7 * random());
    const energies = [0, 1, 2, 3].map(() => energy * (random() < 0.1 ? random() : 1));
    const step = advanceVad(state, { probability, energies }, settings);
    state = step.state;
    processedMs += 32;
    for (const event of step.events) {
      if (event.kind === 'resumed') continue;
      const edge = event.kind === 'started' ? event.startSample : event.endSample;
      const minDurationMs = event.kind === 'started' ? settings.minSpeechDurationMs : 0;
      furthestMs = Math.max(furthestMs, processedMs - edge / LISTEN_PER_MS - minDurationMs);
    }
  }
  expect(furthestMs).toBeGreaterThan(500);
  expect(furthestMs).toBeLessThanOrEqual(DETECTOR_LOOKBACK_MS);
});
