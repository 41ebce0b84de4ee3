import { expect, test } from 'vitest';
import { TurnGate } from './turn-gate.ts';

function gated() {
  const events: string[] = [];
  return { events, gate: new TurnGate<string>((event) => events.push(event)) };
}

test('events of an open turn are reported immediately', () => {
  const { gate, events } = gated();
  gate.start('a', true);
  gate.add('a', 'a1');
  expect(events).toEqual(['a1']);
});

test('events are held until their turn is opened, and later turns wait', () => {
  const { gate, events } = gated();
  gate.start('a', false);
  gate.add('a', 'a1');
  gate.end('a');
  gate.start('b', true);
  gate.add('b', 'b1');
  expect(events).toEqual([]);
  gate.open('a');
  expect(events).toEqual(['a1', 'b1']);
});

test('dropped turns report nothing and hold nothing', () => {
  const { gate, events } = gated();
  gate.start('a', false);
  gate.add('a', 'a1');
  gate.start('b', false);
  gate.add('b', 'b1');
  gate.drop('a');
  gate.open('a');
  gate.end('a');
  expect(events).toEqual([]);
  gate.open('b');
  expect(events).toEqual(['b1']);
});

test('events of no known turn follow those of the known turns', () => {
  const { gate, events } = gated();
  gate.start('a', false);
  gate.add('other', 'other1');
  expect(events).toEqual([]);
  gate.drop('a');
  expect(events).toEqual(['other1']);
});
