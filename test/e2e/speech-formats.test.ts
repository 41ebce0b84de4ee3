import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { pcmToWav } from '../../src/audio/wav.ts';
import { SPEECH_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { wordErrors } from '../../tools/harness/media/transcript-normalizer.ts';
import {
  childrenOf,
  type LaunchedService,
  launchService,
  NO_TEXT,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import { HAS_FFPROBE, probedAudio } from '../harness/audio-probe.ts';
import { CHROMIUM, HAS_CHROMIUM } from '../harness/chromium.ts';
import { openChromium } from '../harness/group-servers.ts';
import { needs } from '../harness/needs.ts';
import { tempDir } from '../harness/temp-dir.ts';
import { IS_DEEP_TIER, inDeepTier } from '../harness/tier.ts';

/** The formats of OpenAI on the default speech and transcription models, read by other programs and by the service itself. */

const TEXT = 'Please call me back. I am at home.';
/** Long enough for more than one frame of each format. */
const SHORT = 'Hi.';
const LONG = 'They walked on along the shore. '.repeat(100);
const TOLERANCE_S = 0.06;
/** Part of the command line of the process of the encoders. */
const ENCODERS = 'media/speech/worker';

/** What FFmpeg calls the formats. */
const PROBED = {
  mp3: ['mp3', 'mp3', 'audio/mpeg'],
  opus: ['ogg', 'opus', 'audio/ogg'],
  aac: ['aac', 'aac', 'audio/aac'],
  flac: ['flac', 'flac', 'audio/flac'],
  wav: ['wav', 'pcm_s16le', 'audio/wav'],
} as const;
type Container = keyof typeof PROBED;
const CONTAINERS = Object.keys(PROBED) as Container[];
const FORMATS = [...CONTAINERS, 'pcm'] as const;
type Format = (typeof FORMATS)[number];
/** The formats that each test repeats. The default tier omits wav and pcm, which only copy samples. */
const USUAL_FORMATS = IS_DEEP_TIER ? FORMATS : CONTAINERS.filter((format) => format !== 'wav');
/** The formats whose words are checked. `speech-file.process.test.ts` compares the samples of all. */
const HEARD_FORMATS: readonly Format[] = IS_DEEP_TIER ? FORMATS : ['mp3'];
/** Events have the same encoder as a file. Opus is compared in another way than the others. */
const EVENT_FORMATS: readonly Format[] = IS_DEEP_TIER ? FORMATS : ['mp3', 'opus'];

/** Runs in a page. Returns the position at which the file ends, in seconds. */
const playing = (url: string) => `(async () => {
  const audio = new Audio(${JSON.stringify(url)});
  const ended = new Promise((resolve, reject) => {
    audio.onended = resolve;
    audio.onerror = () => reject(new Error(audio.error.message));
  });
  await audio.play();
  await ended;
  return audio.currentTime;
})()`;

let service: LaunchedService;
beforeAll(async () => {
  service = await launchService({
    config: NO_TEXT,
    env: { PLUGINS: IS_DEEP_TIER ? 'speech,voices' : 'speech' },
  });
});
afterAll(() => service?.stop());

const client = () => new OpenAI({ apiKey: SERVICE_KEY, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });

const request = (fields: object, init: RequestInit = {}) =>
  service.fetch('/v1/audio/speech', {
    method: 'POST',
    headers: { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts-1', input: TEXT, voice: 'alloy', ...fields }),
    ...init,
  });

/** The bytes of events. */
function bytesOfEvents(events: string): Buffer {
  const values = [...events.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json));
  expect(values.at(-1)).toMatchObject({ type: 'speech.audio.done' });
  return Buffer.concat(values.map(({ audio = '' }) => Buffer.from(audio, 'base64')));
}

/** Seconds of audio of the newest usage row. */
async function billedSeconds(): Promise<number> {
  const headers = { authorization: `Bearer ${SERVICE_KEY}` };
  const page = (await (
    await service.fetch('/v1/usage?limit=1&endpoint=/v1/audio/speech', { headers })
  ).json()) as { data: { audio_seconds: number }[] };
  return page.data[0]?.audio_seconds ?? 0;
}

async function openEncodings(): Promise<number> {
  const metrics = await (await service.fetch('/metrics')).text();
  return Number(/^audio_encodings_open (\d+)$/m.exec(metrics)?.[1]);
}

/** Checks a file with FFmpeg. */
async function check(format: Format, bytes: Uint8Array, seconds: number): Promise<void> {
  if (format === 'pcm') {
    expect(bytes.length / 48_000).toBeCloseTo(seconds, 3);
    return;
  }
  const path = join(await tempDir(), `speech.${format}`);
  await writeFile(path, bytes);
  const { container, codec, declaredS, decodedS, warnings } = await probedAudio(path);
  expect([container, codec]).toEqual(PROBED[format].slice(0, 2));
  // FFmpeg says that it ignores the unknown length of a WAV file, and that its last packet is short.
  if (format !== 'wav') expect(warnings).toBe('');
  expect(Math.abs(decodedS - seconds)).toBeLessThan(TOLERANCE_S);
  // FLAC does not state its length while it grows.
  if (format === 'flac') expect(declaredS).toBeUndefined();
  else expect(Math.abs((declaredS ?? 0) - seconds)).toBeLessThan(TOLERANCE_S);
}

/** Checks a file with the transcription of the service, which may mishear `maxErrors` words of a voice. */
async function checkWords(
  format: Format,
  bytes: Uint8Array,
  { text = TEXT, maxErrors = 0 } = {},
): Promise<void> {
  const file = format === 'pcm' ? pcmToWav(bytes, SPEECH_RATE_HZ) : Buffer.from(bytes);
  const { text: heard } = await client().audio.transcriptions.create({
    model: 'whisper-1',
    language: 'en',
    file: await toFile(file, `speech.${format === 'pcm' ? 'wav' : format}`),
  });
  expect(wordErrors(text, heard).errors, `${format}: ${heard}`).toBeLessThanOrEqual(maxErrors);
}

describe('every format', () => {
  test.for(USUAL_FORMATS)('%s has the right type, length and words', async (format, context) => {
    needs(context, HAS_FFPROBE, 'FFmpeg');
    const response = await client().audio.speech.create({
      model: 'tts-1',
      voice: 'alloy',
      input: TEXT,
      response_format: format,
    });
    expect(response.headers.get('content-type')).toBe(format === 'pcm' ? 'audio/pcm' : PROBED[format][2]);
    expect(response.headers.get('content-length')).toBeNull();
    const bytes = new Uint8Array(await response.arrayBuffer());
    await check(format, bytes, await billedSeconds());
    if (HEARD_FORMATS.includes(format)) await checkWords(format, bytes);
  });

  test.each(EVENT_FORMATS)('%s as events is the file', async (response_format) => {
    const fields = { input: SHORT, response_format };
    const bytes = await (await request(fields)).bytes();
    const events = bytesOfEvents(await (await request({ ...fields, stream_format: 'sse' })).text());
    // The pages of Ogg have a random serial number; all other bytes are those of the file.
    if (response_format === 'opus') expect(events.length).toBe(bytes.length);
    else expect(events.equals(bytes)).toBe(true);
  });

  test('one object has the file and the times of its words, which are those of the samples', async () => {
    const fields = { input: TEXT, stream_format: 'json', timestamps: ['word'] };
    const body = (await (await request({ ...fields, response_format: 'pcm' })).json()) as {
      audio: string;
      words: { word: string; start: number; end: number }[];
    };
    expect(body.words.map(({ word }) => word)).toEqual(TEXT.split(' '));
    const times = body.words.flatMap(({ start, end }) => [start, end]);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    const seconds = Buffer.from(body.audio, 'base64').length / 2 / SPEECH_RATE_HZ;
    expect(times.at(-1)).toBeLessThanOrEqual(seconds);
    const samples = new Int16Array(Uint8Array.from(Buffer.from(body.audio, 'base64')).buffer);
    const peak = (from: number, to: number) =>
      Math.max(...samples.subarray(from * SPEECH_RATE_HZ, to * SPEECH_RATE_HZ).map(Math.abs));
    for (const { word, start, end } of body.words)
      expect([word, peak(start, end) > 1000]).toEqual([word, true]);
    const response = await service.fetch('/dev/captioned_speech', {
      method: 'POST',
      headers: { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'Call me.', voice: 'af_bella' }),
    });
    const captions = (await response.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { timestamps: { word: string }[] });
    expect(captions.flatMap(({ timestamps }) => timestamps.map(({ word }) => word))).toEqual(['Call', 'me.']);
  });

  test('SSML has voices, pauses, sounds and marks', async () => {
    const heard = async (input: string, fields: object = {}) => {
      const response = await request({
        input,
        input_type: 'ssml',
        response_format: 'pcm',
        stream_format: 'json',
        ...fields,
      });
      return (await response.json()) as { audio: string; marks?: { name: string; time: number }[] };
    };
    const seconds = ({ audio }: { audio: string }) =>
      Buffer.from(audio, 'base64').length / 2 / SPEECH_RATE_HZ;
    const plain = await heard('<speak><s>Hello</s><s>Hello</s></speak>');
    const paused = await heard(
      '<speak><s>Hello</s><break time="1500ms"/><mark name="again"/><s>Hello</s></speak>',
    );
    expect(seconds(paused) - seconds(plain)).toBeCloseTo(1.5, 3);
    expect(paused.marks?.map(({ name }) => name)).toEqual(['again']);
    expect(paused.marks?.[0]?.time).toBeGreaterThan(1.5);

    const voices = '<speak><voice name="nova">Hello</voice><voice name="onyx">Hello</voice></speak>';
    expect((await heard(voices)).audio).not.toBe(plain.audio);
    // The dictionary has these sounds, so the samples are the same.
    const word = await heard('<speak>Tomato</speak>');
    expect((await heard('<speak><phoneme ph="təmˈeɪɾoʊ">Tomato</phoneme></speak>')).audio).toBe(word.audio);
    expect((await heard('<speak><phoneme ph="təmˈɑːtoʊ">Tomato</phoneme></speak>')).audio).not.toBe(
      word.audio,
    );
  });

  test('mp3 is the default, and its first bytes arrive before the last ones are synthesized', async () => {
    const response = await request({ input: LONG });
    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    // The sync word of a frame of MPEG-2 layer III.
    expect([value?.[0], (value?.[1] ?? 0) & 0xfe]).toEqual([0xff, 0xf2]);
    expect(await openEncodings()).toBe(1);
    await reader?.cancel();
    await expect.poll(openEncodings).toBe(0);
  });

  test('svc-tts keeps wav and pcm, and names the models with more formats', async () => {
    const { status, headers } = await request({ model: 'svc-tts', voice: undefined, input: 'Hello.' });
    expect([status, headers.get('content-type')]).toEqual([200, 'audio/wav']);
    expect(headers.get('content-length')).not.toBeNull();
    const refused = await request({ model: 'svc-tts', voice: undefined, response_format: 'mp3' });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: {
        message: expect.stringMatching(/must be one of "wav", "pcm"\. .*"mp3".*: tts-1, /),
        param: 'response_format',
        code: 'unsupported_value',
      },
    });
  });
});

