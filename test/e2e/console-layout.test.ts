import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  consoleTests,
  expectAccessible,
  expectNoSidewaysScroll,
  expectStateAccessible,
  type OpenConsole,
  PHONE_WIDTH,
  screenshot,
} from '../harness/console-browser.ts';
import { scriptedService } from '../harness/group-servers.ts';

/** Widths and heights of the organization pages, measured in a real browser. */

const ENDPOINTS = [
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
  'POST /v1/chat/completions',
  'POST /v1/embeddings',
  'POST /v1/responses',
  '/v1/realtime',
  '/v1/videos/extensions',
];
const STATUSES = ['completed', 'cancelled', 'failed'];
const MODEL = 'a-model-with-a-long-name-0.5b-instruct';

const open = consoleTests('/usage', async () => ({ service: await scriptedService() }));

/** A day of the summary with one row for each endpoint, in descending order of requests. */
function summaryOf(endpoints: readonly string[]) {
  const sums = { failed: 0, input_tokens: 1_234_567, output_tokens: 2_345_678, characters: 3_456_789 };
  return {
    object: 'list',
    from: '2026-11-20',
    to: '2026-11-27',
    data: endpoints.map((endpoint, index) => ({
      day: '2026-11-26',
      endpoint,
      model: MODEL,
      requests: 90 - index,
      ...sums,
      audio_seconds: 12_345.6,
      credits: 1234.567_891,
    })),
  };
}

function requestList() {
  const row = { created_at: 1_795_000_000, model: MODEL, input_tokens: 123_456, output_tokens: 123_456 };
  return {
    object: 'list',
    first_id: null,
    last_id: null,
    has_more: false,
    data: ENDPOINTS.map((endpoint, index) => ({
      ...row,
      id: `usage_${index}`,
      endpoint,
      status: STATUSES[index % STATUSES.length],
      characters: 12_345,
      audio_seconds: 123.4,
      request_id: `req_${index}`.padEnd(36, '0'),
    })),
  };
}

/** Opens the usage page with the summary of an organization that used these endpoints. */
async function openUsage(endpoints: readonly string[], width = 1280): Promise<OpenConsole> {
  const opened = await open({ path: '/keys', width });
  const { page } = opened;
  onTestFinished(() => page.unrouteAll());
  await page.route('**/v1/usage/summary?*', (route) => route.fulfill({ json: summaryOf(endpoints) }));
  await page.route('**/v1/usage?*', (route) => route.fulfill({ json: requestList() }));
  await page.evaluate(`location.hash = '#/usage'`);
  await page.getByRole('region', { name: 'Requests', exact: true }).getByRole('row').nth(1).waitFor();
  await page
    .getByRole('img', { name: 'Requests by day and endpoint' })
    .locator('.recharts-bar')
    .first()
    .waitFor();
  return opened;
}

