import { expect, test } from 'vitest';
import type { LexiconStore } from '../../src/contract/stores/lexicon-store.ts';
import type { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { lexiconEntry } from '../doubles/fake-lexicons.ts';

/** A limit of entries above the number in all cases. */
const MANY = 100;
const FULL = { kind: 'invalid_request', code: 'storage_limit_exceeded' };

/** Contract of the lexicon store. `open` returns an empty store that reads the time from `clock`. */
export function lexiconStoreCases(open: () => Promise<LexiconStore>, clock: ManualClock): void {
  const now = () => Math.floor(clock.now() / 1000);

  test('an entry is listed with all its fields, ordered by word and language', async () => {
    const store = await open();
    const first = lexiconEntry('Émile "x" \' %', { phonemes: 'emil' });
    const second = lexiconEntry('nguyen', { language: 'en', phonemes: 'wɪn' });
    const third = lexiconEntry('nguyen', { language: 'vi', respelling: 'win' });
    const upper = lexiconEntry('SQL', { respelling: 'sequel' });
    for (const entry of [third, first, second, upper]) {
      expect(await store.put('a', entry, MANY)).toEqual({ ...entry, updatedAt: now() });
    }
    const listed = await store.list('a');
    expect(listed).toEqual([upper, second, third, first].map((entry) => ({ ...entry, updatedAt: now() })));
  });

  test('an entry replaces the one with the same word and language, in any case unless the word keeps its case', async () => {
    const store = await open();
    await store.put('a', lexiconEntry('nguyen', { phonemes: 'a' }), MANY);
    await store.put('a', lexiconEntry('SQL', { phonemes: 'b' }), MANY);
    clock.advance(5000);
    await store.put('a', lexiconEntry('Nguyen', { respelling: 'win' }), MANY);
    await store.put('a', lexiconEntry('sql', { phonemes: 'c' }), MANY);
    expect(await store.list('a')).toMatchObject([
      { word: 'SQL', phonemes: 'b' },
      { word: 'Nguyen', phonemes: undefined, respelling: 'win', updatedAt: now() },
      { word: 'sql', phonemes: 'c' },
    ]);
  });

  test('an entry is deleted by its word and language', async () => {
    const store = await open();
    await store.put('a', lexiconEntry('Nguyen', { language: 'en', phonemes: 'wɪn' }), MANY);
    expect(await store.delete('a', { word: 'Nguyen', language: undefined })).toBe(false);
    expect(await store.delete('a', { word: "' OR 1=1 --", language: 'en' })).toBe(false);
    expect(await store.delete('a', { word: 'nguyen', language: 'en' })).toBe(true);
    expect(await store.delete('a', { word: 'nguyen', language: 'en' })).toBe(false);
    expect(await store.list('a')).toEqual([]);
  });

  test('organizations do not see each other', async () => {
    const store = await open();
    await store.put('b', lexiconEntry('x', { phonemes: 'a' }), MANY);
    expect(await store.list('a')).toEqual([]);
    expect(await store.revision('a')).toBe(0);
    expect(await store.delete('a', { word: 'x', language: undefined })).toBe(false);
    await store.put('a', lexiconEntry('x', { phonemes: 'b' }), 1);
    expect(await store.list('b')).toMatchObject([{ phonemes: 'a' }]);
  });

  test('the revision grows with every change', async () => {
    const store = await open();
    expect(await store.revision('a')).toBe(0);
    const revisions = [0];
    await store.put('a', lexiconEntry('x', { phonemes: 'a' }), MANY);
    revisions.push(await store.revision('a'));
    await store.put('a', lexiconEntry('x', { phonemes: 'b' }), MANY);
    revisions.push(await store.revision('a'));
    await store.delete('a', { word: 'x', language: undefined });
    revisions.push(await store.revision('a'));
    expect(new Set(revisions).size).toBe(4);
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
  });

  test('a full lexicon accepts only replacements until an entry is deleted; a refused entry changes nothing', async () => {
    const store = await open();
    await store.put('a', lexiconEntry('x', { phonemes: 'a' }), 2);
    await store.put('a', lexiconEntry('y', { phonemes: 'a' }), 2);
    const revision = await store.revision('a');
    await expect(store.put('a', lexiconEntry('z', { phonemes: 'a' }), 2)).rejects.toMatchObject(FULL);
    expect(await store.revision('a')).toBe(revision);
    await store.put('a', lexiconEntry('x', { phonemes: 'b' }), 2);
    await store.delete('a', { word: 'y', language: undefined });
    await store.put('a', lexiconEntry('z', { phonemes: 'a' }), 2);
    expect((await store.list('a')).map(({ word }) => word)).toEqual(['x', 'z']);
  });

  test('concurrent entries do not exceed the limit', async () => {
    const store = await open();
    const words = ['a', 'b', 'c', 'd', 'e'];
    const results = await Promise.allSettled(
      words.map((word) => store.put('a', lexiconEntry(word, { phonemes: 'a' }), 2)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(await store.list('a')).toHaveLength(2);
  });
}
