import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { transcriptWords } from '../../tools/harness/media/transcript-normalizer.ts';
import { PATIENCE_MS } from '../../tools/harness/patience.ts';
import { NO_TEXT } from '../../tools/harness/services/launcher.ts';
import {
  launchRealtimeService,
  type RealtimeService,
  silentPcm,
  spokenPcm,
} from '../../tools/harness/services/realtime-service.ts';
import { readWav, wavFile } from '../../web/audio/wav.ts';
import { READING_TEXTS } from '../../web/pages/voices/reading-texts.ts';
import { bytesOf, type ConsoleOptions, consoleTests } from '../harness/console-browser.ts';
import { durationOf, measureLoudness, microphoneOf, playedBy } from '../media/page-sound.ts';

/**
 * The pages of the console that record and play, with real models. The browser plays over a sound card, and its microphone
 * plays a file in a loop, both in real time. The default tier has the same pages with scripted models and audio of the test.
 */

const SAID = 'Please book a table for two people on Friday.';
const ANSWER = 'Your train leaves from platform three in ten minutes.';
/** Real time passes. */
const PATIENCE = { timeout: 2 * PATIENCE_MS, interval: 100 };

let service: RealtimeService;
let folder: string;
// The browser plays a file of this folder and is closed earlier.
afterAll(() => folder !== undefined && rmSync(folder, { recursive: true, force: true }));
const openPage = consoleTests('/realtime', async () => {
  folder = mkdtempSync(join(tmpdir(), 'console-audio-'));
  // Speech is that of Kokoro, because Piper has no stored voices.
  const models = `[models."svc-stt"]\nkind = "whisper"\n${NO_TEXT}`;
  service = await launchRealtimeService({ models, env: { PLUGINS: 'speech,voices,realtime' } });
  const clip = Buffer.concat([silentPcm(200), await spokenPcm(service, SAID), silentPcm(1000)]);
  const microphone = join(folder, 'microphone.wav');
  await writeFile(microphone, await wavOf(clip));
  return { service, browserArgs: microphoneOf(microphone) };
});

let page: Page;
async function open(options: ConsoleOptions): Promise<void> {
  ({ page } = await openPage(options));
  await measureLoudness(page);
}

/** A WAV file of 16-bit samples at 24 kHz. */
async function wavOf(pcm: Buffer): Promise<Buffer> {
  const samples = new Int16Array(new Uint8Array(pcm).buffer);
  return Buffer.from(await wavFile([samples], 24_000).arrayBuffer());
}

const secondsOf = (wav: Buffer) => {
  const { samples, rateHz } = readWav(new Uint8Array(wav).buffer);
  return samples.length / rateHz;
};

/** Expects that speech was played completely, at normal loudness and without gaps. */
async function expectPlayed(lengthS: number): Promise<void> {
  const { loudS, loudnessDb } = await playedBy(page);
  // Speech has silence between words. A longer playback would have gaps or repetitions.
  expect(loudS).toBeGreaterThan(lengthS * 0.6);
  expect(loudS).toBeLessThan(lengthS + 0.1);
  expect(loudnessDb).toBeGreaterThan(-30);
  expect(loudnessDb).toBeLessThan(-8);
}

const button = (name: string) => page.getByRole('button', { name, exact: true });

describe('the realtime page', () => {
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

  test('transcribes the microphone in turns with partial transcripts', async () => {
    await open({ path: '/realtime' });
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
    const whole = await wordsOf(transcribed.nth(1));
    expect(transcriptWords(whole)).toEqual(transcriptWords(SAID));
    const partial = await page.evaluate<string[]>('[...partial]');
    expect(partial.some((text) => text !== '' && whole.startsWith(text) && text !== whole)).toBe(true);
  });

  test('transcribes a manual turn', async () => {
    await open({ path: '/realtime' });
    await choose('Turn detection', 'Push to talk');
    await connect();
    await expect.poll(() => button('Hold to talk').isEnabled(), PATIENCE).toBe(true);
    await page.getByRole('heading', { name: 'Realtime' }).click();
    await page.keyboard.down('Space');
    // The turn is longer than one repetition of the file.
    await page.getByText(/× ([5-9]\d|1\d\d)$/).waitFor(PATIENCE);
    await page.keyboard.up('Space');
    await turns('user', 'done').waitFor(PATIENCE);
    const words = transcriptWords(SAID);
    const transcribed = transcriptWords(await wordsOf(turns('user', 'done'))).join(' ');
    expect(words.filter((word) => transcribed.includes(word)).length / words.length).toBeGreaterThan(0.8);
  });

  test('repeats the microphone as speech over TLS', async () => {
    await open({ baseUrl: service.tlsUrl, path: '/realtime' });
    await choose('Response mode', 'Repeat transcript');
    await connect();
    await turns('service', 'done').first().waitFor(PATIENCE);
    const transcribed = await wordsOf(turns('user', 'done').first());
    expect(await wordsOf(turns('service', 'done').first())).toBe(transcribed);
  });

  test('plays a text completely, at normal loudness and without gaps', async () => {
    await open({ path: '/realtime' });
    await connect();
    await page.getByLabel('Text', { exact: true }).fill(ANSWER);
    await page.keyboard.press('Enter');
    const turn = turns('service', 'done');
    await turn.waitFor(PATIENCE);
    const lengthS = Number.parseFloat(
      /^Service(\d+\.\d+) s/.exec((await turn.textContent()) ?? '')?.[1] ?? '',
    );
    expect(lengthS).toBeGreaterThan(2);
    expect(lengthS).toBeLessThan(6);
    await expect.poll(() => button('Cancel').isDisabled(), PATIENCE).toBe(true);
    await expectPlayed(lengthS);
  });
});

