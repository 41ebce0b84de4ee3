import { readFile } from 'node:fs/promises';
import type { Download, Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LaunchedService, launchService } from '../../tools/harness/services/launcher.ts';
import { spokenPcm } from '../../tools/harness/services/realtime-service.ts';
import { readWav, wavFile } from '../../web/audio/wav.ts';
import {
  type ConsoleOptions,
  consoleTests,
  expectAccessible,
  expectNoSidewaysScroll,
  HAS_CHROMIUM,
  PHONE_WIDTH,
  screenshot,
} from '../harness/console-browser.ts';
import { durationOf, measureLoudness, playedBy } from '../media/page-sound.ts';
import { transcriptWords } from '../reference/transcript-normalizer.ts';

/** The page that speaks and hears, in a real browser and with real models. */

const SAID = 'Please book a table for two people on Friday evening.';
const ANSWER = 'Your train leaves from platform three in ten minutes.';

const CONFIG = `
[models."svc-tts"]
kind = "piper"
[models."svc-stt"]
kind = "whisper"
`;

let service: LaunchedService;
const openPage = consoleTests('/speak', async () => {
  service = await launchService({ config: CONFIG, env: { PLUGINS: 'speech' } });
  return { service };
});

let page: Page;
async function open(options: ConsoleOptions = {}): Promise<void> {
  ({ page } = await openPage(options));
  await measureLoudness(page);
}

const PATIENCE = { timeout: 60_000 };
const figure = async (name: string) =>
  (await page.getByText(name, { exact: true }).locator('xpath=following-sibling::*').textContent()) ?? '';
const bytesOf = async (download: Download) => readFile(await download.path());

/** What the service's own recogniser makes of a WAV file. */
async function transcriptOf(wav: Uint8Array<ArrayBuffer>): Promise<string> {
  const body = new FormData();
  body.append('model', 'svc-stt');
  body.append('file', new File([wav], 'speech.wav'));
  const response = await service.fetch('/v1/audio/transcriptions', { method: 'POST', body });
  expect(response.status).toBe(200);
  return ((await response.json()) as { text: string }).text;
}

/** Has a text spoken to its end and gives the file that can be downloaded. */
async function spoken(text: string): Promise<Buffer> {
  await page.getByLabel('Input text').fill(text);
  await page.getByRole('button', { name: 'Speak' }).click();
  const button = page.getByRole('button', { name: 'Download WAV' });
  await expect.poll(() => button.isEnabled(), { timeout: 60_000 }).toBe(true);
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  expect(download.suggestedFilename()).toBe('speech.wav');
  return bytesOf(download);
}

const secondsOf = (wav: Buffer) => {
  const { samples, rateHz } = readWav(new Uint8Array(wav).buffer);
  return samples.length / rateHz;
};

