/**
 * Random walks through everything that can happen to a segmenter, at random moments of the detector's work. Each
 * sample tells its number, so that it is known whose it became.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeVadEngine, Gate, randomScript, settled } from '../../test/doubles/fake-vad-engine.ts';
import { DEFAULT_VAD_SETTINGS, type VadSettings } from '../contract/engines/engine.ts';
import { seededRandom } from '../kit/math/seeded-random.ts';
import type { AudioFormat } from './audio-format.ts';
import { TurnDroppedError } from './turn-audio.ts';
import { type SegmenterEvent, type Turn, TurnSegmenter } from './turn-segmenter.ts';

/** Equal rates, so that numbers come out as they went in; the other codes them. */
const NUMBERED: AudioFormat = { encoding: 'pcm16', rateHz: 16_000 };
const OTHER: AudioFormat = { encoding: 'mulaw', rateHz: 16_000 };
const PER_MS = 16;
/** Samples count modulo this. */
const NUMBERS = 1 << 16;
const LIMIT_BYTES = 400_000;

const DETECTIONS: readonly (VadSettings | undefined)[] = [
  undefined,
  DEFAULT_VAD_SETTINGS,
  { ...DEFAULT_VAD_SETTINGS, silenceDurationMs: 100, prefixPaddingMs: 0 },
];

const command = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('append' as const), length: fc.nat(20_000) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('append' as const), length: fc.nat(100) }) },
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('answer' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('commit' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('clear' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('configure' as const), which: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('other_format' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const) }) },
);

/** Samples as numbers, or what stopped the reading. */
async function read({ audio }: Turn): Promise<number[] | 'dropped'> {
  const numbers: number[] = [];
  try {
    for await (const piece of audio) {
      if (piece === 'pause') continue;
      for (const sample of piece) numbers.push(Math.round(sample * 32_768) & (NUMBERS - 1));
    }
    return numbers;
  } catch (error) {
    if (error instanceof TurnDroppedError) return 'dropped';
    throw error;
  }
}

interface SeenTurn {
  readonly turn: Turn;
  readonly startMs: number | undefined;
  /** Before the first number, in ms. */
  readonly otherMs: number;
  endMs: number | undefined;
  isDropped: boolean;
  readonly heard: Promise<number[] | 'dropped'>;
}

/** The events of one segmenter, whose order and positions it checks as they come. */
class Watch {
  readonly seen: SeenTurn[] = [];
  readonly events: SegmenterEvent[] = [];
  /** What came in the other format so far. */
  otherMs = 0;
  #open: SeenTurn | undefined;
  #latestEndMs = 0;
  readonly #readLate: Promise<void>;
  readonly #random: () => number;

  constructor(random: () => number, readLate: Promise<void>) {
    this.#random = random;
    this.#readLate = readLate;
  }

