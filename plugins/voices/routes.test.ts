import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/contract/core/error.ts';
import { clipBlob } from '../../src/contract/stores/voice-store.ts';
import { wholeOf } from '../../test/contract/blob-store.cases.ts';
import { withMethods } from '../../test/doubles/with-methods.ts';
import { KEY_B } from '../../test/harness/test-app.ts';
import { CLIP_BYTES, clipOf, VOICES, type VoiceFields, voiceApp } from '../../test/harness/voice-app.ts';

type App = Awaited<ReturnType<typeof voiceApp>>;
/** Expects that an enrollment left no data behind. */
async function expectNothing(app: App): Promise<void> {
  expect(await app.clips()).toEqual([]);
  expect(app.staged()).toEqual([]);
  expect(app.rows).toEqual([]);
  expect(app.calls.unended).toBe(0);
  expect(await app.send(VOICES).then((it) => it.json())).toMatchObject({ data: [] });
}

describe('an enrollment', () => {
  it('returns the voice, which is stored with its clip', async () => {
    const app = await voiceApp();
    const response = await app.post({ speaker_description: ' calm ', name: ' Anna\u00a0B ' });
    expect(response.status).toBe(200);
    const voice = (await response.json()) as { voice_id: string };
    const id = voice.voice_id;
    expect(id).toMatch(/^tts-vc-voice_[0-9a-f]{32}$/);
    expect(voice).toEqual({
      voice_id: id,
      id,
      object: 'audio.voice',
      type: 'audio_sample',
      name: 'Anna\u00a0B',
      format: 'wav',
      created_at: 1_767_323_045,
      has_ref_text: true,
      duration_s: 8,
      sample_rate: 16_000,
      size_bytes: 256_000,
      speaker_description: 'calm',
      warnings: [],
    });
    const { warnings, ...shown } = voice as { voice_id: string; warnings: unknown };
    expect(await (await app.send(`${VOICES}/${id}`)).json()).toEqual(shown);
    expect(await app.clips()).toEqual([`voices/${id}`]);
    expect((await wholeOf(app.blobs, clipBlob(id as 'tts-vc-voice_')))?.length).toBe(44 + 256_000);
    expect(app.staged()).toEqual([]);
    expect(await app.voices.get('a', id)).toMatchObject({ adaptation: 'v1:0', consent: 'I agree.' });
  });

  it('encodes only the speech, scheduled for the API key', async () => {
    const app = await voiceApp({ speechS: 6 });
    await app.enroll();
    expect(app.speakers.asked.map(({ samples, work }) => [samples.length, work])).toEqual([
      [6 * 16_000, { priority: 'interactive', fairnessKey: expect.stringMatching(/^[0-9a-f]{16}$/) }],
    ]);
    expect(app.fitter.fitted).toHaveLength(1);
  });

  it('has one usage row that is free by default', async () => {
    const app = await voiceApp();
    const response = await app.post();
    expect(app.rows).toEqual([
      {
        endpoint: 'POST /v1/audio/voices',
        model: 'svc-tts',
        organization: 'a',
        status: 'completed',
        inputTokens: 0,
        outputTokens: 0,
        audioSeconds: 8,
        requestId: response.headers.get('x-request-id'),
      },
    ]);
  });

  it('has no adaptation if no model uses one', async () => {
    const app = await voiceApp({ fitter: { isNeeded: false } });
    const { voice_id: id } = await app.enroll();
    expect(app.fitter.fitted).toEqual([]);
    expect(await app.voices.get('a', id)).toMatchObject({ adaptation: undefined });
  });

  it('is counted by its result once its clip is processed', async () => {
    const left = new AbortController();
    let fails: (() => unknown) | undefined;
    const app = await voiceApp({ before: async () => void (await fails?.()) });
    await app.enroll();
    await app.post({ audio_sample: clipOf(2) });
    await app.post({ name: '' });
    fails = () => Promise.reject(new Error('worker died'));
    await app.post();
    fails = () => left.abort();
    await app.post({}, undefined, { signal: left.signal });
    const text = await app.metrics.render();
    const counted = [...text.matchAll(/^voice_enrollments_total\{result="(\w+)"\} (\d)$/gm)];
    expect(Object.fromEntries(counted.map(([, result, count]) => [result, count]))).toEqual({
      stored: '1',
      rejected: '1',
      failed: '1',
      cancelled: '1',
    });
  });

  it('accepts any sentence as consent', async () => {
    const app = await voiceApp();
    expect((await app.post({ consent: 'No, I do not mind.' })).status).toBe(200);
  });
});