describe('speaking', () => {
  beforeEach(() => open());

  test('plays a text while it is made, and gives it as a file that says the text', async () => {
    const wav = await spoken(ANSWER);
    const lengthS = secondsOf(wav);
    expect(lengthS).toBeGreaterThan(2);
    expect(lengthS).toBeLessThan(6);
    expect(transcriptWords(await transcriptOf(new Uint8Array(wav)))).toEqual(transcriptWords(ANSWER));
    expect(await figure('Time to first audio')).toMatch(/^(< )?\d\.\d\d s$/);
    expect(Number.parseFloat(await figure('Audio duration'))).toBeCloseTo(lengthS, 1);
    // Until it has been heard.
    await expect.poll(() => page.getByRole('button', { name: 'Stop' }).isDisabled(), PATIENCE).toBe(true);
    const { loudS, loudnessDb } = await playedBy(page);
    // Between words it is silent; no sample was lost on the way to the loudspeaker.
    expect(loudS).toBeGreaterThan(lengthS * 0.6);
    expect(loudS).toBeLessThan(lengthS + 0.1);
    expect(loudnessDb).toBeGreaterThan(-30);
    expect(loudnessDb).toBeLessThan(-8);
    await expect.poll(() => page.getByText(/^Usage: 53 characters/).count(), PATIENCE).toBe(1);
    // The picture of it, and what plays it again.
    const length = () => durationOf(page.getByLabel('Synthesized speech'));
    await expect.poll(length, PATIENCE).toBeCloseTo(lengthS, 1);
    await screenshot(page, 'speak');
  });

  test('speaks faster and returns the whole file as requested', async () => {
    const slow = secondsOf(await spoken(ANSWER));
    await page.getByText('Complete file').click();
    const speed = page.getByRole('slider', { name: 'Speed' });
    await speed.focus();
    for (let step = 0; step < 20; step += 1) await page.keyboard.press('ArrowRight');
    expect(await speed.getAttribute('aria-valuetext')).toBe('2.00 ×');
    // Speed is a hint.
    expect(secondsOf(await spoken(ANSWER)) / slow).toBeLessThan(0.75);
  });

  test('stops immediately and keeps the received audio', async () => {
    await page.getByLabel('Input text').fill('And so on, without an end. '.repeat(60));
    await page.getByRole('button', { name: 'Speak' }).click();
    await expect.poll(() => figure('Time to first audio'), PATIENCE).not.toBe('–');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped').waitFor();
    expect(await page.getByRole('button', { name: 'Download WAV' }).isEnabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Speak' }).isEnabled()).toBe(true);
  });

  test('says at the field what the service refuses', async () => {
    await page.getByLabel('Input text').fill('…');
    await page.getByRole('button', { name: 'Speak' }).click();
    await expect
      .poll(() => page.getByLabel('Input text').getAttribute('aria-invalid'), PATIENCE)
      .toBe('true');
    await page.getByText("'input'").waitFor();
    await page.getByLabel('Input text').fill('a'.repeat(5001));
    await page.getByText('5,001 of 5,000 characters').waitFor();
    expect(await page.getByRole('button', { name: 'Speak' }).isDisabled()).toBe(true);
  });
});

describe('hearing', () => {
  let recording: Buffer;
  beforeAll(async () => {
    if (!HAS_CHROMIUM) return;
    const pcm = await spokenPcm(service, SAID);
    const samples = new Int16Array(new Uint8Array(pcm).buffer);
    recording = Buffer.from(await wavFile([samples], 24_000).arrayBuffer());
  });

  /** Has a file written down, and gives what the page shows of it. */
  async function heard(buffer: Buffer): Promise<string> {
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'order.wav', mimeType: 'audio/wav', buffer });
    await page.getByRole('button', { name: 'Transcribe' }).click();
    await expect.poll(() => page.getByRole('button', { name: 'Stop' }).isDisabled(), PATIENCE).toBe(true);
    return (await page.getByLabel('Transcript text').textContent()) ?? '';
  }

  beforeEach(async () => {
    await open();
    await page.getByRole('tab', { name: 'Transcription' }).click();
  });

  test('writes a recording down while it is heard', async () => {
    expect(transcriptWords(await heard(recording))).toEqual(transcriptWords(SAID));
    expect(await figure('Time to first text')).toMatch(/^(< )?\d\.\d\d s$/);
    expect(await figure('Input, output tokens')).toMatch(/^\d+, \d+$/);
    await screenshot(page, 'hear');
  });

  test('gives captions as a file', async () => {
    await page.getByRole('combobox', { name: 'Response format' }).click();
    await page.getByRole('option', { name: 'Captions (WebVTT)' }).click();
    await heard(recording);
    const button = page.getByRole('button', { name: 'Download' }).and(page.locator(':visible'));
    const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
    expect(download.suggestedFilename()).toBe('order.vtt');
    const captions = (await bytesOf(download)).toString();
    expect(captions).toMatch(/^WEBVTT\n\n00:00:00\.\d{3} --> 00:00:0\d\.\d{3}\n/);
    expect(captions.replaceAll('\n', ' ')).toContain('book a table');
  });

  test('says at the field what is wrong with a file', async () => {
    await heard(Buffer.from('This is not a sound.'));
    await page.getByRole('alert').getByText("'file'").waitFor();
  });
});

test.each(['light', 'dark'] as const)('can be used by everybody in the %s scheme', async (scheme) => {
  await open({ scheme });
  await expectAccessible(page);
  await page.getByRole('tab', { name: 'Transcription' }).click();
  await expectAccessible(page);
});

test('fits a phone', async () => {
  await open({ width: PHONE_WIDTH });
  await expectNoSidewaysScroll(page);
  await screenshot(page, 'speak-phone');
  await page.getByRole('tab', { name: 'Transcription' }).click();
  await expectNoSidewaysScroll(page);
  await screenshot(page, 'hear-phone');
});
