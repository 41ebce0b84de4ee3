import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import { joined } from '../../tools/harness/media/sample-runs.ts';
import { SPOKEN_RATE_HZ, silence, speak } from '../../tools/harness/media/spoken.ts';
import { wavFile } from '../../tools/harness/media/wav-files.ts';
import { HAS_POSTGRES } from '../../tools/harness/servers/postgres.ts';
import { HAS_REDIS } from '../../tools/harness/servers/redis.ts';
import { HAS_S3 } from '../../tools/harness/servers/s3.ts';
import {
  launchService,
  NO_RECOGNISER,
  NO_TEXT,
  type ServiceAccess,
} from '../../tools/harness/services/launcher.ts';
import {
  type FakeCloningUpstream,
  startFakeCloningUpstream,
} from '../../tools/harness/upstreams/fake-cloning-upstream.ts';
import {
  embeddedService,
  freshBucket,
  freshRedis,
  type GroupServiceAccess,
  groupPostgres,
} from '../harness/group-servers.ts';
import { needs } from '../harness/needs.ts';
import { tempDir } from '../harness/temp-dir.ts';
import { inDeepTier, repetitions } from '../harness/tier.ts';
import { hostileUploads } from '../media/hostile-voice-clips.ts';
import { encodedFiles } from '../media/media-files.ts';

/** The unmodified OpenAI client against the real process: enroll, speak, delete. */

const TEXTS = [
  'The harbour was quiet that morning, and only two of the boats had gone out.',
  'Nobody expected rain, but the clouds over the hills were growing darker by the minute.',
];
const REF_TEXT = TEXTS.join(' ');
const WITHOUT_MODELS = NO_RECOGNISER + NO_TEXT;

interface VoiceOnWire {
  readonly voice_id: string;
  readonly id: string;
  readonly status: string;
  readonly [name: string]: unknown;
}

let clip: File;
beforeAll(async () => {
  const spoken = (await speak(TEXTS)) as Float32Samples[];
  const samples = joined(spoken.flatMap((part) => [part, silence(300)]));
  const bytes = wavFile({ kind: 'int', bits: 16, rateHz: SPOKEN_RATE_HZ, channels: 1 }, samples);
  clip = new File([bytes], 'clip.wav', { type: 'audio/wav' });
});

const clientOf = (service: ServiceAccess, apiKey = service.key) =>
  new OpenAI({ apiKey, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });

/** Enrolls the clip as a voice. `ref_text` is not in the types of the SDK. */
async function enroll(client: OpenAI, fields: object = {}): Promise<VoiceOnWire> {
  const voice = await client.audio.voices.create({
    audio_sample: clip,
    consent: 'I have the consent of the speaker.',
    name: 'Joe',
    ref_text: REF_TEXT,
    ...fields,
  } as OpenAI.Audio.VoiceCreateParams);
  return voice as unknown as VoiceOnWire;
}

const speech = async (client: OpenAI, voice: string, input = 'Good morning.') => {
  const response = await client.audio.speech.create({
    model: 'svc-tts',
    input,
    voice,
    response_format: 'pcm',
  });
  return Buffer.from(await response.arrayBuffer());
};

const clipOf = async (service: ServiceAccess, id: string) =>
  Buffer.from(await (await service.fetch(`/v1/audio/voices/${id}/audio`)).arrayBuffer());