describe('a form is rejected', () => {
  const LONG = 'x'.repeat(2001);
  const cases: [string, VoiceFields, param: string, code: string][] = [
    ['without a clip', { audio_sample: undefined }, 'audio_sample', 'missing_required_parameter'],
    ['with a string as clip', { audio_sample: 'RIFF' }, 'audio_sample', 'invalid_type'],
    ['with an empty clip', { audio_sample: clipOf(0) }, 'audio_sample', 'invalid_value'],
    ['with two clips', { audio_sample: [clipOf(8), clipOf(8)] }, 'audio_sample', 'invalid_value'],
    ['without consent', { consent: undefined }, 'consent', 'missing_required_parameter'],
    ['with empty consent', { consent: '' }, 'consent', 'invalid_value'],
    ['with blank consent', { consent: ' \n\u00a0' }, 'consent', 'invalid_value'],
    ['with long consent', { consent: LONG }, 'consent', 'string_above_max_length'],
    ['with a file as consent', { consent: clipOf(1) }, 'consent', 'invalid_type'],
    ['with two consents', { consent: ['yes', 'yes'] }, 'consent', 'invalid_value'],
    ['with a list as consent', { consent: undefined, 'consent[]': 'yes' }, 'consent', 'invalid_type'],
    ...['false', 'No', ' NO. ', '0', 'off', 'denied', '"false"', '-'].map(
      (consent): [string, VoiceFields, string, string] => [
        `with the consent ${consent}`,
        { consent },
        'consent',
        'invalid_value',
      ],
    ),
    ['without a name', { name: undefined }, 'name', 'missing_required_parameter'],
    ['with an empty name', { name: '' }, 'name', 'invalid_value'],
    ['with a blank name', { name: '\t' }, 'name', 'invalid_value'],
    ['with a huge name', { name: 'n'.repeat(201) }, 'name', 'string_above_max_length'],
    ['with a name of 65 KiB', { name: 'n'.repeat(65 * 1024) }, 'name', 'string_above_max_length'],
    ['with a NUL in the name', { name: 'An\0na' }, 'name', 'invalid_value'],
    ['with a line break in the name', { name: 'An\nna' }, 'name', 'invalid_value'],
    ['without a text', { ref_text: undefined }, 'ref_text', 'missing_required_parameter'],
    ['with a blank text', { ref_text: ' ' }, 'ref_text', 'invalid_value'],
    ['with a long text', { ref_text: LONG }, 'ref_text', 'string_above_max_length'],
    ['with a NUL in the text', { ref_text: 'a\0b' }, 'ref_text', 'invalid_value'],
    [
      'with a long description',
      { speaker_description: LONG },
      'speaker_description',
      'string_above_max_length',
    ],
    ['with a NUL in the description', { speaker_description: '\0' }, 'speaker_description', 'invalid_value'],
    [
      'of another type',
      { type: 'prompt', audio_sample: undefined, prompt: 'deep' },
      'type',
      'unsupported_value',
    ],
    ['of an unknown type', { type: 'x' }, 'type', 'unsupported_value'],
    ['with an unknown field', { voice_name: 'x' }, 'voice_name', 'unknown_parameter'],
    ['with a second file', { photo: clipOf(1) }, 'photo', 'unknown_parameter'],
    ['with a field called __proto__', { '__proto__[a]': 'x' }, '__proto__', 'unknown_parameter'],
  ];
  it.each(cases)('%s', async (_, fields, param, code) => {
    const app = await voiceApp();
    const response = await app.post(fields);
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string; param: string; code: string } };
    expect([error.param, error.code]).toEqual([param, code]);
    expect(error.message).toContain(`'${param}'`);
    expect(app.audioFiles.opened).toEqual([]);
    await expectNothing(app);
  });

  it('with a clip that is too large', async () => {
    const app = await voiceApp();
    const response = await app.post({ audio_sample: new File([new Uint8Array(CLIP_BYTES + 1)], 'x.wav') });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      error: { param: 'audio_sample', code: 'payload_too_large' },
    });
    await expectNothing(app);
  });

  it.each(['application/json', 'audio/wav', 'application/x-www-form-urlencoded'])(
    'with the content type %s',
    async (type) => {
      const app = await voiceApp();
      const response = await app.send(VOICES, {
        method: 'POST',
        headers: { 'content-type': type },
        body: '{}',
      });
      expect(response.status).toBe(415);
      await expectNothing(app);
    },
  );

  it('that is truncated', async () => {
    const app = await voiceApp();
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const body = '--b\r\ncontent-disposition: form-data; name="audio_sample"; filename="a.wav"\r\n\r\nRIFF';
    const response = await app.send(VOICES, { method: 'POST', headers, body });
    expect(response.status).toBe(400);
    await expectNothing(app);
  });
});

