import { resolve } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { CONSOLE_FOLDER } from '../../src/http/routes/console.ts';
import { waitForAbort } from '../../src/kit/async/wait-for-abort.ts';
import { selfSigned } from '../../tools/harness/servers/certificate.ts';
import { FakeSttEngine } from '../doubles/fake-stt-engine.ts';
import { FakeTtsEngine } from '../doubles/fake-tts-engine.ts';
import { FakeVadEngine, type ScriptedVadEvent, scriptedTurn } from '../doubles/fake-vad-engine.ts';
import {
  bytesOf,
  type ConsoleOptions,
  consoleTests,
  expectAccessible,
  expectNoSidewaysScroll,
  expectStateAccessible,
  PHONE_WIDTH,
  screenshot,
} from '../harness/console-browser.ts';
import { type RealtimeAppParts, realtimeApp } from '../harness/realtime-app.ts';
import { KEY_A } from '../harness/test-app.ts';
import { inDeepTier } from '../harness/tier.ts';
import { hearTone, playUntil, replaceAudio, scheduledBy } from '../media/page-audio.ts';

/**
 * The realtime page in a real browser. Engines are scripted, and the test provides the audio of the microphone and moves the
 * playback forward. test/deep/console-audio.test.ts uses real models and a sound card.
 */

const SAID = 'Please book a table.';
const DELTAS = ['Please book', ' a table.'];
const ANSWER = 'Your train leaves in ten minutes.';
/** Length of every answer. */
const ANSWER_S = 2.5;
/** A text without audio. */
const WORDLESS = '…';
/** A text whose audio does not end. */
const ENDLESS = 'And so on, without an end.';
/** Blocks of the microphone that contain the first turn and its decision, and the same for the second turn. */
const TURN_MS = 960;
const TURNS = [...scriptedTurn(0.2, 0.6), ...scriptedTurn(1.2, 1.6)];
/** A key with characters that a WebSocket subprotocol cannot have. */
const INVALID_SUBPROTOCOL_KEY = 'key/of=a';

/** Turns that the detector finds in the next streams. */
let heard: readonly ScriptedVadEvent[] = [];
/** Opens for each delta of a transcript. */
let beforeDelta: (delta: number) => Promise<void> | void = () => undefined;

const tts = new FakeTtsEngine({
  runs: ({ text }) => (text === WORDLESS ? [] : [ANSWER_S - 0.5, 0.5].map((seconds) => tone(seconds))),
  before: ({ text }, run, signal) => (run > 0 && text === ENDLESS ? waitForAbort(signal) : undefined),
});
const tone = (seconds: number) =>
  Array.from({ length: Math.round(seconds * 24_000) }, (_, at) => 0.25 * Math.sin(at / 10));

const PLUGIN = { enabled: true, switchable: true, paths: [], needs: [], neededBy: [] };
/** The plugin of stored voices is off, because the app has no routes for them. */
const PLUGINS = [
  { ...PLUGIN, name: 'realtime', state: 'on' },
  { ...PLUGIN, name: 'voices', state: 'off' },
] as const;
const MODELS = [
  { id: 'svc-stt', task: 'transcription' },
  { id: 'svc-tts', task: 'speech' },
  { id: 'llm', task: 'chat' },
] as const;

function app(parts: Partial<RealtimeAppParts> = {}) {
  const running = realtimeApp({
    tts,
    stt: new FakeSttEngine({ deltas: DELTAS, before: (delta) => beforeDelta(delta) }),
    vad: new FakeVadEngine({ script: () => heard }),
    ...parts,
    app: {
      consoleFolder: CONSOLE_FOLDER,
      listedModels: MODELS,
      keysOfA: [INVALID_SUBPROTOCOL_KEY],
      plugins: { list: async () => PLUGINS, set: () => Promise.reject(new Error('no switches')) },
    },
  });
  const baseUrl = running.url.replace('ws', 'http').replace('/v1/realtime', '');
  return { ...running, baseUrl };
}

const openPage = consoleTests('/realtime', async () => {
  const { baseUrl, stop } = app();
  const service = { baseUrl, key: KEY_A, stop };
  const browserArgs = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
  return { service, browserArgs };
});

let page: Page;
beforeEach(() => {
  heard = TURNS;
  beforeDelta = () => undefined;
});

