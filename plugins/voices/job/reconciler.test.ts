import { describe, expect, it, onTestFinished } from 'vitest';
import type { VoiceRecord } from '../../../src/contract/stores/voice-store.ts';
import { openSqlite } from '../../../src/records/dialects/sqlite-records.ts';
import { voiceStore } from '../../../src/records/stores/voice-store.ts';
import { voiceRecord } from '../../../test/contract/voice-store.cases.ts';
import { FakeFitter, type FakeFitterOptions } from '../../../test/doubles/fake-speakers.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { startVoiceReconciler } from './reconciler.ts';

const ROOM = 10_000;

async function setUp(voices: readonly VoiceRecord[], fitting: FakeFitterOptions = {}) {
  const records = openSqlite(':memory:');
  onTestFinished(() => records.close());
  const store = voiceStore(records);
  for (const voice of voices) await store.put(voice, ROOM);
  const log = new RecordingLogger();
  const queued: string[] = [];
  const queue = { isUnavailable: false, refused: 0 };
  return {
    ...{ store, log, queued, queue },
    watch(intervalMs?: number) {
      const watch = startVoiceReconciler({
        ...{ voices: store, voiceFitter: new FakeFitter(fitting), log },
        jobs: {
          async enqueue(kind, id) {
            if (queue.isUnavailable) {
              queue.refused += 1;
              throw new Error('queue unavailable');
            }
            queued.push(`${kind} ${id}`);
          },
        },
        ...(intervalMs !== undefined && { intervalMs }),
      });
      onTestFinished(() => watch.close());
      return watch;
    },
  };
}

const jobsOf = (voices: readonly VoiceRecord[]) => voices.map(({ id }) => `voice ${id}`).toSorted();

describe('the reconciler', () => {
  it('queues improving voices and voices without a current adaptation at start', async () => {
    const improving = voiceRecord({ adaptation: 'v1:3', isImproving: true, organization: 'b' });
    const outdated = Array.from({ length: 201 }, () => voiceRecord({ adaptation: 'v0:3' }));
    const bare = voiceRecord();
    const { store, queued, watch } = await setUp([
      voiceRecord({ adaptation: 'v1:3' }),
      improving,
      ...outdated,
      bare,
    ]);
    watch();
    const wanted = jobsOf([improving, ...outdated, bare]);
    await expect.poll(() => queued.length).toBe(wanted.length);
    expect(queued.toSorted()).toEqual(wanted);
    expect(await store.find(improving.id)).toEqual(improving);
    // Outdated adaptations are deleted.
    expect(await store.find(outdated[7]?.id as VoiceRecord['id'])).toMatchObject({
      adaptation: undefined,
      isImproving: true,
    });
  });

  it('keeps adaptations if no model is fitted', async () => {
    const voice = voiceRecord({ adaptation: 'v0:3' });
    const improving = voiceRecord({ isImproving: true });
    const { store, queued, watch } = await setUp([voice, improving], { isNeeded: false });
    watch();
    await expect.poll(() => queued).toEqual(jobsOf([improving]));
    expect(await store.find(voice.id)).toEqual(voice);
  });

  it('checks periodically and queues voices that the queue has lost', async () => {
    const { store, log, queued, queue, watch } = await setUp([]);
    queue.isUnavailable = true;
    const voice = voiceRecord({ adaptation: 'v1:0', isImproving: true });
    await store.put(voice, ROOM);
    watch(5);
    await expect.poll(() => queue.refused).toBeGreaterThan(2);
    // Logged once for many failed checks.
    expect(log.lines).toMatchObject([{ level: 'error', message: 'voices could not be queued' }]);
    queue.isUnavailable = false;
    await expect.poll(() => queued.length).toBeGreaterThan(1);
    expect(new Set(queued)).toEqual(new Set(jobsOf([voice])));
    expect(log.lines.slice(1)).toMatchObject([{ level: 'info', fields: { times: queue.refused } }]);
  });

  it('keeps an adaptation that another process saves during the check', async () => {
    const voice = voiceRecord({ adaptation: 'v0:1', isImproving: true });
    const { store, queued, watch } = await setUp([voice]);
    const adaptations = store.listAdaptations.bind(store);
    store.listAdaptations = async (...query) => {
      const page = await adaptations(...query);
      await store.setAdaptation(voice.id, 'v1:9', true);
      return page;
    };
    watch();
    await expect.poll(() => queued).toEqual(jobsOf([voice]));
    expect(await store.find(voice.id)).toMatchObject({ adaptation: 'v1:9' });
  });

  it('checks adaptations once, after the store is available', async () => {
    const { store, queued, log, watch } = await setUp([voiceRecord({ adaptation: 'v0:1' })]);
    const adaptations = store.listAdaptations.bind(store);
    let asked = 0;
    store.listAdaptations = async (...query) => {
      asked += 1;
      if (asked === 1) throw new Error('database unavailable');
      return adaptations(...query);
    };
    watch(5);
    await expect.poll(() => queued.length).toBeGreaterThan(2);
    expect(asked).toBe(2);
    expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
  });

  it('stops between two voices when it is closed', async () => {
    const voices = Array.from({ length: 250 }, () => voiceRecord({ isImproving: true, adaptation: 'v1:0' }));
    const { queued, watch } = await setUp(voices);
    const running = watch();
    await expect.poll(() => queued.length).toBeGreaterThan(0);
    await running.close();
    const { length } = queued;
    await new Promise((resolve) => setImmediate(resolve));
    expect(queued).toHaveLength(length);
    await running.close();
  });
});
