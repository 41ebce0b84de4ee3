/**
 * Random walks through all calls and detector events, at random times. Each sample encodes its index, so that
 * the test knows which turn received it.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeVadEngine, Gate, randomScript, settled } from '../../test/doubles/fake-vad-engine.ts';
import { repetitions } from '../../test/harness/tier.ts';
import { DEFAULT_VAD_SETTINGS, type VadSettings } from '../contract/engines/engine.ts';
import { seededRandom } from '../kit/math/seeded-random.ts';
import type { AudioFormat } from './audio-format.ts';
import { TurnDroppedError } from './turn-audio.ts';
import { type SegmentedTurn, type SegmenterEvent, TurnSegmenter } from './turn-segmenter.ts';

/** The rate equals that of the reader, so samples pass through unchanged. The other format is converted. */
const NUMBERED: AudioFormat = { encoding: 'pcm16', rateHz: 16_000 };
const OTHER: AudioFormat = { encoding: 'mulaw', rateHz: 16_000 };
const PER_MS = 16;
/** Sample values are indices modulo this number. */
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
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('write' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('commit' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('clear' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('configure' as const), which: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('other_format' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const) }) },
);

/** Returns the samples as numbers, or the reason why reading stopped. */
async function read({ audio }: SegmentedTurn): Promise<number[] | 'dropped'> {
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
  readonly turn: SegmentedTurn;
  readonly startMs: number | undefined;
  /** Audio in the other format before the first number, in ms. */
  readonly otherMs: number;
  endMs: number | undefined;
  isDropped: boolean;
  readonly received: Promise<number[] | 'dropped'>;
}

/** Records the events of a segmenter and checks their order and positions. */
class EventRecorder {
  readonly seen: SeenTurn[] = [];
  readonly events: SegmenterEvent[] = [];
  /** Audio in the other format so far, in ms. */
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
    occurrences[event.kind] += 1;
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

  #see(turn: SegmentedTurn, startMs: number | undefined): SeenTurn {
    const received = this.#random() < 0.5 ? read(turn) : this.#readLate.then(() => read(turn));
    const { otherMs } = this;
    const seen = { turn, startMs, otherMs, endMs: undefined, isDropped: false, received };
    this.seen.push(seen);
    return seen;
  }
}

/** Number of occurrences of each event, and of turns cut by the client. */
const occurrences = {
  speech_started: 0,
  speech_stopped: 0,
  committed: 0,
  dropped: 0,
  detector_failed: 0,
  cut: 0,
};

