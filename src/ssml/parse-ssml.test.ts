import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ServiceError } from '../contract/core/error.ts';
import { parseSsml } from './parse-ssml.ts';
import { PLAIN_STYLE, type SpeechPart } from './speech-parts.ts';

const parse = (inner: string) => parseSsml(`<speak>${inner}</speak>`, { param: 'input' });

function failure(markup: string): ServiceError {
  try {
    parseSsml(markup, { param: 'input' });
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('the document was accepted');
}

/** A text part in the plain style. */
const text = (value: string, more: object = {}): SpeechPart => ({
  kind: 'text',
  text: value,
  style: PLAIN_STYLE,
  givenSounds: [],
  marks: [],
  ...more,
});
const styled = (style: object) => ({ style: { ...PLAIN_STYLE, ...style } });
const pause = (ms: number): SpeechPart => ({ kind: 'pause', ms });

describe('elements', () => {
  test.each<[string, string, SpeechPart[]]>([
    ['plain text', 'Hello there.', [text('Hello there.')]],
    ['white space', '\n  Hello\n\t there. ', [text('Hello there. ')]],
    ['entities and character references', 'A &amp; B &lt; &#67;', [text('A & B < C')]],
    ['CDATA', '<![CDATA[a < b]]>', [text('a < b')]],
    ['a comment', 'a<!-- secret -->b', [text('ab')]],
    ['sentences', '<s>One</s><s>Two</s>', [text('One'), text('Two')]],
    ['paragraphs', '<p>One.</p><p>Two.</p>', [text('One.'), pause(500), text('Two.'), pause(500)]],
    ['a break with a time', 'a<break time="1.5s"/>b', [text('a'), pause(1500), text('b')]],
    ['a break with a strength', 'a<break strength="strong"/>b', [text('a'), pause(750), text('b')]],
    ['a break without attributes', 'a<break/>b', [text('a'), pause(500), text('b')]],
    ['a break of no length ends the part', 'a<break strength="none"/>b', [text('a'), text('b')]],
    ['two breaks', 'a<break time="1s"/><break time="500ms"/>b', [text('a'), pause(1500), text('b')]],
    [
      'a rate',
      'a <prosody rate="80%">b</prosody> c',
      [text('a '), text('b', styled({ rate: 0.8 })), text('c')],
    ],
    [
      'nested rates and volumes',
      '<prosody rate="fast" volume="-6dB">a<prosody rate="+100%">b</prosody></prosody>',
      [
        text('a', styled({ rate: 1.25, gain: 10 ** -0.3 })),
        text('b', styled({ rate: 2.5, gain: 10 ** -0.3 })),
      ],
    ],
    ['a pitch, which is ignored', '<prosody pitch="high">a</prosody>', [text('a')]],
    ['a voice', '<voice name="nova">a</voice>b', [text('a', styled({ voice: 'nova' })), text('b')]],
    ['a language', 'a<lang xml:lang="es">b</lang>', [text('a'), text('b', styled({ language: 'es' }))]],
    ['xml:lang of a paragraph', '<s xml:lang="fr">a</s>', [text('a', styled({ language: 'fr' }))]],
    [
      'sub',
      'the <sub alias="World Wide Web Consortium">W3C</sub>.',
      [text('the World Wide Web Consortium.')],
    ],
    ['say-as characters', '<say-as interpret-as="characters">SQL-3</say-as>', [text('S, Q, L, 3')]],
    ['say-as digits', '<say-as interpret-as="digits">1984</say-as>', [text('1 9 8 4')]],
    ['say-as cardinal', '<say-as interpret-as="cardinal">1984</say-as>', [text('1,984')]],
    ['say-as ordinal', '<say-as interpret-as="ordinal">12</say-as>', [text('12th')]],
    ['say-as telephone', '<say-as interpret-as="telephone">555-12</say-as>', [text('5 5 5, 1 2')]],
    ['say-as date', '<say-as interpret-as="date" format="dmy">3.4.2025</say-as>', [text('2025-04-03')]],
    [
      'phoneme',
      'a <phoneme alphabet="ipa" ph="təˈmɑtoʊ">tomato</phoneme>.',
      [text('a tomato.', { givenSounds: [{ start: 2, end: 8, ipa: 'təˈmɑtoʊ' }] })],
    ],
    ['a mark in a text', 'a <mark name="here"/>b', [text('a b', { marks: [{ name: 'here', at: 2 }] })]],
    [
      'a mark alone',
      '<break/><mark name="x"/><break/>',
      [pause(500), { kind: 'mark', name: 'x' }, pause(500)],
    ],
    [
      'an unknown element',
      'a <emphasis level="strong">b</emphasis> <amazon:effect>c</amazon:effect>',
      [text('a b c')],
    ],
    ['audio, whose alternative text is spoken', '<audio src="x.wav">a<desc>b</desc></audio>', [text('a')]],
    ['metadata', '<metadata>a</metadata>b', [text('b')]],
    ['nothing', '', []],
  ])('%s', (_, inner, parts) => expect(parse(inner)).toEqual(parts));

  test('the root may have attributes, a declaration and a name space', () => {
    const markup =
      '<?xml version="1.0"?>\n<speak version="1.1" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="en-US">Hi</speak>';
    expect(parseSsml(markup, { param: 'input' })).toEqual([text('Hi', styled({ language: 'en-US' }))]);
  });

  test.each([
    ['es', '5', '5º'],
    ['fr-FR', '5', '5e'],
    ['hi', '5', '5'],
    ['en-GB', '21', '21st'],
  ])('ordinals in %s', (language, digits, written) => {
    const inner = `<lang xml:lang="${language}"><say-as interpret-as="ordinal">${digits}</say-as></lang>`;
    expect(parse(inner)).toEqual([text(written, styled({ language }))]);
  });
});

describe('errors', () => {
  test.each([
    ['text without markup', 'Hello', 'line 1'],
    ['another root', '<s>a</s>', 'the root element must be <speak>, not <s>.'],
    ['an element that is not closed', '<speak><s>a</speak>', 'line 1'],
    ['an element that ends too early', '<speak>a', 'unclosed tag: speak.'],
    ['an unknown entity', '<speak>&secret;</speak>', 'undefined entity'],
    [
      'a DTD',
      '<!DOCTYPE speak SYSTEM "http://host/x.dtd"><speak/>',
      'a document type declaration is not allowed.',
    ],
    ['a break that is too long', '<speak><break time="11s"/></speak>', "'time' must be 0ms to 10s"],
    ['a time without a unit', '<speak><break time="5"/></speak>', "'time' must be 0ms to 10s"],
    ['a strength', '<speak><break strength="huge"/></speak>', "'strength' must be one of none, x-weak"],
    [
      'pauses that are too long together',
      `<speak>${'a<break time="10s"/>'.repeat(13)}</speak>`,
      '120 s together',
    ],
    ['a rate', '<speak><prosody rate="quick">a</prosody></speak>', "'rate' must be a percentage"],
    ['a volume', '<speak><prosody volume="11">a</prosody><prosody volume="a"/></speak>', "'volume' must be"],
    ['a voice without a name', '<speak><voice>a</voice></speak>', "<voice> needs the attribute 'name'."],
    ['lang without a language', '<speak><lang>a</lang></speak>', "<lang> needs the attribute 'xml:lang'."],
    ['sub without an alias', '<speak><sub>a</sub></speak>', "<sub> needs the attribute 'alias'."],
    ['a mark without a name', '<speak><mark/></speak>', "<mark> needs the attribute 'name'."],
    ['phoneme without sounds', '<speak><phoneme>a</phoneme></speak>', "<phoneme> needs the attribute 'ph'."],
    [
      'another alphabet',
      '<speak><phoneme alphabet="x-sampa" ph="a">a</phoneme></speak>',
      "'alphabet' must be ipa",
    ],
    ['phoneme without text', '<speak><phoneme ph="a"/></speak>', '<phoneme> has no text.'],
    ['say-as', '<speak><say-as interpret-as="ordinals">1</say-as></speak>', "Did you mean 'ordinal'?"],
    [
      'a date format',
      '<speak><say-as interpret-as="date" format="abc">1</say-as></speak>',
      "'format' must be an order of d, m and y",
    ],
    [
      'say-as in sub',
      '<speak><sub alias="a"><say-as interpret-as="date">1</say-as></sub></speak>',
      'not allowed inside',
    ],
    ['a break in sub', '<speak><sub alias="a"><break/></sub></speak>', '<break> is not allowed inside'],
    ['deep nesting', `<speak>${'<s>'.repeat(40)}`, 'nested more than 32 deep'],
    ['many elements', `<speak>${'<s/>'.repeat(5001)}</speak>`, 'more than 5000 elements'],
    ['a long attribute', `<speak><mark name="${'a'.repeat(1001)}"/></speak>`, 'more than 1000 characters'],
  ])('%s', (_, markup, message) => {
    const error = failure(markup);
    expect([error.param, error.code]).toEqual(['input', 'invalid_value']);
    expect(error.message).toContain(message);
    expect(error.message).toMatch(/^'input', line \d+, column \d+: /);
  });

  test('the position is that of the element', () => {
    expect(failure('<speak>\n  <break time="x"/></speak>').message).toContain('line 2, column 19');
  });
});

test('any text and any markup is read or rejected', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '<s>',
      '</s>',
      '<break/>',
      '<mark name="a"/>',
      '<sub alias="x">',
      '</sub>',
      '&amp;',
      ']]>',
      '<!--',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      try {
        for (const part of parse(pieces.join(''))) {
          if (part.kind === 'text') expect(part.text.trim()).not.toBe('');
        }
      } catch (error) {
        expect(error).toBeInstanceOf(ServiceError);
      }
    }),
  );
});
