import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { SPOKEN_RATE_HZ, speak } from '../../tools/harness/media/spoken.ts';
import {
  type LaunchedService,
  launchService,
  NO_RECOGNISER,
  NO_TEXT,
} from '../../tools/harness/services/launcher.ts';
import {
  type FakeCloningUpstream,
  startFakeCloningUpstream,
} from '../../tools/harness/upstreams/fake-cloning-upstream.ts';
import { wavFile } from '../../web/audio/wav.ts';
import { READING_TEXTS } from '../../web/pages/voices/reading-texts.ts';
import { MAX_CLIP_BYTES } from '../../web/pages/voices/voice-wire.ts';
import {
  type ConsoleOptions,
  consoleTests,
  expectAccessible,
  expectNoSidewaysScroll,
  expectStateAccessible,
  PHONE_WIDTH,
  screenshot,
} from '../harness/console-browser.ts';
import { tempDir } from '../harness/temp-dir.ts';
import { inDeepTier } from '../harness/tier.ts';
import { hear, hearTone, replaceAudio, scheduledBy } from '../media/page-audio.ts';
import { durationOf } from '../media/page-sound.ts';

/**
 * The voices page in a real browser. The test provides the audio of the microphone; the speech model is scripted.
 * test/deep/console-audio.test.ts uses real models and a sound card.
 */

/** A WAV file of samples from -1 to 1. */
async function wavOf(parts: readonly Float32Array[]): Promise<Buffer> {
  const pieces = parts.map((part) => Int16Array.from(part, (sample) => sample * 0x7fff));
  return Buffer.from(await wavFile(pieces, SPOKEN_RATE_HZ).arrayBuffer());
}

let service: LaunchedService;
let upstream: FakeCloningUpstream;
/** About 8 s of reading. */
let reading: Float32Array;
// The service uses this server and is closed earlier.
afterAll(() => upstream?.close());
const openPage = consoleTests('/voices', async () => {
  const [first = new Float32Array(0)] = await speak([READING_TEXTS[0] ?? '']);
  reading = first;
  upstream = startFakeCloningUpstream();
  const config = `${NO_RECOGNISER}${NO_TEXT}
    [models."svc-tts"]
    kind = "upstream"
    base_url = "${upstream.baseUrl}"
    model = "scripted"
    voices = "inline"`;
  service = await launchService({ config, env: { PLUGINS: 'speech,voices' } });
  const browserArgs = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
  return { service, browserArgs };
});

let page: Page;
async function open(options: ConsoleOptions = {}): Promise<void> {
  ({ page } = await openPage(options));
  await replaceAudio(page);
}

/** Selects a file, by its content or by its path, as the clip of a new voice. */
async function choose(clip: Buffer | string): Promise<void> {
  await page.getByRole('button', { name: 'New voice' }).click();
  await page.getByText('Upload', { exact: true }).click();
  const file = typeof clip === 'string' ? clip : { name: 'a.wav', mimeType: 'audio/wav', buffer: clip };
  await page.getByLabel('Clip', { exact: true }).setInputFiles(file);
  await page.getByLabel('Transcript of the clip').fill(READING_TEXTS[0] ?? '');
}

async function store(name: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByRole('checkbox', { name: /I have the consent/ }).check();
  await page.getByRole('button', { name: 'Create voice' }).click();
}

test('a voice is recorded, previewed, stored, used and deleted', async () => {
  await open();
  await page.getByText('No voices yet.').waitFor();
  await page.getByRole('button', { name: 'New voice' }).click();
  await page.getByText(READING_TEXTS[0] ?? '').waitFor();
  await page.getByRole('button', { name: 'Record' }).click();
  const clock = page.getByRole('timer', { name: 'Recording time' });
  // The loudest moment of the beginning has just been recorded.
  const beginning = reading.slice(0, 2 * SPOKEN_RATE_HZ).map(Math.abs);
  const cut = beginning.indexOf(Math.max(...beginning)) + Math.round(0.045 * SPOKEN_RATE_HZ);
  await hear(page, reading.slice(0, cut), SPOKEN_RATE_HZ);
  const shown = (samples: number) => `${(samples / SPOKEN_RATE_HZ).toFixed(1)} s`;
  await expect.poll(() => clock.textContent()).toBe(shown(cut));
  await page.getByText('Minimum 5 s').waitFor();
  const meter = page.getByRole('meter', { name: 'Microphone level' });
  await expect.poll(async () => Number(await meter.getAttribute('aria-valuenow'))).toBeGreaterThan(40);
  await screenshot(page, 'voices-recording');
  await hear(page, reading.slice(cut), SPOKEN_RATE_HZ);
  await page.getByText('Minimum length reached').waitFor();
  expect(await clock.textContent()).toBe(shown(reading.length));
  await page.getByRole('button', { name: 'Stop' }).click();
  const clipLength = () => durationOf(page.getByLabel('Clip preview', { exact: true }));
  await expect.poll(clipLength).toBeGreaterThan(7);
  await expectAccessible(page);
  await store('Reader');
  await page.getByText('Voice Reader created').waitFor();

  const voice = page.getByRole('listitem', { name: 'Reader' });
  await voice.getByRole('button', { name: 'Play clip' }).click();
  const keptLength = () => durationOf(page.getByLabel('Clip of Reader'));
  await expect.poll(keptLength).toBeGreaterThan(7);

  await voice.getByRole('button', { name: 'Try it' }).click();
  // The opened item of the list stays open when the notification is closed.
  await page.getByRole('status').getByRole('button', { name: 'Close' }).click();
  await voice.getByLabel('Text for Reader').fill('Good evening, and thank you for listening.');
  await voice.getByRole('button', { name: 'Speak' }).click();
  await page.getByLabel('Speech of Reader').waitFor();
  expect((await scheduledBy(page)).seconds).toBeGreaterThan(0);
  await screenshot(page, 'voices');
  await expectStateAccessible(page);

  const id = await voice.getByRole('code').textContent();
  expect((await service.fetch(`/v1/audio/voices/${id}`)).status).toBe(200);
  await voice.getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('dialog', { name: 'Delete Reader?' });
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No voices yet.').waitFor();
  expect((await service.fetch(`/v1/audio/voices/${id}`)).status).toBe(404);
});

