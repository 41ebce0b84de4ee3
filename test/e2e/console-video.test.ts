import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { BACKGROUND_PATIENCE } from '../../tools/harness/patience.ts';
import { smallClip } from '../../tools/harness/services/video-service.ts';
import {
  consoleTests,
  expectAccessible,
  expectNoSidewaysScroll,
  expectStateAccessible,
  PHONE_WIDTH,
  screenshot,
} from '../harness/console-browser.ts';
import { scriptedService } from '../harness/group-servers.ts';
import { inDeepTier } from '../harness/tier.ts';

/** The video page in a real browser with the embedded model. */

const PROMPT = 'The camera pans on over the harbour.';

let clip: Uint8Array<ArrayBuffer>;
const open = consoleTests('/video', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'console-video-'));
  clip = await smallClip(folder);
  await rm(folder, { recursive: true });
  return { service: await scriptedService() };
});

async function chooseClip(page: Page, name = 'small.mp4', bytes = clip): Promise<void> {
  await page.getByRole('button', { name: 'Extend a clip' }).click();
  await page
    .getByLabel('Clip', { exact: true })
    .setInputFiles({ name, mimeType: 'video/mp4', buffer: Buffer.from(bytes) });
}

/** An event of a video element, with the positions of both videos in s. */
interface PlayEvent {
  readonly type: 'play' | 'ended';
  readonly name: string;
  readonly clipS: number;
  readonly segmentS: number;
}

/** Collects the events of the video elements from now on, and plays them four times as fast. */
const COLLECT_EVENTS = `
  globalThis.playEvents = [];
  const positionOf = (name) => document.querySelector('video[aria-label="' + name + '"]').currentTime;
  for (const type of ['play', 'ended']) {
    addEventListener(type, ({ target }) => {
      target.playbackRate = 4;
      const positions = { clipS: positionOf('Clip'), segmentS: positionOf('Segment') };
      playEvents.push({ type, name: target.ariaLabel, ...positions });
    }, { capture: true });
  }
  undefined;
`;
const playEvents = (page: Page) => page.evaluate<PlayEvent[]>('playEvents');
const namesOf = (events: readonly PlayEvent[]) => events.map(({ name, type }) => `${name} ${type}`);

test('a clip is extended; segment and clip play side by side and in sequence', async () => {
  const { page, consoleErrors } = await open();
  await page.getByText('No videos yet').waitFor();
  await expectAccessible(page);
  await chooseClip(page);
  await page.getByText('400x300, 2.0 s').waitFor();
  // Limits of the model from GET /v1/models.
  await page.getByText('Continues clips of 2 to 15 s.').waitFor();
  await page.getByText('Duration of the new segment: 4 to 15 s.').waitFor();
  await page.getByLabel('Prompt').fill(PROMPT);
  await expectStateAccessible(page);
  await screenshot(page, 'video-new');
  await page.getByRole('button', { name: 'Create segment' }).click();

  await page.getByText(PROMPT).waitFor();
  await page.getByText('How this model works').waitFor();
  await page.locator('video[aria-label="Segment"]').waitFor(BACKGROUND_PATIENCE);
  await page.locator('video[aria-label="Clip"]').waitFor();
  await expectStateAccessible(page);
  await page.evaluate(COLLECT_EVENTS);
  await page.getByRole('button', { name: 'Play both' }).click();
  const both = ['Clip ended', 'Clip play', 'Segment ended', 'Segment play'];
  await expect.poll(async () => namesOf(await playEvents(page)).sort()).toEqual(both);
  await screenshot(page, 'video-side-by-side');

  await page.getByText('Continuous').click();
  await page.evaluate('playEvents.length = 0');
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await expect.poll(async () => namesOf(await playEvents(page)).sort()).toEqual(both);
  const events = await playEvents(page);
  expect(events[0]).toMatchObject({ name: 'Clip', type: 'play', segmentS: 0 });
  // The segment starts when the clip ends, or a moment earlier.
  expect(events.find(({ name }) => name === 'Segment')?.clipS).toBeGreaterThan(1.8);
  expect(namesOf(events).at(-1)).toBe('Segment ended');
  await screenshot(page, 'video-through');
  await expectStateAccessible(page);
  // After its end, playback restarts at the beginning of the clip.
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await expect.poll(async () => (await playEvents(page)).length).toBeGreaterThan(4);
  expect((await playEvents(page))[4]).toMatchObject({ name: 'Clip', type: 'play', segmentS: 0 });

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^video_.*\.mp4$/);
  expect(consoleErrors).toEqual([]);
});

inDeepTier(() => {
  test('a stored video is extended, listed and deleted', async () => {
    const { page, consoleErrors } = await open();
    await page.getByRole('link', { name: PROMPT }).click();
    await page.getByText('it was not uploaded from this tab').waitFor();
    // The URL opens the video.
    await page.reload();
    await page.getByText('it was not uploaded from this tab').waitFor();
    await page.getByRole('button', { name: 'Extend', exact: true }).click();
    await page.getByLabel('Prompt').fill('And on.');
    await page.getByRole('button', { name: 'Create segment' }).click();
    await page.locator('video[aria-label="Segment"]').waitFor(BACKGROUND_PATIENCE);
    // The clip is the stored video that the segment continues.
    await page.locator('video[aria-label="Clip"]').waitFor();
    await page.getByRole('button', { name: 'All videos' }).click();
    await expect.poll(() => page.getByRole('article').locator('img').count()).toBe(2);
    await expectStateAccessible(page);
    await screenshot(page, 'video-list');
    await page.getByRole('link', { name: 'And on.' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete video' }).click();
    await expect.poll(() => page.getByRole('article').count()).toBe(1);
    expect(consoleErrors).toEqual([]);
  });
});

test('errors of a clip are shown at its field', async () => {
  const { page } = await open();
  await chooseClip(page, 'text.mp4', new TextEncoder().encode('no clip'));
  await page.getByText('Preview not supported by this browser').waitFor();
  await page.getByRole('button', { name: 'Create segment' }).click();
  await page.getByText('Enter a prompt.').waitFor();
  await page.getByLabel('Prompt').fill('On.');
  await page.getByRole('button', { name: 'Create segment' }).click();
  await page.getByRole('alert').filter({ hasText: "'video'" }).waitFor();

  await page.getByText('URL', { exact: true }).click();
  await page.getByLabel('Clip URL', { exact: true }).fill('https://127.0.0.1/clip.mp4');
  await page.getByRole('button', { name: 'Create segment' }).click();
  await expect
    .poll(() => page.getByLabel('Clip URL', { exact: true }).getAttribute('aria-invalid'))
    .toBe('true');
});

inDeepTier(() => {
  test('fit a phone and are accessible in the dark color scheme', async () => {
    const { page } = await open({ width: PHONE_WIDTH, scheme: 'dark' });
    await page.getByRole('article').first().waitFor();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await screenshot(page, 'video-list-phone');
    await chooseClip(page);
    await page.getByText('400x300, 2.0 s').waitFor();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await screenshot(page, 'video-new-phone');
  });
});