describe('a clip is rejected', () => {
  it.each([
    ['that is too short', 4.99, '4.99 s long; it must be 5 to 15 s'],
    ['that is too long', 15.01, 'longer than 15 s; it must be 5 to 15 s'],
  ])('%s', async (_, seconds, words) => {
    const app = await voiceApp();
    const response = await app.post({ audio_sample: clipOf(seconds) });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string; param: string } };
    expect([error.param, error.message]).toEqual(['audio_sample', expect.stringContaining(words)]);
    expect(app.audioFiles.reading).toBe(0);
    await expectNothing(app);
  });

  it.each([5, 15])('but not with exactly %i s', async (seconds) => {
    const app = await voiceApp();
    expect(await app.enroll({ audio_sample: clipOf(seconds) })).toMatchObject({ duration_s: seconds });
  });

  it('at its maximum length, without reading on', async () => {
    const app = await voiceApp();
    const clip = new File([new Uint8Array(CLIP_BYTES)], 'x.wav');
    expect((await app.post({ audio_sample: clip })).status).toBe(400);
    expect(app.audioFiles.reading).toBe(0);
  });

  it.each([
    ['without speech', { speechS: 0 }, 'no speech'],
    ['with a few words', { speechS: 2.9 }, '2.9 s of speech in 8.0 s'],
    ['with two speakers', { speakers: [0, 0, 0, 8, 8, 8] }, 'more than one speaker'],
  ])('%s', async (_, options, words) => {
    const app = await voiceApp(options);
    const response = await app.post();
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { param: 'audio_sample', code: 'invalid_value', message: expect.stringContaining(words) },
    });
    await expectNothing(app);
  });

  it('that is not audio or is truncated', async () => {
    const app = await voiceApp();
    expect((await app.post({ audio_sample: new File(['x'.repeat(200_000)], 'a.wav') })).status).toBe(400);
    app.audioFiles.breaksAfter = 3;
    expect((await app.post()).status).toBe(400);
    expect(app.audioFiles.reading).toBe(0);
    await expectNothing(app);
  });
});

