import { expect, test } from 'vitest';
import { OPENAI_VOICES } from '../../contract/engines/named-voice.ts';
import { piperVoices } from './named-voices.ts';

test("a Piper model has its own voice, which OpenAI's names select too", () => {
  const voices = piperVoices('en_US-joe-medium');
  const joe = { kind: 'preset', name: 'en_US-joe-medium' };
  for (const name of ['en_US-joe-medium', 'EN_us-Joe-Medium', 'joe', 'alloy', 'Nova']) {
    expect(voices.find(name)).toEqual(joe);
  }
  for (const name of ['af_heart', 'joe+alloy', '']) expect(voices.find(name)).toBeUndefined();
  expect(voices.list[0]).toEqual({
    ...{ id: 'en_US-joe-medium', name: 'Joe', language: 'en-US', gender: 'male' },
  });
  expect(voices.list.slice(1).map(({ id }) => id)).toEqual([...OPENAI_VOICES]);
  expect(voices.list.slice(1).every(({ preset }) => preset === 'en_US-joe-medium')).toBe(true);
});