test('a short clip is rejected at its field; a noisy clip is stored with a warning', async () => {
  await open();
  await choose(await wavOf([reading.slice(0, SPOKEN_RATE_HZ * 2)]));
  await store('Short');
  await page
    .getByRole('alert')
    .getByText(/'audio_sample'.*5/)
    .waitFor();
  await screenshot(page, 'voices-refused');

  const noisy = reading.map((sample) => sample * 0.5 + (Math.random() - 0.5) * 0.1);
  const buffer = await wavOf([noisy]);
  await page
    .getByLabel('Clip', { exact: true })
    .setInputFiles({ name: 'b.wav', mimeType: 'audio/wav', buffer });
  await store('Noisy');
  await page.getByText('Voice Noisy created').waitFor();
  await page.getByText(/signal-to-noise ratio/).waitFor();
  await screenshot(page, 'voices-warning');
});

inDeepTier(() => {
  test('a recording stops when the user selects another text', async () => {
    await open();
    await page.getByRole('button', { name: 'New voice' }).click();
    await page.getByRole('button', { name: 'Record' }).click();
    await hearTone(page, 240);
    await page.getByText('Minimum 5 s').waitFor();
    await page.getByRole('button', { name: 'Another text' }).click();
    await page.getByText(READING_TEXTS[1] ?? '').waitFor();
    await page.getByRole('button', { name: 'Record', exact: true }).waitFor();
    expect(await page.getByRole('meter').count()).toBe(0);
  });

  test('a file above the size limit is rejected without a preview', async () => {
    await open();
    // The browser reads a file. A buffer of this size would be sent to it as text, which costs seconds.
    const large = join(await tempDir(), 'large.wav');
    await writeFile(large, '');
    await truncate(large, MAX_CLIP_BYTES + 1);
    await choose(large);
    await page.getByRole('alert').getByText('The clip is larger than').waitFor();
    expect(await page.getByLabel('Clip preview', { exact: true }).count()).toBe(0);
  });
});

test('the request for the microphone can be cancelled; without a microphone, the form stays usable', async () => {
  await open();
  await page.evaluate('navigator.mediaDevices.getUserMedia = () => new Promise(() => undefined);');
  await page.getByRole('button', { name: 'New voice' }).click();
  await page.getByRole('button', { name: 'Record' }).click();
  await page.getByText('Waiting for the microphone').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Record' }).waitFor();

  await page.evaluate(`
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('none', 'NotFoundError'));
  `);
  await page.getByRole('button', { name: 'Record' }).click();
  await page.getByRole('alert').getByText('No microphone found.').waitFor();
  expect(await page.getByRole('button', { name: 'Record' }).isEnabled()).toBe(true);
  expect(await page.getByRole('button', { name: 'Create voice' }).isDisabled()).toBe(true);
});

inDeepTier(() => {
  test('is accessible in the dark color scheme', async () => {
    await open({ scheme: 'dark' });
    await page.getByRole('button', { name: 'New voice' }).click();
    await expectAccessible(page);
    await page.getByText('Upload', { exact: true }).click();
    await expectAccessible(page);
  });

  test('fits a phone', async () => {
    await open({ width: PHONE_WIDTH });
    await page.getByRole('button', { name: 'New voice' }).click();
    await expectNoSidewaysScroll(page);
    await screenshot(page, 'voices-phone');
  });
});
