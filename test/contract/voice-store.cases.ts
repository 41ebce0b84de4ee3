import { describe, expect, test } from 'vitest';
import { type Id, newId } from '../../src/contract/core/id.ts';
import type { VoiceRecord, VoiceStore } from '../../src/contract/stores/voice-store.ts';

const NOW = 1_767_323_045;
/** A limit of voices above the number in all cases. */
const MANY = 1000;
const FULL = { kind: 'invalid_request', code: 'voice_limit_exceeded' };

export function voiceRecord(overrides: Partial<VoiceRecord> = {}): VoiceRecord {
  return {
    id: newId('tts-vc-voice_'),
    organization: 'a',
    keyId: 'key_1',
    name: 'Anna',
    consent: 'I agree.',
    refText: 'Ask not what your country can do for you.',
    speakerDescription: undefined,
    format: 'wav',
    durationS: 8.25,
    sampleRateHz: 44_100,
    lengthBytes: 727_694,
    createdAt: NOW,
    adaptation: undefined,
    ...overrides,
  };
}

/** Contract of the voice store. `open` returns an empty store. */
export function voiceStoreCases(open: () => Promise<VoiceStore>): void {
  /** Stores voices, the oldest first. */
  async function stored(store: VoiceStore, count: number, overrides: Partial<VoiceRecord> = {}) {
    const voices = Array.from({ length: count }, (_, at) => voiceRecord({ name: `${at}`, ...overrides }));
    for (const voice of voices) await store.put(voice, MANY);
    return voices;
  }
  const namesOf = async (store: VoiceStore, query: Partial<Parameters<VoiceStore['list']>[0]> = {}) => {
    const { voices, hasMore } = await store.list({ organization: 'a', limit: 10, order: 'desc', ...query });
    return [voices.map(({ name }) => name), hasMore];
  };
  /** The ids of all pages. */
  const paged = async (next: (after?: Id<'tts-vc-voice_'>) => Promise<readonly Id<'tts-vc-voice_'>[]>) => {
    const all: Id<'tts-vc-voice_'>[] = [];
    for (let page = await next(); page.length > 0; page = await next(all.at(-1))) all.push(...page);
    return all;
  };

  describe('a voice', () => {
    test('is read with all its fields', async () => {
      const store = await open();
      for (const voice of [
        voiceRecord({ name: 'Grüße "你好"\\ \' %', refText: 'a\nb', durationS: 5 }),
        voiceRecord({ speakerDescription: 'deep', adaptation: '{"a":1}' }),
      ]) {
        await store.put(voice, MANY);
        expect(await store.get('a', voice.id)).toEqual(voice);
        expect(await store.find(voice.id)).toEqual(voice);
      }
    });

    test('cannot be stored twice', async () => {
      const store = await open();
      const voice = voiceRecord();
      await store.put(voice, MANY);
      await expect(store.put(voice, MANY)).rejects.toThrow();
    });

    test('does not exist after its deletion', async () => {
      const store = await open();
      const [voice, other] = (await stored(store, 2)) as [VoiceRecord, VoiceRecord];
      expect(await store.delete('a', voice.id)).toBe(true);
      expect(await store.delete('a', voice.id)).toBe(false);
      expect(await store.get('a', voice.id)).toBeUndefined();
      expect(await store.find(voice.id)).toBeUndefined();
      expect(await store.filterExisting([voice.id, other.id])).toEqual(new Set([other.id]));
      expect(await namesOf(store)).toEqual([['1'], false]);
    });

    test.each(['tts-vc-voice_unknown', '', '\0', "' OR 1=1 --"])('does not find the id %j', async (id) => {
      const store = await open();
      await stored(store, 1);
      expect(await store.get('a', id)).toBeUndefined();
      expect(await store.delete('a', id)).toBe(false);
      await expect(namesOf(store, { after: id })).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'after',
      });
    });
  });

  test('organizations do not see each other', async () => {
    const store = await open();
    const foreign = voiceRecord({ organization: 'b' });
    await store.put(foreign, MANY);
    expect(await store.get('a', foreign.id)).toBeUndefined();
    expect(await store.delete('a', foreign.id)).toBe(false);
    expect(await namesOf(store)).toEqual([[], false]);
    await expect(namesOf(store, { after: foreign.id })).rejects.toMatchObject({ param: 'after' });
    expect(await store.get('b', foreign.id)).toEqual(foreign);
  });

  test('pages follow each other in both orders, without gap or overlap', async () => {
    const store = await open();
    const [, second, third] = await stored(store, 5);
    expect(await namesOf(store)).toEqual([['4', '3', '2', '1', '0'], false]);
    expect(await namesOf(store, { limit: 2 })).toEqual([['4', '3'], true]);
    expect(await namesOf(store, { limit: 2, after: third?.id })).toEqual([['1', '0'], false]);
    expect(await namesOf(store, { limit: 2, order: 'asc' })).toEqual([['0', '1'], true]);
    const rest = { limit: 2, order: 'asc', after: second?.id } as const;
    expect(await namesOf(store, rest)).toEqual([['2', '3'], true]);
  });

  describe('the voice limit', () => {
    const put = (store: VoiceStore, organization = 'a') => store.put(voiceRecord({ organization }), 2);

    test('applies per organization; deletion of a voice frees its place', async () => {
      const store = await open();
      const [voice] = (await stored(store, 1)) as [VoiceRecord];
      await store.requireCapacity('a', 2);
      await put(store);
      const message = await store.requireCapacity('a', 2).catch((error: Error) => error.message);
      expect(message).toMatch(/has 2 of at most 2 stored voices/);
      await expect(put(store)).rejects.toMatchObject(FULL);
      await put(store, 'b');
      await store.delete('a', voice.id);
      await put(store);
    });

    test('holds for concurrent voices', async () => {
      const store = await open();
      const created = await Promise.allSettled(Array.from({ length: 8 }, () => put(store)));
      expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
      for (const one of created) if (one.status === 'rejected') expect(one.reason).toMatchObject(FULL);
    });
  });

  describe('an adaptation', () => {
    test('can be replaced and removed', async () => {
      const store = await open();
      const [voice] = (await stored(store, 1)) as [VoiceRecord];
      for (const adaptation of ['first', 'second', undefined]) {
        expect(await store.setAdaptation(voice.id, adaptation)).toBe(true);
        expect(await store.get('a', voice.id)).toEqual({ ...voice, adaptation });
      }
    });

    test('is not stored for a deleted voice', async () => {
      const store = await open();
      const [voice] = (await stored(store, 1)) as [VoiceRecord];
      await store.delete('a', voice.id);
      expect(await store.setAdaptation(voice.id, 'late')).toBe(false);
      expect(await store.find(voice.id)).toBeUndefined();
    });

    test('is listed across organizations, in pages', async () => {
      const store = await open();
      const voices = [
        ...(await stored(store, 3, { organization: 'b', adaptation: 'x' })),
        ...(await stored(store, 2)),
      ].toSorted((one, other) => (one.id < other.id ? -1 : 1));
      const all = await store.listAdaptations(10);
      expect(all).toEqual(voices.map(({ id, adaptation }) => ({ id, adaptation })));
      const idsOf = async (after?: Id<'tts-vc-voice_'>) =>
        (await store.listAdaptations(2, after)).map(({ id }) => id);
      expect(await paged(idsOf)).toEqual(voices.map(({ id }) => id));
      // Also after the deletion of the last voice of a page.
      await store.delete(voices[1]?.organization ?? '', voices[1]?.id ?? '');
      expect(await idsOf(voices[1]?.id)).toEqual(voices.slice(2, 4).map(({ id }) => id));
    });
  });

  test('existing voices are returned for a list of ids', async () => {
    const store = await open();
    const [first, second] = (await stored(store, 2)) as [VoiceRecord, VoiceRecord];
    const existing = await store.filterExisting([second.id, newId('tts-vc-voice_'), first.id]);
    expect(existing).toEqual(new Set([first.id, second.id]));
    expect(await store.filterExisting([])).toEqual(new Set());
  });
}
