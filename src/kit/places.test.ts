import { expect, test } from 'vitest';
import { Places } from './places.ts';

test('an organization has so many places, whatever others take', () => {
  const places = new Places('speech requests', 2);
  const first = places.take('a');
  places.take('a');
  expect(() => places.take('a')).toThrow(
    'Your organization has 2 speech requests open, and may have 2 at once.',
  );
  places.take('b');
  first();
  places.take('a');
});

test('a place is given back once', () => {
  const places = new Places('speech requests', 2);
  const first = places.take('a');
  places.take('a');
  first();
  first();
  places.take('a');
  expect(() => places.take('a')).toThrow();
});
