/** Properties that hold for any client input and any timing of the detector. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FakeVadEngine,
  Gate,
  randomScript,
  type ScriptedVadEvent,
} from '../../test/doubles/fake-vad-engine.ts';
import { repetitions } from '../../test/harness/tier.ts';
import { bits, joined } from '../../tools/harness/media/sample-runs.ts';
import { decodeToFloat32 } from '../audio/codec.ts';
import { Resampler } from '../audio/resampler.ts';
import type { Float32Samples } from '../contract/engines/audio.ts';
import type { VadSettings } from '../contract/engines/engine.ts';
import { seededRandom } from '../kit/math/seeded-random.ts';
import { type AudioFormat, sampleBytes } from './audio-format.ts';
import { TurnDroppedError } from './turn-audio.ts';
import { type SegmentedTurn, type SegmenterEvent, TurnSegmenter } from './turn-segmenter.ts';

const PCM_16K: AudioFormat = { encoding: 'pcm16', rateHz: 16_000 };

async function read({ audio }: SegmentedTurn): Promise<Float32Samples> {
  const queues: Float32Samples[] = [];
  for await (const piece of audio) if (piece !== 'pause') queues.push(piece);
  return joined(queues);
}

/** @param edge whether silence follows. */
function resampled(bytes: Uint8Array, { encoding, rateHz }: AudioFormat, edge = true): Float32Samples {
  const resampler = new Resampler({ fromHz: rateHz, toHz: 16_000, format: 'float32' });
  const width = encoding === 'pcm16' ? 2 : 1;
  const whole = bytes.subarray(0, bytes.length - (bytes.length % width));
  const received = resampler.push(decodeToFloat32(whole, encoding));
  return edge ? joined([received, resampler.flush()]) : received;
}

const fromSeed = seededRandom(1);
const NOISE = Uint8Array.from({ length: 1 << 20 }, () => Math.floor(fromSeed() * 256));

function noiseBytes(length: number, random: () => number): Uint8Array {
  const from = Math.floor(random() * (NOISE.length - length));
  return NOISE.slice(from, from + length);
}

describe('with detection, the audio and the events are the same', () => {
  const settings = fc.record<VadSettings>({
    threshold: fc.constant(0.5),
    prefixPaddingMs: fc.constantFrom(0, 300, 1000),
    silenceDurationMs: fc.constantFrom(0, 60, 109, 200, 500, 2000),
    minSpeechDurationMs: fc.constantFrom(0, 100),
  });

  /** The expected events and audio of the script, independent of timing. @param samples those that the detector receives. */
  function expectedOutcome(script: readonly ScriptedVadEvent[], samples: Float32Samples, given: VadSettings) {
    const lines: string[] = [];
    const audio: Float32Samples[] = [];
    const silence = given.silenceDurationMs * 16;
    let start = 0;
    for (const { atSample, event } of script) {
      if (atSample > samples.length) break;
      if (event.kind === 'started') {
        start = event.startSample;
        lines.push(`started ${Math.round(start / 16)}`);
      } else if (event.kind === 'stopped') {
        const { endSample } = event;
        lines.push(`stopped ${Math.round((endSample + silence) / 16)}`, 'committed');
        audio.push(samples.slice(start, endSample + Math.min(silence, 1600)));
      }
    }
    return { lines, audio };
  }

  it.each([16_000, 24_000, 8000, 44_100])(
    'for any split of the input and any detector timing, at %i Hz',
    async (rateHz) => {
      await fc.assert(
        fc.asyncProperty(
          fc.nat(),
          settings,
          fc.array(fc.nat(20_000), { minLength: 1, maxLength: 30 }),
          fc.array(fc.nat(3), { minLength: 1, maxLength: 20 }),
          async (seed, given, lengths, writes) => {
            const random = seededRandom(seed);
            const bytes = noiseBytes(2 * rateHz * 8, random);
            const script = randomScript(random, given, 16_000, 8000);
            const samples = resampled(bytes, { encoding: 'pcm16', rateHz }, false);
            const gate = new Gate();
            const vad = new FakeVadEngine({ script: () => script, before: gate.wait });
            const lines: string[] = [];
            const reads: Promise<Float32Samples>[] = [];
            const end = Promise.withResolvers<void>();
            const report = (event: SegmenterEvent) => {
              if (event.kind === 'speech_started') {
                lines.push(`started ${event.audioStartMs}`);
                // Some readers start early, some late.
                reads.push(random() < 0.5 ? read(event.turn) : end.promise.then(() => read(event.turn)));
              } else if (event.kind === 'speech_stopped') lines.push(`stopped ${event.audioEndMs}`);
              else lines.push(event.kind);
            };
            const segmenter = new TurnSegmenter({ vad, maxBufferedBytes: bytes.length, report });
            segmenter.configure({ encoding: 'pcm16', rateHz }, given);
            for (let at = 0, i = 0; at < bytes.length; i++) {
              const piece = bytes.slice(at, at + 1 + (lengths[i % lengths.length] ?? 0));
              if (!segmenter.append(piece)) throw new Error('the limit was reached');
              at += piece.length;
              for (let n = writes[i % writes.length] ?? 0; n > 0; n--) await gate.next();
            }
            while (gate.waiting > 0) await gate.next();
            expect(vad.streams.map(({ maxUnderWay }) => maxUnderWay)).toEqual([1]);
            expect(vad.streams.map((stream) => bits(stream.samples))).toEqual([bits(samples)]);
            expect(Math.max(...(vad.streams[0]?.pieces ?? []))).toBeLessThanOrEqual(16_000);
            const { lines: expected, audio } = expectedOutcome(script, samples, given);
            expect(lines).toEqual(expected);
            end.resolve();
            const [open, ...others] = reads.splice(audio.length);
            expect((await Promise.all(reads)).map((samples) => bits(samples))).toEqual(
              audio.map((samples) => bits(samples)),
            );
            expect(others).toEqual([]);
            const dropped = open && expect(open).rejects.toThrow(TurnDroppedError);
            segmenter.close();
            await dropped;
          },
        ),
        { seed: 11, numRuns: repetitions(8, 80) },
      );
    },
  );
});

