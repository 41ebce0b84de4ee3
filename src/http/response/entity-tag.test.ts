import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isKnownTo } from './entity-tag.ts';

const TAG = '"a1"';

it.each([TAG, `W/${TAG}`, `"x", ${TAG}`, `${TAG},"x"`, `W/"x" ,\t, W/${TAG}`, '*', ' * ', `"a,b", ${TAG}`])(
  '%j names it',
  (header) => {
    expect(isKnownTo(header, TAG)).toBe(true);
  },
);

it.each([null, '', 'a1', '"A1"', '"a1', '"x"', '"*"', '"x", *', `"x${TAG}y"`, '"x, a1"', '""'])(
  '%j does not',
  (header) => {
    expect(isKnownTo(header, TAG)).toBe(false);
  },
);

it('is found among any others', () => {
  const unit = fc.constantFrom(...'!#,a1 /W*~\xff'.replace(' ', ''));
  const opaque = fc.string({ unit }).map((text) => `"${text}"`);
  const listed = fc.tuple(fc.boolean(), opaque);
  fc.assert(
    fc.property(fc.array(listed), opaque, (tags, tag) => {
      const header = tags.map(([isWeak, text]) => (isWeak ? `W/${text}` : text)).join(', ');
      expect(isKnownTo(header, tag)).toBe(tags.some(([, text]) => text === tag));
    }),
  );
});
