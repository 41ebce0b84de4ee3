import { expect, it } from 'vitest';
import { streamedBody } from './streamed-body.ts';

/** More chunks than are read within the time of a turn of the event loop. */
const MANY = 1_000_000;

it('lets the event loop run between chunks that are available without waiting', async () => {
  async function* chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
    for (;;) yield new Uint8Array(100);
  }
  const body = streamedBody(chunks(), new AbortController(), new Request('http://localhost/'));
  let turns = 0;
  const counter = setInterval(() => {
    turns += 1;
  }, 0);
  const reader = body.getReader();
  let read = 0;
  while (turns < 2 && read < MANY) {
    await reader.read();
    read += 1;
  }
  clearInterval(counter);
  await reader.cancel();
  expect(read).toBeLessThan(MANY);
});