describe('with manual commits, every sample is in exactly one turn', () => {
  const format = fc.constantFrom<AudioFormat>(
    PCM_16K,
    { encoding: 'pcm16', rateHz: 24_000 },
    { encoding: 'pcm16', rateHz: 48_000 },
    { encoding: 'mulaw', rateHz: 8000 },
    { encoding: 'alaw', rateHz: 8000 },
  );
  const command = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), length: fc.nat(9000) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('append' as const), length: fc.nat(5) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('commit' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('configure' as const), format }) },
  );

  it('for any split, formats, commits and clears, up to the limit', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 60 }), fc.nat(), async (commands, seed) => {
        const random = seededRandom(seed);
        const LIMIT = 40_000;
        const turns: SegmentedTurn[] = [];
        const segmenter = new TurnSegmenter({
          vad: new FakeVadEngine(),
          maxBufferedBytes: LIMIT,
          report: (event) => {
            if (event.kind !== 'committed') throw new Error(event.kind);
            turns.push(event.turn);
          },
        });
        segmenter.configure(PCM_16K, undefined);
        // The buffered audio, one entry per format.
        let buffered: { format: AudioFormat; bytes: number[] }[] = [{ format: PCM_16K, bytes: [] }];
        const expected: Float32Samples[] = [];
        const last = () => buffered.at(-1) ?? { format: PCM_16K, bytes: [] };
        for (const each of commands) {
          const bufferedBytes = buffered.reduce((sum, { bytes }) => sum + bytes.length, 0);
          if (each.kind === 'append') {
            const bytes = noiseBytes(each.length, random);
            const fits = bufferedBytes + bytes.length <= LIMIT;
            expect(segmenter.append(bytes)).toBe(fits);
            if (fits) last().bytes.push(...bytes);
          } else if (each.kind === 'configure') {
            segmenter.configure(each.format, undefined);
            const { format: before, bytes } = last();
            if (before.encoding !== each.format.encoding || before.rateHz !== each.format.rateHz) {
              if (bytes.length < sampleBytes(before)) buffered.pop();
              buffered.push({ format: each.format, bytes: [] });
            }
          } else if (each.kind === 'commit') {
            const holds = buffered.some(({ format: { encoding }, bytes }) =>
              encoding === 'pcm16' ? bytes.length > 1 : bytes.length > 0,
            );
            expect(segmenter.commit()).toBe(holds);
            if (holds) {
              expected.push(joined(buffered.map((run) => resampled(Uint8Array.from(run.bytes), run.format))));
              buffered = [{ format: last().format, bytes: [] }];
            }
          } else {
            segmenter.clear();
            buffered = [{ format: last().format, bytes: [] }];
          }
          expect(segmenter.bufferedBytes).toBe(buffered.reduce((sum, { bytes }) => sum + bytes.length, 0));
        }
        expect((await Promise.all(turns.map(read))).map((samples) => bits(samples))).toEqual(
          expected.map((samples) => bits(samples)),
        );
        expect(new Set(turns.map(({ itemId }) => itemId)).size).toBe(turns.length);
      }),
      { seed: 12, numRuns: repetitions(25, 150) },
    );
  });
});
