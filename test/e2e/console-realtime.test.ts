import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { transcriptWords } from '../../tools/harness/media/transcript-normalizer.ts';
import { PATIENCE_MS } from '../../tools/harness/patience.ts';
import { launchService, NO_MODELS, SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import {
  launchRealtimeService,
  type RealtimeService,
  silentPcm,
  spokenPcm,
} from '../../tools/harness/services/realtime-service.ts';
import { wavFile } from '../../web/audio/wav.ts';
import {
  type ConsoleOptions,
  consoleTests,
  expectAccessible,
  expectNoSidewaysScroll,
  PHONE_WIDTH,
  screenshot,
} from '../harness/console-browser.ts';
import { measureLoudness, microphoneOf, playedBy } from '../media/page-sound.ts';

/** The realtime page in a real browser, whose microphone plays a file in a loop. */

const SAID = 'Please book a table for two people on Friday.';
const ANSWER = 'Your train leaves from platform three in ten minutes.';
const PATIENCE = { timeout: PATIENCE_MS, interval: 100 };

/** The embedding model is unavailable, because the page does not use it. */
const CONFIG = `
[models."all-minilm-l6-v2"]
kind = "upstream"
base_url = "http://127.0.0.1:9/v1"
model = "none"
`;
/** A key with characters that a WebSocket subprotocol cannot have. */
const INVALID_SUBPROTOCOL_KEY = 'key/of=a';

let service: RealtimeService;
let folder: string;
// The browser plays a file of this folder and is closed earlier.
afterAll(() => folder !== undefined && rmSync(folder, { recursive: true, force: true }));
const openPage = consoleTests('/realtime', async () => {
  folder = mkdtempSync(join(tmpdir(), 'console-realtime-'));
  const env = {
    PLUGINS: 'speech,realtime,responses',
    API_KEYS: `${SERVICE_KEY}:a,${INVALID_SUBPROTOCOL_KEY}:a`,
  };
  service = await launchRealtimeService({ config: CONFIG, env });
  const clip = Buffer.concat([silentPcm(200), await spokenPcm(service, SAID), silentPcm(1000)]);
  const microphone = join(folder, 'microphone.wav');
  const samples = new Int16Array(new Uint8Array(clip).buffer);
  await writeFile(microphone, Buffer.from(await wavFile([samples], 24_000).arrayBuffer()));
  return { service, browserArgs: microphoneOf(microphone) };
});

let page: Page;
let requestUrls: readonly string[];
async function open(options: ConsoleOptions = {}): Promise<void> {
  ({ page, requestUrls } = await openPage(options));
}

const button = (name: string) => page.getByRole('button', { name, exact: true });
const turns = (side: 'user' | 'service', state: string): Locator =>
  page.locator(`[data-side=${side}][data-state=${state}]`);
/** Transcript or text of a turn. */
const wordsOf = async (turn: Locator) => (await turn.locator('p').last().textContent()) ?? '';

async function choose(field: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: field }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

async function connect(): Promise<void> {
  await button('Connect').click();
  await expect.poll(() => button('Speak').isEnabled(), PATIENCE).toBe(true);
}

interface Entry {
  readonly from: 'client' | 'server';
  readonly at_ms: number;
  readonly frame: { readonly type: string; readonly session?: UpdatedSession; readonly audio?: string };
}

/** The settings of a session that the page changes. */
interface UpdatedSession {
  readonly type: string;
  readonly audio: {
    readonly input: {
      readonly transcription: { readonly language?: string | null };
      readonly turn_detection: { readonly threshold: number; readonly silence_duration_ms: number } | null;
    };
  };
}

/** A canvas element: tests are compiled without the DOM types. */
interface Canvas {
  cloneNode(): Canvas;
  readonly width: number;
  readonly height: number;
  getContext(kind: '2d'): {
    drawImage(source: Canvas, x: number, y: number): void;
    getImageData(x: number, y: number, width: number, height: number): { readonly data: Uint8ClampedArray };
  };
}

/** Number of colors with more than 100 pixels: silence and turns have different colors. */
function colorsOf(sound: Locator): Promise<number> {
  return sound.evaluate((element) => {
    const canvas = element as unknown as Canvas;
    // Reads a copy, because the browser logs a warning if a canvas is read repeatedly.
    const context = canvas.cloneNode().getContext('2d');
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const counts = new Map<string, number>();
    for (let at = 0; at < data.length; at += 4) {
      if ((data[at + 3] ?? 0) < 255) continue;
      const color = data.slice(at, at + 3).join();
      counts.set(color, (counts.get(color) ?? 0) + 1);
    }
    return [...counts.values()].filter((count) => count > 100).length;
  });
}

/** Downloads the trace and checks it with scripts/trace-check.ts. */
async function trace(): Promise<readonly Entry[]> {
  const [download] = await Promise.all([page.waitForEvent('download'), button('Download trace').click()]);
  expect(download.suggestedFilename()).toBe('realtime-trace.jsonl');
  const file = await download.path();
  const script = resolve(import.meta.dirname, '../../scripts/trace-check.ts');
  const checked = Bun.spawnSync([process.execPath, script, file]);
  expect(`${checked.stdout}${checked.stderr}`).toContain('no violations');
  expect(checked.exitCode).toBe(0);
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Entry);
}

