import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../../tools/harness/patience.ts';
import { CHROMIUM, HAS_CHROMIUM } from '../harness/chromium.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  PHONE_WIDTH,
  screenshot,
} from '../harness/console-browser.ts';
import { openChromium } from '../harness/group-servers.ts';
import { needs } from '../harness/needs.ts';
import { testApp } from '../harness/test-app.ts';
import { inDeepTier } from '../harness/tier.ts';

/** The guide in a real browser. */

const PAGES = [
  'docs',
  'docs/overview',
  'docs/realtime',
  'docs/models',
  'docs/sockets',
  'docs/decisions/jobs',
];

/** The pages that axe-core checks in the default tier. The others have the same template and style sheet. */
const USUAL_PAGES = ['docs', 'docs/realtime'];

const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: PHONE_WIDTH, height: 900 };

const app = testApp();
let server: ReturnType<typeof Bun.serve>;
let browser: Browser;
beforeAll(async () => {
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: serve });
  if (HAS_CHROMIUM) browser = await openChromium();
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
/** Used again, because each new page starts a process. */
let shared: Page | undefined;
let consoleErrors: string[];
beforeEach((context) => needs(context, HAS_CHROMIUM, `Chromium at ${CHROMIUM}`));

async function open(path: string) {
  shared ??= await newPage({ javaScriptEnabled: true, viewport: DESKTOP });
  page = shared;
  page.removeAllListeners('console');
  consoleErrors = [];
  page.on('console', (message) => message.type() === 'error' && consoleErrors.push(message.text()));
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(DESKTOP);
  await page.goto(new URL(path, server.url).href);
}

async function newPage(options: BrowserContextOptions): Promise<Page> {
  const opened = await browser.newPage({ colorScheme: 'light', ...options });
  opened.setDefaultTimeout(PATIENCE_MS);
  return opened;
}

// The tests of a path share its page: the first test loads it.
describe.each(PAGES)('%s', (path) => {
  const name = path.replaceAll('/', '-');
  const register = (tests: () => void) => (USUAL_PAGES.includes(path) ? tests() : inDeepTier(tests));

  test('fits a phone', async () => {
    await open(path);
    await page.setViewportSize(PHONE);
    await expectNoSidewaysScroll(page);
    await screenshot(page, `${name}-phone`);
    expect(consoleErrors).toEqual([]);
  });

  inDeepTier(() => {
    test('is accessible on a phone', () => expectAccessible(page));
  });

  register(() => {
    test('is accessible in the light color scheme', async () => {
      await page.setViewportSize(DESKTOP);
      await expectAccessible(page);
      await screenshot(page, `${name}-light`);
      expect(consoleErrors).toEqual([]);
    });
  });

  const inDark = (tests: () => void) => (path === USUAL_PAGES[0] ? tests() : inDeepTier(tests));
  inDark(() => {
    test('is accessible in the dark color scheme', async () => {
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectAccessible(page, 'colors');
      await screenshot(page, `${name}-dark`);
    });
  });
});

test('the navigation of a phone opens by keyboard without scripts', async () => {
  page = await newPage({ javaScriptEnabled: false, viewport: PHONE });
  await page.goto(new URL('docs', server.url).href);
  const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Speech' }).first();
  expect(await link.isVisible()).toBe(false);
  await page.getByLabel('All pages').focus();
  await page.keyboard.press('Space');
  expect(await link.isVisible()).toBe(true);
  await link.click();
  await page.getByRole('heading', { level: 1, name: 'Speech' }).waitFor();
});

inDeepTier(() => {
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
});

test('a WebSocket event shows its fields and an example', async () => {
  await open('docs/sockets');
  const event = page.locator('#realtime-input_audio_buffer\\.append');
  await event.locator('summary').click();
  expect(await event.getByRole('cell', { name: 'audio required' }).isVisible()).toBe(true);
  expect(await event.locator('pre').textContent()).toContain('"type": "input_audio_buffer.append"');
  await expectAccessible(page, 'all', '#realtime-input_audio_buffer\\.append');
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'partner.asyncapi.json' }).click();
  expect((await download).suggestedFilename()).toBe('partner.asyncapi.json');
});
