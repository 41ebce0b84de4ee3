import { expect, it } from 'vitest';
import { OpenRequests } from './open-requests.ts';

const user = (organization: string, keyId = `key of ${organization}`) => ({ organization, keyId });
const never = new AbortController().signal;
const stopping = { kind: 'overloaded', code: 'server_overloaded' };

it('limits the requests per organization, and frees a slot at the end of each', () => {
  const requests = new OpenRequests('speech', 2);
  const first = requests.startRequest(user('a'), never);
  requests.startRequest(user('a'), never);
  expect(() => requests.startRequest(user('a'), never)).toThrow('2 of 2 speech requests in flight');
  requests.startRequest(user('b'), never);
  first.end();
  first.end();
  requests.startRequest(user('a'), never);
  expect(() => requests.startRequest(user('a'), never)).toThrow(
    expect.objectContaining({ kind: 'rate_limited' }),
  );
});

it('keeps slots for other keys of an organization', () => {
  const requests = new OpenRequests('speech', 16);
  for (let open = 0; open < 14; open += 1) requests.startRequest(user('a', 'k1'), never);
  expect(() => requests.startRequest(user('a', 'k1'), never)).toThrow(
    'Concurrency limit per API key reached: 14 of 14 speech requests',
  );
  for (let open = 0; open < 2; open += 1) requests.startRequest(user('a', 'k2'), never);
  expect(() => requests.startRequest(user('a', 'k2'), never)).toThrow(
    'Concurrency limit per organization reached: 16',
  );
});

it("aborts the request with the reason of the caller's signal, before or after the start", () => {
  const requests = new OpenRequests('speech', 2);
  const caller = new AbortController();
  const before = requests.startRequest(user('a'), caller.signal);
  expect(before.signal.aborted).toBe(false);
  caller.abort('gone');
  expect(before.signal.reason).toBe('gone');
  expect(requests.startRequest(user('a'), caller.signal).signal.reason).toBe('gone');
});

it('an uncounted request uses no slot, and is drained and stopped like the others', async () => {
  const requests = new OpenRequests('speech', 1);
  const open = requests.startUncounted(never);
  requests.startRequest(user('a'), never).end();
  open.signal.addEventListener('abort', () => open.end(), { once: true });
  const until = new AbortController();
  const draining = requests.drain(until.signal);
  expect(open.signal.aborted).toBe(false);
  until.abort();
  await draining;
  expect(open.signal.reason).toMatchObject(stopping);
});

it('aborts only the finished request at its end', () => {
  const requests = new OpenRequests('speech', 2);
  const [one, other] = [requests.startRequest(user('a'), never), requests.startRequest(user('a'), never)];
  one.end();
  expect([one.signal.aborted, other.signal.aborted]).toEqual([true, false]);
});

it('drain waits for the last request', async () => {
  const requests = new OpenRequests('speech', 2);
  await requests.drain(never);
  const [one, other] = [requests.startRequest(user('a'), never), requests.startRequest(user('b'), never)];
  let drained = false;
  const draining = requests.drain(never).then(() => {
    drained = true;
  });
  one.end();
  await Promise.resolve();
  expect(drained).toBe(false);
  expect(other.signal.aborted).toBe(false);
  other.end();
  await draining;
});

it('drain stops open requests at the deadline', async () => {
  for (const isLate of [false, true]) {
    const requests = new OpenRequests('speech', 2);
    const open = requests.startRequest(user('a'), never);
    open.signal.addEventListener('abort', () => open.end(), { once: true });
    const until = new AbortController();
    if (isLate) until.abort();
    const draining = requests.drain(until.signal);
    until.abort();
    await draining;
    expect(open.signal.reason).toMatchObject(stopping);
  }
});
