import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TextToken } from '../../contract/engines/engine.ts';
import { TextTokens } from './text-tokens.ts';

const token = (text: string | readonly number[]): TextToken => ({
  bytes: [...(typeof text === 'string' ? Buffer.from(text) : text)],
  logProbability: -0.5,
});
const bytesOf = (tokens: readonly TextToken[]) => tokens.map(({ bytes }) => Buffer.from(bytes).toString());

function tokensOf(...pieces: (string | readonly number[])[]): TextTokens {
  const tokens = new TextTokens();
  for (const piece of pieces) tokens.push(token(piece));
  return tokens;
}

describe('the tokens of a text', () => {
  it('belong to the part in which they end', () => {
    const tokens = tokensOf(' Ask', ' no', 't', '.');
    expect(bytesOf(tokens.take('Ask'))).toEqual(['Ask']);
    expect(tokens.take('')).toEqual([]);
    expect(bytesOf(tokens.take(' n'))).toEqual([]);
    expect(bytesOf(tokens.take('ot'))).toEqual([' no', 't']);
    expect(bytesOf(tokens.flush())).toEqual(['.']);
    expect(tokens.flush()).toEqual([]);
  });

  it('keep their probability', () => {
    const tokens = new TextTokens();
    tokens.push({ bytes: [32, 97], logProbability: -1.5 });
    expect(tokens.take('a')).toEqual([{ bytes: [97], logProbability: -1.5 }]);
  });

  it('within a character belong to the part with the whole character', () => {
    const [first = 0, ...rest] = Buffer.from('好');
    const tokens = tokensOf('你', [first], rest, '世');
    expect(bytesOf(tokens.take('你'))).toEqual(['你']);
    expect(tokens.take('好')).toEqual([token([first]), token(rest)]);
    expect(bytesOf(tokens.flush())).toEqual(['世']);
  });

  it('lose the white space at both ends of the text, even within a token and a character', () => {
    const wide = Buffer.from('\u3000');
    const tokens = tokensOf(' ', [...wide.subarray(0, 1)], [...wide.subarray(1)], ' \na', ' b\n', [
      ...wide.subarray(0, 2),
    ]);
    tokens.push(token([...wide.subarray(2)]));
    expect(bytesOf(tokens.flush())).toEqual(['a', ' b']);
    expect(tokensOf(' ', '\n').flush()).toEqual([]);
    expect(tokensOf().flush()).toEqual([]);
  });

  it('include those of an incomplete last character', () => {
    expect(tokensOf('a ', [0xe5]).flush()).toEqual([token('a '), token([0xe5])]);
  });

  it('are those of the whole text, however it is divided', () => {
    const text = fc.array(fc.constantFrom('a', 'é', '好', '👋', ' ', '\u3000', '\n'), { maxLength: 30 });
    const cuts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 });
    fc.assert(
      fc.property(text, cuts, cuts, (characters, tokenLengths, partLengths) => {
        const bytes = [...Buffer.from(characters.join(''))];
        const tokens = new TextTokens();
        for (let at = 0, i = 0; at < bytes.length; i += 1) {
          const length = tokenLengths[i % tokenLengths.length] ?? 1;
          tokens.push(token(bytes.slice(at, at + length)));
          at += length;
        }
        const trimmed = characters.join('').trim();
        const all: TextToken[] = [];
        let taken = '';
        for (let at = 0, i = 0; at < trimmed.length; i += 1) {
          const length = partLengths[i % partLengths.length] ?? 1;
          taken += trimmed.slice(at, at + length);
          all.push(...tokens.take(trimmed.slice(at, at + length)));
          const soFar = Buffer.from(all.flatMap((each) => [...each.bytes])).toString();
          expect(taken.startsWith(soFar)).toBe(true);
          at += length;
        }
        all.push(...tokens.flush());
        expect(Buffer.from(all.flatMap((each) => [...each.bytes])).toString()).toBe(trimmed);
        expect(all.every((each) => each.bytes.length > 0)).toBe(true);
      }),
    );
  });
});
