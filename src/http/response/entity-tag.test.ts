import fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchesEntityTag } from './entity-tag.ts';

const TAG = '"a1"';

it.each([TAG, `W/${TAG}`, `"x", ${TAG}`, `${TAG},"x"`, `W/"x" ,\t, W/${TAG}`, '*', ' * ', `"a,b", ${TAG}`])(
  '%j matches the tag',
  (header) => {
    expect(matchesEntityTag(header, TAG)).toBe(true);
  },
);

it.each([null, '', 'a1', '"A1"', '"a1', '"x"', '"*"', '"x", *', `"x${TAG}y"`, '"x, a1"', '""'])(
  '%j does not match the tag',
  (header) => {
    expect(matchesEntityTag(header, TAG)).toBe(false);
  },
);

it('matches among any other tags', () => {
  const unit = fc.constantFrom(...'!#,a1 /W*~\xff'.replace(' ', ''));
  const opaque = fc.string({ unit }).map((text) => `"${text}"`);
  const listed = fc.tuple(fc.boolean(), opaque);
  fc.assert(
    fc.property(fc.array(listed), opaque, (tags, tag) => {
      const header = tags.map(([isWeak, text]) => (isWeak ? `W/${text}` : text)).join(', ');
      expect(matchesEntityTag(header, tag)).toBe(tags.some(([, text]) => text === tag));
    }),
  );
});
