import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../contract/engines/text.ts';
import { PUBLIC_URLS } from '../../../outbound/public-url.ts';
import { requirePublicImages } from './image-urls.ts';

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'public.test': ['93.184.216.34', '2606:2800:220:1::1'],
  'mixed.test': ['93.184.216.34', '10.0.0.1'],
  'metadata.test': ['169.254.169.254'],
};
const resolved: string[] = [];
const rules = {
  ...PUBLIC_URLS,
  async resolve(host: string) {
    resolved.push(host);
    return (ADDRESSES[host] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  },
};
const images = (...urls: readonly string[]): ChatMessage[] => [
  { role: 'system', text: 'Describe the images.' },
  { role: 'user', parts: urls.map((url) => ({ kind: 'image', url })) },
];
const never = new AbortController().signal;
const check = (...urls: readonly string[]) => requirePublicImages(images(...urls), rules, never);

describe('an image', () => {
  it.each([
    'data:image/png;base64,AAAA',
    'DATA:image/png;base64,AAAA',
    'https://public.test/a.png',
    'https://93.184.216.34/a.png',
  ])('may be at %s', async (url) => {
    await expect(check(url)).resolves.toBeUndefined();
  });

  it.each([
    'file:///etc/passwd',
    'http://public.test/a.png',
    'https://127.0.0.1/a.png',
    'https://[::1]/a.png',
    'https://169.254.169.254/latest/meta-data',
    'https://2852039166/latest/meta-data',
    'https://metadata.test/',
    'https://mixed.test/a.png',
    'https://unknown.test/a.png',
    'https://user:password@public.test/a.png',
    'https://public.test:8443/a.png',
    'ftp://public.test/a.png',
    '/a.png',
    '',
    `https://public.test/${'a'.repeat(2048)}`,
  ])('cannot be at %s', async (url) => {
    await expect(check('data:image/png;base64,AAAA', url)).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'messages',
      message: expect.stringContaining("'image_url' must be"),
    });
  });
});

it('resolves each host once, and a limited number of hosts', async () => {
  resolved.length = 0;
  await check(...Array.from({ length: 100 }, (_, index) => `https://public.test/${index}`));
  expect(resolved).toEqual(['public.test']);
  const many = Array.from({ length: 21 }, (_, index) => `https://h${index}.test/`);
  await expect(check(...many)).rejects.toThrow('at most 20 hosts');
  expect(resolved).toHaveLength(1);
});

it('ends with the reason of the signal', async () => {
  const left = AbortSignal.abort(new Error('left'));
  await expect(requirePublicImages(images('https://public.test/'), rules, left)).rejects.toThrow('left');
});
