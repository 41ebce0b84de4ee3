import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { PATIENCE } from '../../tools/harness/patience.ts';
import { launchService } from '../../tools/harness/services/launcher.ts';
import { smallClip } from '../../tools/harness/services/video-service.ts';
import {
  consoleTests,
  expectAccessible,
  expectNoSidewaysScroll,
  PHONE_WIDTH,
  screenshot,
} from '../harness/console-browser.ts';

/** The video page in a real browser with the embedded model. */

const PROMPT = 'The camera pans on over the harbour.';

let clip: Uint8Array<ArrayBuffer>;
const open = consoleTests('/video', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'console-video-'));
  clip = await smallClip(folder);
  await rm(folder, { recursive: true });
  return { service: await launchService({ config: '', env: { PLUGINS: 'video' } }) };
});

async function chooseClip(page: Page, name = 'small.mp4', bytes = clip): Promise<void> {
  await page.getByRole('button', { name: 'Extend a clip' }).click();
  await page
    .getByLabel('Clip', { exact: true })
    .setInputFiles({ name, mimeType: 'video/mp4', buffer: Buffer.from(bytes) });
}

/** Playback position of a video element, in seconds. */
const timeOf = (page: Page, name: string) =>
  page
    .locator(`video[aria-label="${name}"]`)
    .evaluate((video) => (video as unknown as { currentTime: number }).currentTime);

test('a clip is extended; segment and clip play side by side and in sequence', {}, async () => {
  const { page, consoleErrors } = await open();
  await page.getByText('No videos yet').waitFor(PATIENCE);
  await expectAccessible(page);
  await chooseClip(page);
  await page.getByText('400x300, 2.0 s').waitFor();
  // Limits of the model from GET /v1/models.
  await page.getByText('Continues clips of 2 to 15 s.').waitFor();
  await page.getByText('Duration of the new segment: 4 to 15 s.').waitFor();
  await page.getByLabel('Prompt').fill(PROMPT);
  await expectAccessible(page);
  await screenshot(page, 'video-new');
  await page.getByRole('button', { name: 'Create segment' }).click();

  await page.getByText(PROMPT).waitFor(PATIENCE);
  await page.getByText('How this model works').waitFor();
  await page.locator('video[aria-label="Segment"]').waitFor(PATIENCE);
  await page.locator('video[aria-label="Clip"]').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Play both' }).click();
  await expect.poll(() => timeOf(page, 'Segment'), PATIENCE).toBeGreaterThan(0.5);
  await expect.poll(() => timeOf(page, 'Clip'), PATIENCE).toBeGreaterThan(0.5);
  await screenshot(page, 'video-side-by-side');

  await page.getByText('Continuous').click();
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await expect.poll(() => timeOf(page, 'Clip'), PATIENCE).toBeGreaterThan(0.2);
  expect(await timeOf(page, 'Segment')).toBe(0);
  await expect.poll(() => timeOf(page, 'Segment'), PATIENCE).toBeGreaterThan(0.5);
  await screenshot(page, 'video-through');
  await expectAccessible(page);
  // After its end, playback restarts at the beginning of the clip.
  await page.getByRole('button', { name: 'Play', exact: true }).click(PATIENCE);
  await expect.poll(() => timeOf(page, 'Segment'), PATIENCE).toBe(0);

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^video_.*\.mp4$/);
  expect(consoleErrors).toEqual([]);
});

test('a stored video is extended, listed and deleted', async () => {
  const { page, consoleErrors } = await open();
  await page.getByRole('link', { name: PROMPT }).click();
  await page.getByText('it was not uploaded from this tab').waitFor(PATIENCE);
  // The URL opens the video.
  await page.reload();
  await page.getByText('it was not uploaded from this tab').waitFor(PATIENCE);
  await page.getByRole('button', { name: 'Extend', exact: true }).click();
  await page.getByLabel('Prompt').fill('And on.');
  await page.getByRole('button', { name: 'Create segment' }).click();
  await page.locator('video[aria-label="Segment"]').waitFor(PATIENCE);
  // The clip is the stored video that the segment continues.
  await page.locator('video[aria-label="Clip"]').waitFor(PATIENCE);
  await page.getByRole('button', { name: 'All videos' }).click();
  await expect.poll(() => page.getByRole('article').locator('img').count(), PATIENCE).toBe(2);
  await expectAccessible(page);
  await screenshot(page, 'video-list');
  await page.getByRole('link', { name: 'And on.' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete video' }).click();
  await expect.poll(() => page.getByRole('article').count(), PATIENCE).toBe(1);
  expect(consoleErrors).toEqual([]);
});

test('errors of a clip are shown at its field', async () => {
  const { page } = await open();
  await chooseClip(page, 'text.mp4', new TextEncoder().encode('no clip'));
  await page.getByText('Preview not supported by this browser').waitFor();
  await page.getByRole('button', { name: 'Create segment' }).click();
  await page.getByText('Enter a prompt.').waitFor();
  await page.getByLabel('Prompt').fill('On.');
  await page.getByRole('button', { name: 'Create segment' }).click();
  await page.getByRole('alert').filter({ hasText: "'video'" }).waitFor(PATIENCE);

  await page.getByText('URL', { exact: true }).click();
  await page.getByLabel('Clip URL', { exact: true }).fill('https://127.0.0.1/clip.mp4');
  await page.getByRole('button', { name: 'Create segment' }).click();
  await expect
    .poll(() => page.getByLabel('Clip URL', { exact: true }).getAttribute('aria-invalid'), PATIENCE)
    .toBe('true');
});

test('fit a phone and are accessible in the dark color scheme', async () => {
  const { page } = await open({ width: PHONE_WIDTH, scheme: 'dark' });
  await page.getByRole('article').first().waitFor(PATIENCE);
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
  await screenshot(page, 'video-list-phone');
  await chooseClip(page);
  await page.getByText('400x300, 2.0 s').waitFor(PATIENCE);
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
  await screenshot(page, 'video-new-phone');
});
