import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import extract from '../fixtures/lexicon-extract.json' with { type: 'json' };
import type { Fallback } from './fallback.ts';
import { spellingFallback } from './fallback.ts';
import { createKokoroG2p } from './kokoro-g2p.ts';
import { type Dictionary, Lexicon } from './lexicon.ts';

const lexicon = new Lexicon(extract.gold as Dictionary, extract.silver as Dictionary);
const symbols = new Set(Object.keys(extract.vocabulary));
const g2p = createKokoroG2p({ lexicon, symbols, fallback: spellingFallback(lexicon) });
const toPhonemes = async (text: string, { phonemize } = g2p) => (await phonemize(text)).phonemes;

describe('sentences', () => {
  test.each([
    ['Hello there, how can I help you today?', 'həlˈO ðˈɛɹ, hˌW kæn ˌI hˈɛlp ju tədˈA?'],
    ['The end of the day. The apple.', 'ði ˈɛnd ʌv ðə dˈA. ði ˈæpᵊl.'],
    ['“Hello,” (today) — go…', '“həlˈO,” (tədˈA) — ɡˌO…'],
    ['NASA, the FBI, GPUs, the IT team', 'nˈæsə, ði ˌɛfbˌiˈI, ʤˌipˌijˈuz, ði ˌItˈi tˈim'],
    ['STOP THAT NOW PLEASE', 'stˈɑp ðˈæt nˈW plˈiz'],
    ["John's read it twice", 'ʤˈɑnz ɹˈɛd ɪt twˈIs'],
    ['a well-known fact, state-of-the-art', 'ɐ wˌɛlnˈOn fˈækt, stˈAtʌvðiˈɑɹt'],
    ['$123.50', 'wˈʌn hˈʌndɹəd twˈɛntiθɹˌi dˈɑləɹz ænd fˈɪfti sˈɛnts'],
    ['to a store', 'tə ɐ stˈɔɹ'],
    ['googled', 'ɡˈuɡᵊld'],
  ])('%s', async (text, phonemes) => expect(await toPhonemes(text)).toBe(phonemes));

  test('a flapped t uses the symbol of this model', async () => {
    expect(await toPhonemes('waited')).toBe('wˈATᵻd');
  });
});