const bytesOf = async (response_format: Format) => (await request({ input: SHORT, response_format })).bytes();

describe('other readers', () => {
  test("Python's wave module reads a wav file to its end", async (context) => {
    needs(context, Bun.which('python3') !== null, 'Python');
    const path = join(await tempDir(), 'speech.wav');
    const bytes = await bytesOf('wav');
    await writeFile(path, bytes);
    const code =
      'import sys, wave\nw = wave.open(sys.argv[1])\nprint(w.getframerate(), w.getnchannels(), len(w.readframes(1 << 24)))';
    const { stdout } = Bun.spawnSync(['python3', '-c', code, path]);
    expect(stdout.toString().trim()).toBe(`24000 1 ${bytes.length - 44}`);
  });
});

describe('the process of the encoders', () => {
  inDeepTier(() => {
    test('is killed: its stream ends with an error, and the next request works', async () => {
      const [plain, events] = [
        await request({ input: LONG }),
        await request({ input: LONG, stream_format: 'sse', response_format: 'aac' }),
      ];
      const [pid = 0, ...others] = childrenOf(service.pid, ENCODERS);
      expect(others).toEqual([]);
      process.kill(pid, 'SIGKILL');
      await expect(plain.arrayBuffer()).rejects.toThrow();
      expect(await events.text()).toContain('"code":"worker_crashed"');
      await expect.poll(openEncodings).toBe(0);
      const next = await request({ input: 'Hello.' });
      expect((await next.arrayBuffer()).byteLength).toBeGreaterThan(0);
      expect(childrenOf(service.pid, ENCODERS)).toHaveLength(1);
    });
  });
});