/** Counts the audio contexts that the page creates. */
const COUNT_CONTEXTS = `
  globalThis.contexts = 0;
  globalThis.AudioContext = class extends AudioContext {
    constructor(options) {
      super(options);
      contexts += 1;
    }
  };
  undefined;
`;

const errorsOf = (entries: readonly Entry[]) => entries.filter(({ frame }) => frame.type === 'error');

describe('microphone audio', () => {
  beforeEach(() => open());

  test('is transcribed in turns with partial transcripts, and turns are highlighted in the loudness chart', async () => {
    // Collects the partial transcripts.
    await page.evaluate(`
      globalThis.partial = new Set();
      new MutationObserver(() => {
        for (const words of document.querySelectorAll('[data-side=user]:not([data-state=done]) p:last-child'))
          partial.add(words.textContent);
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    `);
    await connect();
    const transcribed = turns('user', 'done');
    await expect.poll(() => transcribed.count(), PATIENCE).toBeGreaterThanOrEqual(2);
    // The first turn may be incomplete, because the file plays in a loop; the second turn is complete.
    const turn = transcribed.nth(1);
    expect(transcriptWords(await wordsOf(turn))).toEqual(transcriptWords(SAID));
    expect(await turn.textContent()).toMatch(/^You0:\d\d\.\d – 0:\d\d\.\dtranscript after (< )?\d\.\d\d s/);
    const partial = await page.evaluate<string[]>('[...partial]');
    const whole = await wordsOf(turn);
    expect(partial.some((text) => text !== '' && whole.startsWith(text) && text !== whole)).toBe(true);
    const level = page.getByRole('img', { name: /Loudness of the audio sent/ });
    await expect.poll(() => colorsOf(level), { ...PATIENCE, interval: 1000 }).toBeGreaterThanOrEqual(2);
    await screenshot(page, 'realtime');
    await expectAccessible(page);

    await button('Disconnect').click();
    await page.getByRole('status').getByText('not connected').waitFor();
    // The transcript remains after the disconnect.
    expect(await transcribed.count()).toBeGreaterThanOrEqual(2);
    const entries = await trace();
    expect(entries.slice(0, 3).map(({ from, frame }) => [from, frame.type])).toEqual([
      ['server', 'session.created'],
      ['client', 'session.update'],
      ['server', 'session.updated'],
    ]);
    expect(errorsOf(entries)).toEqual([]);
    const audio = entries.filter(({ frame }) => frame.type === 'input_audio_buffer.append');
    expect(audio.length).toBeGreaterThan(50);
    expect(new Set(audio.map(({ frame }) => frame.audio))).toEqual(new Set(['AAAA']));
  });

  test('forms a manual turn while the space bar is held down', async () => {
    await choose('Turn detection', 'Push to talk');
    await connect();
    const hold = button('Hold to talk');
    await expect.poll(() => hold.isEnabled(), PATIENCE).toBe(true);
    await page.getByRole('heading', { name: 'Realtime' }).click();
    await page.keyboard.down('Space');
    await page.getByRole('status').getByText('receiving speech').waitFor();
    expect(await hold.getAttribute('aria-pressed')).toBe('true');
    // The turn is longer than one repetition of the file.
    await page.getByText(/× ([5-9]\d|1\d\d)$/).waitFor(PATIENCE);
    await page.keyboard.up('Space');
    const turn = turns('user', 'done');
    await turn.waitFor(PATIENCE);
    const words = transcriptWords(SAID);
    expect(await turn.textContent()).toMatch(/^You0:00\.0 – 0:\d\d\.\dtranscript after \d+\.\d+ s/);
    const transcribed = transcriptWords(await wordsOf(turn)).join(' ');
    expect(words.filter((word) => transcribed.includes(word)).length / words.length).toBeGreaterThan(0.8);
    const types = (await trace()).map(({ frame }) => frame.type);
    expect(types.filter((type) => type === 'input_audio_buffer.commit')).toHaveLength(1);
    expect(types).not.toContain('input_audio_buffer.speech_started');
  });
});

test('microphone audio is repeated as speech over TLS, and the page is accessible in the dark color scheme', async () => {
  await open({ baseUrl: service.tlsUrl, scheme: 'dark' });
  await choose('Response mode', 'Repeat transcript');
  await connect();
  await turns('service', 'done').first().waitFor(PATIENCE);
  const transcribed = await wordsOf(turns('user', 'done').first());
  expect(await wordsOf(turns('service', 'done').first())).toBe(transcribed);
  await expectAccessible(page);
  await button('Disconnect').click();
  await trace();
});

