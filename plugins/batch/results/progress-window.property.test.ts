import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BatchProgress, MAX_LINES_AHEAD } from '../../../src/contract/stores/batch-store.ts';
import { FIRST_LINE, type LinePlace } from '../input/line-splitter.ts';
import { type LineSpan, LineWindow } from './progress-window.ts';

const START: BatchProgress = { ...FIRST_LINE, ahead: [] };

/** A file by the lengths of its lines; one of length 0 is blank. */
function spansOf(lengths: readonly number[]): LineSpan[] {
  let startBytes = 0;
  return lengths.flatMap((length, index) => {
    const span = { number: index + 1, startBytes, endBytes: startBytes + length + 1 };
    startBytes = span.endBytes;
    return length === 0 ? [] : [span];
  });
}

/** Lines that lie at a place or behind it, which must be where one begins or the file ends. */
function linesFrom(spans: readonly LineSpan[], place: LinePlace): LineSpan[] {
  for (const { number, startBytes } of spans) {
    if (number === place.line) expect(startBytes).toBe(place.offsetBytes);
  }
  return spans.filter(({ startBytes }) => startBytes >= place.offsetBytes);
}

describe('a line', () => {
  it('is in exactly one saved part, whatever ends first and wherever runners die', () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.constant({ kind: 'begin' as const }) },
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(1000) }) },
      { weight: 2, arbitrary: fc.constant({ kind: 'save' as const }) },
      { weight: 1, arbitrary: fc.constant({ kind: 'die' as const }) },
    );
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 40 }),
        fc.array(step, { maxLength: 200 }),
        (lengths, steps) => {
          const spans = spansOf(lengths);
          const saved: number[] = [];
          let progress = START;
          let window = new LineWindow(progress);
          let unread = linesFrom(spans, window.next);
          let open: number[] = [];
          let unsaved: number[] = [];
          const begin = () => {
            const line = unread.shift();
            if (line !== undefined && window.begin(line)) open.push(line.number);
          };
          const end = (which: number) => {
            const [number] = open.splice(which % Math.max(1, open.length), 1);
            if (number === undefined) return;
            window.end(number);
            unsaved.push(number);
          };
          const save = () => {
            progress = window.progress();
            expect(progress.ahead).toEqual([...new Set(progress.ahead)].sort((a, b) => a - b));
            saved.push(...unsaved);
            unsaved = [];
          };
          for (const { kind, which } of steps.map((each) => ({ which: 0, ...each }))) {
            if (kind === 'begin') begin();
            else if (kind === 'end') end(which);
            else if (kind === 'save') save();
            else {
              window = new LineWindow(progress);
              unread = linesFrom(spans, window.next);
              open = [];
              unsaved = [];
            }
          }
          while (unread.length > 0) begin();
          while (open.length > 0) end(0);
          save();
          expect(saved.toSorted((a, b) => a - b)).toEqual(spans.map(({ number }) => number));
          expect(progress.ahead).toEqual([]);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it(`may not begin when it is more than ${MAX_LINES_AHEAD} ahead of one without a result`, () => {
    const window = new LineWindow(START);
    const spans = spansOf(Array.from({ length: MAX_LINES_AHEAD + 2 }, () => 1));
    const last = spans.pop() as LineSpan;
    for (const span of spans) {
      expect(window.hasRoomFor(span)).toBe(true);
      window.begin(span);
      if (span.number > 1) window.end(span.number);
    }
    expect(window.progress().ahead).toHaveLength(MAX_LINES_AHEAD);
    expect(window.hasRoomFor(last)).toBe(false);
    window.end(1);
    expect(window.hasRoomFor(last)).toBe(true);
    expect(window.progress()).toEqual({ offsetBytes: last.startBytes, line: last.number, ahead: [] });
  });
});