describe('heteronyms', () => {
  test.each([
    ['Please close the door.', 'close', 'klˈOz'],
    ['stay close to me', 'close', 'klˈOs'],
    ['a close friend', 'close', 'klˈOs'],
    ['I read it.', 'read', 'ɹˈid'],
    ['She read it.', 'read', 'ɹˈɛd'],
    ['I have read it.', 'read', 'ɹˈɛd'],
    ['He will read.', 'read', 'ɹˈid'],
    ['I read it yesterday.', 'read', 'ɹˈɛd'],
    ['They live here.', 'live', 'lˈɪv'],
    ['a live show', 'live', 'lˈIv'],
    ['We went live.', 'live', 'lˈIv'],
    ['She lives in Rome.', 'lives', 'lˈɪvz'],
    ['our lives', 'lives', 'lˈIvz'],
    ['She has lived on ships.', 'lived', 'lˈɪvd'],
    ['to record', 'record', 'ɹəkˈɔɹd'],
    ['a record', 'record', 'ɹˈɛkəɹd'],
    ['They record music.', 'record', 'ɹəkˈɔɹd'],
    ['an increase', 'increase', 'ˈɪnkɹˌis'],
    ['prices increase', 'increase', 'ɪnkɹˈis'],
    ['I object to it', 'object', 'əbʤˈɛkt'],
    ['an object', 'object', 'ˈɑbʤəkt'],
    ['to present', 'present', 'pɹizˈɛnt'],
    ['was present', 'present', 'pɹˈɛzᵊnt'],
    ['a minute later', 'minute', 'mˈɪnət'],
    ['a minute detail', 'minute', 'mInˈut'],
    ['the wind', 'wind', 'wˈɪnd'],
    ['to wind', 'wind', 'wˈInd'],
    ['a tear', 'tear', 'tˈɪɹ'],
    ['to tear', 'tear', 'tˈɛɹ'],
    ['the use of force', 'use', 'jˈus'],
    ['to use', 'use', 'jˈuz'],
    ['the content of it', 'content', 'kˈɑntɛnt'],
    ['content with it', 'content', 'kəntˈɛnt'],
    ['access to content', 'content', 'kˈɑntɛnt'],
    ['a separate room', 'separate', 'sˈɛpəɹət'],
    ['Separate the eggs', 'Separate', 'sˈɛpəɹˌAt'],
    ['the estimate was', 'estimate', 'ˈɛstəmət'],
    ['to estimate', 'estimate', 'ˈɛstəmˌAt'],
    ['was perfect', 'perfect', 'pˈɜɹfəkt'],
    ['to perfect', 'perfect', 'pəɹfˈɛkt'],
    ['they permit it', 'permit', 'pəɹmˈɪt'],
    ['the permit', 'permit', 'pˈɜɹmɪt'],
    ['the refuse', 'refuse', 'ɹˈɛfjˌus'],
    ['to refuse', 'refuse', 'ɹəfjˈuz'],
    ['an excuse', 'excuse', 'ɪkskjˈus'],
    ['to house', 'house', 'hˈWz'],
    ['the house', 'house', 'hˈWs'],
    ['I used to go', 'used', 'jˈust'],
    ['It is used to paint', 'used', 'jˈuzd'],
    ['We used it', 'used', 'jˈuzd'],
    ['He wound it', 'wound', 'wˈWnd'],
    ['the wound', 'wound', 'wˈund'],
    ['the bass player', 'bass', 'bˈAs'],
    ['a sea bass', 'bass', 'bˈæs'],
    ['that is fine', 'that', 'ðˈæt'],
    ['he said that he knew', 'that', 'ðæt'],
    ['an invalid request', 'invalid', 'ɪnvˈælɪd'],
    ['Vitamin A is', 'A', 'ˈA'],
    ['A dog', 'A', 'ɐ'],
    ['come in and sit', 'in', 'ˈɪn'],
    ['in the house', 'in', 'ɪn'],
  ])('%s: %s', async (text, word, phonemes) => {
    const at = text.split(' ').findIndex((written) => written.replace(/\W/g, '') === word);
    const spoken = (await toPhonemes(text)).split(' ')[at]?.replace(/[.,]/g, '');
    expect(spoken).toBe(phonemes);
  });
});

describe('words that are not in the dictionary', () => {
  test('the fallback gets one call with each word once, including halves of compounds', async () => {
    const asked: (readonly string[])[] = [];
    const fallback: Fallback = {
      phonemes: async (words) => {
        asked.push(words);
        return words.map(() => 'zˈɪp');
      },
    };
    const asking = createKokoroG2p({ lexicon, symbols, fallback });
    expect(await toPhonemes('xyzzy, the xyzzy, plugh-list!', asking)).toBe('zˈɪp, ðə zˈɪp, zˌɪplˈɪst!');
    expect(asked).toEqual([['xyzzy', 'plugh']]);
  });

  test('the punctuation of a word without a pronunciation goes to the previous word', async () => {
    const silent = createKokoroG2p({
      lexicon,
      symbols,
      fallback: { phonemes: async (words) => words.map(() => '') },
    });
    expect(await toPhonemes('hello xyzzy. the xyzzy', silent)).toBe('həlˈO. ðə');
    expect(await toPhonemes('xyzzy', silent)).toBe('');
  });

  test('are spelled without eSpeak', async () => {
    expect(await toPhonemes('xyz')).toBe('ˌɛkswˌIzˈi');
  });
});

describe('any text', () => {
  test.each(['', ' ', '...', '日本語。', '😀', '((((', '\0', '—', '?!'])(
    'no phonemes for %j',
    async (text) => {
      expect(await toPhonemes(text)).toBe('');
    },
  );

  test('stays within the vocabulary', async () => {
    const pieces = fc.oneof(
      fc.constantFrom(
        'hello',
        'the',
        'NASA',
        '$5',
        'read',
        '.',
        ',',
        '—',
        '“',
        ')',
        ' ',
        '日本',
        'xyz-a',
        "'",
        'é',
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 30 }), async (parts) => {
        const phonemes = await toPhonemes(parts.join(''));
        for (const symbol of phonemes) expect(symbols.has(symbol)).toBe(true);
        expect(phonemes).toBe(phonemes.trim());
      }),
      { numRuns: 500 },
    );
  });
});
