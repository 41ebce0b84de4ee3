import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Resampler } from '../../src/audio/resampler.ts';
import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import {
  DEFAULT_VAD_SETTINGS,
  type VadEngine,
  type VadEvent,
  type VadSettings,
} from '../../src/contract/engines/engine.ts';
import { joined } from '../../tools/harness/media/sample-runs.ts';
import { edgesOf, SPOKEN_RATE_HZ, silence, speak } from '../../tools/harness/media/spoken.ts';

/** An engine under test. */
export interface VadEngineUnderTest {
  readonly engine: VadEngine;
  close(): Promise<void>;
}

/** All events of a stream whose audio is split at the given samples. */
export async function eventsOf(
  engine: VadEngine,
  samples: Float32Samples,
  options: { rateHz?: number; settings?: Partial<VadSettings>; cuts?: readonly number[] } = {},
): Promise<VadEvent[]> {
  const { rateHz = SPOKEN_RATE_HZ, settings = {}, cuts = [] } = options;
  const stream = engine.openStream({ ...DEFAULT_VAD_SETTINGS, ...settings }, rateHz);
  const bounds = [0, ...[...cuts].sort((a, b) => a - b), samples.length];
  const writes = bounds.slice(1).map((end, i) => stream.write(samples.slice(bounds[i], end)));
  const events = (await Promise.all([...writes, stream.end()])).flat();
  stream.close();
  return events;
}

const kinds = (events: readonly VadEvent[]) => events.map(({ kind }) => kind);