describe('an enrollment that fails', () => {
  const full = new ServiceError('overloaded', 'Full.', { retryAfterS: 3 });
  it.each([
    ['when the encoder fails', { before: () => Promise.reject(new Error('worker crashed')) }, '5'],
    ['when the encoder is full', { before: () => Promise.reject(full) }, '3'],
    ['when its worker crashes', { before: () => Promise.reject(new ServiceError('internal', 'x')) }, '5'],
  ])('%s returns 503 and leaves no data behind', async (_, options, retryAfter) => {
    const app = await voiceApp(options);
    const response = await app.post();
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, retryAfter]);
    await expectNothing(app);
  });

  it('when the clip cannot be stored leaves no data behind', async () => {
    const app = await voiceApp({
      blobs: (real) => withMethods(real, { write: () => Promise.reject(full) }),
    });
    expect((await app.post()).status).toBe(503);
    await expectNothing(app);
  });

  it('with an unknown outcome leaves the clip to the cleanup', async () => {
    const app = await voiceApp({
      voices: (real) => withMethods(real, { put: () => Promise.reject(full) }),
    });
    expect((await app.post()).status).toBe(503);
    expect(await app.clips()).toHaveLength(1);
    expect([app.rows, app.calls.unended]).toEqual([[], 0]);
  });

  it('because the credits do not cover it processes nothing', async () => {
    const app = await voiceApp({
      opening() {
        throw new ServiceError('insufficient_quota', 'Too dear.', { code: 'insufficient_quota' });
      },
    });
    expect((await app.post()).status).toBe(429);
    expect(app.audioFiles.opened).toEqual([]);
    await expectNothing(app);
  });

  it('because the client disconnects stops the work', async () => {
    const left = new AbortController();
    const app = await voiceApp({ before: () => left.abort() });
    expect((await app.post({}, undefined, { signal: left.signal })).status).toBe(499);
    await expectNothing(app);
  });
});

describe('limits', () => {
  it('reject a voice above the limit before its clip is read, and in the store for concurrent requests', async () => {
    const gate = Promise.withResolvers<void>();
    const app = await voiceApp({ voicesPerOrganization: 1, before: () => gate.promise });
    const both = [app.post(), app.post({}, undefined)];
    await expect.poll(() => app.staged().length).toBe(2);
    gate.resolve();
    const statuses = (await Promise.all(both)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 400]);
    expect(await app.clips()).toHaveLength(1);
    const opened = app.audioFiles.opened.length;
    const rejected = await app.post();
    expect(rejected.status).toBe(400);
    expect(await rejected.json()).toMatchObject({ error: { code: 'voice_limit_exceeded' } });
    expect(app.audioFiles.opened).toHaveLength(opened);
    expect((await app.post({}, KEY_B)).status).toBe(200);
    expect(app.rows).toHaveLength(2);
  });

  it('reject a queued request whose quota was used up while it waited', async () => {
    const gate = Promise.withResolvers<void>();
    const app = await voiceApp({ voicesPerOrganization: 2, before: () => gate.promise });
    const all = Array.from({ length: 6 }, () => app.post());
    await expect.poll(() => app.calls.openings.length).toBe(6);
    gate.resolve();
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 200, 400, 400, 400, 400]);
    expect(app.audioFiles.opened).toHaveLength(2);
    expect(app.rows).toHaveLength(2);
  });

  it('cap the open requests per organization', async () => {
    const gate = Promise.withResolvers<void>();
    const app = await voiceApp({ perOrganization: 1, before: () => gate.promise });
    const held = app.post();
    await expect.poll(() => app.speakers.asked.length).toBe(1);
    expect((await app.post()).status).toBe(429);
    const other = app.post({}, KEY_B);
    await expect.poll(() => app.speakers.asked.length).toBe(2);
    gate.resolve();
    expect([(await held).status, (await other).status]).toEqual([200, 200]);
  });

  it('a drain waits for running requests; a stop aborts them', async () => {
    const app = await voiceApp({
      before: (signal) => new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason))),
    });
    const held = app.post();
    await expect.poll(() => app.speakers.asked.length).toBe(1);
    const until = new AbortController();
    let isDrained = false;
    const drained = app.enrollments.open.drain(until.signal).then(() => {
      isDrained = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isDrained).toBe(false);
    until.abort();
    await drained;
    expect((await held).status).toBe(503);
    await expectNothing(app);
  });
});

