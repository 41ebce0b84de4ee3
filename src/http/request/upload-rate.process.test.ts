import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { toErrorResponse, toServiceError } from '../response/error-body.ts';
import { type ConnectionServer, setServerOf } from '../transport/connection-server.ts';
import { readBody } from './body.ts';
import { rateCheckedBody, type UploadRate } from './upload-rate.ts';

const NEVER = new Promise<never>(() => undefined);
const SLOW = { kind: 'request_timeout', status: 408, code: 'request_timeout' };

/** A body in chunks of these lengths. `came` is called for each chunk and simulates the time until it arrives. */
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

const PACE: UploadRate = { graceMs: 10_000, bytesPerSecond: 100 };

test('accepts a body at the minimum rate for any duration', async () => {
  const clock = new ManualClock();
  const { request } = portions(Array(50).fill(100), () => clock.advance(1000));
  const chunks = await Array.fromAsync(rateCheckedBody(request, PACE, clock));
  expect(chunks).toHaveLength(50);
});

test('fast data does not extend the grace time beyond its maximum', async () => {
  const clock = new ManualClock();
  // Without the maximum, a megabyte would extend the deadline by many minutes.
  const { request, isCancelled } = portions([1_000_000, 1], (index) => clock.advance(index * 10_001), NEVER);
  await expect(Array.fromAsync(rateCheckedBody(request, PACE, clock))).rejects.toMatchObject(SLOW);
  expect(isCancelled()).toBe(true);
});

test('requires a higher rate for more received bytes', async () => {
  const clock = new ManualClock();
  const pace = { ...PACE, maxSeconds: 10 };
  const second = () => clock.advance(1000);
  // 10,000 bytes immediately, then 100 bytes per second, where 1000 are required.
  const { request, isCancelled } = portions([10_000, ...Array(50).fill(100)], second, NEVER);
  await expect(Array.fromAsync(rateCheckedBody(request, pace, clock))).rejects.toMatchObject(SLOW);
  expect(isCancelled()).toBe(true);
});

test('does not count time in which the consumer does not read', async () => {
  const clock = new ManualClock();
  const { request } = portions([1, 1, 1], () => undefined);
  const chunks = [];
  for await (const chunk of rateCheckedBody(request, PACE, clock)) {
    chunks.push(chunk);
    clock.advance(60_000);
  }
  expect(chunks).toHaveLength(3);
});

test('rejects and cancels a body that stalls', async () => {
  const { request, isCancelled } = portions([5], () => undefined, NEVER);
  const pace = { graceMs: 20, bytesPerSecond: 1_000_000 };
  await expect(Array.fromAsync(rateCheckedBody(request, pace))).rejects.toMatchObject(SLOW);
  expect(isCancelled()).toBe(true);
});

test('cancels the body when the consumer stops', async () => {
  const { request, isCancelled } = portions([5, 5], () => undefined);
  for await (const _ of rateCheckedBody(request)) break;
  expect(isCancelled()).toBe(true);
});

/** A server that reads bodies, with the shortest possible idle timeout. */
function listen(pace: UploadRate) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 1,
    async fetch(request, self) {
      setServerOf(self as ConnectionServer, request);
      try {
        await readBody(request, 1000, { pace });
        return new Response('read');
      } catch (error) {
        return toErrorResponse(toServiceError(error));
      }
    },
  });
  onTestFinished(() => server.stop(true));
  return server.port ?? 0;
}

/** Sends a request whose body consists of single spaces at an interval, and returns the complete response. */
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
  let response = '';
  try {
    for await (const chunk of socket) {
      response += chunk;
      if (response.includes('read')) break;
    }
  } finally {
    clearInterval(dripping);
    socket.destroy();
  }
  return response;
}

test('over a real connection, a slow body gets 408 and the connection is closed', async () => {
  const response = await drip(listen({ graceMs: 100, bytesPerSecond: 1000 }), 900, 20);
  expect(response).toMatch(/^HTTP\/1\.1 408 /);
  expect(response).toMatch(/^connection: close/im);
});

test('over a real connection, a body can take longer than the idle timeout of the server', async () => {
  const response = await drip(listen({ graceMs: 2000, bytesPerSecond: 1 }), 60, 100);
  expect(response).toMatch(/^HTTP\/1\.1 200 /);
});
