import { describe, expect, it } from 'vitest';
import { lexiconEntry } from '../../../test/doubles/fake-lexicons.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import type { LexiconRecord, LexiconStore } from '../../contract/stores/lexicon-store.ts';
import { cachedLexicons, LEXICON_LIFETIME_MS, MAX_CACHED_ENTRIES } from './cached-lexicons.ts';

const SHARED = [lexiconEntry('SQL', { respelling: 'sequel' })];
const NGUYEN = lexiconEntry('Nguyen', { phonemes: 'wɪn' });

/** A store in memory that counts its queries; `gate` is awaited by `list`. */
function setUp(gate: () => Promise<void> = async () => undefined) {
  const clock = new ManualClock();
  const entries = new Map<string, LexiconRecord[]>();
  const revisions = new Map<string, number>();
  const queries = { revision: 0, list: 0 };
  const store: LexiconStore = {
    async revision(organization) {
      queries.revision += 1;
      return revisions.get(organization) ?? 0;
    },
    async list(organization) {
      queries.list += 1;
      const listed = entries.get(organization) ?? [];
      await gate();
      return listed;
    },
    async put(organization, entry) {
      const record = { ...entry, updatedAt: 0 };
      entries.set(organization, [...(entries.get(organization) ?? []), record]);
      revisions.set(organization, (revisions.get(organization) ?? 0) + 1);
      return record;
    },
    async delete(organization) {
      revisions.set(organization, (revisions.get(organization) ?? 0) + 1);
      return entries.delete(organization);
    },
  };
  return { clock, store, queries, lexicons: cachedLexicons(store, SHARED, clock) };
}

const words = async (lexicon: Promise<{ readonly own: readonly { readonly word: string }[] }>) =>
  (await lexicon).own.map(({ word }) => word);

describe('cachedLexicons', () => {
  it('queries the store once per second, and reads the entries only after a change', async () => {
    const { clock, store, queries, lexicons } = setUp();
    await store.put('a', NGUYEN, 10);
    const first = await lexicons.lexiconOf('a');
    expect(first).toEqual({ own: [{ ...NGUYEN, updatedAt: 0 }], shared: SHARED });
    expect(await lexicons.lexiconOf('a')).toBe(first);
    expect(queries).toEqual({ revision: 1, list: 1 });
    clock.advance(LEXICON_LIFETIME_MS);
    expect(await lexicons.lexiconOf('a')).toBe(first);
    expect(queries).toEqual({ revision: 2, list: 1 });
  });

  it('sees the change of another process after a second', async () => {
    const { clock, store, lexicons } = setUp();
    expect(await words(lexicons.lexiconOf('a'))).toEqual([]);
    await store.put('a', NGUYEN, 10);
    expect(await words(lexicons.lexiconOf('a'))).toEqual([]);
    clock.advance(LEXICON_LIFETIME_MS);
    expect(await words(lexicons.lexiconOf('a'))).toEqual(['Nguyen']);
  });

  it('sees its own changes immediately, also while it reads', async () => {
    const gates: PromiseWithResolvers<void>[] = [];
    const { lexicons } = setUp(() => {
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      return gate.promise;
    });
    await lexicons.put('a', NGUYEN, 10);
    const earlier = lexicons.lexiconOf('a');
    await expect.poll(() => gates.length).toBe(1);
    await lexicons.delete('a', NGUYEN);
    const later = lexicons.lexiconOf('a');
    await expect.poll(() => gates.length).toBe(2);
    gates[1]?.resolve();
    expect(await words(later)).toEqual([]);
    gates[0]?.resolve();
    await earlier;
    expect(await words(lexicons.lexiconOf('a'))).toEqual([]);
  });

  it('shares the queries of concurrent texts and one lexicon among organizations without entries', async () => {
    const { queries, lexicons } = setUp();
    const [first, second] = await Promise.all([lexicons.lexiconOf('a'), lexicons.lexiconOf('a')]);
    expect(second).toBe(first);
    expect(queries).toEqual({ revision: 1, list: 0 });
    expect(await lexicons.lexiconOf('b')).toBe(first);
  });

  it('reports a failure of the store and tries again', async () => {
    const { store, lexicons } = setUp();
    const { revision } = store;
    store.revision = () => Promise.reject(new Error('down'));
    await expect(lexicons.lexiconOf('a')).rejects.toThrow('down');
    store.revision = revision;
    expect(await words(lexicons.lexiconOf('a'))).toEqual([]);
  });

  it('drops the lexicons that were not used for the longest time', async () => {
    const { store, queries, lexicons } = setUp();
    const large = Array.from({ length: MAX_CACHED_ENTRIES / 2 }, () => ({ ...NGUYEN, updatedAt: 0 }));
    store.revision = async () => 1;
    store.list = async () => {
      queries.list += 1;
      return large;
    };
    await lexicons.lexiconOf('a');
    await lexicons.lexiconOf('b');
    await lexicons.lexiconOf('b');
    expect(queries.list).toBe(2);
    await lexicons.lexiconOf('a');
    expect(queries.list).toBe(3);
  });
});