describe('for any sequence of calls and events', () => {
  it('turns are in order and contain exactly the audio that their events describe', async () => {
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
          const recorder = new EventRecorder(random, late.promise);
          const segmenter = new TurnSegmenter({
            vad,
            maxBufferedBytes: LIMIT_BYTES,
            report: recorder.report,
          });
          let detection: VadSettings | undefined;
          let number = 0;
          let isHalf = false;
          /** First number that no later turn may contain: all audio before it was committed or cleared. */
          let cut = 0;
          /** Whether detection was off since the cut, so that all audio since then is buffered. */
          let isManual = true;
          /** First and last number and kind of cut, for turns that the client cut. */
          const cutTurns = new Map<SegmentedTurn, { from: number | undefined; to: number }>();
          segmenter.configure(NUMBERED, undefined);

          const isCutAt = (before: number) => {
            for (const { turn } of recorder.events
              .slice(before)
              .flatMap((e) => (e.kind === 'committed' ? e : []))) {
              const started = recorder.seen.find((seen) => seen.turn === turn)?.startMs !== undefined;
              cutTurns.set(turn, { from: isManual && !started ? cut : undefined, to: number });
            }
          };
          for (const each of commands) {
            const before = recorder.events.length;
            const wasOpen = recorder.isOpen;
            switch (each.kind) {
              case 'append': {
                // A buffered partial sample is completed first.
                const samples = Int16Array.from({ length: each.length }, (_, i) => number + i);
                const bytes = new Uint8Array(samples.buffer);
                const rest = isHalf ? bytes.slice(1) : bytes;
                const bufferedBytes = segmenter.bufferedBytes;
                if (rest.length === 0) break;
                const isOdd = each.length > 1 && random() < 0.3;
                const sent = isOdd ? rest.slice(0, -1) : rest;
                const isAccepted = segmenter.append(sent);
                expect(isAccepted).toBe(bufferedBytes + sent.length <= LIMIT_BYTES);
                if (!isAccepted) {
                  expect(segmenter.bufferedBytes).toBe(bufferedBytes);
                  break;
                }
                number += isOdd ? each.length - 1 : each.length;
                isHalf = isOdd;
                break;
              }
              case 'write':
                await gate.next();
                break;
              case 'fail':
                await gate.next(new Error('died'));
                break;
              case 'commit': {
                const isAccepted = segmenter.commit();
                const committed = recorder.events.slice(before).filter(({ kind }) => kind === 'committed');
                expect(committed.length).toBe(isAccepted ? 1 : 0);
                if (!isAccepted) break;
                expect(segmenter.bufferedBytes).toBe(0);
                isCutAt(before);
                [cut, isManual, isHalf] = [number, detection === undefined, false];
                break;
              }
              case 'clear':
                segmenter.clear();
                expect(recorder.events.slice(before).map(({ kind }) => kind)).toEqual(
                  wasOpen ? ['dropped'] : [],
                );
                expect(segmenter.bufferedBytes).toBe(0);
                [cut, isManual, isHalf] = [number, detection === undefined, false];
                break;
              case 'configure': {
                const wanted = DETECTIONS[each.which];
                if (wanted === detection) break;
                segmenter.configure(NUMBERED, wanted);
                expect(recorder.isOpen).toBe(false);
                isCutAt(before);
                if (wasOpen) [cut, isManual] = [number, true];
                detection = wanted;
                if (wanted) isManual = false;
                break;
              }
              case 'other_format':
                // Numbers continue after audio in the other format, all of which is cleared.
                segmenter.configure(OTHER, detection);
                isCutAt(before);
                segmenter.append(new Uint8Array(160));
                recorder.otherMs += 160 / PER_MS;
                segmenter.clear();
                segmenter.configure(NUMBERED, detection);
                [cut, isManual, isHalf] = [number, detection === undefined, false];
                break;
            }
            // One stream is open at a time, and it processes one write of at most one second.
            expect(vad.streams.filter(({ isClosed }) => !isClosed).length).toBeLessThanOrEqual(1);
          }
          while (gate.waiting > 0) await gate.next();
          const end = recorder.events.length;
          segmenter.close();
          await gate.next();
          expect(recorder.events.length).toBe(end);
          for (const stream of vad.streams) {
            expect(stream.isClosed).toBe(true);
            expect(stream.maxUnderWay).toBeLessThanOrEqual(1);
            expect(Math.max(0, ...stream.pieces)).toBeLessThanOrEqual(NUMBERED.rateHz);
          }
          late.resolve();
          await settled();

          for (const { turn, received, isDropped, endMs, startMs, otherMs } of recorder.seen) {
            const numbers = await received;
            const isComplete = !isDropped && (startMs === undefined || endMs !== undefined);
            if (!isComplete || numbers === 'dropped') {
              expect([isComplete, numbers]).toEqual([false, 'dropped']);
              continue;
            }
            // A contiguous range in order.
            const [first = 0] = numbers;
            expect(numbers.every((each, i) => each === ((first + i) & (NUMBERS - 1)))).toBe(true);
            if (startMs !== undefined) {
              const off = ((startMs - otherMs) * PER_MS - first) & (NUMBERS - 1);
              expect(Math.min(off, NUMBERS - off)).toBeLessThanOrEqual(PER_MS / 2);
            }
            const cutAt = cutTurns.get(turn);
            if (cutAt && startMs !== undefined) occurrences.cut += 1;
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
      { seed: 13, numRuns: repetitions(40, 150) },
    );
    // The walks cover all events.
    expect(Math.min(...Object.values(occurrences))).toBeGreaterThan(10);
  });
});