async function open(options: ConsoleOptions = {}): Promise<void> {
  ({ page } = await openPage(options));
  await replaceAudio(page);
}

const button = (name: string) => page.getByRole('button', { name, exact: true });
const status = (words: string) => page.getByRole('status').getByText(words, { exact: true });
const turns = (side: 'user' | 'service', state: string): Locator =>
  page.locator(`[data-side=${side}][data-state=${state}]`);
/** Transcript or text of a turn. */
const wordsOf = async (turn: Locator) => (await turn.locator('p').last().textContent()) ?? '';

async function choose(field: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: field }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

/** Connects, and waits for the session and the microphone. */
async function connect(): Promise<void> {
  await button('Connect').click();
  await status('listening').waitFor();
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

/** Downloads the trace. */
async function savedTrace(): Promise<{ readonly entries: readonly Entry[] }> {
  const [download] = await Promise.all([page.waitForEvent('download'), button('Download trace').click()]);
  expect(download.suggestedFilename()).toBe('realtime-trace.jsonl');
  const lines = (await bytesOf(download)).toString().trimEnd().split('\n');
  return { entries: lines.map((line) => JSON.parse(line) as Entry) };
}

/** The traces of the tests, each as a connection of one trace. */
const traces: string[] = [];

/** Downloads the trace, which the last test checks. */
async function trace(): Promise<readonly Entry[]> {
  const { entries } = await savedTrace();
  const connection = String(traces.length);
  traces.push(entries.map((entry) => `${JSON.stringify({ connection, ...entry })}\n`).join(''));
  return entries;
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
const typesOf = (entries: readonly Entry[], type: string) =>
  entries.filter(({ frame }) => frame.type === type);

describe('microphone audio', () => {
  beforeEach(() => open());

  test('is transcribed in turns with partial transcripts, and turns are highlighted in the loudness chart', async () => {
    const gates = DELTAS.map(() => Promise.withResolvers<void>());
    beforeDelta = (delta) => gates[delta]?.promise;
    await connect();
    // The turn has begun and has not ended.
    await hearTone(page, 480);
    await status('receiving speech').waitFor();
    expect(await turns('user', 'speaking').textContent()).toMatch(/^Youfrom 0:00\.2speaking$/);
    await hearTone(page, TURN_MS - 480);
    await status('listening').waitFor();
    for (const [index, gate] of gates.entries()) {
      gate.resolve();
      const partial = DELTAS.slice(0, index + 1).join('');
      if (partial !== SAID) await turns('user', 'writing').getByText(partial, { exact: true }).waitFor();
    }
    await hearTone(page, TURN_MS);
    const transcribed = turns('user', 'done');
    await expect.poll(() => transcribed.count()).toBe(2);
    for (const [index, span] of ['0:00.2 – 0:01.0', '0:01.2 – 0:01.9'].entries()) {
      const turn = transcribed.nth(index);
      expect(await wordsOf(turn)).toBe(SAID);
      expect(await turn.textContent()).toMatch(`You${span}transcript after `);
    }
    const level = page.getByRole('img', { name: /Loudness of the audio sent/ });
    await expect.poll(() => colorsOf(level)).toBeGreaterThanOrEqual(2);
    await screenshot(page, 'realtime');
    await expectAccessible(page);
    await page.setViewportSize({ width: PHONE_WIDTH, height: 900 });
    await expectNoSidewaysScroll(page);
    await screenshot(page, 'realtime-phone');

    await button('Disconnect').click();
    await status('not connected').waitFor();
    // The transcript remains after the disconnect.
    expect(await transcribed.count()).toBe(2);
    const entries = await trace();
    expect(entries.slice(0, 3).map(({ from, frame }) => [from, frame.type])).toEqual([
      ['server', 'session.created'],
      ['client', 'session.update'],
      ['server', 'session.updated'],
    ]);
    expect(errorsOf(entries)).toEqual([]);
    const audio = typesOf(entries, 'input_audio_buffer.append');
    expect(audio).toHaveLength((2 * TURN_MS) / 80);
    expect(new Set(audio.map(({ frame }) => frame.audio))).toEqual(new Set(['AAAA']));
  });

  test('forms a manual turn while the space bar is held down', async () => {
    await choose('Turn detection', 'Push to talk');
    await connect();
    // Audio before the turn is not sent.
    await hearTone(page, 160);
    const hold = button('Hold to talk');
    await page.getByRole('heading', { name: 'Realtime' }).click();
    await page.keyboard.down('Space');
    await status('receiving speech').waitFor();
    expect(await hold.getAttribute('aria-pressed')).toBe('true');
    await hearTone(page, 800);
    await page.keyboard.up('Space');
    await expect.poll(() => hold.getAttribute('aria-pressed')).toBe('false');
    // The block in which the key was released belongs to the turn.
    await hearTone(page, 160);
    const turn = turns('user', 'done');
    await turn.waitFor();
    expect(await turn.textContent()).toMatch(/^You0:00\.0 – 0:00\.9transcript after /);
    expect(await wordsOf(turn)).toBe(SAID);
    const entries = await trace();
    expect(typesOf(entries, 'input_audio_buffer.append')).toHaveLength(11);
    expect(typesOf(entries, 'input_audio_buffer.commit')).toHaveLength(1);
    expect(typesOf(entries, 'input_audio_buffer.speech_started')).toEqual([]);
  });
});

inDeepTier(() => {
  test('microphone audio is repeated as speech over TLS', async () => {
    const secure = app({ tls: selfSigned() });
    onTestFinished(() => secure.stop());
    await open({ baseUrl: secure.baseUrl, scheme: 'dark' });
    await choose('Response mode', 'Repeat transcript');
    await connect();
    await hearTone(page, TURN_MS);
    await turns('service', 'done').waitFor();
    expect(await wordsOf(turns('user', 'done'))).toBe(SAID);
    expect(await wordsOf(turns('service', 'done'))).toBe(SAID);
    expect(tts.requests.at(-1)?.text).toBe(SAID);
    await expectStateAccessible(page);
    await button('Disconnect').click();
    await trace();
  });
});

test('a language model responds in the mode "Language model reply"', async () => {
  await open();
  onTestFinished(() => page.unrouteAll());
  let asked: { readonly model?: string; readonly messages: readonly object[] } | undefined;
  await page.route('**/v1/chat/completions', async (route) => {
    asked = route.request().postDataJSON();
    await route.fulfill({ json: { choices: [{ message: { role: 'assistant', content: ANSWER } }] } });
  });
  await choose('Response mode', 'Language model reply');
  await page.getByRole('combobox', { name: 'Language model' }).waitFor();
  await connect();
  await hearTone(page, TURN_MS);
  await turns('service', 'done').waitFor();
  expect(await wordsOf(turns('service', 'done'))).toBe(ANSWER);
  expect(asked?.messages.at(-1)).toEqual({ role: 'user', content: SAID });
});

describe('text input', () => {
  beforeEach(() => open());

  test('is spoken and played completely, and without overlaps; text without words is a response without audio', async () => {
    await connect();
    const text = page.getByLabel('Text', { exact: true });
    // For blank text, the service would speak the previous text.
    await text.fill(' ');
    expect(await button('Speak').isDisabled()).toBe(true);
    await text.fill(ANSWER);
    await page.keyboard.press('Enter');
    const turn = turns('service', 'done');
    await turn.waitFor();
    expect(await wordsOf(turn)).toBe(ANSWER);
    expect(await turn.textContent()).toMatch(/^Service2\.50? sfirst audio after (< )?\d+\.\d+ s/);
    const { seconds, loudnessDb, overlaps } = await scheduledBy(page);
    expect(seconds).toBeCloseTo(ANSWER_S, 6);
    expect(overlaps).toBe(false);
    // A sine with a peak of 0.25.
    expect(loudnessDb).toBeCloseTo(-15.05, 1);
    expect(await button('Cancel').isEnabled()).toBe(true);
    await playUntil(page, () => button('Cancel').isDisabled());
    await text.fill(WORDLESS);
    await button('Speak').click();
    await expect.poll(() => button('Speak').isEnabled()).toBe(true);
    expect(await text.getAttribute('aria-invalid')).toBeNull();
  });

  inDeepTier(() => {
    test('can be cancelled during playback, and the next text can be spoken', async () => {
      await connect();
      await page.getByLabel('Text', { exact: true }).fill(ENDLESS);
      await button('Speak').click();
      await turns('service', 'speaking').waitFor();
      await expect.poll(async () => (await scheduledBy(page)).seconds).toBeGreaterThan(0);
      await button('Cancel').click();
      await turns('service', 'cancelled').waitFor();
      await expect.poll(() => button('Cancel').isDisabled()).toBe(true);
      expect(tts.leftEarly).toBe(1);
      await page.getByLabel('Text', { exact: true }).fill(ANSWER);
      await button('Speak').click();
      await turns('service', 'done').waitFor();
      expect(errorsOf(await trace())).toEqual([]);
    });
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
    (await savedTrace()).entries.flatMap(({ frame: { type, session } }) => {
      if (type !== 'session.updated' || session === undefined) return [];
      const { transcription, turn_detection: detection } = session.audio.input;
      const language = transcription.language ?? undefined;
      return [[session.type, language, detection?.threshold, detection?.silence_duration_ms]];
    });
  await expect.poll(sessions).toEqual(expected);
  expect(errorsOf(await trace())).toEqual([]);
});

inDeepTier(() => {
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
    await page.getByText('session.update', { exact: true }).waitFor();
    await page.getByLabel('Language').fill('de');
    gate.resolve();
    await expect.poll(() => button('Speak').isEnabled()).toBe(true);
    const languages = async () =>
      (await savedTrace()).entries.flatMap(({ frame: { type, session } }) =>
        type === 'session.updated' && session !== undefined
          ? [session.audio.input.transcription.language]
          : [],
      );
    await expect.poll(languages).toEqual([undefined, 'de']);
    expect(errorsOf(await trace())).toEqual([]);
  });

  test('events can be filtered by direction and type, and opened', async () => {
    await open();
    await connect();
    await hearTone(page, 160);
    const rows = page.getByRole('list', { name: 'Events' }).getByRole('listitem');
    await rows.getByText('input_audio_buffer.append × 2', { exact: true }).waitFor();
    await button('Disconnect').click();
    await page.getByText('Sent', { exact: true }).click();
    expect(await rows.getByRole('img', { name: 'received' }).count()).toBe(0);
    expect(await rows.getByRole('img', { name: 'sent' }).count()).toBe(2);
    await page.getByText('Received', { exact: true }).click();
    await page.getByLabel('Event type').fill('session.created');
    expect(await rows.count()).toBe(1);
    await rows.getByText('session.created', { exact: true }).click();
    await rows.getByText('"realtime.session"').waitFor();
  });
});

describe('errors are shown in words', () => {
  test('without a microphone, text can still be spoken', async () => {
    await open();
    await page.evaluate(`
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('none', 'NotFoundError'));
    `);
    await button('Connect').click();
    await page.getByRole('alert').getByText('No microphone found.').waitFor();
    await button('Speak').click();
    await turns('service', 'done').waitFor();
  });

  inDeepTier(() => {
    test('a microphone that is disconnected during a manual turn ends the turn', async () => {
      await open();
      await page.evaluate(`
        const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
        navigator.mediaDevices.getUserMedia = async (constraints) => (globalThis.stream = await ask(constraints));
        undefined;
      `);
      await choose('Turn detection', 'Push to talk');
      await connect();
      await page.getByRole('heading', { name: 'Realtime' }).click();
      await page.keyboard.down('Space');
      await status('receiving speech').waitFor();
      await hearTone(page, 240);
      await page.evaluate(`stream.getTracks()[0].dispatchEvent(new Event('ended')); undefined`);
      await page.getByRole('alert').getByText('The microphone was disconnected.').waitFor();
      await status('connected').waitFor();
      await turns('user', 'done').waitFor();
    });
  });

  test('the connection limit and the shutdown of the service', async () => {
    const other = app({ perOrganization: 1 });
    onTestFinished(() => other.stop());
    const first = await other.connect();
    await first.next('session.created');
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
    await expect.poll(connected).toBe(true);
    await other.connections.close();
    await page.getByRole('alert').getByText('The service is shutting down.').waitFor();
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

test('the traces follow the order rules and the schemas of the events', () => {
  const script = resolve(import.meta.dirname, '../../scripts/trace-check.ts');
  const checked = Bun.spawnSync([process.execPath, script, '-'], { stdin: Buffer.from(traces.join('')) });
  expect(`${checked.stdout}${checked.stderr}`).toContain(`of ${traces.length} connections: no violations`);
  expect(checked.exitCode).toBe(0);
});
