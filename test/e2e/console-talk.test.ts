import type { Locator, Page } from 'playwright-core';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { ServiceError } from '../../src/contract/core/error.ts';
import type { TextEngine } from '../../src/contract/engines/text.ts';
import { CONSOLE_FOLDER } from '../../src/http/routes/console.ts';
import { startCutProxy } from '../../tools/harness/servers/cut-proxy.ts';
import { FakeSttEngine } from '../doubles/fake-stt-engine.ts';
import { called, type FakeAnswer, FakeTextEngine, said } from '../doubles/fake-text-engine.ts';
import { FakeTtsEngine } from '../doubles/fake-tts-engine.ts';
import { FakeVadEngine, type ScriptedVadEvent, scriptedTurn } from '../doubles/fake-vad-engine.ts';
import {
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
import { hearTone, play, playUntil, replaceAudio, scheduledBy } from '../media/page-audio.ts';
import { measureLoudness, playedBy } from '../media/page-sound.ts';

/**
 * The Talk page in a real browser. The test provides the audio of the microphone and moves the playback forward. Engines are
 * scripted: what they hear depends on the amount of audio, what they answer on the number of the request.
 */

const FIND_BOOKING = '[{"type":"function","name":"find_booking"}]';
const REPLY = 'Certainly, a table for two on Friday.';
/** Turns of the next stream, and replies of the next requests. */
let heard: readonly ScriptedVadEvent[] = [];
let answers: FakeAnswer[] = [];
/** Lengths of the next spoken clauses in s. */
let clauses: number[] = [];
/** Error of the next preparations of the language model. */
let loading: ServiceError[] = [];
/** The language model is loaded when this is resolved. */
let loaded: Promise<void> = Promise.resolve();
let openingError: ServiceError | undefined;

class LoadedTextEngine extends FakeTextEngine implements TextEngine {
  async prepare(): Promise<void> {
    const error = loading.shift();
    if (error !== undefined) throw error;
    await loaded;
  }
}

const PLUGIN = { enabled: true, switchable: true, paths: [], needs: [], neededBy: [] };
/** The plugin of stored voices is off, because the app has no routes for them. */
const PLUGINS = [
  { ...PLUGIN, name: 'realtime', state: 'on' },
  { ...PLUGIN, name: 'voices', state: 'off' },
] as const;

const text = new LoadedTextEngine({ answer: () => answers.shift() ?? said(REPLY) });

function app(parts: Partial<RealtimeAppParts> = {}) {
  const tone = (length: number) => Array.from({ length }, (_, at) => 0.2 * Math.sin(at / 10));
  return realtimeApp({
    text,
    stt: new FakeSttEngine({ deltas: ['A table', ' for two, please.'] }),
    tts: new FakeTtsEngine({ runs: () => [tone(Math.round((clauses.shift() ?? 0.3) * 24_000))] }),
    vad: new FakeVadEngine({ script: () => heard }),
    billing: {
      opening: () => {
        if (openingError !== undefined) throw openingError;
      },
    },
    ...parts,
    app: {
      consoleFolder: CONSOLE_FOLDER,
      listedModels: [{ id: 'svc-voice', task: 'conversation' }],
      plugins: { list: async () => PLUGINS, set: () => Promise.reject(new Error('no switches')) },
    },
  });
}

const openPage = consoleTests('/talk', async () => {
  const { url, stop } = app();
  const service = { baseUrl: baseUrlOf(url), key: KEY_A, stop };
  const browserArgs = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
  return { service, browserArgs };
});
const baseUrlOf = (socketUrl: string) => socketUrl.replace('ws', 'http').replace('/v1/realtime', '');

let page: Page;
/** Frames that the page sent, without audio. */
let sent: { readonly type: string; readonly audio_end_ms?: number; readonly item_id?: string }[] = [];

beforeEach(() => {
  [heard, answers, clauses, loading, openingError, sent] = [[], [], [], [], undefined, []];
  loaded = Promise.resolve();
});

/** @param sound whether the test or the sound card, in real time, records and plays. */
async function open(options: ConsoleOptions = {}, sound: 'test' | 'card' = 'test'): Promise<string[]> {
  const opened = await openPage(options);
  page = opened.page;
  // Tests share a page.
  page.removeAllListeners('websocket');
  page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => {
      const frame = JSON.parse(String(payload));
      if (frame.type !== 'input_audio_buffer.append') sent.push(frame);
    }),
  );
  await (sound === 'test' ? replaceAudio : measureLoudness)(page);
  return opened.consoleErrors;
}

