import { expect, test } from 'vitest';
import { Quota } from './quota.ts';

const user = (organization: string, keyId = `key of ${organization}`) => ({ organization, keyId });

test('an organization has so many places, whatever others take', () => {
  const places = new Quota('speech requests', { perOrganization: 2 });
  const first = places.acquire(user('a'));
  places.acquire(user('a'));
  expect(() => places.acquire(user('a'))).toThrow(
    'Concurrency limit per organization reached: 2 of 2 speech requests in flight.',
  );
  places.acquire(user('b'));
  first();
  places.acquire(user('a'));
});

test('a place is given back once', () => {
  const places = new Quota('speech requests', { perOrganization: 2 });
  const first = places.acquire(user('a'));
  places.acquire(user('a'));
  first();
  first();
  places.acquire(user('a'));
  expect(() => places.acquire(user('a'))).toThrow();
});

test('a key has a part of them, and leaves the rest to other keys', () => {
  const places = new Quota('speech requests', { perOrganization: 3, perKey: 2 });
  const first = places.acquire(user('a', 'k1'));
  places.acquire(user('a', 'k1'));
  expect(() => places.acquire(user('a', 'k1'))).toThrow(
    'Concurrency limit per API key reached: 2 of 2 speech requests in flight.',
  );
  const other = places.acquire(user('a', 'k2'));
  expect(() => places.acquire(user('a', 'k2'))).toThrow('Concurrency limit per organization reached: 3');
  other();
  first();
  places.acquire(user('a', 'k1'));
});