  readonly report = (event: SegmenterEvent): void => {
    this.events.push(event);
    met[event.kind] += 1;
    switch (event.kind) {
      case 'speech_started':
        expect(this.#open).toBeUndefined();
        this.#open = this.#see(event.turn, event.audioStartMs);
        break;
      case 'speech_stopped':
        expect(event.itemId).toBe(this.#open?.turn.itemId);
        expect(event.audioEndMs).toBeGreaterThanOrEqual(this.#open?.startMs ?? Number.NaN);
        expect(event.audioEndMs).toBeGreaterThanOrEqual(this.#latestEndMs);
        this.#latestEndMs = event.audioEndMs;
        if (this.#open) this.#open.endMs = event.audioEndMs;
        break;
      case 'committed':
        if (this.#open) {
          expect(this.events.at(-2)).toMatchObject({ kind: 'speech_stopped', itemId: event.turn.itemId });
          expect(event.turn).toBe(this.#open.turn);
          this.#open = undefined;
        } else {
          this.#see(event.turn, undefined);
        }
        break;
      case 'dropped':
        expect(event.itemId).toBe(this.#open?.turn.itemId);
        if (this.#open) this.#open.isDropped = true;
        this.#open = undefined;
        break;
      case 'detector_failed':
        break;
    }
  };

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  #see(turn: Turn, startMs: number | undefined): SeenTurn {
    const heard = this.#random() < 0.5 ? read(turn) : this.#readLate.then(() => read(turn));
    const { otherMs } = this;
    const seen = { turn, startMs, otherMs, endMs: undefined, isDropped: false, heard };
    this.seen.push(seen);
    return seen;
  }
}

/** How often each event was seen, and turns that the client cut. */
const met = { speech_started: 0, speech_stopped: 0, committed: 0, dropped: 0, detector_failed: 0, cut: 0 };

describe('whatever happens, in whatever order', () => {
  it('turns come in order, hold what they say, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 1, maxLength: 150, size: 'max' }),
        fc.nat(),
        async (commands, seed) => {
          const random = seededRandom(seed);
          const gate = new Gate();
          const vad = new FakeVadEngine({
            script: () => randomScript(random, DEFAULT_VAD_SETTINGS, NUMBERED.rateHz, 60_000),
            before: gate.wait,
          });
          const late = Promise.withResolvers<void>();
          const watch = new Watch(random, late.promise);
          const segmenter = new TurnSegmenter({ vad, maxBufferedBytes: LIMIT_BYTES, report: watch.report });
          let detection: VadSettings | undefined;
          let number = 0;
          let isHalf = false;
          /** First number that no turn may have any more: behind it all was committed or cleared. */
          let cut = 0;
          /** Whether commits were by hand since the cut, and so all since then is held. */
          let isByHand = true;
          /** First and last number and kind of cut, for turns that were cut by the client. */
          const cutTurns = new Map<Turn, { from: number | undefined; to: number }>();
          segmenter.configure(NUMBERED, undefined);

          const isCutAt = (before: number) => {
            for (const { turn } of watch.events
              .slice(before)
              .flatMap((e) => (e.kind === 'committed' ? e : []))) {
              const started = watch.seen.find((seen) => seen.turn === turn)?.startMs !== undefined;
              cutTurns.set(turn, { from: isByHand && !started ? cut : undefined, to: number });
            }
          };
          for (const each of commands) {
            const before = watch.events.length;
            const wasOpen = watch.isOpen;
            switch (each.kind) {
              case 'append': {
                // A byte that waits for its other half goes first.
                const samples = Int16Array.from({ length: each.length }, (_, i) => number + i);
                const bytes = new Uint8Array(samples.buffer);
                const rest = isHalf ? bytes.slice(1) : bytes;
                const bufferedBytes = segmenter.bufferedBytes;
                if (rest.length === 0) break;
                const isOdd = each.length > 1 && random() < 0.3;
                const sent = isOdd ? rest.slice(0, -1) : rest;
                const isTaken = segmenter.append(sent);
                expect(isTaken).toBe(bufferedBytes + sent.length <= LIMIT_BYTES);
                if (!isTaken) {
                  expect(segmenter.bufferedBytes).toBe(bufferedBytes);
                  break;
                }
                number += isOdd ? each.length - 1 : each.length;
                isHalf = isOdd;
                break;
              }
              case 'answer':
                await gate.next();
                break;
              case 'fail':
                await gate.next(new Error('died'));
                break;
              case 'commit': {
                const isAccepted = segmenter.commit();
                const committed = watch.events.slice(before).filter(({ kind }) => kind === 'committed');
                expect(committed.length).toBe(isAccepted ? 1 : 0);
                if (!isAccepted) break;
                expect(segmenter.bufferedBytes).toBe(0);
                isCutAt(before);
                [cut, isByHand, isHalf] = [number, detection === undefined, false];
                break;
              }
              case 'clear':
                segmenter.clear();
                expect(watch.events.slice(before).map(({ kind }) => kind)).toEqual(
                  wasOpen ? ['dropped'] : [],
                );
                expect(segmenter.bufferedBytes).toBe(0);
                [cut, isByHand, isHalf] = [number, detection === undefined, false];
                break;
              case 'configure': {
                const wanted = DETECTIONS[each.which];
                if (wanted === detection) break;
                segmenter.configure(NUMBERED, wanted);
                expect(watch.isOpen).toBe(false);
                isCutAt(before);
                if (wasOpen) [cut, isByHand] = [number, true];
                detection = wanted;
                if (wanted) isByHand = false;
                break;
              }
              case 'other_format':
                // Numbers go on after a stretch of the other format, all of which is cleared.
                segmenter.configure(OTHER, detection);
                isCutAt(before);
                segmenter.append(new Uint8Array(160));
                watch.otherMs += 160 / PER_MS;
                segmenter.clear();
                segmenter.configure(NUMBERED, detection);
                [cut, isByHand, isHalf] = [number, detection === undefined, false];
                break;
            }
            // One stream at a time, which judges one piece at a time of at most a second.
            expect(vad.streams.filter(({ isClosed }) => !isClosed).length).toBeLessThanOrEqual(1);
          }
          while (gate.waiting > 0) await gate.next();
          const end = watch.events.length;
          segmenter.close();
          await gate.next();
          expect(watch.events.length).toBe(end);
          for (const stream of vad.streams) {
            expect(stream.isClosed).toBe(true);
            expect(stream.maxUnderWay).toBeLessThanOrEqual(1);
            expect(Math.max(0, ...stream.pieces)).toBeLessThanOrEqual(NUMBERED.rateHz);
          }
          late.resolve();
          await settled();

          for (const { turn, heard, isDropped, endMs, startMs, otherMs } of watch.seen) {
            const numbers = await heard;
            const isComplete = !isDropped && (startMs === undefined || endMs !== undefined);
            if (!isComplete || numbers === 'dropped') {
              expect([isComplete, numbers]).toEqual([false, 'dropped']);
              continue;
            }
            // One stretch, in order.
            const [first = 0] = numbers;
            expect(numbers.every((each, i) => each === ((first + i) & (NUMBERS - 1)))).toBe(true);
            if (startMs !== undefined) {
              const off = ((startMs - otherMs) * PER_MS - first) & (NUMBERS - 1);
              expect(Math.min(off, NUMBERS - off)).toBeLessThanOrEqual(PER_MS / 2);
            }
            const cutAt = cutTurns.get(turn);
            if (cutAt && startMs !== undefined) met.cut += 1;
            if (cutAt) {
              expect(((numbers.at(-1) ?? -1) + 1) & (NUMBERS - 1)).toBe(cutAt.to & (NUMBERS - 1));
              if (cutAt.from !== undefined) expect(numbers.length).toBe(cutAt.to - cutAt.from);
            }
            if (startMs !== undefined && endMs !== undefined && cutAt) {
              expect(Math.abs(endMs - startMs - numbers.length / PER_MS)).toBeLessThanOrEqual(1);
            }
          }
        },
      ),
      { seed: 13, numRuns: 150 },
    );
    // The walks lead everywhere.
    expect(Math.min(...Object.values(met))).toBeGreaterThan(30);
  });
});