const button = (name: string) => page.getByRole('button', { name, exact: true });
const status = (words: string) => page.getByRole('status').getByText(words, { exact: true });
const entries = (kind: string): Locator => page.locator(`[data-kind=${kind}]`);
const framesOf = (type: string) => sent.filter((frame) => frame.type === type);

/** @param activity the status when the session and the microphone are ready. */
async function start(activity = 'Listening'): Promise<void> {
  await button('Start conversation').click();
  await status(activity).waitFor();
}

/** Plays until the assistant has said words. */
const playUntilSaid = (words: string) =>
  playUntil(page, async () => (await entries('assistant').getByText(words).count()) > 0);

async function type(message: string): Promise<void> {
  await page.getByLabel('Message').fill(message);
  await page.keyboard.press('Enter');
}

/** Collects all texts of the last message of the assistant. */
const COLLECT_WORDS = `
  globalThis.shown = new Set();
  new MutationObserver(() => {
    const words = [...document.querySelectorAll('[data-kind=assistant] [data-words]')].at(-1);
    if (words !== undefined) shown.add(words.textContent);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
`;

/** Delay of the player before the first audio, in s. */
const LEAD_S = 0.08;

describe('a spoken turn', () => {
  test('is answered aloud, and the words of the answer appear in step with its playback', async () => {
    heard = scriptedTurn(0.2, 0.6);
    // The reply has two clauses.
    clauses = [0.5, 0.5];
    await open();
    await start();
    await hearTone(page, 480);
    await status('You are speaking').waitFor();
    await hearTone(page, 480);
    await status('Speaking').waitFor();
    await expect.poll(() => entries('user').textContent()).toBe('YouA table for two, please.');
    await expect.poll(async () => (await scheduledBy(page)).seconds).toBeCloseTo(1, 6);
    const words = entries('assistant').locator('[data-words]');
    expect(await words.textContent()).toBe('');
    await play(page, LEAD_S + 0.5);
    await expect.poll(() => words.textContent()).toMatch(/^Certainly,/);
    expect(REPLY.startsWith((await words.textContent()) ?? '')).toBe(true);
    expect(await words.textContent()).not.toBe(REPLY);
    await status('Speaking').waitFor();
    await play(page, 0.5);
    await status('Listening').waitFor();
    expect(await entries('assistant').textContent()).toBe(`Assistant${REPLY}`);

    const times = page.getByRole('list', { name: 'Response times' }).getByRole('listitem');
    expect(await times.count()).toBe(1);
    const measured = (await times.textContent()) ?? '';
    expect(measured).toMatch(/Turn decision\d+ msTranscript\d+ msFirst token\d+ msFirst audio\d+ ms/);
    const stages = [...measured.matchAll(/(\d+) ms/g)].slice(1).map(([, ms]) => Number(ms));
    expect(stages).toEqual(stages.toSorted((one, other) => one - other));
    await button('End conversation').click();
    await status('Conversation ended').waitFor();
  });

  test('interrupts the answer: playback stops, and the service learns what was played', async () => {
    heard = [...scriptedTurn(0.1, 0.3), ...scriptedTurn(1.1, 1.3)];
    clauses = [0.5, 2.5];
    await open();
    await start();
    await hearTone(page, 640);
    await status('Speaking').waitFor();
    await expect.poll(async () => (await scheduledBy(page)).seconds).toBeCloseTo(3, 6);
    await play(page, LEAD_S + 1);
    // The user starts to speak, and continues after the page has reported what was played.
    await hearTone(page, 640);
    await page.getByText('interrupted', { exact: true }).waitFor();
    await expect.poll(() => framesOf('conversation.item.truncate').length).toBe(1);
    await hearTone(page, 480);
    expect(framesOf('conversation.item.truncate')[0]?.audio_end_ms).toBe(1000);
    await entries('assistant').nth(1).waitFor();
    // The words that the user has heard are those that the model remembers.
    const message = text.requests.at(-1)?.messages.at(-2);
    const remembered = message?.role === 'assistant' ? message.text : undefined;
    expect(remembered).toMatch(/^Certainly, a/);
    expect(REPLY.startsWith(remembered ?? '')).toBe(true);
    expect(remembered).not.toBe(REPLY);
    expect(await entries('assistant').first().textContent()).toBe(`Assistantinterrupted${remembered} …`);
    expect(framesOf('response.cancel')).toEqual([]);
  });

  inDeepTier(() => {
    test('is answered over the sound card', async () => {
      heard = scriptedTurn(0.2, 0.6);
      clauses = [0.5, 0.5];
      await open({}, 'card');
      await page.evaluate(COLLECT_WORDS);
      await start();
      await expect.poll(() => entries('assistant').textContent()).toBe(`Assistant${REPLY}`);
      const shown = (await page.evaluate<string[]>('[...shown]')).filter((words) => words !== '');
      expect(shown.length).toBeGreaterThan(2);
      for (const words of shown) expect(REPLY.startsWith(words)).toBe(true);
      await status('Listening').waitFor();
      expect((await playedBy(page)).loudS).toBeGreaterThan(0.7);
    });
  });
});