describe('the speech page', () => {
  /** Transcript of a WAV file by the service. */
  async function transcriptOf(wav: Uint8Array<ArrayBuffer>): Promise<string> {
    const body = new FormData();
    body.append('model', 'svc-stt');
    body.append('file', new File([wav], 'speech.wav'));
    const response = await service.fetch('/v1/audio/transcriptions', { method: 'POST', body });
    expect(response.status).toBe(200);
    return ((await response.json()) as { text: string }).text;
  }

  /** Synthesizes a text on the page and downloads the WAV file. */
  async function synthesize(text: string): Promise<Buffer> {
    await page.getByLabel('Input text').fill(text);
    await button('Speak').click();
    await expect.poll(() => button('Download WAV').isEnabled(), PATIENCE).toBe(true);
    const [download] = await Promise.all([page.waitForEvent('download'), button('Download WAV').click()]);
    return bytesOf(download);
  }

  /** Transcribes a file on the page. Returns the shown transcript. */
  async function transcribe(buffer: Buffer): Promise<string> {
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'order.wav', mimeType: 'audio/wav', buffer });
    await button('Transcribe').click();
    await expect.poll(() => button('Stop').isDisabled(), PATIENCE).toBe(true);
    return (await page.getByLabel('Transcript text').textContent()) ?? '';
  }

  test('plays speech, and saves it as a file with the same words', async () => {
    await open({ path: '/speak' });
    const wav = await synthesize(ANSWER);
    const lengthS = secondsOf(wav);
    expect(lengthS).toBeGreaterThan(2);
    expect(lengthS).toBeLessThan(6);
    expect(transcriptWords(await transcriptOf(new Uint8Array(wav)))).toEqual(transcriptWords(ANSWER));
    await expect.poll(() => button('Stop').isDisabled(), PATIENCE).toBe(true);
    await expectPlayed(lengthS);
  });

  test('speaks faster at a higher speed', async () => {
    await open({ path: '/speak' });
    const slow = secondsOf(await synthesize(ANSWER));
    const speed = page.getByRole('slider', { name: 'Speed' });
    await speed.focus();
    for (let step = 0; step < 20; step += 1) await page.keyboard.press('ArrowRight');
    // The speed is approximate.
    expect(secondsOf(await synthesize(ANSWER)) / slow).toBeLessThan(0.75);
  });

  test('transcribes a recording, and saves captions', async () => {
    await open({ path: '/speak' });
    await page.getByRole('tab', { name: 'Transcription' }).click();
    const recording = await wavOf(await spokenPcm(service, SAID));
    expect(transcriptWords(await transcribe(recording))).toEqual(transcriptWords(SAID));
    await page.getByRole('combobox', { name: 'Response format' }).click();
    await page.getByRole('option', { name: 'Captions (WebVTT)' }).click();
    await transcribe(recording);
    const save = page.getByRole('button', { name: 'Download' }).and(page.locator(':visible'));
    const [download] = await Promise.all([page.waitForEvent('download'), save.click()]);
    const captions = (await bytesOf(download)).toString();
    expect(captions).toMatch(/^WEBVTT\n\n00:00:00\.\d{3} --> 00:00:0\d\.\d{3}\n/);
    expect(captions.replaceAll('\n', ' ')).toContain('book a table');
  });
});

test('a voice is recorded from the microphone, stored and used', async () => {
  await open({ path: '/voices' });
  await button('New voice').click();
  await page.getByText(READING_TEXTS[0] ?? '').waitFor();
  await button('Record').click();
  const clock = page.getByRole('timer', { name: 'Recording time' });
  await expect
    .poll(async () => Number.parseFloat((await clock.textContent()) ?? ''), PATIENCE)
    .toBeGreaterThan(10);
  const meter = page.getByRole('meter', { name: 'Microphone level' });
  await expect
    .poll(async () => Number(await meter.getAttribute('aria-valuenow')), PATIENCE)
    .toBeGreaterThan(40);
  await button('Stop').click();
  const clipLength = () => durationOf(page.getByLabel('Clip preview', { exact: true }));
  await expect.poll(clipLength, PATIENCE).toBeGreaterThan(10);
  await page.getByLabel('Name').fill('Reader');
  await page.getByRole('checkbox', { name: /I have the consent/ }).check();
  await button('Create voice').click();
  await page.getByText('Voice Reader created').waitFor(PATIENCE);

  const voice = page.getByRole('listitem', { name: 'Reader' });
  await voice.getByRole('button', { name: 'Try it' }).click();
  // The opened item of the list stays open when the notification is closed.
  await page.getByRole('status').getByRole('button', { name: 'Close' }).click();
  await voice.getByLabel('Text for Reader').fill('Good evening, and thank you for listening.');
  await voice.getByRole('button', { name: 'Speak' }).click();
  await page.getByLabel('Speech of Reader').waitFor(PATIENCE);
  await expect.poll(async () => (await playedBy(page)).loudS, PATIENCE).toBeGreaterThan(1);
});
