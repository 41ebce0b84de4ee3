import { expect, test } from 'vitest';
import { findCitations } from './citations.ts';

const BIRDS = { url: 'https://birds.test', title: 'Birds' };
const WRENS = { url: 'https://birds.test/wrens', title: 'Wrens' };

test('every occurrence of a URL is cited, and the longest URL wins', () => {
  const text = 'See https://birds.test/wrens, or (https://birds.test), or https://birds.test/wrens again.';
  const citations = findCitations(text, [BIRDS, WRENS]);
  expect(citations.map(({ title }) => title)).toEqual(['Wrens', 'Birds', 'Wrens']);
  for (const { url, start_index, end_index } of citations)
    expect(text.slice(start_index, end_index)).toBe(url);
});

test('a text without URLs has no citations', () => {
  expect(findCitations('Birds.', [BIRDS, { url: '', title: '' }])).toEqual([]);
});

test('a page that was found twice is cited once, with its first title', () => {
  const citations = findCitations(BIRDS.url, [BIRDS, { ...BIRDS, title: 'The same birds' }]);
  expect(citations).toMatchObject([{ title: 'Birds', start_index: 0, end_index: BIRDS.url.length }]);
});