describe('a typed turn', () => {
  test('is answered aloud, and can be stopped', async () => {
    clauses = [6];
    await open();
    await start();
    await type('Hello?');
    expect(await entries('user').textContent()).toBe('YouHello?');
    await status('Speaking').waitFor();
    await button('Stop answer').click();
    await status('Listening').waitFor();
    await page.getByText('interrupted', { exact: true }).waitFor();
    await expect.poll(() => framesOf('conversation.item.truncate').length).toBe(1);
    expect(await button('Stop answer').isDisabled()).toBe(true);
    // The next turn starts immediately.
    await type('And now?');
    await status('Speaking').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    const times = page.getByRole('list', { name: 'Response times' }).getByRole('listitem');
    expect(await times.first().textContent()).toMatch(/^And now\?\d+ msFirst token\d+ msFirst audio\d+ ms/);
  });
});

describe('push to talk', () => {
  test('sends a turn when the space bar is released', async () => {
    await open();
    await page.getByText('Push to talk', { exact: true }).click();
    await start('Ready');
    await page.getByRole('heading', { name: 'Talk' }).click();
    await page.keyboard.down('Space');
    await status('You are speaking').waitFor();
    expect(await button('Hold to talk').getAttribute('aria-pressed')).toBe('true');
    await hearTone(page, 400);
    await expect.poll(() => page.getByRole('meter').getAttribute('aria-valuenow')).not.toBe('0');
    await page.keyboard.up('Space');
    await hearTone(page, 80);
    await status('Speaking').waitFor();
    await expect.poll(() => entries('user').textContent()).toBe('YouA table for two, please.');
    expect(sent.map((frame) => frame.type)).toEqual([
      'session.update',
      'input_audio_buffer.commit',
      'response.create',
    ]);
    await play(page, 1);
    await status('Ready').waitFor();
  });
});

