import { expect, test } from 'vitest';
import { plainIpa } from './ipa.ts';

test.each([
  ["t͡ʃ'ɪkən", 'tʃˈɪkən'],
  ['ɡuːɡl, google', 'ɡuːɡl, ɡooɡle'],
  ['  a.b‿c |  d ', 'abc d'],
  ['ç', 'c\u0327'],
])('%s is %s', (ipa, plain) => expect(plainIpa(ipa)).toBe(plain));
