import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIRST_LINE, type LinePosition, LineSplitter } from './line-splitter.ts';

const MAX_BYTES = 12;
const MARK = '\ufeff';

interface SplitLine {
  readonly number: number;
  readonly startBytes: number;
  readonly endBytes: number;
  readonly text: string | undefined;
}

/** Splits a file that arrives in chunks of these lengths, repeated. */
function splitInPieces(
  bytes: Uint8Array<ArrayBuffer>,
  lengths: readonly number[],
  from: LinePosition,
): SplitLine[] {
  const splitter = new LineSplitter(MAX_BYTES, from);
  const lines: SplitLine[] = [];
  const collect = (split: ReturnType<LineSplitter['split']>) => {
    for (const { bytes: of, ...line } of split) {
      lines.push({ ...line, text: of && new TextDecoder('utf-8', { ignoreBOM: true }).decode(of) });
    }
  };
  let at = from.offsetBytes;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    collect(splitter.split(bytes.slice(at, at + length)));
    at += length;
  }
  collect(splitter.flush());
  return lines;
}

/** The reference implementation: splits the whole text. */
function splitText(text: string): SplitLine[] {
  let start = 0;
  const lines: SplitLine[] = [];
  const texts = text.split('\n');
  for (const [index, line] of texts.entries()) {
    const isLast = index === texts.length - 1;
    const lengthBytes = Buffer.byteLength(line);
    const end = start + lengthBytes + (isLast ? 0 : 1);
    const position = { number: index + 1, startBytes: start, endBytes: end };
    const own = index === 0 && line.startsWith(MARK) ? line.slice(1) : line;
    if (lengthBytes > MAX_BYTES) lines.push({ ...position, text: undefined });
    else if (!/^[ \t\r]*$/.test(own)) lines.push({ ...position, text: own });
    start = end;
  }
  return lines;
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
  it('do not depend on the chunk boundaries', () => {
    fc.assert(
      fc.property(file, lengths, (text, pieces) => {
        expect(splitInPieces(new TextEncoder().encode(text), pieces, FIRST_LINE)).toEqual(splitText(text));
      }),
      { numRuns: 500 },
    );
  });

  it('are the same when reading resumes after any of them', () => {
    fc.assert(
      fc.property(file, lengths, fc.nat(), (text, pieces, choice) => {
        const all = splitText(text);
        const last = all[choice % Math.max(1, all.length)];
        if (last === undefined) return;
        const from = { offsetBytes: last.endBytes, line: last.number + 1 };
        const rest = all.filter(({ number }) => number > last.number);
        expect(splitInPieces(new TextEncoder().encode(text), pieces, from)).toEqual(rest);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a line', () => {
  it('may have the maximum length but not more', () => {
    const text = `${'a'.repeat(MAX_BYTES)}\n${'b'.repeat(MAX_BYTES + 1)}\nc`;
    const lines = splitInPieces(new TextEncoder().encode(text), [5], FIRST_LINE);
    expect(lines.map((line) => line.text)).toEqual(['a'.repeat(MAX_BYTES), undefined, 'c']);
  });

  it('keeps its bytes when they are not valid UTF-8', () => {
    const [line] = new LineSplitter(MAX_BYTES).split(new Uint8Array([0xff, 0xc0, 10]));
    expect([...(line?.bytes ?? [])]).toEqual([0xff, 0xc0]);
  });
});
