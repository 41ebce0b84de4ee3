import { expect, test } from 'vitest';
import { Quota } from './quota.ts';

const user = (organization: string, keyId = `key of ${organization}`) => ({ organization, keyId });

test('limits each organization independently', () => {
  const quota = new Quota('speech requests', { perOrganization: 2 });
  const first = quota.acquire(user('a'));
  quota.acquire(user('a'));
  expect(() => quota.acquire(user('a'))).toThrow(
    'Concurrency limit per organization reached: 2 of 2 speech requests in flight.',
  );
  quota.acquire(user('b'));
  first();
  quota.acquire(user('a'));
});

test('releasing a slot is idempotent', () => {
  const quota = new Quota('speech requests', { perOrganization: 2 });
  const first = quota.acquire(user('a'));
  quota.acquire(user('a'));
  first();
  first();
  quota.acquire(user('a'));
  expect(() => quota.acquire(user('a'))).toThrow();
});

test('limits a key, and leaves the rest to other keys', () => {
  const quota = new Quota('speech requests', { perOrganization: 3, perKey: 2 });
  const first = quota.acquire(user('a', 'k1'));
  quota.acquire(user('a', 'k1'));
  expect(() => quota.acquire(user('a', 'k1'))).toThrow(
    'Concurrency limit per API key reached: 2 of 2 speech requests in flight.',
  );
  const other = quota.acquire(user('a', 'k2'));
  expect(() => quota.acquire(user('a', 'k2'))).toThrow('Concurrency limit per organization reached: 3');
  other();
  first();
  quota.acquire(user('a', 'k1'));
});
