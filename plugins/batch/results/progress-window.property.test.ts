import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BatchProgress, MAX_LINES_AHEAD } from '../../../src/contract/stores/batch-store.ts';
import { FIRST_LINE, type LinePosition } from '../input/line-splitter.ts';
import { type LineSpan, ProgressWindow } from './progress-window.ts';

const START: BatchProgress = { ...FIRST_LINE, ahead: [] };

/** A file as the lengths of its lines. A length of 0 is a blank line. */
function spansOf(lengths: readonly number[]): LineSpan[] {
  let startBytes = 0;
  return lengths.flatMap((length, index) => {
    const span = { number: index + 1, startBytes, endBytes: startBytes + length + 1 };
    startBytes = span.endBytes;
    return length === 0 ? [] : [span];
  });
}

/** Lines at or after an offset, which must be a line boundary or the end of the file. */
function linesFrom(spans: readonly LineSpan[], position: LinePosition): LineSpan[] {
  for (const { number, startBytes } of spans) {
    if (number === position.line) expect(startBytes).toBe(position.offsetBytes);
  }
  return spans.filter(({ startBytes }) => startBytes >= position.offsetBytes);
}

describe('a line', () => {
  it('is in exactly one saved part, independent of completion order and crashes', () => {
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
          let window = new ProgressWindow(progress);
          let unread = linesFrom(spans, window.nextPosition);
          let open: number[] = [];
          let unsaved: number[] = [];
          const begin = () => {
            const line = unread.shift();
            if (line !== undefined && window.startLine(line)) open.push(line.number);
          };
          const end = (which: number) => {
            const [number] = open.splice(which % Math.max(1, open.length), 1);
            if (number === undefined) return;
            window.finishLine(number);
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
              window = new ProgressWindow(progress);
              unread = linesFrom(spans, window.nextPosition);
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

  it(`cannot start more than ${MAX_LINES_AHEAD} lines ahead of an unfinished one`, () => {
    const window = new ProgressWindow(START);
    const spans = spansOf(Array.from({ length: MAX_LINES_AHEAD + 2 }, () => 1));
    const last = spans.pop() as LineSpan;
    for (const span of spans) {
      expect(window.canStart(span)).toBe(true);
      window.startLine(span);
      if (span.number > 1) window.finishLine(span.number);
    }
    expect(window.progress().ahead).toHaveLength(MAX_LINES_AHEAD);
    expect(window.canStart(last)).toBe(false);
    window.finishLine(1);
    expect(window.canStart(last)).toBe(true);
    expect(window.progress()).toEqual({ offsetBytes: last.startBytes, line: last.number, ahead: [] });
  });
});
