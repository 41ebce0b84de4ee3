import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../../tools/harness/patience.ts';
import { CHROMIUM, HAS_CHROMIUM, startChromium } from '../harness/chromium.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  PHONE_WIDTH,
  screenshot,
} from '../harness/console-browser.ts';
import { needs } from '../harness/needs.ts';
import { testApp } from '../harness/test-app.ts';
import { inDeepTier } from '../harness/tier.ts';

/** The guide in a real browser, without scripts. */

const PAGES = [
  'docs',
  'docs/overview',
  'docs/realtime',
  'docs/models',
  'docs/sockets',
  'docs/decisions/jobs',
];

/** The page that is also checked on a phone and in the dark scheme by default. All pages have the same style sheet. */
const USUAL_PAGE = 'docs';

const app = testApp();
let server: ReturnType<typeof Bun.serve>;
let browser: Browser;
beforeAll(async () => {
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: serve });
  if (HAS_CHROMIUM) browser = await startChromium();
});
afterAll(async () => {
  await browser?.close();
  await server.stop(true);
  app.close();
});

const PREFIX = '/voice';

/** Serves the app with and without a path prefix. */
function serve(request: Request): Response | Promise<Response> {
  const { pathname } = new URL(request.url);
  return app.send(pathname.startsWith(PREFIX) ? pathname.slice(PREFIX.length) || '/' : pathname, {
    headers: {},
  });
}

let page: Page;
let consoleErrors: string[];
beforeEach((context) => needs(context, HAS_CHROMIUM, `Chromium at ${CHROMIUM}`));

async function open(path: string, options: { width?: number; scripts?: boolean } = {}) {
  await page?.close();
  const { width = 1280, scripts = true } = options;
  page = await browser.newPage({
    colorScheme: 'light',
    viewport: { width, height: 900 },
    javaScriptEnabled: scripts,
  });
  page.setDefaultTimeout(PATIENCE_MS);
  consoleErrors = [];
  page.on('console', (message) => message.type() === 'error' && consoleErrors.push(message.text()));
  await page.goto(new URL(path, server.url).href);
}

// The tests of a path share its page: the first test loads it.
describe.each(PAGES)('%s', (path) => {
  const name = path.replaceAll('/', '-');
  const register = (tests: () => void) => (path === USUAL_PAGE ? tests() : inDeepTier(tests));

  test('is accessible in the light color scheme', async () => {
    await open(path);
    await expectAccessible(page);
    await screenshot(page, `${name}-light`);
    expect(consoleErrors).toEqual([]);
  });

  test('fits a phone', async () => {
    await page.setViewportSize({ width: PHONE_WIDTH, height: 900 });
    await expectNoSidewaysScroll(page);
    await screenshot(page, `${name}-phone`);
    expect(consoleErrors).toEqual([]);
  });

  register(() => {
    test('is accessible on a phone', () => expectAccessible(page));

    test('is accessible in the dark color scheme', async () => {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectAccessible(page, 'colors');
      await screenshot(page, `${name}-dark`);
    });
  });
});

test('the navigation of a phone opens by keyboard without scripts', async () => {
  await open('docs', { width: PHONE_WIDTH, scripts: false });
  const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Speech' }).first();
  expect(await link.isVisible()).toBe(false);
  await page.getByLabel('All pages').focus();
  await page.keyboard.press('Space');
  expect(await link.isVisible()).toBe(true);
  await link.click();
  await page.getByRole('heading', { level: 1, name: 'Speech' }).waitFor();
});

test('links and styles work under a path prefix', async () => {
  await open(`${PREFIX}/docs`);
  const pages = page.getByRole('navigation', { name: 'Pages' });
  await pages.getByRole('link', { name: 'Batches' }).first().click();
  await page.waitForURL(`**${PREFIX}/docs/batches`);
  await page.getByRole('link', { name: 'reference', exact: true }).click();
  await page.waitForURL(`**${PREFIX}/docs/reference/batch`);
  await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Sockets' }).click();
  await page.waitForURL(`**${PREFIX}/docs/sockets`);
  const display = await page.evaluate('getComputedStyle(document.querySelector(".columns")).display');
  expect(display).toBe('grid');
  expect(consoleErrors).toEqual([]);
});

test('a WebSocket event shows its fields and an example', async () => {
  await open('docs/sockets');
  const event = page.locator('#realtime-input_audio_buffer\\.append');
  await event.locator('summary').click();
  expect(await event.getByRole('cell', { name: 'audio required' }).isVisible()).toBe(true);
  expect(await event.locator('pre').textContent()).toContain('"type": "input_audio_buffer.append"');
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'partner.asyncapi.json' }).click();
  expect((await download).suggestedFilename()).toBe('partner.asyncapi.json');
});
