import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { launchService } from '../../tools/harness/services/launcher.ts';
import { smallClip } from '../../tools/harness/services/video-service.ts';
import {
  consoleTests,
  expectAccessible,
  expectNoSidewaysScroll,
  PHONE_WIDTH,
  screenshot,
} from '../harness/console-browser.ts';

/** The page of videos in a real browser, with the embedded model: from a small clip to a segment that plays. */

const PATIENCE = { timeout: 120_000 };
const PROMPT = 'The camera pans on over the harbour.';

let clip: Uint8Array<ArrayBuffer>;
const opened = consoleTests('/video', async () => {
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

/** Seconds at which a player is. */
const timeOf = (page: Page, name: string) =>
  page
    .locator(`video[aria-label="${name}"]`)
    .evaluate((video) => (video as unknown as { currentTime: number }).currentTime);

test('a clip becomes a segment, which plays next to it and after it', { timeout: 300_000 }, async () => {
  const { page, faults } = await opened();
  await page.getByText('No videos yet').waitFor(PATIENCE);
  await expectAccessible(page);
  await chooseClip(page);
  await page.getByText('400x300, 2.0 s').waitFor();
  // As GET /v1/models tells.
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
  // At its end it can be played again, from the beginning of the clip.
  await page.getByRole('button', { name: 'Play', exact: true }).click(PATIENCE);
  await expect.poll(() => timeOf(page, 'Segment'), PATIENCE).toBe(0);

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^video_.*\.mp4$/);
  expect(faults).toEqual([]);
});

test('a video of ours is continued, found in the list, and deleted', { timeout: 300_000 }, async () => {
  const { page, faults } = await opened();
  await page.getByRole('link', { name: PROMPT }).click();
  await page.getByText('it was not uploaded from this tab').waitFor(PATIENCE);
  // Its address leads to it.
  await page.reload();
  await page.getByText('it was not uploaded from this tab').waitFor(PATIENCE);
  await page.getByRole('button', { name: 'Extend', exact: true }).click();
  await page.getByLabel('Prompt').fill('And on.');
  await page.getByRole('button', { name: 'Create segment' }).click();
  await page.locator('video[aria-label="Segment"]').waitFor(PATIENCE);
  // What it continues is a video that the service has.
  await page.locator('video[aria-label="Clip"]').waitFor(PATIENCE);
  await page.getByRole('button', { name: 'All videos' }).click();
  await expect.poll(() => page.getByRole('article').locator('img').count(), PATIENCE).toBe(2);
  await expectAccessible(page);
  await screenshot(page, 'video-list');
  await page.getByRole('link', { name: 'And on.' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete video' }).click();
  await expect.poll(() => page.getByRole('article').count(), PATIENCE).toBe(1);
  expect(faults).toEqual([]);
});

test('a clip that cannot be extended is reported at its field', { timeout: 120_000 }, async () => {
  const { page } = await opened();
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

test('the pages fit a phone, in the dark', async () => {
  const { page } = await opened({ width: PHONE_WIDTH, scheme: 'dark' });
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
