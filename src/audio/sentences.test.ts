import { describe, expect, test } from 'vitest';
import { SentenceChunker, splitSentences } from './sentences.ts';

/** Expected chunks are separated by `|`. */
const CASES: Readonly<Record<string, readonly string[]>> = {
  'plain sentences': ['Hello there. |How are you? |Fine!'],
  titles: ['Mr. Smith met Mrs. Jones and Dr. Who. |They left.', 'Prof. Gray and Lt. Col. Brown agree. |Yes.'],
  initials: [
    'J. R. R. Tolkien wrote it. |He was born in 1892.',
    'It was by J. D. Salinger. |George W. Bush read it.',
  ],
  'Latin and company': [
    'Use fruit, e.g. Apples, i.e. the red ones. |Cf. Plato.',
    'Smith et al. Found it? |No.',
  ],
  'etc.': ['Pears, plums, etc. are fruit. |Pears, plums, etc. |Bob came.'],
  'states and times': [
    'The U.S. Government said so. |He lives in the U.S. |He likes it.',
    'Come at 5 p.m. Eastern time. |At 9 a.m. |We start.',
    'A Ph.D. thesis. |Washington D.C. |It rains.',
  ],
  'streets and saints': ['St. Louis is far. |We walked down Main St. |The shop was shut.'],
  companies: ['Acme Inc. Bought it? |Acme Inc. |It was old.', 'Smith & Co. Ltd. |They pay.'],
  months: ['On Jan. 5 it snowed. |It ended in Feb. |We went home.'],
  numbers: [
    'Pi is 3.14159. |See No. 5 and Fig. 3. |I said no. |Then I left.',
    'Version 1.2.3 is out. |It costs $4.50. |In 2020. |Good.',
  ],
  addresses: [
    'See https://a.example/b.c?d. |Wait. |Look at https://a.example/b.c?d=e.f!g. |Then write to a.b@c.example. |Done.',
    'Open file.txt or node.js now. |Use www.example.com.',
  ],
  ellipses: ['Well... maybe so. |Wait... |What? |Hm… |Yes… but no.', '...and so it began. |It ended...'],
  quotes: [
    'He said "stop." |Then he left. |“Why?” |“Because.” |She ‘knew.’ |Really.',
    '"Stop!" he said. |"Go?" she asked. |(It was late.) |They slept.',
    'She asked, "Is it 5 p.m.?" |"No."',
  ],
  'runs of marks': ['What?! |No!!! |Really?.. |Yes!', 'A question ?! |An answer !'],
  'lower case goes on after a full stop': ['The max. value of approx. five. |The rest vs. them.'],
  'law cases and years': ['In Roe v. Wade it was so. |Built c. 1900 or so. |Solve for x. |Then stop.'],
  French: ['« Bonjour ! » dit-il. |Quoi ? |Il a dit : « Oui. » |Puis rien. |« Un. |Deux ? » |Fin.'],
  Spanish: [
    '¿Cómo estás? |¡Muy bien! |El Sr. Pérez y la Dra. Gómez llegaron. |Fin.',
    'Está en la pág. 12, p. ej. Madrid. |Vive en la Avda. Mayor. |Fin.',
  ],
  Italian: ['Il sig. Rossi e il dott. Bianchi. |Vedi pag. 5, p.es. Roma. |Poi basta.'],
  Portuguese: ['A Profa. Lima e os Srs. Reis moram na Av. Paulista. |Fim.'],
  German: [
    'Er sagte: „Ja.“ |Dann ging er. |Das ist z.B. Berlin.',
    'Am 3. Mai und am 12. März. |Am 3. mai, im 19. Jahrhundert und im 2. Stock.',
    'Der 1. Januar. |Es waren 12. |Dann ging er. |Er wurde 3. |Österreich gewann. |Es sind 100. |„Gut.“',
  ],
  footnotes: ['The end.¹ |Next one.²³ |Last.'],
  'Chinese and Japanese': [
    '你呢？|“很好。”|他说。|‘是吗？’|好',
    '今天很好。|我们走吧！|好吗？|好',
    '彼は「行こう。」|私は「はい！」と言った。|終わり。',
    '「すごい！？」って言った。|次。',
    '他说：“好。”|然后走了。|OK。|Yes.',
  ],
  'other scripts': ['यह ठीक है। |वह गया। |हाँ', 'كيف حالك؟ |بخير. |شكرا', 'Привет. |А. С. Пушкин тут. |Да.'],
  'lists and lines': [
    '1. First item\n|2. Second item\n|3. Third',
    'A. one\n|B. two\n|Heading\n|The text follows',
    'Heading\n\n|text in small letters\n\n\n|More',
    'The first line of a paragraph that is wrapped at a usual width of\nSeventy goes on here. |Done',
    'Wrapped here\nin small letters. |Windows\r\n|Lines\r\n\r\n|here',
    'Things:\n|- one\n|- two',
  ],
  emoji: ['Great!😀 |Next 👩‍👩‍👧‍👦 one. |👍🏽 Yes.', 'Hi 🇯🇵🇫🇷. |🇯🇵 Hi.', '最高！😀|次。|おわり'],
  'combining characters': ['Cafe\u0301. |E\u0301. \u0301Next', 'Ok.\u0301 |So'],
  Markdown: ['**Bold.** |Then *this.* |_Yes!_ |End'],
};

