import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { eventsOf, vadEngineCases } from '../../../../test/contract/vad-engine.cases.ts';
import { metricValue } from '../../../../test/harness/metric-values.ts';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { noMetrics, silentLog } from '../../../../tools/harness/doubles/doubles.ts';
import { joined, withNoise } from '../../../../tools/harness/media/sample-runs.ts';
import { edgesOf, SPOKEN_RATE_HZ, silence, speak } from '../../../../tools/harness/media/spoken.ts';
import { loadConfig } from '../../../config/config.ts';
import { StartError } from '../../../contract/core/error.ts';
import type { Float32Samples } from '../../../contract/engines/audio.ts';
import { DEFAULT_VAD_SETTINGS, type VadEngine } from '../../../contract/engines/engine.ts';
import { systemClock } from '../../../kit/clock.ts';
import { createMetrics } from '../../../metrics/registry.ts';
import { openVad, type VadOptions } from './engine.ts';

const { modelsDir } = loadConfig(process.env);
const openEngine = (options: Partial<VadOptions> = {}) =>
  openVad({ modelsDir, environment: {}, log: silentLog, metrics: noMetrics, ...options });

vadEngineCases('silero', async () => {
  const engine = await openEngine();
  return { engine, close: () => engine.close() };
});

/** Soft and hard starts and ends of speech: /s/, /h/, /f/, plosives, vowels. */
const TEXTS = [
  'Stop.',
  'Yes.',
  'She sells sea shells by the shore.',
  'Help me.',
  'First class.',
  'Can you hear me now?',
  'Eight.',
  'I would like to book a table for two at seven.',
];

let engine: VadEngine;
let spoken: Float32Samples[];
beforeAll(async () => {
  engine = await openEngine();
  spoken = await speak(TEXTS);
});
afterAll(() => engine?.close());

describe('detects the edges of clean speech within a frame of 32 ms', () => {
  it.each([
    ['in silence', -120],
    ['in noise at -60 dB', -60],
    ['in noise at -50 dB', -50],
  ])('%s', async (_, noiseDb) => {
    for (const [i, samples] of spoken.entries()) {
      // A different offset within a frame for each text.
      const before = silence(900 + 7 * i);
      const talk = withNoise(joined([before, samples, silence(1000)]), noiseDb);
      const events = await eventsOf(engine, talk);
      const { onset, end } = edgesOf(samples);
      const offByMs = (sample = Number.NaN, truth = 0) =>
        Math.abs(((sample - before.length - truth) * 1000) / SPOKEN_RATE_HZ);
      const started = events.filter((event) => event.kind === 'started');
      expect(started.length).toBe(1);
      expect(offByMs(started[0]?.onsetSample, onset)).toBeLessThanOrEqual(32);
      const stopped = events.findLast((event) => event.kind === 'stopped');
      expect(offByMs(stopped?.endSample, end)).toBeLessThanOrEqual(32);
    }
  });

  it('when speech starts and ends abruptly', async () => {
    const [, , samples = silence(0)] = spoken;
    const { onset, end } = edgesOf(samples);
    const segment = samples.slice(
      Math.round(onset + (end - onset) * 0.3),
      Math.round(onset + (end - onset) * 0.7),
    );
    const events = await eventsOf(engine, joined([silence(500), segment, silence(1000)]));
    const from = silence(500).length;
    const frame = 0.032 * SPOKEN_RATE_HZ;
    expect(events[0]).toMatchObject({ kind: 'started' });
    const { onsetSample = 0 } = events[0]?.kind === 'started' ? events[0] : {};
    expect(Math.abs(onsetSample - from)).toBeLessThanOrEqual(frame);
    const last = events.at(-1);
    expect(last?.kind).toBe('stopped');
    const { endSample = 0 } = last?.kind === 'stopped' ? last : {};
    expect(Math.abs(endSample - from - segment.length)).toBeLessThanOrEqual(frame);
  });
});