describe('with the models of the service', () => {
  let service: GroupServiceAccess;
  let client: OpenAI;
  beforeAll(async () => {
    service = await embeddedService();
    client = clientOf(service);
  });

  test('a voice can be enrolled, used immediately, and deleted', async () => {
    const voice = await enroll(client, { speaker_description: 'An American' });
    expect(voice).toMatchObject({
      id: voice.voice_id,
      object: 'audio.voice',
      type: 'audio_sample',
      name: 'Joe',
      format: 'wav',
      has_ref_text: true,
      sample_rate: SPOKEN_RATE_HZ,
      size_bytes: clip.size,
      warnings: [],
      speaker_description: 'An American',
    });
    expect(voice.voice_id).toMatch(/^tts-vc-voice_/);
    expect(Number(voice.duration_s)).toBeGreaterThan(5);
    const defaultSpeech = await speech(client, undefined as never);
    const voiceSpeech = await speech(client, voice.voice_id);
    expect(voiceSpeech.length).toBeGreaterThan(10_000);
    expect(voiceSpeech.equals(defaultSpeech)).toBe(false);
    expect(await clipOf(service, voice.id)).toHaveLength(clip.size);

    const deleted = await client.audio.voices.delete(voice.id);
    expect(deleted).toEqual({ id: voice.id, object: 'audio.voice.deleted', deleted: true });
    await expect(speech(client, voice.id)).rejects.toMatchObject({
      status: 400,
      param: 'voice',
      code: 'voice_not_found',
    });
    await expect(client.audio.voices.delete(voice.id)).rejects.toMatchObject({ status: 404 });
    expect((await service.fetch(`/v1/audio/voices/${voice.id}/audio`)).status).toBe(404);
  });

  test('a voice does not exist for another organization', async () => {
    const { id } = await enroll(client);
    const other = clientOf(service, service.otherKey);
    const headers = { authorization: `Bearer ${service.otherKey}` };
    expect((await service.fetch(`/v1/audio/voices/${id}`, { headers })).status).toBe(404);
    expect((await service.fetch(`/v1/audio/voices/${id}/audio`, { headers })).status).toBe(404);
    expect(await (await service.fetch('/v1/audio/voices', { headers })).json()).toMatchObject({ data: [] });
    await expect(other.audio.voices.delete(id)).rejects.toMatchObject({ status: 404 });
    await expect(speech(other, id)).rejects.toMatchObject({ status: 400, code: 'voice_not_found' });
    await client.audio.voices.delete(id);
  });

  test('an enrollment has one usage row, and the log has none of its texts', async () => {
    const { id, duration_s } = await enroll(client, { name: 'Secret name', consent: 'Secret consent' });
    const rows = await (await service.fetch('/v1/usage?limit=1&endpoint=POST%20/v1/audio/voices')).json();
    expect(rows).toMatchObject({
      data: [{ status: 'completed', input_tokens: 0, output_tokens: 0, audio_seconds: duration_s }],
    });
    await client.audio.voices.delete(id);
    expect(await service.output()).not.toMatch(/Secret|harbour/);
  });

  inDeepTier(() => {
    test('invalid clips are rejected without effect', async () => {
      const encoded = await encodedFiles(15);
      const before = await (await service.fetch('/v1/usage?limit=100')).json();
      const uploads = await hostileUploads(clip, encoded);
      // Each file starts a process. The last upload is the only one with another status.
      const tested = uploads.filter((_, at) => (uploads.length - 1 - at) % repetitions(4, 1) === 0);
      expect(new Set(tested.map(({ status }) => status))).toEqual(new Set([400, 413]));
      for (const { name, fields, status } of tested) {
        const body = new FormData();
        const all = { audio_sample: clip, consent: 'yes', name: 'Joe', ref_text: REF_TEXT, ...fields };
        for (const [field, values] of Object.entries(all)) {
          for (const value of [values].flat()) if (value !== undefined) body.append(field, value as string);
        }
        const response = await service.fetch('/v1/audio/voices', { method: 'POST', body });
        const result = (await response.json()) as {
          error?: { type: string; param: string; message: string };
        };
        expect([name, response.status, result.error?.type], JSON.stringify(result)).toEqual([
          ...[name, status, 'invalid_request_error'],
        ]);
        expect(result.error?.param, name).toEqual(expect.any(String));
      }
      await encoded.remove();
      expect(await (await service.fetch('/v1/audio/voices')).json()).toMatchObject({ data: [] });
      expect(await (await service.fetch('/v1/usage?limit=100')).json()).toEqual(before);
      await client.audio.voices.delete((await enroll(client)).id);
    });
  });
});

describe('with an upstream server that clones voices', () => {
  let upstream: FakeCloningUpstream;
  beforeAll(() => {
    upstream = startFakeCloningUpstream();
  });
  afterAll(() => upstream?.close());
  const config = () => `${WITHOUT_MODELS}
    [models."svc-tts"]
    kind = "upstream"
    base_url = "${upstream.baseUrl}"
    model = "base"
    voices = "inline"
  `;

  test('a voice is ready immediately, exists after a restart, and its clip is sent upstream', async () => {
    const dataDir = await tempDir();
    const launch = () => launchService({ config: config(), dataDir, env: { PLUGINS: 'speech,voices' } });
    const first = await launch();
    const voice = await enroll(clientOf(first));
    expect(await first.stop()).toBe(0);
    const second = await launch();
    try {
      const kept = await clipOf(second, voice.id);
      expect(Buffer.from(await clip.arrayBuffer()).equals(kept)).toBe(true);
      // The fake server responds with the beginning of the clip.
      const spoken = await speech(clientOf(second), voice.id);
      expect(spoken.subarray(0, 100).equals(kept.subarray(44, 144))).toBe(true);
    } finally {
      await second.stop();
    }
  });

  describe('on two nodes', () => {
    beforeEach((context) => {
      needs(context, HAS_POSTGRES && HAS_REDIS && HAS_S3, 'PostgreSQL, Redis and versitygw');
    });

    test('a voice enrolled on one node is used and deleted on the other', async () => {
      const { settings, heldBytes } = await freshBucket();
      const env = {
        PLUGINS: 'speech,voices',
        DATABASE_URL: await (await groupPostgres()).freshDatabase(),
        REDIS_URL: await freshRedis(),
        S3_ENDPOINT: settings.endpoint,
        S3_BUCKET: settings.bucket,
        S3_REGION: settings.region,
        S3_ACCESS_KEY_ID: settings.accessKeyId,
        S3_SECRET_ACCESS_KEY: settings.secretAccessKey.reveal(),
      };
      const launch = () => launchService({ config: config(), env });
      const [one, other] = await Promise.all([launch(), launch()]);
      try {
        const voice = await enroll(clientOf(one));
        expect(await heldBytes()).toBe(clip.size);
        const kept = await clipOf(other, voice.id);
        const spoken = await speech(clientOf(other), voice.id);
        expect(spoken.subarray(0, 100).equals(kept.subarray(44, 144))).toBe(true);
        await clientOf(other).audio.voices.delete(voice.id);
        await expect(speech(clientOf(one), voice.id)).rejects.toMatchObject({ code: 'voice_not_found' });
        expect(await heldBytes()).toBe(0);
      } finally {
        await Promise.all([one.stop(), other.stop()]);
      }
    });
  });
});