describe('sentences are split:', () => {
  for (const [name, texts] of Object.entries(CASES)) {
    test.each(texts)(`${name}: %s`, (marked) => {
      const expected = marked.split('|').filter((chunk) => chunk !== '');
      expect(splitSentences(marked.replaceAll('|', ''))).toEqual(expected);
    });
  }
});

const codePoints = (text: string) => [...text].length;

describe('long sentences (spec 4.3, rule 2)', () => {
  const words = (count: number) => Array.from({ length: count }, (_, i) => `word${i % 10}`).join(' ');

  test('a sentence of 400 characters stays whole; a longer one is split into clauses', () => {
    const clause = `${'a'.repeat(99)}, `;
    const exact = clause.repeat(3) + 'b'.repeat(97); // 3 × 101 + 97
    expect(codePoints(exact)).toBe(400);
    expect(splitSentences(`${exact} `)).toEqual([`${exact} `]);
    expect(splitSentences(`${exact}b`)).toEqual([clause.repeat(3), `${'b'.repeat(98)}`]);
  });

  test.each([',', ';', ':', '，', '、', '；', '：'])('a clause ends after %s', (mark) => {
    const space = /[,;:]/.test(mark) ? ' ' : '';
    const first = `${words(50)}${mark}${space}`;
    expect(splitSentences(first + words(50))).toEqual([first, words(50)]);
  });

  test('a clause mark inside a number, a time or a URL does not end a clause', () => {
    const text = `${words(30)} 1,000,000 at 12:30 https://a.example:80/;b ${words(38)}`;
    expect(codePoints(text)).toBeGreaterThan(400);
    expect(splitSentences(text)).toEqual([text]);
  });

  test('the split is after the last clause within 400 characters, or after the first one within 600', () => {
    const text = `${words(20)}, ${words(20)}; ${words(30)}`;
    expect(splitSentences(text)).toEqual([`${words(20)}, ${words(20)}; `, words(30)]);
    const late = `${words(64)}, ${words(10)}, ${words(10)}`;
    expect(splitSentences(late)).toEqual([`${words(64)}, `, `${words(10)}, ${words(10)}`]);
  });

  test('600 characters without a clause stay whole; a longer text is split at the nearest word boundary', () => {
    const exact = `${'word '.repeat(119)}words`;
    expect(codePoints(exact)).toBe(600);
    expect(splitSentences(exact)).toEqual([exact]);
    expect(splitSentences(`${exact}x`)).toEqual(['word '.repeat(119), 'wordsx']);
  });

  test('text without spaces is split between grapheme clusters', () => {
    expect(splitSentences('x'.repeat(1_500)).map(codePoints)).toEqual([600, 600, 300]);
    const family = '👩‍👩‍👧‍👦'; // 7 code points: 85 of them are 595
    expect(splitSentences(family.repeat(100))).toEqual([family.repeat(85), family.repeat(15)]);
    expect(splitSentences('e\u0301'.repeat(301)).map(codePoints)).toEqual([600, 2]);
    expect(splitSentences('🇯🇵'.repeat(301)).map(codePoints)).toEqual([600, 2]);
    expect(splitSentences('\u{20000}'.repeat(601)).map(codePoints)).toEqual([600, 1]);
  });

  test('a cluster of more than 600 code points is split between code points', () => {
    expect(splitSentences(`e${'\u0301'.repeat(900)}`).map(codePoints)).toEqual([600, 301]);
  });

  test('trailing white space does not count and never forms a chunk', () => {
    const spaces = ' '.repeat(2_000);
    expect(splitSentences(`${spaces}Yes.${spaces}No${spaces}`)).toEqual([
      `${spaces}Yes.${spaces}`,
      `No${spaces}`,
    ]);
    expect(splitSentences(`yes${spaces}no`)).toEqual([`yes${spaces}`, 'no']);
    expect(splitSentences(spaces)).toEqual([spaces]);
  });

  test('clauses are returned before the sentence is complete', () => {
    const chunker = new SentenceChunker();
    expect(chunker.push(`${words(50)}, ${words(30)}`)).toEqual([`${words(50)}, `]);
    chunker.close();
  });
});

