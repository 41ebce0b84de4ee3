import { expect, it } from 'vitest';
import { RoundRobin } from './round-robin.ts';

/** Queues the items; the first letter of an item is its key. */
function queueOf(...items: string[]) {
  const queue = new RoundRobin<string>();
  for (const item of items) queue.add(item.charAt(0), item);
  return queue;
}

/** Removes and returns the next item, and ends the turn of its key. */
function serveNext(queue: RoundRobin<string>, accepts?: (key: string) => boolean): string | undefined {
  const next = queue.peek(accepts);
  if (next === undefined) return undefined;
  queue.delete(next.key, next.item);
  queue.moveToEnd(next.key);
  return next.item;
}

it('serves the keys in turn, and the items of a key in order of arrival', () => {
  const queue = queueOf('a1', 'a2', 'a3', 'b1', 'b2', 'c1');
  expect(queue.peek()).toEqual({ key: 'a', item: 'a1' });
  expect([serveNext(queue), serveNext(queue)]).toEqual(['a1', 'b1']);
  queue.add('d', 'd1');
  const rest = Array.from({ length: 6 }, () => serveNext(queue));
  expect(rest).toEqual(['c1', 'a2', 'b2', 'd1', 'a3', undefined]);
});

it('skips keys that are not accepted, which keep their turn', () => {
  const queue = queueOf('a1', 'b1', 'b2');
  expect(serveNext(queue, (key) => key !== 'a')).toBe('b1');
  expect(queue.peek(() => false)).toBeUndefined();
  expect([serveNext(queue), serveNext(queue)]).toEqual(['a1', 'b2']);
});

it('removes items, and counts the rest', () => {
  const queue = queueOf('a1', 'a2', 'b1');
  queue.add('a', 'a1');
  expect([queue.size, queue.sizeOf('a'), queue.sizeOf('c')]).toEqual([3, 2, 0]);
  queue.delete('a', 'a1');
  queue.delete('a', 'a1');
  queue.delete('c', 'c1');
  queue.moveToEnd('c');
  expect([queue.size, queue.sizeOf('a')]).toEqual([2, 1]);
  expect([serveNext(queue), serveNext(queue), serveNext(queue)]).toEqual(['a2', 'b1', undefined]);
  expect(queue.size).toBe(0);
});
