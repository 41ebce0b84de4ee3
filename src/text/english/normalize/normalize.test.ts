import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HOSTILE_SEQUENCES, HOSTILE_UNITS } from '../../../../test/generators/hostile-units.ts';
import { repetitions } from '../../../../test/harness/tier.ts';
import readings from '../fixtures/readings.json' with { type: 'json' };
import { normalizedWords, normalizeEnglish } from './normalize.ts';

const isWord = (word: string) => word === 'YouTube';
/** Input that the phoneme stage supports: words, and the punctuation of the speech model's vocabulary. */
const SPEAKABLE = /^[\p{L}\p{M}'\- ;:,.!?—…“”()]*$/u;

for (const [group, rows] of Object.entries(readings)) {
  describe(group, () => {
    test.each(rows as [string, string][])('%j', (text, spoken) => {
      expect(normalizeEnglish(text, { isWord })).toBe(spoken);
    });
  });
}

describe('sentences', () => {
  test.each([
    [
      'Dr. Smith paid $5.50 at 3:30 pm on March 3rd, 2024.',
      'Doctor Smith paid five dollars and fifty cents at three thirty PM on March third, twenty twenty-four.',
    ],
    [
      'I live at 12 Main St. near Oak Dr. in St. Louis.',
      'I live at twelve Main Street near Oak Drive in Saint Louis.',
    ],
    [
      'The U.S. economy grew 3.2% in 2023. GDP is $27.4 trillion.',
      'The US economy grew three point two percent in twenty twenty-three. GDP is twenty-seven point four trillion dollars.',
    ],
    [
      'Mt. Everest is 8,849 m (29,032 ft) high.',
      'Mount Everest is eight thousand eight hundred forty-nine meters (twenty-nine thousand thirty-two feet) high.',
    ],
    ['She said: "Hello!" (really?!)', 'She said: “Hello!” (really?)'],
  ])('%s', (text, spoken) => expect(normalizeEnglish(text)).toBe(spoken));

  test('plain prose is unchanged', () => {
    const prose = 'It was the best of times, it was the worst of times; no one, in short, knew!';
    expect(normalizeEnglish(prose)).toBe(prose);
  });

  test('normalization is idempotent', () => {
    for (const [, spoken] of Object.values(readings).flat() as [string, string][]) {
      expect(normalizeEnglish(normalizeEnglish(spoken))).toBe(normalizeEnglish(spoken));
    }
  });
});

/** The spoken words of each word of a text: "10 kg" → "10=ten kg=kilograms". */
function spokenByWord(text: string): string {
  const spoken = new Map<number, string[]>();
  for (const { index } of text.matchAll(/\S+/gu)) spoken.set(index, []);
  for (const { text: word, source } of normalizedWords(text)) {
    spoken.get([...spoken.keys()].findLast((start) => start <= source) ?? 0)?.push(word);
  }
  return Array.from(
    text.matchAll(/\S+/gu),
    ({ 0: word, index }) => `${word}=${spoken.get(index)?.join(' ')}`,
  ).join(' | ');
}

describe('the source of spoken words', () => {
  test.each([
    ['He paid $5.50 today.', 'He=He | paid=paid | $5.50=five dollars and fifty cents | today.=today.'],
    ['$3.2 million left', '$3.2=three point two | million=million dollars | left=left'],
    ['20 USD or USD 20', '20=twenty US dollars | USD= | or=or | USD=twenty US dollars | 20='],
    ['10 kg at 3:30 pm', '10=ten | kg=kilograms | at=at | 3:30=three thirty | pm=PM'],
    ['on March 3rd, 2024.', 'on=on | March=March | 3rd,=third, | 2024.=twenty twenty-four.'],
    ['15 March 2024', '15=the fifteenth | March=of March, | 2024=twenty twenty-four'],
    ['Dr. Smith’s well-known café', "Dr.=Doctor | Smith’s=Smith's | well-known=well-known | café=cafe"],
    [
      '“Yes,” (he) said — no 🙂 smile',
      '“Yes,”=“Yes,” | (he)=(he) | said=said — | —= | no=no | 🙂= | smile=smile',
    ],
    [
      'call (555) 123-4567 now',
      'call=call | (555)=five five five, | 123-4567=one two three, four five six seven | now=now',
    ],
    ['add 1 1/2 cups', 'add=add | 1=one | 1/2=and a half | cups=cups'],
    [
      'see [the *new* docs](http://a.b/c d) here',
      'see=see | [the=the | *new*=new | docs](http://a.b/c=docs | d)= | here=here',
    ],
    ['- one\n- two', '-= | one=one. | -= | two=two'],
    ['# Title\n\nend.Next wait...what', '#= | Title=Title. | end.Next=end. Next | wait...what=wait… what'],
    [
      'a <b class="x">bold</b> move 你好 ok',
      'a=a | <b= | class="x">bold</b>=bold | move=move | 你好= | ok=ok',
    ],
  ])('%s', (text, words) => expect(spokenByWord(text)).toBe(words));
});

/** Patterns of the readers, to reach more code than random characters do. */
const PIECES = [
  '$',
  '5',
  '1,234',
  '3:30',
  'pm',
  '.',
  ',',
  '-',
  '–',
  'Dr.',
  'No.',
  'XIV',
  'March',
  '2024',
  '@',
  '://',
];
const MORE = [
  'www.',
  'a.com',
  '%',
  'km',
  '½',
  '(',
  ')',
  '"',
  '“',
  "'",
  '*',
  '_',
  '#',
  '[',
  '](',
  '\n',
  ' ',
  '😀',
  'é',
];
const OTHERS = [
  '日',
  'я',
  '٣',
  '\u200d',
  '\u0301',
  'aB',
  'NASA',
  '...',
  '+1',
  '/',
  '1/2',
  'x',
  '°F',
  '\ud800',
  '\0',
];
const written = fc
  .array(
    fc.oneof(fc.constantFrom(...PIECES, ...MORE, ...OTHERS), fc.string({ unit: 'binary', maxLength: 4 })),
    {
      maxLength: 40,
    },
  )
  .map((parts) => parts.join(''));

describe('any text', () => {
  test('results only in words and speakable punctuation', () => {
    fc.assert(
      fc.property(written, (text) => {
        const spoken = normalizeEnglish(text);
        expect(spoken).toMatch(SPEAKABLE);
        expect(spoken).toBe(spoken.trim());
        expect(spoken).not.toContain('  ');
        const sources = normalizedWords(text).map(({ source }) => source);
        expect(sources).toEqual(sources.toSorted((a, b) => a - b));
        for (const source of sources) expect(text[source]).toMatch(/\S/u);
      }),
      // Regression: an address with empty labels between its dots.
      {
        numRuns: repetitions(667, 2000),
        examples: [['www....XIV'], ['www.....'], ['http://a..b/~~'], ['www.-.a']],
      },
    );
  });
});

describe('an invisible character changes nothing', () => {
  /** Format characters, and others that Unicode defines as invisible by default. */
  const invisible = Array.from({ length: 0x11_0000 }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
    .filter((char) => /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(char));

  test('there are more than 4,000, among them the common ones', () => {
    expect(invisible.length).toBeGreaterThan(4000);
    expect(invisible).toEqual(
      expect.arrayContaining([...'\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u2060\u2066\u2069\ufe0f\ufeff']),
    );
  });

  test.each([
    'The won\u25cbderful har\u25cbbour.',
    'Dr\u25cb. Smith paid $5\u25cb.50 at 3:\u25cb30 pm.',
    'See www.exam\u25cbple.com, YouTube\u25cb, it\u25cb’s *bo\u25cbld*.',
    '\u25cb- An item\u25cb\n\u25cb- and the next\u25cb.',
    'One\u25cb \u25cbtwo.\u25cb Three\u25cb!',
  ])('%s', (marked) => {
    const plain = normalizeEnglish(marked.replaceAll('\u25cb', ''));
    for (const char of invisible) expect(normalizeEnglish(marked.replaceAll('\u25cb', char))).toBe(plain);
  });

  test('words keep their positions in the text', () => {
    expect(normalizedWords('a\u200bb c').map(({ source }) => source)).toEqual([0, 4]);
  });
});

/** Many times longer than any sentence, so that a cost that grows with the square of the length is obvious. */
const HOSTILE_CHARACTERS = repetitions(10_000, 40_000);

describe('hostile text', () => {
  test.each(HOSTILE_SEQUENCES)('a long sequence inside %j is read', (ends) => {
    const [head = '', mark = ''] = ends;
    normalizeEnglish(`${head}${mark.repeat(HOSTILE_CHARACTERS)}${head}`);
  });

  test.each(HOSTILE_UNITS)('many characters of %j are read as a text of similar length', (unit) => {
    const text = unit.repeat(Math.ceil(HOSTILE_CHARACTERS / unit.length));
    expect(normalizeEnglish(text).length).toBeLessThan(text.length * 12);
  });
});