describe('starts no turn for', () => {
  const RATE_HZ = 16_000;
  const LENGTH = 8 * RATE_HZ;
  const samplesOf = (sample: (t: number) => number) =>
    Float32Array.from({ length: LENGTH }, (_, i) => sample(i / RATE_HZ));
  const sine = (hz: number, t: number) => Math.sin(2 * Math.PI * hz * t);
  const sounds: [string, () => Float32Samples][] = [
    ['silence', () => samplesOf(() => 0)],
    ['an offset', () => samplesOf(() => 0.3)],
    [
      'soft noise',
      () =>
        withNoise(
          samplesOf(() => 0),
          -50,
        ),
    ],
    [
      'loud noise',
      () =>
        withNoise(
          samplesOf(() => 0),
          -20,
        ),
    ],
    ['a tone', () => samplesOf((t) => 0.3 * sine(440, t))],
    ['mains hum', () => samplesOf((t) => 0.1 * (sine(50, t) + 0.5 * sine(100, t) + 0.2 * sine(150, t)))],
    [
      'a swelling chord',
      () => samplesOf((t) => 0.1 * Math.abs(sine(0.5, t)) * (sine(261.6, t) + sine(329.6, t) + sine(392, t))),
    ],
    [
      'a melody',
      () =>
        samplesOf((t) => {
          const hz = [262, 294, 330, 349, 392, 440, 494, 523][Math.floor(t * 4) % 8] ?? 262;
          return (
            0.2 * Math.exp(-1.5 * ((t * 4) % 1)) * (sine(hz, t) + sine(2 * hz, t) / 2 + sine(3 * hz, t) / 3)
          );
        }),
    ],
    ['clicks', () => samplesOf((t) => (Math.round(t * RATE_HZ) % 5000 < 3 ? 0.8 : 0))],
    ['dial tones', () => samplesOf((t) => ((t * 2) % 1 < 0.5 ? 0.2 * (sine(941, t) + sine(1336, t)) : 0))],
  ];
  it.each(sounds)('%s', async (_, sound) => {
    expect(await eventsOf(engine, sound(), { rateHz: RATE_HZ })).toEqual([]);
  });
});

describe('settings', () => {
  const talkOf = (...segments: readonly (Float32Samples | undefined)[]) =>
    joined([silence(700), ...segments.map((segment) => segment ?? silence(0)), silence(1200)]);
  const turnsOf = async (talk: Float32Samples, settings: Parameters<typeof eventsOf>[2]) =>
    (await eventsOf(engine, talk, settings)).filter(({ kind }) => kind === 'started').length;

  it('a threshold of 1 classifies nothing as speech, a threshold of 0 any sound', async () => {
    const talk = talkOf(spoken[1]);
    expect(await turnsOf(talk, { settings: { threshold: 1 } })).toBe(0);
    expect(await turnsOf(talk, { settings: { threshold: 0.9 } })).toBe(1);
    const tone = silence(500).map((_, i) => 0.1 * Math.sin(i / 10));
    expect(await turnsOf(talkOf(tone), { settings: { threshold: 0 } })).toBe(1);
    expect(await turnsOf(talkOf(tone), { settings: { threshold: 0.5 } })).toBe(0);
  });

  it('speech shorter than the minimum duration starts no turn', async () => {
    const word = spoken[6] ?? silence(0);
    const { onset, end } = edgesOf(word);
    const wordMs = ((end - onset) * 1000) / SPOKEN_RATE_HZ;
    const talk = talkOf(word);
    expect(await turnsOf(talk, { settings: { minSpeechDurationMs: wordMs - 40 } })).toBe(1);
    expect(await turnsOf(talk, { settings: { minSpeechDurationMs: wordMs + 40 } })).toBe(0);
  });

  it('silence shorter than the minimum duration ends no turn', async () => {
    const [, yes, , help] = spoken;
    const talk = talkOf(yes, silence(400), help);
    expect(await turnsOf(talk, { settings: { silenceDurationMs: 300 } })).toBe(2);
    const one = await eventsOf(engine, talk, { settings: { silenceDurationMs: 900 } });
    expect(one.map(({ kind }) => kind)).toEqual(['started', 'paused', 'resumed', 'paused', 'stopped']);
  });

  it('a prefix does not extend into the previous turn', async () => {
    const [, yes, , help] = spoken;
    const events = await eventsOf(engine, talkOf(yes, silence(500), help), {
      settings: { silenceDurationMs: 200, prefixPaddingMs: 5000 },
    });
    const starts = events.flatMap((event) => (event.kind === 'started' ? event.startSample : []));
    const ends = events.flatMap((event) => (event.kind === 'stopped' ? event.endSample : []));
    expect(starts).toEqual([0, ends[0]]);
  });
});

/** Opens a separate engine for the running test, with a function that sends a signal to its process. */
async function openSeparate(options: Partial<VadOptions> = {}) {
  const spawn = vi.spyOn(Bun, 'spawn');
  const own = await openEngine(options);
  onTestFinished(() => own.close());
  const [child] = spawn.mock.results.map(({ value }) => value as Bun.Subprocess);
  spawn.mockRestore();
  return { own, signal: (name: NodeJS.Signals) => child?.kill(name) };
}