test('a language model responds in the mode "Language model reply"', async () => {
  await open();
  await choose('Response mode', 'Language model reply');
  await page.getByRole('combobox', { name: 'Language model' }).waitFor();
  await connect();
  await turns('user', 'done').first().waitFor(PATIENCE);
  const response = page.locator('[data-side=service]').first();
  await response.waitFor(PATIENCE);
  const text = await wordsOf(response);
  expect(text.length).toBeGreaterThan(5);
  expect(requestUrls.some((url) => url.endsWith('/v1/chat/completions'))).toBe(true);
});

describe('text input', () => {
  beforeEach(() => open());

  test('is spoken and played completely, at normal loudness and without gaps', async () => {
    await measureLoudness(page);
    await connect();
    await page.getByLabel('Text', { exact: true }).fill(ANSWER);
    await page.keyboard.press('Enter');
    const turn = turns('service', 'done');
    await turn.waitFor(PATIENCE);
    expect(await wordsOf(turn)).toBe(ANSWER);
    const lengthS = Number.parseFloat(
      /^Service(\d+\.\d+) s/.exec((await turn.textContent()) ?? '')?.[1] ?? '',
    );
    expect(lengthS).toBeGreaterThan(2);
    expect(lengthS).toBeLessThan(6);
    expect(await turn.textContent()).toMatch(/first audio after (< )?\d\.\d\d s/);
    await expect.poll(() => button('Cancel').isDisabled(), PATIENCE).toBe(true);
    const { loudS, loudnessDb } = await playedBy(page);
    // Speech has silence between words. A longer playback would have gaps or repetitions.
    expect(loudS).toBeGreaterThan(lengthS * 0.6);
    expect(loudS).toBeLessThan(lengthS + 0.1);
    expect(loudnessDb).toBeGreaterThan(-30);
    expect(loudnessDb).toBeLessThan(-8);
  });

  test('can be cancelled during playback, and the next text can be spoken', async () => {
    await measureLoudness(page);
    await connect();
    await page.getByLabel('Text', { exact: true }).fill('And so on, without an end. '.repeat(15));
    await button('Speak').click();
    await turns('service', 'speaking').waitFor(PATIENCE);
    await expect.poll(async () => (await playedBy(page)).loudS, PATIENCE).toBeGreaterThan(0.2);
    await button('Cancel').click();
    await turns('service', 'cancelled').waitFor();
    await expect.poll(() => button('Cancel').isDisabled()).toBe(true);
    await page.getByLabel('Text', { exact: true }).fill(ANSWER);
    await button('Speak').click();
    await turns('service', 'done').waitFor(PATIENCE);
    expect(errorsOf(await trace())).toEqual([]);
  });

  test('of spaces disables the button; text without words is rejected at its field', async () => {
    await connect();
    const text = page.getByLabel('Text', { exact: true });
    // For blank text, the service would speak the previous text.
    await text.fill(' ');
    expect(await button('Speak').isDisabled()).toBe(true);
    await text.fill('…');
    await button('Speak').click();
    await expect.poll(() => text.getAttribute('aria-invalid'), PATIENCE).toBe('true');
    expect(await button('Speak').isEnabled()).toBe(true);
  });
});

test('settings are sent with the first session.update and when they change', async () => {
  await open();
  await page.getByLabel('Language').fill('en');
  await choose('Task', 'Translate to English');
  await connect();
  for (const name of ['Speech threshold', 'Silence duration']) {
    await page.getByRole('slider', { name }).focus();
    await page.keyboard.press('ArrowRight');
  }
  await page.getByLabel('Language').fill('');
  await choose('Task', 'Transcribe');
  const expected = [
    ['translation', 'en', 0.5, 500],
    ['translation', 'en', 0.55, 500],
    ['translation', 'en', 0.55, 550],
    ['translation', undefined, 0.55, 550],
    ['transcription', undefined, 0.55, 550],
  ];
  const sessions = async () =>
    (await trace()).flatMap(({ frame: { type, session } }) => {
      if (type !== 'session.updated' || session === undefined) return [];
      const { transcription, turn_detection: detection } = session.audio.input;
      const language = transcription.language ?? undefined;
      return [[session.type, language, detection?.threshold, detection?.silence_duration_ms]];
    });
  await expect.poll(sessions, PATIENCE).toEqual(expected);
  expect(errorsOf(await trace())).toEqual([]);
});

