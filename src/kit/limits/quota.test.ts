import { expect, test } from 'vitest';
import { Quota } from './quota.ts';

const user = (organization: string, keyId = `key of ${organization}`) => ({ organization, keyId });

test('an organization has so many places, whatever others take', () => {
  const places = new Quota('speech requests', { perOrganization: 2 });
  const first = places.take(user('a'));
  places.take(user('a'));
  expect(() => places.take(user('a'))).toThrow(
    'Your organization has 2 speech requests open, and may have 2 at once.',
  );
  places.take(user('b'));
  first();
  places.take(user('a'));
});

test('a place is given back once', () => {
  const places = new Quota('speech requests', { perOrganization: 2 });
  const first = places.take(user('a'));
  places.take(user('a'));
  first();
  first();
  places.take(user('a'));
  expect(() => places.take(user('a'))).toThrow();
});

test('a key has a part of them, and leaves the rest to other keys', () => {
  const places = new Quota('speech requests', { perOrganization: 3, perKey: 2 });
  const first = places.take(user('a', 'k1'));
  places.take(user('a', 'k1'));
  expect(() => places.take(user('a', 'k1'))).toThrow(
    'Your API key has 2 speech requests open, and may have 2 at once.',
  );
  const other = places.take(user('a', 'k2'));
  expect(() => places.take(user('a', 'k2'))).toThrow('Your organization has 3');
  other();
  first();
  places.take(user('a', 'k1'));
});