/** The text of elements whose content is wider than they are, and which do not scroll. */
function cutTexts(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll('main *')]
    .filter((element) => element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 1)
    .filter((element) => getComputedStyle(element).overflowX === 'hidden')
    .filter((element) => element.checkVisibility())
    .map((element) => element.textContent)`);
}

/** The region of a wide table: its overflow in px, and what shows the overflow. */
function regionOf(page: Page, label: string) {
  return page.evaluate<{ excess: number; tabIndex: number; shadows: string[]; hint: boolean }>(`(() => {
    const region = document.querySelector('main [aria-label="${label}"]');
    const shadow = (edge) => getComputedStyle(region.parentElement, edge).backgroundImage;
    return {
      excess: region.scrollWidth - region.clientWidth,
      tabIndex: region.tabIndex,
      shadows: ['::before', '::after'].filter((edge) => shadow(edge) !== 'none'),
      hint: region.parentElement.parentElement.textContent.startsWith('Scroll sideways to see all columns.'),
    };
  })()`);
}

/** Color by name in the legend. */
function legendOf(page: Page): Promise<Record<string, string>> {
  return page.evaluate<Record<string, string>>(`Object.fromEntries(
    [...document.querySelectorAll('[aria-label="Legend"] > li')].map((item) => [
      item.textContent,
      getComputedStyle(item.querySelector('.mantine-ColorSwatch-colorOverlay')).backgroundColor,
    ]))`);
}

/** Expects that every label of the y axis of the chart has a grid line. */
async function expectGridLines(page: Page): Promise<void> {
  const { heights, lines, labels } = await page.evaluate<{
    heights: number[];
    lines: number[];
    labels: string[];
  }>(`({
    heights: [document.querySelector('.recharts-cartesian-grid').getBoundingClientRect().height],
    lines: [...document.querySelectorAll('.recharts-cartesian-grid-horizontal line')].map((line) => line.y1.baseVal.value).sort((a, b) => a - b),
    labels: [...document.querySelectorAll('.recharts-yAxis-tick-labels .recharts-cartesian-axis-tick-value')].map((label) => label.textContent),
  })`);
  expect(heights[0]).toBeGreaterThan(150);
  expect(labels.length).toBeGreaterThanOrEqual(4);
  // The grid also has lines at the edges of the plot, which are the first and the last label.
  expect(new Set(lines.map(Math.round)).size).toBe(labels.length);
  const steps = [...new Set(lines)].map((line, index, all) => line - (all[index - 1] ?? line)).slice(1);
  for (const step of steps) expect(step).toBeCloseTo(steps[0] ?? 0, 0);
}

const scrollToEnd = (page: Page, label: string) =>
  page.evaluate(`document.querySelector('main [aria-label="${label}"]').scrollLeft = 100000`);

describe('the usage page', () => {
  test('shows every column, every status and all grid lines of the chart on a desktop', async () => {
    const { page, consoleErrors } = await openUsage(ENDPOINTS);
    expect(await cutTexts(page)).toEqual([]);
    for (const label of ['Totals', 'Requests']) {
      await expect.poll(() => regionOf(page, label)).toMatchObject({ excess: 0, hint: false, shadows: [] });
    }
    await expectGridLines(page);
    await expectAccessible(page);
    await screenshot(page, 'layout-usage-desktop', { fullPage: true });
    expect(consoleErrors).toEqual([]);
  });

  test('has tables that scroll and say so, and all grid lines of the chart on a phone', async () => {
    const { page } = await openUsage(ENDPOINTS, PHONE_WIDTH);
    await expectNoSidewaysScroll(page);
    expect(await cutTexts(page)).toEqual([]);
    for (const label of ['Totals', 'Requests']) {
      await expect
        .poll(() => regionOf(page, label))
        .toMatchObject({ tabIndex: 0, hint: true, shadows: ['::after'] });
      expect((await regionOf(page, label)).excess).toBeGreaterThan(100);
      await scrollToEnd(page, label);
      await expect.poll(() => regionOf(page, label)).toMatchObject({ hint: true, shadows: ['::before'] });
    }
    await expectGridLines(page);
    await expectStateAccessible(page);
    await screenshot(page, 'layout-usage-phone', { fullPage: true });
  });

  test('shows a series in the same color at each visit', async () => {
    const { page } = await openUsage(ENDPOINTS);
    const before = await legendOf(page);
    expect(Object.keys(before)).toEqual(ENDPOINTS);
    expect(new Set(Object.values(before)).size).toBe(ENDPOINTS.length);
    await page.unroute('**/v1/usage/summary?*');
    // Another order, fewer series and a new one.
    const later = ['POST /v1/other', ...ENDPOINTS.slice(2).toReversed()];
    await page.route('**/v1/usage/summary?*', (route) => route.fulfill({ json: summaryOf(later) }));
    await page.reload();
    await page.getByRole('list', { name: 'Legend' }).getByText('POST /v1/other').waitFor();
    const after = await legendOf(page);
    expect(Object.keys(after)).toEqual(later);
    for (const name of later.slice(1)) expect(after[name], name).toBe(before[name]);
    const bars = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.recharts-bar-rectangle path')].map((bar) => getComputedStyle(bar).fill)`,
    );
    expect(new Set(bars)).toEqual(new Set(Object.values(after)));
  });
});

describe('on a phone', () => {
  test.each([
    ['Keys', '/keys'],
    ['Models', '/models'],
  ])('the table %s scrolls and says so', async (label, path) => {
    const { page } = await open({ path, width: PHONE_WIDTH });
    if (label === 'Keys') {
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByLabel('Name').fill('The reception desk of the clinic');
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('button', { name: 'Done' }).click();
    }
    await page.getByRole('region', { name: label }).getByRole('row').nth(1).waitFor();
    await expectNoSidewaysScroll(page);
    expect(await cutTexts(page)).toEqual([]);
    await expect
      .poll(() => regionOf(page, label))
      .toMatchObject({ tabIndex: 0, hint: true, shadows: ['::after'] });
    await expectStateAccessible(page);
    await page.getByRole('region', { name: label }).focus();
    await page.keyboard.press('End');
    await scrollToEnd(page, label);
    await expect.poll(() => regionOf(page, label)).toMatchObject({ shadows: ['::before'] });
    await screenshot(page, `layout-${label.toLowerCase()}-phone`);
  });
});