test('a setting that changes before session.updated arrives is sent afterwards', async () => {
  await open({ isolated: true });
  const gate = Promise.withResolvers<void>();
  await page.routeWebSocket('**/v1/realtime', (socket) => {
    const service = socket.connectToServer();
    service.onMessage(async (message) => {
      if (String(message).includes('"session.updated"')) await gate.promise;
      socket.send(message);
    });
  });
  await button('Connect').click();
  await page.getByText('session.update', { exact: true }).waitFor(PATIENCE);
  await page.getByLabel('Language').fill('de');
  gate.resolve();
  await expect.poll(() => button('Speak').isEnabled(), PATIENCE).toBe(true);
  const languages = async () =>
    (await trace()).flatMap(({ frame: { type, session } }) =>
      type === 'session.updated' && session !== undefined ? [session.audio.input.transcription.language] : [],
    );
  await expect.poll(languages, PATIENCE).toEqual([undefined, 'de']);
});

test('events can be filtered by direction and type, and opened', async () => {
  await open();
  await connect();
  const rows = page.getByRole('list', { name: 'Events' }).getByRole('listitem');
  await rows
    .getByText(/^input_audio_buffer.append/)
    .first()
    .waitFor(PATIENCE);
  await button('Disconnect').click();
  await page.getByText('Sent', { exact: true }).click();
  expect(await rows.getByRole('img', { name: 'received' }).count()).toBe(0);
  expect(await rows.getByRole('img', { name: 'sent' }).count()).toBeGreaterThan(1);
  await page.getByText('Received', { exact: true }).click();
  await page.getByLabel('Event type').fill('session.created');
  expect(await rows.count()).toBe(1);
  await rows.getByText('session.created', { exact: true }).click();
  await rows.getByText('"realtime.session"').waitFor();
});

describe('errors are shown in words', () => {
  test('without a microphone, text can still be spoken', async () => {
    await open();
    await page.evaluate(`
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('none', 'NotFoundError'));
    `);
    await connect();
    await page.getByRole('alert').getByText('No microphone found.').waitFor();
    await button('Speak').click();
    await turns('service', 'done').waitFor(PATIENCE);
  });

  test('a microphone that is disconnected during a manual turn ends the turn', async () => {
    await open();
    await page.evaluate(`
      const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
      navigator.mediaDevices.getUserMedia = async (constraints) => (globalThis.stream = await ask(constraints));
      undefined;
    `);
    await choose('Turn detection', 'Push to talk');
    await connect();
    await expect.poll(() => button('Hold to talk').isEnabled(), PATIENCE).toBe(true);
    await page.getByRole('heading', { name: 'Realtime' }).click();
    await page.keyboard.down('Space');
    await page.getByText(/× [2-9]\d$/).waitFor(PATIENCE);
    await page.evaluate(`stream.getTracks()[0].dispatchEvent(new Event('ended')); undefined`);
    await page.getByRole('alert').getByText('The microphone was disconnected.').waitFor();
    await page.getByRole('status').getByText('connected', { exact: true }).waitFor();
    await turns('user', 'done').waitFor(PATIENCE);
  });

  test('the connection limit and the shutdown of the service', async () => {
    const config = `${NO_MODELS}\n[limits]\nrealtime_connections_per_organization = 1`;
    const other = await launchService({ config, env: { PLUGINS: 'realtime,voices' } });
    const first = await openPage({ baseUrl: other.baseUrl });
    await first.page.getByRole('button', { name: 'Connect' }).click();
    await first.page
      .getByRole('status')
      .getByText(/^(connected|listening)$/)
      .waitFor();
    await open({ baseUrl: other.baseUrl });
    await button('Connect').click();
    await page
      .getByRole('alert')
      .getByText(/connections/)
      .waitFor();
    await first.close();
    // The service detects the end of the first connection with a delay.
    const again = button('Reconnect');
    const connected = async () => {
      if (await again.isVisible()) await again.click();
      return button('Speak').isEnabled();
    };
    await expect.poll(connected, PATIENCE).toBe(true);
    expect(await other.stop()).toBe(0);
    await page.getByRole('alert').getByText('The service is shutting down.').waitFor(PATIENCE);
    await page.getByText('A new connection starts a new conversation').waitFor();
    expect(await button('Reconnect').isEnabled()).toBe(true);
  });

  test('a key with characters that a WebSocket cannot send', async () => {
    await open({ key: INVALID_SUBPROTOCOL_KEY });
    await page.evaluate(COUNT_CONTEXTS);
    await button('Connect').click();
    await page.getByRole('alert').getByText('characters that cannot be sent').waitFor();
    expect(await button('Connect').isEnabled()).toBe(true);
    // No audio context leaks.
    expect(await page.evaluate('contexts')).toBe(0);
  });
});

test('fits a phone', async () => {
  await open({ width: PHONE_WIDTH });
  await expectNoSidewaysScroll(page);
  await screenshot(page, 'realtime-phone');
});