describe('limits and crashes', () => {
  it('rejects audio above the buffer limit and classifies the buffered audio', async () => {
    const { own } = await openSeparate({ maxBufferedMs: 1000 });
    const stream = own.openStream(DEFAULT_VAD_SETTINGS, 16_000);
    const first = stream.write(withNoise(new Float32Array(16_001), -40));
    const second = stream.write(new Float32Array(1));
    await expect(second).rejects.toMatchObject({ kind: 'overloaded', code: 'server_overloaded' });
    expect(await first).toEqual([]);
    expect(await stream.write(new Float32Array(1))).toEqual([]);
  });

  it('reports a stream that was full when it was closed as closed', async () => {
    const { own } = await openSeparate({ maxBufferedMs: 1000 });
    const stream = own.openStream(DEFAULT_VAD_SETTINGS, 16_000);
    const waiting = stream.write(new Float32Array(16_001));
    stream.close();
    expect(await waiting).toEqual([]);
    await expect(stream.write(new Float32Array(1))).rejects.toThrow('closed');
  });

  it('minutes of audio in one write do not block the serving thread', async () => {
    const stream = engine.openStream(DEFAULT_VAD_SETTINGS, 48_000);
    let turns = 0;
    let timer: NodeJS.Immediate;
    const countTurn = () => {
      turns += 1;
      timer = setImmediate(countTurn);
    };
    timer = setImmediate(countTurn);
    await stream.write(new Float32Array(48_000 * 240));
    clearImmediate(timer);
    stream.close();
    expect(turns).toBeGreaterThan(10);
  });

  it('a crash fails streams with state in the process, not silent streams, and the process is replaced', async () => {
    const { own, signal } = await openSeparate();
    const active = own.openStream(DEFAULT_VAD_SETTINGS, SPOKEN_RATE_HZ);
    const silent = own.openStream(DEFAULT_VAD_SETTINGS, SPOKEN_RATE_HZ);
    const talk = joined([silence(300), spoken[2] ?? silence(0)]);
    await active.write(talk);
    await silent.write(silence(300));
    const during = active.write(talk);
    signal('SIGKILL');
    const crashed = { kind: 'internal', code: 'worker_crashed' };
    await expect(during).rejects.toMatchObject(crashed);
    await expect(active.write(silence(10))).rejects.toMatchObject(crashed);
    await expect(active.end()).rejects.toMatchObject(crashed);
    expect(own.ready().ready).toBe(false);
    // Waits for the next process.
    expect((await silent.write(joined([talk, silence(1000)]))).map(({ kind }) => kind)).toContain('stopped');
    expect(own.ready().ready).toBe(true);
    expect(await eventsOf(own, talk)).toEqual(await eventsOf(engine, talk));
  });

  it('records audio duration, step duration and restarts', async () => {
    const metrics = createMetrics(systemClock);
    onTestFinished(() => metrics.close());
    const value = (series: string) => metricValue(metrics, series);
    const { own, signal } = await openSeparate({ metrics });
    const stream = own.openStream(DEFAULT_VAD_SETTINGS, SPOKEN_RATE_HZ);
    expect(await value('vad_open_streams')).toBe(1);
    await stream.write(joined([silence(2000), spoken[0] ?? silence(0), silence(2000)]));
    await stream.end();
    stream.close();
    expect(await value('vad_open_streams')).toBe(0);
    expect(await value('vad_step_seconds_count')).toBeGreaterThan(1);
    expect(await value('vad_step_seconds_sum')).toBeGreaterThan(0);
    expect(await value('vad_audio_seconds_total{method="energy_gate"}')).toBeGreaterThan(2);
    expect(await value('vad_audio_seconds_total{method="model"}')).toBeGreaterThan(0.3);
    const during = eventsOf(own, spoken[2] ?? silence(0));
    signal('SIGKILL');
    await expect(during).rejects.toThrow();
    expect(await value('worker_restarts_total{process="voice_activity"}')).toBe(1);
  });

  it('kills and replaces a process that hangs', async () => {
    const { own, signal } = await openSeparate({ batchTimeoutMs: 5000 });
    signal('SIGSTOP');
    await expect(eventsOf(own, spoken[0] ?? silence(0))).rejects.toMatchObject({ code: 'worker_crashed' });
    expect((await eventsOf(own, spoken[0] ?? silence(0))).length).toBeGreaterThan(0);
  });

  it('fails open streams on close and rejects new ones', async () => {
    const { own } = await openSeparate();
    const stream = own.openStream(DEFAULT_VAD_SETTINGS, SPOKEN_RATE_HZ);
    const waiting = stream.write(spoken[0] ?? silence(0));
    const closing = own.close();
    await expect(waiting).rejects.toMatchObject({ kind: 'overloaded' });
    await closing;
    await own.close();
    expect(() => own.openStream(DEFAULT_VAD_SETTINGS, 16_000)).toThrow('shutting down');
  });

  it('rejects the start when the model file is missing', async () => {
    await expect(openEngine({ modelsDir: await tempDir() })).rejects.toThrow(StartError);
  });
});
