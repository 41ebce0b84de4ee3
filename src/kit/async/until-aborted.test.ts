import { expect, it } from 'vitest';
import { untilAborted } from './until-aborted.ts';

const reason = new Error('hung up');

/** Yields 1 to 3, then waits forever; records when it is closed. */
function source() {
  const state = { pulled: 0, ended: 0 };
  async function* items() {
    try {
      for (; state.pulled < 3; ) {
        state.pulled += 1;
        yield state.pulled;
      }
      await new Promise(() => undefined);
    } finally {
      state.ended += 1;
    }
  }
  return { state, items: items() };
}

async function collect(items: AsyncIterable<number>, onItem: (item: number) => void = () => undefined) {
  const all: number[] = [];
  for await (const item of items) {
    all.push(item);
    onItem(item);
  }
  return all;
}

it('yields all items of the source and ends with it', async () => {
  const items = (async function* () {
    yield 1;
    yield 2;
  })();
  expect(await collect(untilAborted(items, new AbortController().signal))).toEqual([1, 2]);
});

it('ends a pending wait on abort', async () => {
  const controller = new AbortController();
  const { items } = source();
  const collecting = collect(untilAborted(items, controller.signal), (item) => {
    if (item === 3) setImmediate(() => controller.abort(reason));
  });
  await expect(collecting).rejects.toBe(reason);
});

it('pulls no further item after the signal fires, and closes the source', async () => {
  const controller = new AbortController();
  const { items, state } = source();
  await expect(collect(untilAborted(items, controller.signal), () => controller.abort(reason))).rejects.toBe(
    reason,
  );
  expect(state).toEqual({ pulled: 1, ended: 1 });
  const other = source();
  await expect(collect(untilAborted(other.items, controller.signal))).rejects.toBe(reason);
  expect(other.state.pulled).toBe(0);
});

it('closes the source when the consumer stops', async () => {
  const { items, state } = source();
  for await (const _ of untilAborted(items, new AbortController().signal)) break;
  expect(state).toEqual({ pulled: 1, ended: 1 });
});

it('throws errors of the source', async () => {
  const items = (async function* () {
    yield 1;
    throw reason;
  })();
  await expect(collect(untilAborted(items, new AbortController().signal))).rejects.toBe(reason);
});
