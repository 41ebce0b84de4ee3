import { expect, test } from 'vitest';
import type { TextEngine, TextRequest } from '../../contract/engines/text.ts';
import { SharedTextEngine } from './shared-engine.ts';

const REQUEST: TextRequest = {
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hello' }] }],
  tools: [],
  toolChoice: 'none',
  parallelToolCalls: false,
  output: { kind: 'text' },
  sampling: {},
  stop: [],
  priority: 'interactive',
  fairnessKey: 'key',
};

/** A shared model; its instances record their events. */
function setUp() {
  const events: string[] = [];
  let failure: Error | undefined;
  let count = 0;
  const shared = new SharedTextEngine(async () => {
    if (failure !== undefined) throw failure;
    count += 1;
    const name = `instance ${count}`;
    events.push(`${name} loaded`);
    const engine: TextEngine = {
      contextTokens: 100,
      async *generate({ maxTokens }) {
        events.push(`${name} generates ${maxTokens}`);
        yield { kind: 'text', text: 'Hi' };
      },
      ready: () => ({ ready: true }),
      close: async () => void events.push(`${name} closed`),
    };
    return engine;
  });
  return { shared, events, fail: (error: Error | undefined) => (failure = error) };
}

async function run(engine: TextEngine, request = REQUEST): Promise<void> {
  for await (const _ of engine.generate(request, new AbortController().signal));
}

test('two users share one instance, each with its own default limit', async () => {
  const { shared, events } = setUp();
  const [one, other] = await Promise.all([shared.open(7), shared.open(9)]);
  await run(one);
  await run(other);
  await run(other, { ...REQUEST, maxTokens: 3 });
  expect(events).toEqual([
    'instance 1 loaded',
    ...['instance 1 generates 7', 'instance 1 generates 9', 'instance 1 generates 3'],
  ]);
  expect(other.contextTokens).toBe(100);
});

test('the last user closes it, and the next one loads it again', async () => {
  const { shared, events } = setUp();
  const [one, other] = [await shared.open(1), await shared.open(1)];
  await Promise.all([one.close(), one.close()]);
  expect(events).toEqual(['instance 1 loaded']);
  await Promise.all([other.close(), shared.open(1)]);
  expect(events).toEqual(['instance 1 loaded', 'instance 1 closed', 'instance 2 loaded']);
});

test('a failed load is repeated by the next call', async () => {
  const { shared, events, fail } = setUp();
  fail(new Error('damaged'));
  const failed = await Promise.allSettled([shared.open(1), shared.open(1)]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fail(undefined);
  await (await shared.open(1)).close();
  expect(events).toEqual(['instance 1 loaded', 'instance 1 closed']);
});
