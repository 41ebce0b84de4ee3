import { expect, it } from 'vitest';
import { onReservedPort, reservedPort } from './reserved-port.ts';

it('returns different ports below the ephemeral range', async () => {
  const ports = [await reservedPort(), await reservedPort()];
  expect(new Set(ports).size).toBe(2);
  for (const port of ports) {
    expect(port).toBeGreaterThanOrEqual(20_000);
    expect(port).toBeLessThan(32_768);
  }
});

it('skips a port on which a server listens', async () => {
  const port = await reservedPort();
  const listening = Bun.serve({ port: port + 1, hostname: '127.0.0.1', fetch: () => new Response() });
  expect(await reservedPort()).toBe(port + 2);
  await listening.stop(true);
});

it('starts a server on another port after a conflict', async () => {
  const tried: number[] = [];
  const port = await onReservedPort(async (free) => {
    tried.push(free);
    if (tried.length === 1) throw new Error('the port is in use');
    return free;
  });
  expect(tried).toHaveLength(2);
  expect(port).toBe(tried[1]);
});

it('fails with the error of the server after five attempts', async () => {
  let attempts = 0;
  const start = () => {
    attempts += 1;
    return Promise.reject(new Error('no such program'));
  };
  await expect(onReservedPort(start)).rejects.toThrow('no such program');
  expect(attempts).toBe(5);
});