describe('voices', () => {
  it('are paged', async () => {
    const app = await voiceApp();
    const ids: string[] = [];
    for (const name of ['1', '2', '3']) ids.unshift((await app.enroll({ name })).voice_id);
    const page = async (query: string) => (await app.send(`${VOICES}${query}`)).json();
    expect(await page('?limit=2')).toMatchObject({
      object: 'list',
      first_id: ids[0],
      last_id: ids[1],
      has_more: true,
      data: [{ voice_id: ids[0] }, { id: ids[1] }],
    });
    expect(await page(`?limit=2&after=${ids[1]}`)).toMatchObject({ data: [{ id: ids[2] }], has_more: false });
    expect(await page('?order=asc&limit=1')).toMatchObject({ data: [{ id: ids[2] }], has_more: true });
  });

  it.each(['limit=0', 'limit=101', 'limit=x', 'order=up', 'after=unknown', 'limit=1&limit=2'])(
    'cannot be listed with ?%s',
    async (query) => {
      const app = await voiceApp();
      const response = await app.send(`${VOICES}?${query}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { param: query.split('=')[0] } });
    },
  );

  it('are deleted with their clips', async () => {
    const app = await voiceApp();
    const { voice_id: id } = await app.enroll();
    const deleted = await app.send(`${VOICES}/${id}`, { method: 'DELETE' });
    expect(await deleted.json()).toEqual({ id, object: 'audio.voice.deleted', deleted: true });
    expect(await app.clips()).toEqual([]);
    for (const [path, method] of [
      [`${VOICES}/${id}`, 'GET'],
      [`${VOICES}/${id}/audio`, 'GET'],
      [`${VOICES}/${id}`, 'DELETE'],
    ] as const) {
      const response = await app.send(path, { method });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: 'voice_not_found', param: 'voice_id' } });
    }
  });

  it('are deleted even if the clip cannot be deleted', async () => {
    const app = await voiceApp({
      blobs: (real) => withMethods(real, { delete: () => Promise.reject(new Error('away')) }),
    });
    const { voice_id: id } = await app.enroll();
    expect((await app.send(`${VOICES}/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(app.log.lines).toMatchObject([{ level: 'error', fields: { voice: id } }]);
  });

  it('are deleted on upstream servers that received them', async () => {
    const forgotten: string[] = [];
    const app = await voiceApp({ forget: async (voice) => void forgotten.push(voice) });
    const { voice_id: id } = await app.enroll();
    await app.send(`${VOICES}/${id}`, { method: 'DELETE' }, KEY_B);
    expect(forgotten).toEqual([]);
    await app.send(`${VOICES}/${id}`, { method: 'DELETE' });
    expect(forgotten).toEqual([id]);
  });

  it('are deleted even if an upstream server is unavailable', async () => {
    const app = await voiceApp({ forget: () => Promise.reject(new Error('away')) });
    const { voice_id: id } = await app.enroll();
    expect((await app.send(`${VOICES}/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(app.log.lines).toMatchObject([{ level: 'error', fields: { voice: id, model: 'remote' } }]);
    expect(await app.clips()).toEqual([]);
  });

  it('of other organizations return 404', async () => {
    const app = await voiceApp();
    const { voice_id: id } = await app.enroll();
    for (const [path, method] of [
      [`${VOICES}/${id}`, 'GET'],
      [`${VOICES}/${id}/audio`, 'GET'],
      [`${VOICES}/${id}`, 'DELETE'],
    ] as const) {
      expect((await app.send(path, { method }, KEY_B)).status).toBe(404);
    }
    expect(await (await app.send(VOICES, {}, KEY_B)).json()).toMatchObject({ data: [], first_id: null });
    expect((await app.send(`${VOICES}?after=${id}`, {}, KEY_B)).status).toBe(400);
    expect((await app.send(`${VOICES}/${id}`)).status).toBe(200);
  });
});

describe('a clip', () => {
  it('is downloaded as a whole or in part', async () => {
    const app = await voiceApp();
    const { voice_id: id } = await app.enroll({ audio_sample: clipOf(5) });
    const path = `${VOICES}/${id}/audio`;
    const whole = await app.send(path);
    expect(whole.headers.get('content-type')).toBe('audio/wav');
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect([bytes.toString('latin1', 0, 4), bytes.length, bytes.readUInt32LE(24)]).toEqual([
      'RIFF',
      160_044,
      16_000,
    ]);
    const part = await app.send(path, { headers: { range: 'bytes=4-43' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 4-43/160044']);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(4, 44));
    const behind = await app.send(path, { headers: { range: 'bytes=160044-' } });
    expect([behind.status, behind.headers.get('content-range')]).toEqual([416, 'bytes */160044']);
    const etag = whole.headers.get('etag') ?? '';
    expect((await app.send(path, { headers: { 'if-none-match': etag } })).status).toBe(304);
    const other = await app.send(path, { headers: { range: 'bytes=0-1', 'if-range': '"other"' } });
    expect(other.status).toBe(200);
  });

  it('that is lost returns 500', async () => {
    const app = await voiceApp();
    const { voice_id: id } = await app.enroll();
    await app.blobs.delete(`voices/${id}`);
    expect((await app.send(`${VOICES}/${id}/audio`)).status).toBe(500);
  });
});

describe('the voices of a model', () => {
  const nova = { id: 'nova', name: 'Nova', language: 'en-US', gender: 'female', preset: 'af_nova' } as const;
  const emma = { id: 'bf_emma', name: 'Emma', language: 'en-GB', gender: 'female' } as const;
  const object = (voice: typeof nova | typeof emma) => ({
    ...voice,
    voice_id: voice.id,
    object: 'audio.voice',
    type: 'preset',
  });
  const list = async (app: App, query: string) => (await app.send(`${VOICES}${query}`)).json();

  it('are listed with language, gender and the preset that is heard', async () => {
    const app = await voiceApp({ named: [nova, emma] });
    expect(await list(app, '?model=presets')).toEqual({
      object: 'list',
      data: [object(nova), object(emma)],
      first_id: 'nova',
      last_id: 'bf_emma',
      has_more: false,
      // As in Kokoro-FastAPI, whose tests compare the two fields.
      voices: [
        { id: 'nova', name: 'nova' },
        { id: 'bf_emma', name: 'bf_emma' },
      ],
    });
  });

  it('can be paged', async () => {
    const app = await voiceApp({ named: [nova, emma] });
    const first = await list(app, '?model=presets&limit=1');
    expect(first).toMatchObject({ data: [object(nova)], has_more: true });
    expect(await list(app, '?model=presets&limit=1&after=nova')).toMatchObject({
      data: [object(emma)],
      has_more: false,
    });
    expect(await list(app, '?model=presets&order=asc')).toMatchObject({ first_id: 'bf_emma' });
    expect(await list(app, '?model=presets&after=x')).toMatchObject({ error: { param: 'after' } });
  });

  it('are none for a model without named voices', async () => {
    const app = await voiceApp({ named: [nova] });
    expect(await list(app, '?model=local')).toEqual({
      object: 'list',
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
      voices: [],
    });
  });

  it.each(['?model=unknown', '?model='])('need a model that exists: %s', async (query) => {
    const app = await voiceApp();
    const response = await app.send(`${VOICES}${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'model', code: 'model_not_found' } });
  });

  it('are named next to the stored voices, on the first page', async () => {
    const app = await voiceApp({ named: [nova] });
    const { voice_id: id } = await app.enroll({ name: 'Anna' });
    const all = (await list(app, '')) as { data: unknown[]; voices: unknown };
    expect(all.data).toMatchObject([{ id, type: 'audio_sample' }]);
    expect(all.voices).toEqual([
      { id: 'nova', name: 'nova' },
      { id, name: 'Anna' },
    ]);
    for (const query of ['?legacy=true', '?legacy=True']) {
      expect(await list(app, query)).toEqual({ ...all, voices: ['nova', id] });
    }
    expect(await list(app, '?legacy=false')).toEqual(all);
    expect(await list(app, '?legacy=yes')).toMatchObject({ error: { param: 'legacy' } });
    expect(await list(app, `?after=${id}`)).toMatchObject({ data: [], voices: [] });
  });
});