/** The contract of `VadEngine`, with real speech. */
export function vadEngineCases(name: string, open: () => Promise<VadEngineUnderTest>): void {
  describe(`${name} as a VadEngine`, () => {
    let subject: VadEngineUnderTest;
    let engine: VadEngine;
    /** Silence, a sentence, silence, a word, silence. */
    let talk: Float32Samples;
    let turns: { onset: number; end: number }[];
    beforeAll(async () => {
      const [sentence, word] = await speak(['The harbour was quiet that morning.', 'Perhaps.']);
      if (!sentence || !word) throw new Error('synthesis returned no audio');
      const pause = silence(1000);
      talk = joined([pause, sentence, pause, word, pause]);
      turns = [
        { samples: sentence, from: pause.length },
        { samples: word, from: 2 * pause.length + sentence.length },
      ].map(({ samples, from }) => {
        const { onset, end } = edgesOf(samples);
        return { onset: from + onset, end: from + end };
      });
      subject = await open();
      engine = subject.engine;
    });
    afterAll(() => subject?.close());

    /** Expects the two turns of `talk`, each edge within a frame of 32 ms. */
    function expectTurns(events: readonly VadEvent[], rateHz: number): void {
      const started = events.filter((event) => event.kind === 'started');
      const stopped = events.filter((event) => event.kind === 'stopped');
      expect([started.length, stopped.length]).toEqual([2, 2]);
      for (const [i, { onset, end }] of turns.entries()) {
        const offByMs = (sample = Number.NaN, truth = 0) =>
          Math.abs((sample / rateHz - truth / SPOKEN_RATE_HZ) * 1000);
        expect(offByMs(started[i]?.onsetSample, onset)).toBeLessThanOrEqual(32);
        expect(offByMs(stopped[i]?.endSample, end)).toBeLessThanOrEqual(32);
      }
    }

    it('is ready', () => {
      expect(engine.ready().ready).toBe(true);
    });

    it('detects the edges and the prefix of each turn', async () => {
      const events = await eventsOf(engine, talk);
      expectTurns(events, SPOKEN_RATE_HZ);
      for (const event of events) {
        if (event.kind !== 'started') continue;
        expect(event.onsetSample - event.startSample).toBe(Math.round(0.3 * SPOKEN_RATE_HZ));
      }
    });

    it.each([8000, 16_000, 22_050, 24_000, 44_100, 48_000])(
      'detects the same turns at %i Hz',
      async (rateHz) => {
        const resampler = new Resampler({ fromHz: SPOKEN_RATE_HZ, toHz: rateHz, format: 'float32' });
        const samples = joined([resampler.push(talk), resampler.flush()]);
        expectTurns(await eventsOf(engine, samples, { rateHz }), rateHz);
      },
    );

    it('reports a pause before the end of speech, and all events in order', async () => {
      const stream = engine.openStream(DEFAULT_VAD_SETTINGS, SPOKEN_RATE_HZ);
      const reported: (VadEvent & { writtenMs: number })[] = [];
      const step = SPOKEN_RATE_HZ / 50;
      for (let at = 0; at < talk.length; at += step) {
        const events = await stream.write(talk.slice(at, at + step));
        const writtenMs = (Math.min(talk.length, at + step) * 1000) / SPOKEN_RATE_HZ;
        reported.push(...events.map((event) => ({ ...event, writtenMs })));
      }
      stream.close();
      const order = kinds(reported).join(' ');
      expect(order).toMatch(
        /^started paused (resumed paused )*stopped started paused (resumed paused )*stopped$/,
      );
      for (const [i, { kind, writtenMs }] of reported.entries()) {
        if (kind === 'stopped') expect(writtenMs - (reported[i - 1]?.writtenMs ?? 0)).toBeGreaterThan(200);
      }
    });

    it('reports the same events for any split of the audio', async () => {
      const expected = await eventsOf(engine, talk);
      const cuts = fc.array(fc.integer({ min: 0, max: talk.length }), { maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(cuts, async (places) => {
          expect(await eventsOf(engine, talk, { cuts: places })).toEqual(expected);
        }),
        { numRuns: 20 },
      );
      const everyMs = Array.from({ length: talk.length / 22 }, (_, i) => i * 22);
      expect(await eventsOf(engine, talk, { cuts: everyMs })).toEqual(expected);
    });

    it('reports the same events with other concurrent streams', async () => {
      const delays = [0, 137, 4099, 20_011, 33_333];
      const streams = delays.flatMap((delay) => [
        talk.slice(delay),
        talk.slice(delay).map((each) => each / 4),
      ]);
      const alone: VadEvent[][] = [];
      for (const samples of streams) alone.push(await eventsOf(engine, samples));
      const together = await Promise.all(
        streams.map((samples, i) => eventsOf(engine, samples, { cuts: [i * 1000, i * 7777] })),
      );
      expect(together).toEqual(alone);
    });

    it('resolves writes in their order', async () => {
      const stream = engine.openStream(DEFAULT_VAD_SETTINGS, SPOKEN_RATE_HZ);
      const order: number[] = [];
      const parts = Array.from({ length: 20 }, (_, i) => talk.slice(i * 3000, (i + 1) * 3000));
      await Promise.all(parts.map((part, i) => stream.write(part).then(() => order.push(i))));
      stream.close();
      expect(order).toEqual([...parts.keys()]);
    });

    it('handles the end of the stream like following silence', async () => {
      const cut = talk.slice(0, (turns[0]?.end ?? 0) - 4000);
      const events = await eventsOf(engine, cut);
      expect(kinds(events)).toEqual(['started', 'paused', 'stopped']);
      const followed = await eventsOf(engine, joined([cut, silence(2000)]));
      const inside = followed.map((event) =>
        'endSample' in event ? { ...event, endSample: Math.min(event.endSample, cut.length) } : event,
      );
      expect(events).toEqual(inside);
      expect(events.at(-1)).toMatchObject({ endSample: cut.length });
    });

    it('reports no events for silence and for an empty stream', async () => {
      expect(await eventsOf(engine, silence(1234))).toEqual([]);
      expect(await eventsOf(engine, new Float32Array(0))).toEqual([]);
    });

    it('reports the same events for a second stream', async () => {
      const first = await eventsOf(engine, talk);
      expect(await eventsOf(engine, talk)).toEqual(first);
    });

    it('rejects writes after its end or close; a close resolves pending writes', async () => {
      const ended = engine.openStream(DEFAULT_VAD_SETTINGS, SPOKEN_RATE_HZ);
      await ended.end();
      await expect(ended.write(silence(10))).rejects.toThrow('ended');
      await expect(ended.end()).rejects.toThrow('ended');
      ended.close();
      const closed = engine.openStream(DEFAULT_VAD_SETTINGS, SPOKEN_RATE_HZ);
      const waiting = closed.write(talk);
      closed.close();
      closed.close();
      expect(await waiting).toEqual([]);
      await expect(closed.write(silence(10))).rejects.toThrow('closed');
    });

    it.each([7999, 48_001, 16_000.5])('rejects a sample rate of %d Hz', (rateHz) => {
      expect(() => engine.openStream(DEFAULT_VAD_SETTINGS, rateHz)).toThrow(RangeError);
    });

    it.each([
      ['threshold', 1.1],
      ['threshold', -0.1],
      ['threshold', Number.NaN],
      ['prefixPaddingMs', -1],
      ['silenceDurationMs', Number.NaN],
      ['silenceDurationMs', 5001],
      ['minSpeechDurationMs', Number.POSITIVE_INFINITY],
    ])('rejects a %s of %d', (field, value) => {
      expect(() => engine.openStream({ ...DEFAULT_VAD_SETTINGS, [field]: value }, 16_000)).toThrow(
        RangeError,
      );
    });
  });
}
