import { expect, test } from 'vitest';
import { sendToChild } from './send-to-child.ts';

const CHILD = 'process.on("message", (text) => process.send(text)); process.send("up")';

function start(receive: (message: unknown) => void) {
  return Bun.spawn({
    cmd: [process.execPath, '-e', CHILD],
    stdio: ['ignore', 'ignore', 'ignore'],
    serialization: 'advanced',
    ipc: receive,
  });
}

test('delivers a message, and throws for data that cannot be cloned', async () => {
  const up = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<unknown>();
  const child = start((message) => (message === 'up' ? up.resolve() : answer.resolve(message)));
  await up.promise;
  sendToChild(child, 'hello');
  expect(await answer.promise).toBe('hello');
  expect(() => sendToChild(child, () => undefined)).toThrow();
  child.kill('SIGKILL');
  await child.exited;
});

test('does not throw while a child exits', async () => {
  for (let round = 0; round < 5; round++) {
    const up = Promise.withResolvers<void>();
    const child = start(() => up.resolve());
    await up.promise;
    child.kill('SIGKILL');
    while (child.exitCode === null && child.signalCode === null) {
      sendToChild(child, 'hello');
      await new Promise(setImmediate);
    }
    sendToChild(child, 'hello');
  }
});