describe('streaming', () => {
  test('a sentence is returned once the following text confirms its end', () => {
    const chunker = new SentenceChunker();
    const steps = [
      ['It is 3', []],
      ['.', []],
      ['14. ', []],
      ['Then', ['It is 3.14. ']],
      [' he left the U.S', []],
      ['. Th', []],
      ['ey stayed! ', ['Then he left the U.S. ']],
      ['On 3', ['They stayed! ']],
      ['. M', []],
      ['ai', []],
      [' or 4. Ma', []],
      ['ybe', []],
      [' y', ['On 3. Mai or 4. ']],
    ] as const;
    for (const [text, chunks] of steps) expect(chunker.push(text)).toEqual([...chunks]);
    expect(chunker.flush()).toEqual(['Maybe y']);
    expect(chunker.flush()).toEqual([]);
  });

  test('reset discards the buffered text, and flush starts a new text', () => {
    const chunker = new SentenceChunker();
    chunker.push('Lost. lost');
    chunker.reset();
    expect([...chunker.push('1. One'), ...chunker.flush()]).toEqual(['1. One']);
    expect([...chunker.push('1. One'), ...chunker.flush()]).toEqual(['1. One']);
  });

  test('lone surrogates are preserved', () => {
    const text = 'A \ud800 b. \udc00\ud83d Next. \ude00\ud83d';
    expect(splitSentences(text).join('') === text).toBe(true);
    expect(splitSentences('\ud83d\ude00. Yes \ud83d')).toEqual(['😀. ', 'Yes \ud83d']);
  });

  test('the buffered text is limited', () => {
    const chunker = new SentenceChunker();
    const spaces = ' '.repeat(2 ** 23);
    chunker.push(spaces);
    chunker.push(spaces);
    expect(() => chunker.push(' ')).toThrow(
      new RangeError('more than 16777216 UTF-16 units without the end of a sentence'),
    );
    expect(chunker.flush().join('').length).toBe(2 ** 24);
    chunker.close();
  });

  test('calls after close are rejected, and close is idempotent', () => {
    const chunker = new SentenceChunker();
    chunker.close();
    chunker.close();
    expect(() => chunker.push('a')).toThrow(new TypeError('the sentence chunker is closed'));
    expect(() => chunker.flush()).toThrow(TypeError);
    expect(() => chunker.reset()).toThrow(TypeError);
  });
});
