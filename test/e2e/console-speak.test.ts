import type { Page } from 'playwright-core';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { launchService, NO_TEXT } from '../../tools/harness/services/launcher.ts';
import {
  eventAnswer,
  type FakeSttUpstream,
  startFakeSttUpstream,
} from '../../tools/harness/upstreams/fake-stt-upstream.ts';
import { type FakeUpstream, startFakeUpstream } from '../../tools/harness/upstreams/fake-upstream.ts';
import { readWav, wavFile } from '../../web/audio/wav.ts';
import {
  bytesOf,
  type ConsoleOptions,
  consoleTests,
  expectAccessible,
  expectNoSidewaysScroll,
  PHONE_WIDTH,
  screenshot,
} from '../harness/console-browser.ts';
import { inDeepTier } from '../harness/tier.ts';
import { play, playUntil, replaceAudio, scheduledBy } from '../media/page-audio.ts';
import { durationOf } from '../media/page-sound.ts';

/**
 * The speech page in a real browser. The models are scripted, and the test moves the playback forward.
 * test/deep/console-audio.test.ts uses real models and a sound card.
 */

const ANSWER = 'Your train leaves from platform three in ten minutes.';
/** A text without audio. */
const WORDLESS = '…';
const SAID = 'Please book a table for two people on Friday evening.';
const RATE_HZ = 24_000;
/** Length of each of the two parts of all speech, in s. */
const PART_S = 0.75;

/** Awaited between the two parts. */
let beforeEnd: Promise<void>;

let voice: FakeUpstream;
let ear: FakeSttUpstream;
// The service uses these servers and is closed earlier.
afterAll(async () => {
  await voice?.close();
  await ear?.close();
});
const openPage = consoleTests('/speak', async () => {
  voice = startFakeUpstream();
  voice.answer(({ input }) => spoken(input === WORDLESS ? [] : [tone(PART_S), tone(PART_S)]));
  ear = startFakeSttUpstream();
  ear.answer(({ fields, wav }) => {
    const duration = (wav.length - 44) / 32_000;
    const segments = [{ id: 0, start: 0, end: duration, text: ` ${SAID}`, tokens: [1], avg_logprob: -0.25 }];
    if (fields.response_format === 'verbose_json') {
      return Response.json({ task: 'transcribe', language: 'english', duration, text: SAID, segments });
    }
    return eventAnswer([
      { type: 'transcript.text.delta', delta: SAID },
      { type: 'transcript.text.done', text: SAID },
    ]);
  });
  const upstream = (id: string, { baseUrl }: { readonly baseUrl: string }) =>
    `[models."${id}"]\nkind = "upstream"\nbase_url = "${baseUrl}"\nmodel = "scripted"\n`;
  const config = `${upstream('svc-tts', voice)}${upstream('svc-stt', ear)}${NO_TEXT}`;
  return { service: await launchService({ config, env: { PLUGINS: 'speech,voices' } }) };
});

/** A tone with a peak of 0.25. */
const tone = (seconds: number) =>
  Int16Array.from({ length: seconds * RATE_HZ }, (_, at) => 0.25 * 0x7fff * Math.sin(at / 10));

/** A response of PCM in parts. The parts after the first wait for {@link beforeEnd}. */
function spoken(parts: readonly Int16Array[]): Response {
  const until = beforeEnd;
  const body = new ReadableStream({
    async start(controller) {
      for (const [index, part] of parts.entries()) {
        if (index > 0) await until;
        controller.enqueue(new Uint8Array(part.buffer));
      }
      controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'audio/pcm' } });
}

let page: Page;
async function open(options: ConsoleOptions = {}): Promise<void> {
  ({ page } = await openPage(options));
  await replaceAudio(page);
}

beforeEach(() => {
  beforeEnd = Promise.resolve();
});

const figure = async (name: string) =>
  (await page.getByText(name, { exact: true }).locator('xpath=following-sibling::*').textContent()) ?? '';

/** Synthesizes a text on the page and downloads the WAV file. */
async function synthesize(text: string): Promise<Buffer> {
  await page.getByLabel('Input text').fill(text);
  await page.getByRole('button', { name: 'Speak' }).click();
  return downloaded();
}

/** Downloads the file when it is complete. */
async function downloaded(extension = 'wav'): Promise<Buffer> {
  const button = page.getByRole('button', { name: `Download ${extension.toUpperCase()}` });
  await expect.poll(() => button.isEnabled()).toBe(true);
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  expect(download.suggestedFilename()).toBe(`speech.${extension}`);
  return bytesOf(download);
}

/** Chooses an option of a field. */
async function choose(field: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: field }).and(page.locator(':visible')).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

const secondsOf = (wav: Buffer) => {
  const { samples, rateHz } = readWav(new Uint8Array(wav).buffer);
  return samples.length / rateHz;
};

