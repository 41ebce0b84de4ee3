import { describe, expect, it, onTestFinished } from 'vitest';
import { encodeWav } from '../../../src/audio/wav.ts';
import { openDiskBlobs } from '../../../src/blobs/disk-blobs.ts';
import { ServiceError } from '../../../src/contract/core/error.ts';
import { LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { clipBlob, type VoiceRecord } from '../../../src/contract/stores/voice-store.ts';
import { createMetrics } from '../../../src/metrics/registry.ts';
import { openSqlite } from '../../../src/records/dialects/sqlite-records.ts';
import { voiceStore } from '../../../src/records/stores/voice-store.ts';
import { chunks } from '../../../test/contract/blob-store.cases.ts';
import { voiceRecord } from '../../../test/contract/voice-store.cases.ts';
import { FakeFitter, type FakeFitterOptions, FakeSpeakers } from '../../../test/doubles/fake-speakers.ts';
import { FakeVadEngine } from '../../../test/doubles/fake-vad-engine.ts';
import { metricValue } from '../../../test/harness/metric-values.ts';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { sine } from '../../../tools/harness/media/wav-files.ts';
import { voiceMetrics } from '../metrics.ts';
import { voiceJob } from './voice-job.ts';

const never = new AbortController().signal;
const ROOM = 1000;
const AGAIN = { kind: 'again', delayMs: 0 };
const DONE = { kind: 'done' };

async function setUp(fitting: FakeFitterOptions = {}, fitMs = 20_000) {
  const records = openSqlite(':memory:');
  onTestFinished(() => records.close());
  const voices = voiceStore(records);
  const blobs = await openDiskBlobs(await tempDir(), new ManualClock());
  const log = new RecordingLogger();
  const speakers = new FakeSpeakers();
  const voiceFitter = new FakeFitter(fitting);
  // The second of eight seconds has no speech.
  const events = [
    { kind: 'started', onsetSample: 0, startSample: 0 },
    { kind: 'stopped', endSample: LISTEN_RATE_HZ },
    { kind: 'started', onsetSample: 2 * LISTEN_RATE_HZ, startSample: 2 * LISTEN_RATE_HZ },
    { kind: 'stopped', endSample: 8 * LISTEN_RATE_HZ },
  ] as const;
  const vad = new FakeVadEngine({ script: () => events.map((event) => ({ atSample: 1, event })) });
  const metrics = createMetrics(new ManualClock());
  onTestFinished(() => metrics.close());
  const job = voiceJob({
    ...{ voices, blobs, vad, speakers, voiceFitter, log, fitMs },
    metrics: voiceMetrics(metrics),
  });
  return {
    ...{ voices, blobs, log, metrics, speakers, voiceFitter, job },
    run: (id: string, signal = never) => job.runJob(id, signal),
    async stored(overrides: Partial<VoiceRecord> = {}): Promise<VoiceRecord> {
      const voice = voiceRecord({ isImproving: true, adaptation: 'v1:0', ...overrides });
      await voices.put(voice, ROOM);
      await blobs.write(clipBlob(voice.id), chunks(encodeWav(sine(8, 24_000), 24_000)), never);
      return voice;
    },
  };
}

describe('the job of a voice', () => {
  it('saves each improved adaptation and then marks the voice as ready', async () => {
    const seen: unknown[] = [];
    const { voices, voiceFitter, metrics, stored, run } = await setUp({
      async before(step) {
        const voice = await voices.find(id);
        seen.push([step, voice?.adaptation, voice?.isImproving]);
      },
    });
    const { id, keyId } = await stored();
    expect(await run(id)).toEqual(DONE);
    expect(seen).toEqual([
      [1, 'v1:0', true],
      [2, 'v1:1', true],
    ]);
    expect(await voices.find(id)).toMatchObject({ adaptation: 'v1:2', isImproving: false });
    expect(voiceFitter.improved).toEqual([{ from: 'v1:0', budgetMs: 20_000, fairnessKey: keyId }]);
    expect(await metricValue(metrics, 'voice_adaptations_total')).toBe(2);
  });

  it('has nothing to do for a ready or an unknown voice', async () => {
    const { voiceFitter, stored, run } = await setUp();
    expect(await run((await stored({ isImproving: false })).id)).toEqual(DONE);
    expect(await run('tts-vc-voice_gone')).toEqual(DONE);
    expect(voiceFitter.improved).toEqual([]);
  });

  it.each([undefined, 'v0:7'])(
    'replaces the adaptation %s by an initial one and requeues itself',
    async (adaptation) => {
      const { voices, speakers, voiceFitter, stored, run } = await setUp();
      const { id, keyId } = await stored({ adaptation });
      expect(await run(id)).toEqual(AGAIN);
      expect(await voices.find(id)).toMatchObject({ adaptation: 'v1:0', isImproving: true });
      // Only the speech, resampled.
      expect(speakers.asked.map(({ samples, work }) => [samples.length, work])).toEqual([
        [7 * LISTEN_RATE_HZ, { priority: 'batch', fairnessKey: keyId }],
      ]);
      expect(voiceFitter.begun).toHaveLength(1);
      expect(await run(id)).toEqual(DONE);
      expect(await voices.find(id)).toMatchObject({ adaptation: 'v1:2', isImproving: false });
    },
  );

  it('keeps the initial adaptation without a time budget', async () => {
    const { voices, voiceFitter, stored, run } = await setUp({}, 0);
    const fresh = await stored({ adaptation: undefined });
    expect(await run(fresh.id)).toEqual(DONE);
    expect(await voices.find(fresh.id)).toMatchObject({ adaptation: 'v1:0', isImproving: false });
    const begun = await stored();
    expect(await run(begun.id)).toEqual(DONE);
    expect(await voices.find(begun.id)).toMatchObject({ adaptation: 'v1:0', isImproving: false });
    expect(voiceFitter.improved).toEqual([]);
  });

  it('has nothing to do if no model is fitted', async () => {
    const { voices, voiceFitter, stored, run } = await setUp({ isNeeded: false });
    const { id } = await stored();
    expect(await run(id)).toEqual(DONE);
    expect(await voices.find(id)).toMatchObject({ adaptation: 'v1:0', isImproving: false });
    expect([voiceFitter.begun, voiceFitter.improved]).toEqual([[], []]);
  });

  it('stops if the voice is deleted in the meantime, without restoring it', async () => {
    const { voices, voiceFitter, stored, run } = await setUp({
      steps: 100,
      before: async (step) => void (step === 2 && (await voices.delete('a', id))),
    });
    const { id } = await stored();
    expect(await run(id)).toEqual(DONE);
    expect(voiceFitter.leftEarly).toBe(1);
    expect(await voices.find(id)).toBeUndefined();
  });

  it('is interrupted by shutdown and resumed by another process', async () => {
    const stop = new AbortController();
    const { voices, voiceFitter, stored, run } = await setUp({
      before: (step) => void (step === 2 && stop.abort()),
    });
    const { id } = await stored();
    expect(await run(id, stop.signal)).toEqual(AGAIN);
    expect(await voices.find(id)).toMatchObject({ adaptation: 'v1:1', isImproving: true });
    expect(await run(id)).toEqual(DONE);
    expect(voiceFitter.improved.map(({ from }) => from)).toEqual(['v1:0', 'v1:1']);
  });

  it('is retried after a failure of a model or a store', async () => {
    const { voices, blobs, stored, run } = await setUp({
      before() {
        throw new ServiceError('internal', 'a worker crashed');
      },
    });
    const { id } = await stored();
    await expect(run(id)).rejects.toThrow('a worker crashed');
    blobs.read = () => Promise.reject(new ServiceError('overloaded', 'away'));
    await expect(run(id)).rejects.toThrow('away');
    expect(await voices.find(id)).toMatchObject({ adaptation: 'v1:0', isImproving: true });
  });

  it('keeps a voice whose clip is lost', async () => {
    const { voices, blobs, log, stored, run } = await setUp();
    const { id } = await stored();
    await blobs.delete(clipBlob(id));
    expect(await run(id)).toEqual(DONE);
    expect(await voices.find(id)).toMatchObject({ adaptation: 'v1:0', isImproving: false });
    expect(log.lines).toMatchObject([{ level: 'error', fields: { voice: id } }]);
  });
});
