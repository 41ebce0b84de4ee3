import { expect, test } from 'vitest';
import { ClipMemory, MAX_ORIGINS } from './clip-memory.ts';

test('origins are retained for the newest videos', () => {
  const memory = new ClipMemory();
  for (let index = 0; index < MAX_ORIGINS; index += 1) memory.keep(`video_${index}`, { kind: 'url' });
  expect(memory.of('video_0')).toEqual({ kind: 'url' });
  memory.keep('video_new', { kind: 'video', id: 'video_7' });
  expect(memory.of('video_0')).toBeUndefined();
  expect(memory.of('video_1')).toEqual({ kind: 'url' });
  expect(memory.of('video_new')).toEqual({ kind: 'video', id: 'video_7' });
});
