import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SpeakableText } from './speakable-text.ts';

function spoken(...pieces: readonly string[]): string {
  const text = new SpeakableText();
  return pieces.map((piece) => text.push(piece)).join('') + text.end();
}

describe('speakable text', () => {
  test.each([
    ['plain', 'Hello there. How are you?', 'Hello there. How are you?'],
    [
      'emphasis',
      'It is **very** *good* and ***free*** or __bold__ or ~~gone~~.',
      'It is very good and free or bold or gone.',
    ],
    ['inline code', 'Run `bun test` now.', 'Run bun test now.'],
    ['a link', 'See [the guide](https://example.com/a_b) first.', 'See the guide first.'],
    ['an image', 'A ![red car](car.png) here.', 'A red car here.'],
    ['a citation', 'It is blue [1][^2].', 'It is blue .'],
    [
      'a bare address',
      'Go to <https://example.com> or https://a.b/c_d_e.',
      'Go to https://example.com or https://a.b/c_d_e.',
    ],
    ['a heading', '## Opening hours\nWe open at 9.', 'Opening hours.\nWe open at 9.'],
    ['a list', 'We have:\n- tea\n- coffee!\n* [x] cake', 'We have:\ntea.\ncoffee!\ncake.'],
    ['a numbered list', '1. Stir.\n2) Serve', 'Stir.\nServe.'],
    ['a quote', '> Be brief.\n> Be clear.', 'Be brief.\nBe clear.'],
    ['a table', '| Day | Hours |\n|:--|--:|\n| Monday | 9 to 5 |', 'Day, Hours.\nMonday, 9 to 5.'],
    ['a rule', 'One.\n\n---\n\nTwo.', 'One.\n\n\nTwo.'],
    ['a code block', 'Use this:\n```ts\nconst a = 1;\n\n# no\n```\nDone.', 'Use this:\nDone.'],
    ['an open code block', 'Use this:\n```ts\nconst a = 1;', 'Use this:\n'],
    ['a tag', 'Line<br>break and <b>bold</b>.', 'Linebreak and bold.'],
    ['emoji', 'Great! 🎉👍🏽 See 👩‍💻 you ❤️ in 🇫🇷.', 'Great!  See  you  in .'],
    ['an escape', 'Five \\* is not \\_emphasis\\_.', 'Five * is not _emphasis_.'],
    ['a product', 'So 3 * 4 and 3*4 is 12.', 'So 3 * 4 and 3*4 is 12.'],
    ['a name', 'The field snake_case_name is _important_.', 'The field snake_case_name is important.'],
    ['a comparison', 'It is < 5 and > 3.', 'It is < 5 and > 3.'],
    ['an open bracket', 'Press [the button.', 'Press [the button.'],
    ['a dash', '- 5 degrees', '5 degrees.'],
    ['a negative number', '-5 degrees', '-5 degrees'],
    ['a year', '2024 was good.', '2024 was good.'],
  ])('of %s', (_, markdown, expected) => {
    expect(spoken(markdown)).toBe(expected);
  });

  test('does not depend on how the text arrives', () => {
    const piece = fc.constantFrom(
      ...[
        '**',
        '*',
        '_',
        '`',
        '```',
        '\n',
        ' ',
        'word',
        '# ',
        '- ',
        '1. ',
        '[',
        '](',
        ')',
        '<b>',
        '|',
        '---',
        '🎉',
        '\\',
        '!',
        'a_b',
        '3 * 4',
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const characters = [...pieces.join('')];
        expect(spoken(...pieces)).toBe(spoken(...characters));
      }),
    );
  });

  test('is returned as soon as it cannot change', () => {
    const text = new SpeakableText();
    expect(text.push('Sure, I ')).toBe('Sure, I ');
    expect(text.push('can **help')).toBe('can help');
    expect(text.push('** you.')).toBe(' you.');
  });

  test('holds a link of limited length', () => {
    const text = new SpeakableText();
    expect(text.push(`See [${'x'.repeat(400)}`).length).toBeGreaterThan(300);
  });
});
