import { readFile } from 'node:fs/promises';
import type { Download, Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { transcriptWords } from '../../tools/harness/media/transcript-normalizer.ts';
import { PATIENCE } from '../../tools/harness/patience.ts';
import { type LaunchedService, launchService } from '../../tools/harness/services/launcher.ts';
import { spokenPcm } from '../../tools/harness/services/realtime-service.ts';
import { readWav, wavFile } from '../../web/audio/wav.ts';
import { HAS_CHROMIUM } from '../harness/chromium.ts';
import {
  type ConsoleOptions,
  consoleTests,
  expectAccessible,
  expectNoSidewaysScroll,
  PHONE_WIDTH,
  screenshot,
} from '../harness/console-browser.ts';
import { durationOf, measureLoudness, playedBy } from '../media/page-sound.ts';

/** The speech page in a real browser with real models. */

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

const figure = async (name: string) =>
  (await page.getByText(name, { exact: true }).locator('xpath=following-sibling::*').textContent()) ?? '';
const bytesOf = async (download: Download) => readFile(await download.path());

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
  await page.getByRole('button', { name: 'Speak' }).click();
  const button = page.getByRole('button', { name: 'Download WAV' });
  await expect.poll(() => button.isEnabled()).toBe(true);
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  expect(download.suggestedFilename()).toBe('speech.wav');
  return bytesOf(download);
}

const secondsOf = (wav: Buffer) => {
  const { samples, rateHz } = readWav(new Uint8Array(wav).buffer);
  return samples.length / rateHz;
};

describe('speech', () => {
  beforeEach(() => open());

  test('is played while it is generated, and can be downloaded', async () => {
    const wav = await synthesize(ANSWER);
    const lengthS = secondsOf(wav);
    expect(lengthS).toBeGreaterThan(2);
    expect(lengthS).toBeLessThan(6);
    expect(transcriptWords(await transcriptOf(new Uint8Array(wav)))).toEqual(transcriptWords(ANSWER));
    expect(await figure('Time to first audio')).toMatch(/^(< )?\d\.\d\d s$/);
    expect(Number.parseFloat(await figure('Audio duration'))).toBeCloseTo(lengthS, 1);
    // Waits until the playback has ended.
    await expect.poll(() => page.getByRole('button', { name: 'Stop' }).isDisabled(), PATIENCE).toBe(true);
    const { loudS, loudnessDb } = await playedBy(page);
    // Speech has silence between words. A longer playback would have gaps or repetitions.
    expect(loudS).toBeGreaterThan(lengthS * 0.6);
    expect(loudS).toBeLessThan(lengthS + 0.1);
    expect(loudnessDb).toBeGreaterThan(-30);
    expect(loudnessDb).toBeLessThan(-8);
    await expect.poll(() => page.getByText(/^Usage: 53 characters/).count(), PATIENCE).toBe(1);
    // The player of the finished file.
    const length = () => durationOf(page.getByLabel('Synthesized speech'));
    await expect.poll(length, PATIENCE).toBeCloseTo(lengthS, 1);
    await screenshot(page, 'speak');
  });

  test('is faster at a higher speed, also as a complete file', async () => {
    const slow = secondsOf(await synthesize(ANSWER));
    await page.getByText('Complete file').click();
    const speed = page.getByRole('slider', { name: 'Speed' });
    await speed.focus();
    for (let step = 0; step < 20; step += 1) await page.keyboard.press('ArrowRight');
    expect(await speed.getAttribute('aria-valuetext')).toBe('2.00 ×');
    // The speed is approximate.
    expect(secondsOf(await synthesize(ANSWER)) / slow).toBeLessThan(0.75);
  });

  test('can be stopped; the received audio is kept', async () => {
    await page.getByLabel('Input text').fill('And so on, without an end. '.repeat(60));
    await page.getByRole('button', { name: 'Speak' }).click();
    await expect.poll(() => figure('Time to first audio'), PATIENCE).not.toBe('–');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped').waitFor();
    expect(await page.getByRole('button', { name: 'Download WAV' }).isEnabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Speak' }).isEnabled()).toBe(true);
  });

  test('shows errors of the service and the text limit at the field', async () => {
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

describe('transcription', () => {
  let recording: Buffer;
  beforeAll(async () => {
    if (!HAS_CHROMIUM) return;
    const pcm = await spokenPcm(service, SAID);
    const samples = new Int16Array(new Uint8Array(pcm).buffer);
    recording = Buffer.from(await wavFile([samples], 24_000).arrayBuffer());
  });

  /** Transcribes a file on the page. Returns the shown transcript. */
  async function transcribe(buffer: Buffer): Promise<string> {
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

  test('transcribes a recording', async () => {
    expect(transcriptWords(await transcribe(recording))).toEqual(transcriptWords(SAID));
    expect(await figure('Time to first text')).toMatch(/^(< )?\d\.\d\d s$/);
    expect(await figure('Input, output tokens')).toMatch(/^\d+, \d+$/);
    await screenshot(page, 'hear');
  });

  test('downloads captions as a file', async () => {
    await page.getByRole('combobox', { name: 'Response format' }).click();
    await page.getByRole('option', { name: 'Captions (WebVTT)' }).click();
    await transcribe(recording);
    const button = page.getByRole('button', { name: 'Download' }).and(page.locator(':visible'));
    const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
    expect(download.suggestedFilename()).toBe('order.vtt');
    const captions = (await bytesOf(download)).toString();
    expect(captions).toMatch(/^WEBVTT\n\n00:00:00\.\d{3} --> 00:00:0\d\.\d{3}\n/);
    expect(captions.replaceAll('\n', ' ')).toContain('book a table');
  });

  test('shows an error for an invalid file', async () => {
    await transcribe(Buffer.from('This is not a sound.'));
    await page.getByRole('alert').getByText("'file'").waitFor();
  });
});

test.each(['light', 'dark'] as const)('is accessible in the %s color scheme', async (scheme) => {
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
