import { expect, test } from 'vitest';
import { respellInterjections } from './espeak.ts';

test.each([
  ['Mhm. Hmm, mm-hmm!', 'um-hum. Hmm, um-hum!'],
  ['Shh, brr.', 'shush, burr.'],
  ['5 mm', '5 hmm'],
  ['HMS, mph, ft, M. Hm', 'HMS, mph, ft, M. hmm'],
  ['Mhmx mm-x x-mm', 'Mhmx mm-x x-mm'],
])('%j is read as %j', (text, expected) => {
  expect(respellInterjections(text)).toBe(expected);
});
