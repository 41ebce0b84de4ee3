import { describe, expect, it, onTestFinished } from 'vitest';
import { encodeWav } from '../../src/audio/wav.ts';
import { openDiskBlobs } from '../../src/blobs/disk-blobs.ts';
import { ServiceError } from '../../src/contract/core/error.ts';
import { LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { clipBlob, type VoiceRecord } from '../../src/contract/stores/voice-store.ts';
import { voiceStore } from '../../src/records/stores/voice-store.ts';
import { chunks } from '../../test/contract/blob-store.cases.ts';
import { voiceRecord } from '../../test/contract/voice-store.cases.ts';
import {
  FakeFitter,
  type FakeFitterOptions,
  FakeSpeakers,
  type FakeSpeakersOptions,
} from '../../test/doubles/fake-speakers.ts';
import { FakeVadEngine } from '../../test/doubles/fake-vad-engine.ts';
import { tempDir } from '../../test/harness/temp-dir.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { memoryRecords } from '../../tools/harness/doubles/memory-records.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { sine } from '../../tools/harness/media/wav-files.ts';
import { startReadaptation } from './readaptation.ts';

const never = new AbortController().signal;
const CAPACITY = 10_000;

async function setUp(fitting: FakeFitterOptions = {}, speaking: FakeSpeakersOptions = {}) {
  const records = memoryRecords();
  onTestFinished(() => records.close());
  const voices = voiceStore(records);
  const blobs = await openDiskBlobs(await tempDir(), new ManualClock());
  const log = new RecordingLogger();
  const speakers = new FakeSpeakers(speaking);
  const voiceFitter = new FakeFitter(fitting);
  // The second of eight seconds has no speech.
  const events = [
    { kind: 'started', onsetSample: 0, startSample: 0 },
    { kind: 'stopped', endSample: LISTEN_RATE_HZ },
    { kind: 'started', onsetSample: 2 * LISTEN_RATE_HZ, startSample: 2 * LISTEN_RATE_HZ },
    { kind: 'stopped', endSample: 8 * LISTEN_RATE_HZ },
  ] as const;
  const vad = new FakeVadEngine({ script: () => events.map((event) => ({ atSample: 1, event })) });
  return {
    voices,
    blobs,
    log,
    speakers,
    voiceFitter,
    async stored(overrides: Partial<VoiceRecord> = {}): Promise<VoiceRecord> {
      const voice = voiceRecord(overrides);
      await voices.put(voice, CAPACITY);
      await blobs.write(clipBlob(voice.id), chunks(encodeWav(sine(8, 24_000), 24_000)), never);
      return voice;
    },
    start(intervalMs = 1) {
      const task = startReadaptation({ voices, blobs, vad, speakers, voiceFitter, log, intervalMs });
      onTestFinished(() => task.close());
      return task;
    },
    adaptationOf: async ({ id }: VoiceRecord) => (await voices.find(id))?.adaptation,
  };
}

describe('after the start', () => {
  it('creates missing and outdated adaptations from the speech of the clips, and keeps the others', async () => {
    const { voiceFitter, speakers, stored, start, adaptationOf } = await setUp();
    const current = await stored({ adaptation: 'v1:9' });
    const bare = await stored({ organization: 'b' });
    const outdated = await stored({ adaptation: 'v0:3' });
    start();
    await expect.poll(() => adaptationOf(bare)).toBe('v1:0');
    await expect.poll(() => adaptationOf(outdated)).toBe('v1:0');
    expect(await adaptationOf(current)).toBe('v1:9');
    expect(voiceFitter.fitted).toHaveLength(2);
    // Only the speech, resampled, at low priority for the key of the voice.
    const work = { priority: 'batch', fairnessKey: bare.keyId };
    expect(speakers.asked.map((each) => [each.samples.length, each.work])).toEqual([
      [7 * LISTEN_RATE_HZ, work],
      [7 * LISTEN_RATE_HZ, work],
    ]);
  });

  it('removes all outdated adaptations before the first new one, so that requests get 503', async () => {
    const before: unknown[] = [];
    const { voices, stored, start, adaptationOf } = await setUp(
      {},
      {
        async before() {
          before.push((await voices.listAdaptations(500)).filter(({ adaptation }) => adaptation === 'v0:1'));
        },
      },
    );
    for (let count = 0; count < 3; count += 1) await stored({ adaptation: 'v0:1' });
    const last = await stored({ adaptation: 'v0:1' });
    start();
    await expect.poll(() => adaptationOf(last)).toBe('v1:0');
    await expect.poll(() => before).toEqual([[], [], [], []]);
  });

  it('changes nothing if no model is fitted', async () => {
    const { stored, start, adaptationOf, voices } = await setUp({ isNeeded: false });
    let queries = 0;
    voices.listAdaptations = async () => {
      queries += 1;
      return [];
    };
    const voice = await stored({ adaptation: 'v0:7' });
    await start().close();
    expect([await adaptationOf(voice), queries]).toEqual(['v0:7', 0]);
  });

  it('does not replace what another node creates in the meantime', async () => {
    const { voices, voiceFitter, stored, start } = await setUp();
    const voice = await stored();
    const list = voices.listAdaptations.bind(voices);
    const listed = Promise.withResolvers<void>();
    let calls = 0;
    voices.listAdaptations = async (...query) => {
      const page = await list(...query);
      calls += 1;
      if (calls === 2) {
        await voices.setAdaptation(voice.id, 'v1:5');
        listed.resolve();
      }
      return page;
    };
    const task = start();
    await listed.promise;
    await task.close();
    expect(await voices.find(voice.id)).toMatchObject({ adaptation: 'v1:5' });
    expect(voiceFitter.fitted).toEqual([]);
  });

  it('skips a lost clip and a deleted voice', async () => {
    const { voices, blobs, log, stored, start, adaptationOf } = await setUp();
    const lost = await stored();
    await blobs.delete(clipBlob(lost.id));
    const other = await stored();
    start();
    await expect.poll(() => adaptationOf(other)).toBe('v1:0');
    await expect.poll(() => log.lines).toMatchObject([{ fields: { voice: lost.id } }]);
    await voices.delete('a', lost.id);
  });
});

describe('a failure', () => {
  it('of one voice does not stop the others; it is logged once and repeated', async () => {
    let fails = true;
    let calls = 0;
    const { log, stored, start, voices } = await setUp(
      {},
      {
        before() {
          calls += 1;
          if (fails && calls !== 2) throw new ServiceError('overloaded', 'Full.');
        },
      },
    );
    for (let count = 0; count < 2; count += 1) await stored();
    start();
    const missing = async () =>
      (await voices.listAdaptations(10)).filter((each) => each.adaptation === undefined);
    await expect.poll(async () => (await missing()).length).toBe(1);
    await expect.poll(() => log.lines).toMatchObject([{ message: 'stored voices could not be adapted' }]);
    fails = false;
    await expect.poll(missing).toEqual([]);
    await expect.poll(() => log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
  });

  it('of the store is repeated until it is available', async () => {
    const { voices, log, stored, start, adaptationOf } = await setUp();
    const voice = await stored();
    const list = voices.listAdaptations.bind(voices);
    let calls = 0;
    voices.listAdaptations = async (...query) => {
      calls += 1;
      if (calls === 1) throw new Error('database unavailable');
      return list(...query);
    };
    start();
    await expect.poll(() => adaptationOf(voice)).toBe('v1:0');
    await expect.poll(() => log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
  });
});

it('is interrupted by close without a log line, and the next start continues', async () => {
  const held = Promise.withResolvers<void>();
  const { log, stored, start, adaptationOf } = await setUp(
    {},
    {
      before(signal) {
        held.resolve();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    },
  );
  const voice = await stored();
  const task = start();
  await held.promise;
  await task.close();
  expect(await adaptationOf(voice)).toBeUndefined();
  expect(log.lines).toEqual([]);
});
