import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIRST_LINE, LineCutter, type LinePlace } from './line-splitter.ts';

const MAX_BYTES = 12;
const MARK = '\ufeff';

interface Told {
  readonly number: number;
  readonly startBytes: number;
  readonly endBytes: number;
  readonly text: string | undefined;
}

/** Cuts a file that comes in pieces of these lengths, again and again. */
function cutIn(bytes: Uint8Array<ArrayBuffer>, lengths: readonly number[], from: LinePlace): Told[] {
  const cutter = new LineCutter(MAX_BYTES, from);
  const told: Told[] = [];
  const tell = (lines: ReturnType<LineCutter['cut']>) => {
    for (const { bytes: of, ...line } of lines) {
      told.push({ ...line, text: of && new TextDecoder('utf-8', { ignoreBOM: true }).decode(of) });
    }
  };
  let at = from.offsetBytes;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    tell(cutter.cut(bytes.slice(at, at + length)));
    at += length;
  }
  tell(cutter.end());
  return told;
}

/** The same by splitting the whole text. */
function split(text: string): Told[] {
  let start = 0;
  const told: Told[] = [];
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const isLast = index === lines.length - 1;
    const lengthBytes = Buffer.byteLength(line);
    const end = start + lengthBytes + (isLast ? 0 : 1);
    const place = { number: index + 1, startBytes: start, endBytes: end };
    const own = index === 0 && line.startsWith(MARK) ? line.slice(1) : line;
    if (lengthBytes > MAX_BYTES) told.push({ ...place, text: undefined });
    else if (!/^[ \t\r]*$/.test(own)) told.push({ ...place, text: own });
    start = end;
  }
  return told;
}

const piece = fc.constantFrom(
  '\n',
  '\r\n',
  '\n\n',
  ' ',
  '\t',
  'a',
  '{}',
  '"x"',
  'é',
  '語',
  'longer than all',
  MARK,
);
const file = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
const lengths = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 6 });

describe('lines of a file', () => {
  it('are the same however it is cut', () => {
    fc.assert(
      fc.property(file, lengths, (text, pieces) => {
        expect(cutIn(new TextEncoder().encode(text), pieces, FIRST_LINE)).toEqual(split(text));
      }),
      { numRuns: 500 },
    );
  });

  it('are the same when it is read from the end of any of them', () => {
    fc.assert(
      fc.property(file, lengths, fc.nat(), (text, pieces, choice) => {
        const all = split(text);
        const last = all[choice % Math.max(1, all.length)];
        if (last === undefined) return;
        const from = { offsetBytes: last.endBytes, line: last.number + 1 };
        const rest = all.filter(({ number }) => number > last.number);
        expect(cutIn(new TextEncoder().encode(text), pieces, from)).toEqual(rest);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a line', () => {
  it('may be as long as allowed and no longer', () => {
    const text = `${'a'.repeat(MAX_BYTES)}\n${'b'.repeat(MAX_BYTES + 1)}\nc`;
    const told = cutIn(new TextEncoder().encode(text), [5], FIRST_LINE);
    expect(told.map((line) => line.text)).toEqual(['a'.repeat(MAX_BYTES), undefined, 'c']);
  });

  it('keeps its bytes when they are no text', () => {
    const [line] = new LineCutter(MAX_BYTES).cut(new Uint8Array([0xff, 0xc0, 10]));
    expect([...(line?.bytes ?? [])]).toEqual([0xff, 0xc0]);
  });
});
