import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import readings from '../fixtures/readings.json' with { type: 'json' };
import { normalizeEnglish } from './normalize.ts';

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
      }),
      // Regression: an address with empty labels between its dots.
      { numRuns: 2000, examples: [['www....XIV'], ['www.....'], ['http://a..b/~~'], ['www.-.a']] },
    );
  });
});

/** Texts that cause backtracking in careless patterns. */
const HOSTILE = [
  ...[
    '1',
    '1,',
    '1.',
    '1.1.1.1',
    '1:',
    '1/',
    '1-',
    '1 ',
    '+1 ',
    '1e',
    '1x',
    '½',
    '((((',
    '))))',
    '[](',
    '](',
    '[[',
    '<a',
  ],
  ...[
    'aaaa',
    'a.',
    'aB',
    'A',
    "a'",
    'a-',
    'a@',
    'a@a.',
    '$$$$',
    '$1',
    '@@@@',
    ':::',
    '://',
    '*',
    '_',
    '__',
    '#',
    '`',
  ],
  ...[
    '"',
    "'",
    '“',
    '. ',
    '- ',
    'No. ',
    'Dr. ',
    'I ',
    'X',
    '\n',
    '\n- ',
    ' ',
    '—',
    '…',
    '。',
    '٣',
    '日',
    '😀',
    '\u0301',
    'é',
  ],
];

describe('hostile text', () => {
  test.each(['1,', 'a.', '(a', '“a', '[a](', '<a'])(
    'a long sequence inside %j is read within the time limit',
    (ends) => {
      const [head = '', mark = ''] = ends;
      const text = `${head}${mark.repeat(40_000)}${head}`;
      expect(fastestMs(() => normalizeEnglish(text))).toBeLessThan(800);
    },
  );

  test.each(HOSTILE)('5,000 characters of %j are read in less than 0.1 s', (unit) => {
    const text = unit.repeat(Math.ceil(5000 / unit.length));
    expect(fastestMs(() => normalizeEnglish(text))).toBeLessThan(100);
  });

  // A quadratic step would take seconds here.
  test.each(HOSTILE)('the time to read 40,000 characters of %j is linear', (unit) => {
    const text = unit.repeat(Math.ceil(40_000 / unit.length));
    expect(fastestMs(() => normalizeEnglish(text))).toBeLessThan(800);
    expect(normalizeEnglish(text).length).toBeLessThan(text.length * 12);
  });
});

/** Best of three, because other load affects single measurements. */
function fastestMs(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3; i++) {
    const start = performance.now();
    run();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}
