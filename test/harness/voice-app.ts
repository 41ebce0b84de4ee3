import { readdirSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { EnrollmentService } from '../../plugins/voices/enrollment.ts';
import { voiceMetrics } from '../../plugins/voices/metrics.ts';
import { voiceRoutes } from '../../plugins/voices/routes.ts';
import { VoiceService } from '../../plugins/voices/service.ts';
import { openDiskBlobs } from '../../src/blobs/disk-blobs.ts';
import { LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import type { TtsEngine } from '../../src/contract/engines/engine.ts';
import type { NamedVoice } from '../../src/contract/engines/named-voice.ts';
import type { BlobStore } from '../../src/contract/stores/blob-store.ts';
import type { VoiceStore } from '../../src/contract/stores/voice-store.ts';
import { bind } from '../../src/http/route.ts';
import { createMetrics } from '../../src/metrics/registry.ts';
import { voiceStore } from '../../src/records/stores/voice-store.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { memoryRecords } from '../../tools/harness/doubles/memory-records.ts';
import { RecordedCalls, type RecordedCallsOptions } from '../../tools/harness/doubles/recorded-calls.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { FakeAudioFiles } from '../doubles/fake-audio-files.ts';
import {
  FakeFitter,
  type FakeFitterOptions,
  FakeSpeakers,
  type FakeSpeakersOptions,
} from '../doubles/fake-speakers.ts';
import { FakeTtsEngine } from '../doubles/fake-tts-engine.ts';
import { FakeVadEngine } from '../doubles/fake-vad-engine.ts';
import { withMethods } from '../doubles/with-methods.ts';
import { tempDir } from './temp-dir.ts';
import { KEY_A, testApp } from './test-app.ts';

export const VOICES = '/v1/audio/voices';
/** Size limit of a clip, in bytes. */
export const CLIP_BYTES = 1024 * 1024;

/** A clip of a duration for the fake reader. */
export const clipOf = (seconds: number, name = 'clip.wav') =>
  new File([new Uint8Array(Math.round(seconds * LISTEN_RATE_HZ) * 2)], name);

/** Required fields of an enrollment. */
export const ENROLLMENT = {
  audio_sample: clipOf(8),
  consent: 'I agree.',
  name: 'Anna',
  ref_text: 'Ask not what your country can do for you.',
} as const;

type Value = string | File;
/** Fields of a form; a field can have several values, undefined omits it. */
export type VoiceFields = Record<string, Value | readonly Value[] | undefined>;

export interface VoiceAppOptions extends FakeSpeakersOptions, RecordedCallsOptions {
  readonly fitter?: FakeFitterOptions;
  readonly perOrganization?: number;
  readonly voicesPerOrganization?: number;
  /** Seconds of speech at the beginning of a clip; default: the whole clip. */
  readonly speechS?: number;
  /** Wraps the stores, to simulate failures. */
  readonly voices?: (real: VoiceStore) => VoiceStore;
  readonly blobs?: (real: BlobStore) => BlobStore;
  /** `deleteVoice` of the model `remote`; the model `local` has none. */
  readonly forget?: TtsEngine['deleteVoice'];
  /** Voices of the model `presets`, which exists only with them. */
  readonly named?: readonly NamedVoice[];
}

/** The app with the voice routes, blobs on disk, in-memory SQLite and scripted engines. */
export async function voiceApp({ fitter: fitting, ...options }: VoiceAppOptions = {}) {
  const { voices: otherVoices = (it) => it, blobs: otherBlobs = (it) => it } = options;
  const clock = new ManualClock();
  const log = new RecordingLogger();
  const records = memoryRecords();
  onTestFinished(() => records.close());
  const folder = await tempDir();
  const voices = otherVoices(voiceStore(records));
  const blobs = otherBlobs(await openDiskBlobs(await tempDir(), clock));
  const speakers = new FakeSpeakers(options);
  const local: TtsEngine = new FakeTtsEngine();
  const remote = options.forget === undefined ? local : withMethods(local, { deleteVoice: options.forget });
  const engines = new Map<string, TtsEngine>([
    ['local', local],
    ['remote', remote],
  ]);
  if (options.named !== undefined) {
    engines.set('presets', Object.assign(new FakeTtsEngine(), { voices: options.named }));
  }
  const tts = { ids: [...engines.keys()], get: (id: string) => engines.get(id) };
  const fitter = new FakeFitter(fitting);
  const audioFiles = new FakeAudioFiles();
  const calls = new RecordedCalls(options);
  const metrics = createMetrics(clock);
  onTestFinished(() => metrics.close());
  const endSample = (options.speechS ?? 1000) * LISTEN_RATE_HZ;
  const vad = new FakeVadEngine({
    script: () => [
      { atSample: 1, event: { kind: 'started', onsetSample: 0, startSample: 0 } },
      { atSample: endSample, event: { kind: 'stopped', endSample } },
    ],
  });
  const enrollments = new EnrollmentService({
    voices,
    blobs,
    audioFiles,
    vad,
    speakers,
    voiceFitter: fitter,
    calls,
    clock,
    log,
    metrics: voiceMetrics(metrics),
    requestsPerOrganization: options.perOrganization ?? 100,
    voicesPerOrganization: options.voicesPerOrganization ?? 100,
  });
  const routes = bind(voiceRoutes({ folder, fileBytes: CLIP_BYTES }), {
    voices: new VoiceService({ voices, blobs, tts, log }),
    enrollments,
  });
  const app = testApp({ routes: [routes] });
  onTestFinished(() => app.close());
  const send = (path: string, init: RequestInit = {}, key = KEY_A) => {
    const headers = { 'x-api-key': key, ...(init.headers as Record<string, string>) };
    return app.send(path, { ...init, headers });
  };
  const post = (fields: VoiceFields = {}, key = KEY_A, init: RequestInit = {}) => {
    const body = new FormData();
    for (const [name, values] of Object.entries({ ...ENROLLMENT, ...fields })) {
      for (const value of [values].flat() as (Value | undefined)[])
        if (value !== undefined) body.append(name, value);
    }
    return send(VOICES, { method: 'POST', body, ...init }, key);
  };
  return {
    app,
    clock,
    log,
    voices,
    blobs,
    speakers,
    fitter,
    audioFiles,
    calls,
    metrics,
    vad,
    enrollments,
    send,
    post,
    rows: calls.rows,
    /** Temporary files of uploads. */
    staged: () => readdirSync(folder),
    /** Names of the stored clips. */
    async clips() {
      const never = new AbortController().signal;
      return (await Array.fromAsync(blobs.list('voices/', never))).map(({ name }) => name);
    },
    /** Enrolls a voice. Returns its object. */
    async enroll(fields: VoiceFields = {}, key = KEY_A) {
      const response = await post(fields, key);
      if (response.status !== 200) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
      return (await response.json()) as { readonly voice_id: string; readonly [name: string]: unknown };
    },
  };
}