describe('speech', () => {
  beforeEach(() => open());

  test('is played while it is generated, and can be downloaded', async () => {
    const gate = Promise.withResolvers<void>();
    beforeEnd = gate.promise;
    await page.getByLabel('Input text').fill(ANSWER);
    await page.getByRole('button', { name: 'Speak' }).click();
    await expect.poll(() => figure('Time to first audio')).toMatch(/^(< )?\d+\.\d\d s$/);
    expect((await scheduledBy(page)).seconds).toBeGreaterThan(0);
    expect(await page.getByRole('button', { name: 'Download WAV' }).isDisabled()).toBe(true);
    gate.resolve();
    const wav = await downloaded();
    expect(secondsOf(wav)).toBeCloseTo(2 * PART_S, 6);
    expect(await figure('Audio duration')).toBe('1.50 s');
    const { seconds, loudnessDb, overlaps } = await scheduledBy(page);
    expect(seconds).toBeCloseTo(2 * PART_S, 6);
    expect(loudnessDb).toBeCloseTo(-15.05, 1);
    expect(overlaps).toBe(false);
    const stop = page.getByRole('button', { name: 'Stop' });
    expect(await stop.isEnabled()).toBe(true);
    await playUntil(page, () => stop.isDisabled());
    await page.getByText(/^Usage: 53 characters/).waitFor();
    // The player of the finished file.
    const length = () => durationOf(page.getByLabel('Synthesized speech'));
    await expect.poll(length).toBeCloseTo(2 * PART_S, 1);
    await screenshot(page, 'speak');
  });

  test('marks the word that is heard, has captions, is accessible and fits a phone', async () => {
    await synthesize(ANSWER);
    const words = page.getByRole('region', { name: 'Words of the speech' });
    await expect.poll(() => words.textContent()).toBe(ANSWER);
    // After the lead of the player.
    await play(page, 0.1);
    await expect.poll(() => words.locator('mark').allTextContents()).toEqual(['Your']);
    await play(page, 1.4);
    await expect.poll(() => words.locator('mark').allTextContents()).toEqual(['minutes.']);
    const stop = page.getByRole('button', { name: 'Stop' });
    await playUntil(page, () => stop.isDisabled());
    const cue = 'Your train leaves from\nplatform three in ten minutes.\n\n';
    expect(String(await downloaded('srt'))).toBe(`1\n00:00:00,000 --> 00:00:01,500\n${cue}`);
    expect(String(await downloaded('vtt'))).toBe(`WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n${cue}`);
    await expectAccessible(page);
    await screenshot(page, 'speak-words');
    await page.setViewportSize({ width: PHONE_WIDTH, height: 900 });
    await expectNoSidewaysScroll(page);
  });

  test('shows how the text is read, and speaks SSML', async () => {
    await page.getByLabel('Input text').fill('It costs $5.');
    await page.getByText('Reads as “It costs five dollars.”').waitFor();
    await page.getByRole('switch', { name: 'SSML' }).check();
    await expect.poll(() => page.getByText('Reads as').count()).toBe(0);
    const request = page.waitForRequest('**/v1/audio/speech');
    const document = '<speak>Hello <sub alias="there">you</sub>.</speak>';
    await synthesize(document);
    expect((await request).postDataJSON()).toMatchObject({ input: document, input_type: 'ssml' });
    expect(voice.seen.at(-1)?.body).toMatchObject({ input: 'Hello there.' });
    await page.getByText(/^Usage: 12 characters/).waitFor();
  });

  test('offers the languages of the model, and its voices by language', async () => {
    await page.route('**/v1/models', async (route) => {
      const answer = await route.fetch();
      const { data, ...list } = (await answer.json()) as { data: { task: string }[] };
      const speaking = data.map((model) =>
        model.task === 'speech' ? Object.assign(model, { languages: ['en-US', 'es'] }) : model,
      );
      await route.fulfill({ response: answer, json: { ...list, data: speaking } });
    });
    await page.route('**/v1/audio/voices?model=*', (route) =>
      route.fulfill({
        json: {
          object: 'list',
          data: [
            { id: 'af_heart', name: 'Heart', language: 'en-US', gender: 'female' },
            { id: 'ef_dora', name: 'Dora', language: 'es', gender: 'female' },
            { id: 'nova', name: 'Nova', language: 'en-US', gender: 'female', preset: 'af_nova' },
          ],
        },
      }),
    );
    await page.reload();
    await replaceAudio(page);
    await page.getByLabel('Input text').fill('Hay 5 libros sobre la mesa.');
    await choose('Voice', 'nova (female)');
    await page.getByText('Reads as “Hay cinco libros sobre la mesa.”').waitFor();
    await page.getByLabel('Input text').fill('Son 5 euros.');
    await choose('Voice', 'ef_dora (female)');
    await page.getByText('Reads as “Son cinco euros.”').waitFor();
    await page.getByRole('combobox', { name: 'Voice' }).and(page.locator(':visible')).click();
    const list = page.getByRole('listbox', { name: 'Voice' });
    await list.getByText('American English', { exact: true }).waitFor();
    await list.getByText('Spanish', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await choose('Language', 'American English');
    await page.getByText('Reads as “Son five euros.”').waitFor();
    const request = page.waitForRequest('**/v1/audio/speech');
    await page.getByRole('button', { name: 'Speak' }).click();
    expect((await request).postDataJSON()).toMatchObject({ voice: 'ef_dora', language: 'en-US' });
    await page.unrouteAll();
  });

  inDeepTier(() => {
    test('has the selected speed, also as a complete file', async () => {
      await choose('Format', 'WAV file');
      const speed = page.getByRole('slider', { name: 'Speed' });
      await speed.focus();
      for (let step = 0; step < 20; step += 1) await page.keyboard.press('ArrowRight');
      expect(await speed.getAttribute('aria-valuetext')).toBe('2.00 ×');
      const request = page.waitForRequest('**/v1/audio/speech');
      expect(secondsOf(await synthesize(ANSWER))).toBeCloseTo(2 * PART_S, 6);
      expect((await request).postDataJSON()).toMatchObject({ speed: 2, response_format: 'wav' });
      expect(voice.seen.at(-1)?.body).toMatchObject({ input: ANSWER, speed: 2 });
    });

    test("has the formats of OpenAI's API with a model of that name", async () => {
      const format = page.getByRole('combobox', { name: 'Format' });
      await format.click();
      expect(await page.getByRole('option').allTextContents()).toEqual(['Streamed', 'WAV file']);
      await page.keyboard.press('Escape');
      await choose('Model', 'tts-1');
      await choose('Format', 'MP3 file');
      await page.getByLabel('Input text').fill(ANSWER);
      await page.getByRole('button', { name: 'Speak' }).click();
      const mp3 = await downloaded('mp3');
      // The first frame of MPEG-2 layer III (ISO/IEC 13818-3), or its tag.
      expect(mp3.subarray(0, 2).toString('hex')).toMatch(/^(fff[23]|4944)$/);
      expect(await figure('Audio duration')).toMatch(/^1\.5\d s$/);
      // A model without the format.
      await choose('Model', 'svc-tts');
      expect(await format.inputValue()).toBe('Streamed');
    });
  });

  test('can be stopped and keeps the received audio; errors and the text limit are shown at the field', async () => {
    const gate = Promise.withResolvers<void>();
    beforeEnd = gate.promise;
    await page.getByLabel('Input text').fill(ANSWER);
    await page.getByRole('button', { name: 'Speak' }).click();
    await expect.poll(() => figure('Time to first audio')).not.toBe('–');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped').waitFor();
    expect(await page.getByRole('button', { name: 'Download WAV' }).isEnabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Speak' }).isEnabled()).toBe(true);
    gate.resolve();

    await page.getByLabel('Input text').fill(WORDLESS);
    await page.getByRole('button', { name: 'Speak' }).click();
    await expect.poll(() => page.getByLabel('Input text').getAttribute('aria-invalid')).toBe('true');
    await page.getByText("'input'").waitFor();
    await page.getByLabel('Input text').fill('a'.repeat(5001));
    await page.getByText('5,001 of 5,000 characters').waitFor();
    expect(await page.getByRole('button', { name: 'Speak' }).isDisabled()).toBe(true);
  });
});

describe('transcription', () => {
  const recording = async () => Buffer.from(await wavFile([tone(2)], RATE_HZ).arrayBuffer());

  /** Transcribes a file on the page. Returns the shown transcript. */
  async function transcribe(buffer: Buffer): Promise<string> {
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'order.wav', mimeType: 'audio/wav', buffer });
    await page.getByRole('button', { name: 'Transcribe' }).click();
    await expect.poll(() => page.getByRole('button', { name: 'Stop' }).isDisabled()).toBe(true);
    return (await page.getByLabel('Transcript text').textContent()) ?? '';
  }

  beforeEach(async () => {
    await open();
    await page.getByRole('tab', { name: 'Transcription' }).click();
  });

  test('transcribes a recording, downloads captions as a file, and shows an error for an invalid file', async () => {
    await expectAccessible(page);
    expect(await transcribe(await recording())).toBe(SAID);
    expect(await figure('Time to first text')).toMatch(/^(< )?\d+\.\d\d s$/);
    expect(await figure('Input, output tokens')).toMatch(/^\d+, \d+$/);
    await screenshot(page, 'hear');

    await choose('Response format', 'Captions (WebVTT)');
    await transcribe(await recording());
    const button = page.getByRole('button', { name: 'Download' }).and(page.locator(':visible'));
    const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
    expect(download.suggestedFilename()).toBe('order.vtt');
    const captions = (await bytesOf(download)).toString();
    expect(captions.trimEnd()).toBe(
      `WEBVTT\n\n00:00:00.000 --> 00:00:02.000\n${SAID.replace('two people', 'two\npeople')}`,
    );

    await transcribe(Buffer.from('This is not a sound.'));
    await page.getByRole('alert').getByText("'file'").waitFor();
  });
});

inDeepTier(() => {
  test('is accessible before the first speech', async () => {
    await open();
    await page.getByText('Reads as').waitFor();
    await expectAccessible(page);
  });

  test('is accessible in the dark color scheme', async () => {
    await open({ scheme: 'dark' });
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
});
