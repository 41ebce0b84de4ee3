import type { Clock } from '../../contract/core/clock.ts';
import type { Lexicon, LexiconEntry, LexiconStore, Lexicons } from '../../contract/stores/lexicon-store.ts';

/** How long this process uses a lexicon after another process changed it. */
export const LEXICON_LIFETIME_MS = 1000;
/** Entries of all cached lexicons; the lexicons that were not used for the longest time are dropped. */
export const MAX_CACHED_ENTRIES = 50_000;
/** An organization without entries takes the place of this many. */
const OVERHEAD = 5;

interface Cached {
  readonly lexicon: Lexicon;
  readonly revision: number;
  /** Monotonic time before its revision was read. */
  readonly checkedMs: number;
}

/**
 * Caches the lexicons of organizations, so that the texts of a busy organization need a query per second, and the entries are read
 * and compiled only after a change.
 * @param shared entries of CONFIG.
 */
export function cachedLexicons(store: LexiconStore, shared: readonly LexiconEntry[], clock: Clock): Lexicons {
  /** In the order of their last use. */
  const cached = new Map<string, Cached>();
  let cachedEntries = 0;
  /** Reads in progress. A change removes its organization, so that no later text uses their results. */
  const reads = new Map<string, Promise<Lexicon>>();
  const withoutEntries: Lexicon = { own: [], shared };

  const drop = (organization: string) => {
    const dropped = cached.get(organization);
    if (dropped === undefined) return;
    cached.delete(organization);
    cachedEntries -= sizeOf(dropped);
  };
  const keep = (organization: string, value: Cached) => {
    drop(organization);
    cached.set(organization, value);
    cachedEntries += sizeOf(value);
    for (const oldest of cached.keys()) {
      if (cachedEntries <= MAX_CACHED_ENTRIES) break;
      drop(oldest);
    }
  };

  async function current(organization: string, known: Cached | undefined): Promise<Cached> {
    const checkedMs = clock.monotonicMs();
    // Before the entries, so that entries that are newer than their revision are read again.
    const revision = await store.revision(organization);
    if (revision === known?.revision) return { ...known, checkedMs };
    const own = revision === 0 ? [] : await store.list(organization);
    return { lexicon: own.length === 0 ? withoutEntries : { own, shared }, revision, checkedMs };
  }

  function read(organization: string): Promise<Lexicon> {
    const started = current(organization, cached.get(organization)).then((value) => {
      if (reads.get(organization) === started) keep(organization, value);
      return value.lexicon;
    });
    const forget = () => {
      if (reads.get(organization) === started) reads.delete(organization);
    };
    reads.set(organization, started);
    started.then(forget, forget);
    return started;
  }

  /** Changes the entries. */
  async function changed<Result>(organization: string, change: Promise<Result>): Promise<Result> {
    try {
      return await change;
    } finally {
      drop(organization);
      reads.delete(organization);
    }
  }

  return {
    async lexiconOf(organization) {
      const value = cached.get(organization);
      if (value !== undefined && clock.monotonicMs() - value.checkedMs < LEXICON_LIFETIME_MS) {
        cached.delete(organization);
        cached.set(organization, value);
        return value.lexicon;
      }
      return await (reads.get(organization) ?? read(organization));
    },
    list: (organization) => store.list(organization),
    put: (organization, entry, maxEntries) =>
      changed(organization, store.put(organization, entry, maxEntries)),
    delete: (organization, entry) => changed(organization, store.delete(organization, entry)),
  };
}

function sizeOf({ lexicon }: Cached): number {
  return lexicon.own.length + OVERHEAD;
}
