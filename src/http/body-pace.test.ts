import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { readBody } from './body.ts';
import { type BodyPace, pacedBody } from './body-pace.ts';
import { errorAnswer, toServiceError } from './error-body.ts';

const NEVER = new Promise<never>(() => undefined);
const SLOW = { kind: 'request_timeout', status: 408, code: 'request_timeout' };

/** A body that says when the next portion is asked for; `came` plays the time until it is there. */
function portions(lengths: readonly number[], came: (index: number) => void, then?: Promise<never>) {
  let cancelled = false;
  let index = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const length = lengths[index];
        if (length === undefined && then !== undefined) await then;
        if (length === undefined) return controller.close();
        came(index);
        index += 1;
        controller.enqueue(new Uint8Array(length));
      },
      cancel() {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, isCancelled: () => cancelled };
}

const PACE: BodyPace = { patienceMs: 10_000, bytesPerSecond: 100 };

test('a body that comes at the least pace is taken, however long that is', async () => {
  const clock = new ManualClock();
  const { body } = portions(Array(50).fill(100), () => clock.advance(1000));
  const chunks = await Array.fromAsync(pacedBody(body, PACE, clock));
  expect(chunks).toHaveLength(50);
});

test('one that came fast has no more patience for it', async () => {
  const clock = new ManualClock();
  // A megabyte would win hours.
  const { body, isCancelled } = portions([1_000_000, 1], (index) => clock.advance(index * 10_001), NEVER);
  await expect(Array.fromAsync(pacedBody(body, PACE, clock))).rejects.toMatchObject(SLOW);
  expect(isCancelled()).toBe(true);
});

test('time in which nobody reads is not its own', async () => {
  const clock = new ManualClock();
  const { body } = portions([1, 1, 1], () => undefined);
  const chunks = [];
  for await (const chunk of pacedBody(body, PACE, clock)) {
    chunks.push(chunk);
    clock.advance(60_000);
  }
  expect(chunks).toHaveLength(3);
});

test('one that stops is given up, and let go of', async () => {
  const { body, isCancelled } = portions([5], () => undefined, NEVER);
  const pace = { patienceMs: 20, bytesPerSecond: 1_000_000 };
  await expect(Array.fromAsync(pacedBody(body, pace))).rejects.toMatchObject(SLOW);
  expect(isCancelled()).toBe(true);
});

test('a reader that leaves lets go of it', async () => {
  const { body, isCancelled } = portions([5, 5], () => undefined);
  for await (const _ of pacedBody(body)) break;
  expect(isCancelled()).toBe(true);
});

test('over a real socket a byte now and then is answered 408, and the connection is closed', async () => {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      try {
        await readBody(request, 1000, { patienceMs: 100, bytesPerSecond: 1000 });
        return new Response('read');
      } catch (error) {
        return errorAnswer(toServiceError(error));
      }
    },
  });
  onTestFinished(() => server.stop(true));
  const socket = connect(server.port ?? 0, '127.0.0.1');
  const dripping = setInterval(() => socket.writable && socket.write(' '), 20);
  onTestFinished(() => {
    clearInterval(dripping);
    socket.destroy();
  });
  socket.on('error', () => undefined);
  socket.write(
    'POST / HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{',
  );
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(answer).toMatch(/^connection: close/im);
});