inDeepTier(() => {
  test('a browser plays every file to its end', async (context) => {
    needs(context, HAS_CHROMIUM, `Chromium at ${CHROMIUM}`);
    const browser = await openChromium(['--autoplay-policy=no-user-gesture-required']);
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    for (const format of CONTAINERS) {
      const bytes = await bytesOf(format);
      const seconds = await billedSeconds();
      const url = `data:${PROBED[format][2]};base64,${bytes.toBase64()}`;
      const reached = await page.evaluate(playing(url));
      expect(Math.abs(Number(reached) - seconds), format).toBeLessThan(0.1);
    }
  });

  test('every English voice has every format', async (context) => {
    needs(context, HAS_FFPROBE, 'FFmpeg');
    const input = 'The quick brown fox jumps over the lazy dog.';
    const headers = { authorization: `Bearer ${SERVICE_KEY}` };
    const listed = (await (await service.fetch('/v1/audio/voices?model=tts-1', { headers })).json()) as {
      data: { id: string; language: string }[];
    };
    // The others read an English text with the accent of their language.
    const english = listed.data.filter(({ language }) => language.startsWith('en'));
    expect(english.length).toBeGreaterThan(13 + 20);
    for (const { id: voice } of english) {
      for (const response_format of FORMATS) {
        const response = await request({ voice, response_format, input });
        const bytes = await response.bytes();
        await check(response_format, bytes, await billedSeconds());
        await checkWords(response_format, bytes, { text: input, maxErrors: 1 });
      }
    }
  });
});
