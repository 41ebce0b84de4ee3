import { expect, test } from 'vitest';
import { activityWords, type InputState } from './activity-words.ts';

const words = (
  activity: Parameters<typeof activityWords>[0],
  input: Partial<InputState> = {},
  message?: string,
) => activityWords(activity, { isPushToTalk: false, microphone: 'open', ...input }, message);

test('every activity has other words', () => {
  const all = (
    [
      ...[undefined, 'connecting', 'loading', 'waiting', 'hearing'],
      ...['thinking', 'speaking', 'needs_output', 'ended'],
    ] as const
  ).map((activity) => words(activity as never).title);
  expect(new Set(all).size).toBe(all.length);
});

test('the progress of a load is part of the words', () => {
  expect(words('loading', {}, '42 % done.').detail).toBe('42 % done. The conversation starts automatically.');
});

test('the words depend on the input', () => {
  expect(words('waiting').title).toBe('Listening');
  expect(words('waiting', { isPushToTalk: true }).detail).toContain('space bar');
  expect(words('waiting', { microphone: 'opening' }).title).toBe('Waiting for the microphone');
  expect(words('waiting', { microphone: 'unavailable' }).detail).toContain('Type');
  expect(words('speaking', { microphone: 'unavailable' }).detail).toContain('stop');
});