describe('functions', () => {
  test('of the browser are called, and others get their output from the user; the page is accessible and fits a phone', async () => {
    answers = [
      called(0, 'roll_dice', '{"count":', '2}'),
      said('Done.'),
      called(0, 'find_booking', '{"guest":"Ada"}'),
      said('Room 7.'),
    ];
    await open();
    await button('Settings').click();
    await page.getByRole('switch', { name: 'Dice' }).click({ force: true });
    const tools = page.getByLabel('Your functions');
    await tools.fill('[{"type":"function","name":"find booking"}]');
    await tools.blur();
    await page.getByText('Function 1: "name" must have').waitFor();
    await tools.fill(FIND_BOOKING);
    await tools.blur();
    await start();
    await type('Roll two dice.');
    await playUntilSaid('Done.');
    const call = (await entries('tool').textContent()) ?? '';
    expect(call).toMatch(/^Function roll_diceArguments\{\s*"count": 2\s*\}Output\{\s*"rolls": \[\s*[1-6],/);
    expect(text.requests.at(-1)?.messages.at(-1)).toMatchObject({
      role: 'tool',
      text: expect.stringMatching(/^\{"rolls":\[[1-6],[1-6]\],"total":\d+\}$/),
    });

    await type('Which room?');
    await status('Waiting for an output').waitFor();
    await button('Settings').click();
    await expectAccessible(page);
    await page.setViewportSize({ width: PHONE_WIDTH, height: 800 });
    await expectNoSidewaysScroll(page);
    await page.setViewportSize({ width: 1280, height: 900 });
    await button('Settings').click();
    await page.getByLabel('Output of find_booking').fill('{"room":7}');
    await button('Send output').click();
    await playUntilSaid('Room 7.');
    expect(await entries('tool').last().textContent()).toMatch(/Output\{\s*"room": 7\s*\}$/);
  });
});

describe('problems are shown in words', () => {
  test('a model that is being downloaded; the conversation starts when it is ready', async () => {
    const error = (percent: number) =>
      new ServiceError('overloaded', `Model 'llm' is being downloaded: ${percent} % done. Retry in 1 s.`, {
        code: 'model_loading',
        retryAfterS: 1,
      });
    loading = [error(41), error(42)];
    const gate = Promise.withResolvers<void>();
    loaded = gate.promise;
    const consoleErrors = await open();
    await button('Start conversation').click();
    await status('Loading the language model…').waitFor();
    await page.getByText("Model 'llm' is being downloaded: 42 % done. The conversation starts").waitFor();
    await screenshot(page, 'talk-loading');
    gate.resolve();
    await status('Listening').waitFor();
    for (const message of consoleErrors.splice(0)) expect(message).toMatch(/503|426/);
  });

  test('a denied microphone; typed messages still work', async () => {
    await open();
    await page.evaluate(`
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
    `);
    await start('Ready');
    await page.getByRole('alert').getByText('Microphone access was denied.').waitFor();
    await type('Hello?');
    await status('Speaking').waitFor();
  });

  test('a lost connection; the transcript stays until the next conversation', async () => {
    const other = app();
    onTestFinished(() => other.stop());
    const proxy = await startCutProxy(Number(new URL(other.url).port));
    onTestFinished(() => proxy.close());
    const consoleErrors = await open({ baseUrl: `http://127.0.0.1:${proxy.port}` });
    await start();
    await type('Hello?');
    await status('Speaking').waitFor();
    proxy.cut();
    await page.getByRole('alert').getByText('Connection lost.').waitFor();
    await status('Conversation ended').waitFor();
    expect(await entries('user').count()).toBe(1);
    proxy.repair();
    await button('Start again').click();
    await status('Listening').waitFor();
    expect(await entries('user').count()).toBe(0);
    consoleErrors.splice(0);
  });

  inDeepTier(() => {
    test('used up credits', async () => {
      openingError = new ServiceError('insufficient_quota', 'Your organization has no credits left.', {
        code: 'insufficient_quota',
      });
      await open();
      await start();
      await type('Hello?');
      await page.getByRole('alert').getByText('The credits are used up.').waitFor();
      await status('Conversation ended').waitFor();
    });

    test('a rejected connection', async () => {
      const limited = app({ perOrganization: 0 });
      onTestFinished(() => limited.stop());
      await open({ baseUrl: baseUrlOf(limited.url) });
      await button('Start conversation').click();
      await page
        .getByRole('alert')
        .getByText(/connections/)
        .waitFor();
      expect(await button('Start conversation').isEnabled()).toBe(true);
    });
  });
});

inDeepTier(() => {
  test('a conversation with speech and a function is accessible in both color schemes and fits a phone', async () => {
    heard = scriptedTurn(0.1, 0.3);
    answers = [said(REPLY), [...said('Let me look.'), ...called(0, 'find_booking', '{"guest":"Ada"}')]];
    await open();
    await screenshot(page, 'talk-start');
    await button('Settings').click();
    await page.getByLabel('Your functions').fill(FIND_BOOKING);
    await button('Settings').click();
    await start();
    await hearTone(page, 640);
    await playUntilSaid(REPLY);
    await type('I am Ada.');
    await playUntil(page, () => status('Waiting for an output').isVisible());
    await screenshot(page, 'talk');
    await button('Settings').click();
    await expectAccessible(page);
    await screenshot(page, 'talk-settings', { fullPage: true });
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectStateAccessible(page, 'colors');
    await screenshot(page, 'talk-dark', { fullPage: true });
    await page.setViewportSize({ width: PHONE_WIDTH, height: 800 });
    await expectNoSidewaysScroll(page);
    await screenshot(page, 'talk-phone', { fullPage: true });
  });
});
