import { expect, test } from 'vitest';
import { entryId, previewOf } from './lexicon-wire.ts';

const ENTRY = { word: 'Q&A', language: 'en', phonemes: null, respelling: null };

test('a preview has the sounds of the entry as markup', () => {
  expect(previewOf({ ...ENTRY, phonemes: 'kjuː"<' }, 'svc-tts')).toEqual({
    model: 'svc-tts',
    voice: undefined,
    speed: 1,
    format: 'pcm',
    language: 'en',
    isSsml: true,
    input: '<speak><phoneme alphabet="ipa" ph="kjuː&quot;&lt;">Q&amp;A</phoneme></speak>',
  });
});

test('a preview has the respelling as text', () => {
  const params = previewOf({ ...ENTRY, language: null, respelling: 'cue and A' }, 'svc-tts');
  expect(params).toMatchObject({ input: 'cue and A' });
  expect(params.language).toBeUndefined();
  expect(params.isSsml).toBeUndefined();
});

test('entries of different languages are different', () => {
  expect(entryId(ENTRY)).not.toBe(entryId({ ...ENTRY, language: null }));
});
