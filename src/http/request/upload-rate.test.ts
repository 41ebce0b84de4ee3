import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { errorAnswer, toServiceError } from '../response/error-body.ts';
import { type ConnectionServer, cameTo } from '../transport/connection-server.ts';
import { readBody } from './body.ts';
import { type BodyPace, pacedBody } from './upload-rate.ts';

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
  const request = new Request('http://service.test/', { method: 'POST', body });
  return { request, isCancelled: () => cancelled };
}

const PACE: BodyPace = { patienceMs: 10_000, bytesPerSecond: 100 };

test('a body that comes at the least pace is taken, however long that is', async () => {
  const clock = new ManualClock();
  const { request } = portions(Array(50).fill(100), () => clock.advance(1000));
  const chunks = await Array.fromAsync(pacedBody(request, PACE, clock));
  expect(chunks).toHaveLength(50);
});

test('one that came fast has no more patience for it', async () => {
  const clock = new ManualClock();
  // A megabyte would win hours.
  const { request, isCancelled } = portions([1_000_000, 1], (index) => clock.advance(index * 10_001), NEVER);
  await expect(Array.fromAsync(pacedBody(request, PACE, clock))).rejects.toMatchObject(SLOW);
  expect(isCancelled()).toBe(true);
});

test('time in which nobody reads is not its own', async () => {
  const clock = new ManualClock();
  const { request } = portions([1, 1, 1], () => undefined);
  const chunks = [];
  for await (const chunk of pacedBody(request, PACE, clock)) {
    chunks.push(chunk);
    clock.advance(60_000);
  }
  expect(chunks).toHaveLength(3);
});

test('one that stops is given up, and let go of', async () => {
  const { request, isCancelled } = portions([5], () => undefined, NEVER);
  const pace = { patienceMs: 20, bytesPerSecond: 1_000_000 };
  await expect(Array.fromAsync(pacedBody(request, pace))).rejects.toMatchObject(SLOW);
  expect(isCancelled()).toBe(true);
});

test('a reader that leaves lets go of it', async () => {
  const { request, isCancelled } = portions([5, 5], () => undefined);
  for await (const _ of pacedBody(request)) break;
  expect(isCancelled()).toBe(true);
});

/** A server that reads bodies, with the shortest idle timeout that it can have. */
function listen(pace: BodyPace) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 1,
    async fetch(request, self) {
      cameTo(self as ConnectionServer, request);
      try {
        await readBody(request, 1000, pace);
        return new Response('read');
      } catch (error) {
        return errorAnswer(toServiceError(error));
      }
    },
  });
  onTestFinished(() => server.stop(true));
  return server.port ?? 0;
}

/** Sends the head of a request and then spaces, one at a time, as many as are announced; all that comes back. */
async function drip(port: number, lengthBytes: number, everyMs: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const type = 'content-type: application/json';
  socket.write(`POST / HTTP/1.1\r\nhost: test\r\n${type}\r\ncontent-length: ${lengthBytes}\r\n\r\n{}`);
  let left = lengthBytes - 2;
  const dripping = setInterval(() => {
    left -= 1;
    if (left >= 0 && socket.writable) socket.write(' ');
  }, everyMs);
  let answer = '';
  try {
    for await (const chunk of socket) {
      answer += chunk;
      if (answer.includes('read')) break;
    }
  } finally {
    clearInterval(dripping);
    socket.destroy();
  }
  return answer;
}

test('over a real socket a byte now and then is answered 408, and the connection is closed', async () => {
  const answer = await drip(listen({ patienceMs: 100, bytesPerSecond: 1000 }), 900, 20);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(answer).toMatch(/^connection: close/im);
});

test('over a real socket a body may take longer than the idle timeout of the server', async () => {
  const answer = await drip(listen({ patienceMs: 2000, bytesPerSecond: 10 }), 60, 100);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});
