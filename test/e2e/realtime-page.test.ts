import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, type TestContext, test } from 'vitest';
import {
  type Checked,
  check,
  type FrameEntry,
  initial,
  parseTraceLine,
} from '../../plugins/realtime/order-rules.ts';
import { wavHeader } from '../../src/audio/wav.ts';
import { SPEECH_RATE_HZ } from '../../src/contract/audio.ts';
import { transcriptWords } from '../reference/transcript-normalizer.ts';
import { launchService, NO_MODELS, SERVICE_KEY } from '../support/launcher.ts';
import { needs } from '../support/needs.ts';
import {
  launchRealtimeService,
  type RealtimeService,
  silentPcm,
  spokenPcm,
} from '../support/realtime-service.ts';

/** The console page in a real browser, whose microphone plays a file over and over. */

const CHROMIUM = '/usr/bin/chromium';
const SAID = 'Please book a table for two people on Friday evening.';
const ANSWER = 'Your train leaves from platform three in ten minutes.';

let service: RealtimeService;
let browser: Browser;
let folder: string;
beforeAll(async () => {
  if (!existsSync(CHROMIUM)) return;
  folder = mkdtempSync(join(tmpdir(), 'realtime-page-'));
  service = await launchRealtimeService();
  const clip = Buffer.concat([silentPcm(800), await spokenPcm(service, SAID), silentPcm(2000)]);
  const microphone = join(folder, 'microphone.wav');
  writeFileSync(microphone, Buffer.concat([wavHeader(clip.length, SPEECH_RATE_HZ), clip]));
  browser = await puppeteer.launch({
    executablePath: CHROMIUM,
    acceptInsecureCerts: true,
    args: [
      '--no-sandbox',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${microphone}`,
      '--autoplay-policy=no-user-gesture-required',
    ],
  });
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

let page: Page;
let faults: string[];
beforeEach(async (context: TestContext) => {
  needs(context, existsSync(CHROMIUM), `Chromium at ${CHROMIUM}`);
  page = await browser.newPage();
  faults = [];
  page.on('console', (message) => {
    // The one warning is about the measuring that this test brings along.
    const ours = message.text().includes('ScriptProcessorNode');
    if (['error', 'warn'].includes(message.type()) && !ours) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.setViewport({ width: 800, height: 900 });
  await page.evaluateOnNewDocument(LISTEN_TO_THE_PAGE);
  await page.goto(`${service.baseUrl}/`);
  await page.type('#key', SERVICE_KEY);
});
afterEach(() => page?.close());

/**
 * Runs in the page before its own scripts: whatever is led to the loudspeaker is measured too. Leaves
 * `played`: the seconds that were louder than -50 dB, and the sum of the squares of their samples.
 */
const LISTEN_TO_THE_PAGE = `
  window.played = { loudS: 0, squares: 0, samples: 0 };
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (target, ...more) {
    if (target instanceof AudioDestinationNode) {
      const { context } = this;
      context.meter ??= (() => {
        const meter = context.createScriptProcessor(256, 1, 1);
        meter.onaudioprocess = ({ inputBuffer }) => {
          const samples = inputBuffer.getChannelData(0);
          let squares = 0;
          for (const sample of samples) squares += sample * sample;
          if (Math.sqrt(squares / samples.length) < 0.00316) return;
          window.played.loudS += samples.length / context.sampleRate;
          window.played.squares += squares;
          window.played.samples += samples.length;
        };
        connect.call(meter, context.destination);
        return meter;
      })();
      connect.call(this, context.meter);
    }
    return connect.call(this, target, ...more);
  };
`;

/** Waits until an expression holds in the page. */
const until = (expression: string) => page.waitForFunction(expression, { timeout: 30_000, polling: 50 });
const textOf = (selector: string) => page.$eval(selector, (element) => element.textContent ?? '');

interface Turn {
  readonly kind: string;
  readonly text: string;
  readonly about: string;
}

/** What the conversation shows. */
function turns(): Promise<Turn[]> {
  return page.evaluate(`[...document.querySelectorAll('#turns .turn')].map((turn) => ({
    kind: turn.className,
    text: turn.querySelector('.text').textContent,
    about: turn.querySelector('.about').textContent,
  }))`) as Promise<Turn[]>;
}

type Entry = FrameEntry & { readonly frame: { readonly type: string } };

/** The part of a session that the page's controls change. */
interface UpdatedSession {
  readonly type: string;
  readonly audio: {
    readonly input: {
      readonly transcription: { readonly language?: string | null };
      readonly turn_detection: { readonly threshold: number; readonly silence_duration_ms: number };
    };
  };
}

/** The frames that the page keeps as a trace, which keep the order rules. */
async function trace(): Promise<Entry[]> {
  await page.evaluate(`
    delete window.copied;
    navigator.clipboard.writeText = async (text) => { window.copied = text; };
    document.getElementById('talk-log').open = true;
    document.getElementById('talk-copy').click();
  `);
  await until('window.copied !== undefined');
  const text = (await page.evaluate('window.copied')) as string;
  const entries = text.trimEnd().split('\n').map(parseTraceLine) as Entry[];
  const { violations } = entries.reduce<Checked>(
    ({ state, violations }, entry) => {
      const next = check(state, entry);
      return { state: next.state, violations: [...violations, ...next.violations] };
    },
    { state: initial, violations: [] },
  );
  expect(violations).toEqual([]);
  return entries;
}

describe('the realtime panel', () => {
  test('writes down what the microphone hears, turn by turn, while it is said', async () => {
    // What was there before the end: words that were still open.
    await page.evaluate(`
      window.partial = new Set();
      new MutationObserver(() => {
        for (const words of document.querySelectorAll('#turns .turn.open .text')) window.partial.add(words.textContent);
      }).observe(document.getElementById('turns'), { subtree: true, childList: true, characterData: true });
    `);
    await page.click('#talk-connect');
    await until(`document.querySelectorAll('#turns .turn.heard:not(.open)').length >= 2`);
    // The file starts somewhere in its middle; the second turn is whole.
    const [, turn] = await turns();
    expect(transcriptWords(turn?.text ?? '')).toEqual(transcriptWords(SAID));
    expect(turn?.about).toMatch(/^You0:\d\d\.\d – 0:\d\d\.\dwords after (< )?\d\.\d\d s$/);
    const partial = (await page.evaluate('[...window.partial]')) as string[];
    expect(partial.some((text) => text !== '' && turn?.text.startsWith(text) && text !== turn.text)).toBe(
      true,
    );
    expect(await textOf('#talk-words')).toMatch(/^(< )?\d\.\d\d s$/);

    const entries = await trace();
    expect(entries.slice(0, 3).map(({ from, frame }) => [from, frame.type])).toEqual([
      ['server', 'session.created'],
      ['client', 'session.update'],
      ['server', 'session.updated'],
    ]);
    expect(entries.filter(({ frame }) => frame.type === 'error')).toEqual([]);
    await page.click('#talk-connect');
    await until(`document.getElementById('talk-connect').textContent === 'Connect'`);
    expect(faults).toEqual([]);
  });

  test('speaks a text, heard from the loudspeaker whole and loud, without a gap', async () => {
    await page.click('#talk-connect');
    await until(`!document.getElementById('say-speak').disabled`);
    await page.$eval('#say-text', (field) => {
      (field as unknown as { value: string }).value = '';
    });
    await page.type('#say-text', ANSWER);
    await page.keyboard.press('Enter');
    await until(`document.querySelector('.turn.spoken:not(.open)') !== null`);
    const lengthS = Number.parseFloat(await textOf('#talk-length'));
    expect(lengthS).toBeGreaterThan(2);
    expect(lengthS).toBeLessThan(6);
    expect(await textOf('#talk-first')).toMatch(/^(< )?\d\.\d\d s$/);
    await until(`document.getElementById('say-cancel').disabled`);
    const { loudS, squares, samples } = (await page.evaluate('window.played')) as Record<
      'loudS' | 'squares' | 'samples',
      number
    >;
    // Between words it is silent; no sample was lost on the way to the loudspeaker.
    expect(loudS).toBeGreaterThan(lengthS * 0.6);
    expect(loudS).toBeLessThan(lengthS + 0.1);
    const loudnessDb = 10 * Math.log10(squares / samples);
    expect(loudnessDb).toBeGreaterThan(-30);
    expect(loudnessDb).toBeLessThan(-8);
    const [spoken] = (await turns()).filter(({ kind }) => kind.includes('spoken'));
    expect(spoken).toMatchObject({ text: ANSWER });
    expect(faults).toEqual([]);
  });

  test('Cancel ends it at once', async () => {
    await page.click('#talk-connect');
    await until(`!document.getElementById('say-speak').disabled`);
    await page.type('#say-text', ` ${'And so on, without an end. '.repeat(30)}`);
    await page.click('#say-speak');
    await until(`document.getElementById('talk-length').textContent !== '–'`);
    await page.click('#say-cancel');
    await until(`document.querySelector('.turn.spoken:not(.open)') !== null`);
    expect((await turns()).find(({ kind }) => kind.includes('spoken'))?.about).toMatch(/cancelled$/);
    await until(`document.getElementById('say-cancel').disabled`);
    // The next one may start.
    expect(
      await page.$eval('#say-speak', (button) => (button as unknown as { disabled: boolean }).disabled),
    ).toBe(false);
    expect(faults).toEqual([]);
  });

  test('a text without a word is refused, and the next one may be spoken', async () => {
    await page.click('#talk-connect');
    await until(`!document.getElementById('say-speak').disabled`);
    await page.$eval('#say-text', (field) => {
      (field as unknown as { value: string }).value = ' ';
    });
    await page.click('#say-speak');
    await until(`document.getElementById('say-message').textContent.includes('no user text')`);
    expect(
      await page.$eval('#say-speak', (button) => (button as unknown as { disabled: boolean }).disabled),
    ).toBe(false);
    expect(faults).toEqual([]);
  });

  test('a turn lasts as long as a key is held, for who ends turns by hand', async () => {
    await page.select('#talk-turns', 'hold');
    await page.click('#talk-connect');
    await until(`!document.getElementById('talk-hold').disabled`);
    await page.focus('#talk-hold');
    await page.keyboard.down('Space');
    // Longer than the file once around, so that everything is in it.
    await until(`Number(document.getElementById('talk-count').textContent) > 100`);
    await page.keyboard.up('Space');
    await until(`document.querySelector('.turn.heard:not(.open)') !== null`);
    const [turn] = await turns();
    const words = transcriptWords(SAID);
    expect(turn?.about).toMatch(/^You0:00\.0 – 0:\d\d\.\dwords after \d\.\d\d s$/);
    const heard = transcriptWords(turn?.text ?? '').join(' ');
    expect(words.filter((word) => heard.includes(word)).length / words.length).toBeGreaterThan(0.8);
    const types = (await trace()).map(({ frame }) => frame.type);
    expect(types.filter((type) => type === 'input_audio_buffer.commit')).toHaveLength(1);
    expect(types).not.toContain('input_audio_buffer.speech_started');
    expect(faults).toEqual([]);
  });

  test('its controls reach the session, before it begins and while it lasts', async () => {
    await page.type('#talk-language', 'en');
    await page.select('#talk-task', 'translation');
    await page.click('#talk-connect');
    await until(`!document.getElementById('say-speak').disabled`);
    for (const id of ['talk-threshold', 'talk-silence']) {
      await page.focus(`#${id}`);
      await page.keyboard.press('ArrowRight');
    }
    await page.focus('#talk-language');
    for (const _ of 'en') await page.keyboard.press('Backspace');
    await page.select('#talk-task', 'transcription');
    const wanted = [
      ['translation', 'en', 0.5, 500],
      ['translation', 'en', 0.55, 500],
      ['translation', 'en', 0.55, 550],
      ['transcription', undefined, 0.55, 550],
    ];
    await expect
      .poll(async () =>
        (await trace())
          .filter(({ frame }) => frame.type === 'session.updated')
          .map(({ frame }) => {
            const { type, audio } = (frame as unknown as { session: UpdatedSession }).session;
            const { threshold, silence_duration_ms } = audio.input.turn_detection;
            return [type, audio.input.transcription.language ?? undefined, threshold, silence_duration_ms];
          }),
      )
      .toEqual(wanted);
    expect((await trace()).filter(({ frame }) => frame.type === 'error')).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('without a microphone it still speaks', async () => {
    await page.evaluate(`
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('none', 'NotFoundError'));
    `);
    await page.click('#talk-connect');
    await until(`document.getElementById('talk-message').textContent.includes('There is no microphone.')`);
    await page.click('#say-speak');
    await until(`document.querySelector('.turn.spoken:not(.open)') !== null`);
    expect(faults).toEqual([]);
  });

  test('works over TLS', async () => {
    await page.goto(`${service.tlsUrl}/`);
    await page.type('#key', SERVICE_KEY);
    await page.click('#talk-connect');
    await until(`document.querySelector('.turn.heard:not(.open)') !== null`);
    expect(faults).toEqual([]);
  });

  test('a service that stops is told in words', async () => {
    const other = await launchService({ config: NO_MODELS });
    await page.goto(`${other.baseUrl}/`);
    await page.type('#key', SERVICE_KEY);
    await page.click('#talk-connect');
    await until(`!document.getElementById('say-speak').disabled`);
    expect(await other.stop()).toBe(0);
    await until(`document.getElementById('talk-message').textContent.startsWith('The service is stopping.')`);
    expect(await textOf('#talk-connect')).toBe('Connect');
    expect(faults).toEqual([]);
  });

  test('a wrong key is told in words', async () => {
    await page.type('#key', '-wrong');
    await page.click('#talk-connect');
    await until(`document.getElementById('talk-message').textContent.includes('API key')`);
    expect(await textOf('#talk-connect')).toBe('Connect');
  });

  test('fits a phone, and loads nothing from elsewhere', async () => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.setViewport({ width: 360, height: 740 });
    await page.reload({ waitUntil: 'networkidle0' });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(asked.filter((url) => !url.startsWith(service.baseUrl) && !url.startsWith('data:'))).toEqual([]);
    expect(faults).toEqual([]);
  });
});
