import { expect, test } from 'vitest';
import { OPENAI_VOICES } from '../../contract/engines/named-voice.ts';
import { piperLanguages, piperVoices } from './named-voices.ts';

test("a Piper model has its own voice, which OpenAI's names select too", () => {
  const voices = piperVoices('en_US-joe-medium');
  const joe = { kind: 'preset', name: 'en_US-joe-medium' };
  for (const name of ['en_US-joe-medium', 'EN_us-Joe-Medium', 'joe', 'alloy', 'Nova']) {
    expect(voices.find(name)).toEqual({ voice: joe, language: 'en-US' });
  }
  for (const name of ['af_heart', 'joe+alloy', '']) expect(voices.find(name)).toBeUndefined();
  expect(voices.list[0]).toEqual({
    id: 'en_US-joe-medium',
    name: 'Joe',
    language: 'en-US',
    gender: 'male',
  });
  expect(voices.list.slice(1).map(({ id }) => id)).toEqual([...OPENAI_VOICES]);
  expect(voices.list.slice(1).every(({ preset }) => preset === 'en_US-joe-medium')).toBe(true);
});

test('a Piper model speaks the language of its voice only', () => {
  const { tags, find } = piperLanguages('en_US-joe-medium');
  expect(tags).toEqual(['en-US']);
  expect(['en', 'en_us', 'es', 'en-GB'].map(find)).toEqual(['en-US', 'en-US', undefined, undefined]);
});
