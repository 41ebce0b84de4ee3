import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64 } from './base64.ts';

const bytesOf = (text: string) => {
  const bytes = decodeBase64(text);
  return bytes === undefined ? undefined : [...bytes];
};

describe('decodeBase64', () => {
  it.each([
    ['', []],
    ['AA==', [0]],
    ['AAE=', [0, 1]],
    ['AAEC', [0, 1, 2]],
    ['+/+/', [251, 255, 191]],
    ['/w==', [255]],
  ])('decodes %j', (text, bytes) => {
    expect(bytesOf(text)).toEqual(bytes);
  });

  it.each([
    ['no padding', ['AA', 'AAA', 'AAEC/w']],
    ['incomplete padding', ['AA=', 'A=', '=']],
    ['excess padding', ['AAEC=', 'AAEC====', 'A===', '====', 'AA==AA==']],
    ['an incomplete byte', ['A', 'AAAAA']],
    ['trailing bits', ['AB==', 'AAF=', '/x==']],
    ['the url alphabet', ['-_-_', 'AA-_', '_w==']],
    [
      'white space',
      ['AA EC', 'AAEC\n', ' AAEC', 'AA==    ', 'A\tA\r=\f=', 'AA=\n=', 'AA=\n=\n\n\n', '    ', '\n'],
    ],
    [
      'other characters',
      ['AAE*', 'AA\u0000=', 'ÄAEC', '\ud800AEC', 'AAEC\u2028', 'data:audio/pcm;base64,AAEC'],
    ],
  ])('rejects %s', (_, texts) => {
    for (const text of texts) expect(bytesOf(text), JSON.stringify(text)).toBeUndefined();
  });

  it('decodes any encoded bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(bytesOf(Buffer.from(bytes).toString('base64'))).toEqual([...bytes]);
      }),
    );
  });

  it('accepts a text only if its bytes encode to the same text', () => {
    const almostBase64 = fc.string({ unit: fc.constantFrom(...'AQgw/+9z=-_ \n'), maxLength: 12 });
    fc.assert(
      fc.property(almostBase64, (text) => {
        const rewritten = Buffer.from(text, 'base64').toString('base64');
        expect(decodeBase64(text) !== undefined).toBe(rewritten === text);
      }),
      { numRuns: 2000 },
    );
  });

  it('decodes an append of the maximum size', () => {
    const bytes = new Uint8Array(25 * 1024 * 1024).fill(0x5a);
    expect(decodeBase64(Buffer.from(bytes).toString('base64'))?.length).toBe(bytes.length);
  });
});
