import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Browser, BrowserContext, Download, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { buildConsole } from '../../scripts/build-console.ts';
import { withFileLock } from '../../src/kit/storage/file-lock.ts';
import { PATIENCE_MS } from '../../tools/harness/patience.ts';
import { SERVICE_KEY, type ServiceAccess } from '../../tools/harness/services/launcher.ts';
import { CHROMIUM, HAS_CHROMIUM } from './chromium.ts';
import { openChromium } from './group-servers.ts';
import { needs } from './needs.ts';
import { IS_DEEP_TIER } from './tier.ts';

/** Test helpers for the console in a real browser. */

/** Width of a phone screen, in pixels. */
export const PHONE_WIDTH = 390;

const LOCK = join(import.meta.dirname, '../../.cache/setup.lock');

/** Service and browser for the tests of a page. */
export interface ConsoleSetup {
  /** Stopped after the last test, if this file has launched it. */
  readonly service: Pick<ServiceAccess, 'baseUrl' | 'key'> & { stop?(): Promise<unknown> };
  /** Command-line arguments of the browser. */
  readonly browserArgs?: readonly string[];
}

/**
 * Starts a service and a browser for all tests of a file; without Chromium, the tests are skipped. Each test fails on
 * unexpected console errors ({@link unexpectedErrors}).
 * @param path the page, such as `/speak`.
 * @param start starts the service; called once, before the first test.
 * @returns a function that opens the console, by default at `path`. The tests of a file share one browser context, which is
 * loaded again by each call, except for consoles with options that require their own ({@link OWN_CONTEXT}).
 */
export function consoleTests(
  path: string,
  start: () => Promise<ConsoleSetup>,
): (options?: ConsoleOptions) => Promise<OpenConsole> {
  let setup: ConsoleSetup | undefined;
  let browser: Browser | undefined;
  let opened: OpenConsole[] = [];
  let shared: OpenConsole | undefined;
  /** Key of the session of `shared`. */
  let sharedKey: string | undefined;
  beforeAll(async () => {
    if (!HAS_CHROMIUM) return;
    setup = await start();
    browser = await launchBrowser(setup.browserArgs);
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await setup?.service.stop?.();
  });
  beforeEach((context) => needs(context, HAS_CHROMIUM, `Chromium at ${CHROMIUM}`));
  afterEach(async () => {
    const ended = opened;
    opened = [];
    for (const open of ended) if (open !== shared) await open.close();
    expect(ended.flatMap(({ consoleErrors }) => unexpectedErrors(consoleErrors))).toEqual([]);
  });
  return async (options = {}) => {
    if (setup === undefined || browser === undefined) throw new Error('open the console in a test');
    const baseUrl = options.baseUrl ?? setup.service.baseUrl;
    const all = { path, key: setup.service.key, ...options };
    const isShared = !OWN_CONTEXT.some((name) => name in options);
    let open: OpenConsole;
    if (isShared && shared !== undefined) {
      open = shared;
      await loadAgain(shared, baseUrl, all, all.key !== sharedKey);
    } else {
      // Otherwise it would play and record during this test.
      if (shared !== undefined && !opened.includes(shared)) await leave(shared);
      open = await openConsole(browser, baseUrl, all);
      if (isShared) shared = open;
    }
    if (isShared) sharedKey = all.key;
    opened.push(open);
    return open;
  };
}

/** Console errors of the browser, except for 4xx responses and a warning about the measurement in page-sound.ts. */
export function unexpectedErrors(consoleErrors: readonly string[]): readonly string[] {
  return consoleErrors.filter(
    (error) =>
      !/ScriptProcessorNode|(responded with a status of|Unexpected response code:) 4\d\d/.test(error),
  );
}

/** Builds the console if it is outdated, and starts a browser. The caller closes the browser. */
export async function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  await withFileLock(LOCK, { signal: AbortSignal.timeout(PATIENCE_MS) }, buildConsole);
  return openChromium(args);
}

/** Options of a console that is opened in a context of its own. */
const OWN_CONTEXT = ['isolated', 'baseUrl', 'permissions', 'acceptDownloads'] as const;

export interface ConsoleOptions {
  /** Set by tests that change what outlives a reload and is not restored: the end of the session, scripts. */
  readonly isolated?: true;
  /** URL of the service; default: the service of the setup. */
  readonly baseUrl?: string;
  /** The page, such as `/speak`. */
  readonly path?: string;
  /** API key to sign in with; undefined: not signed in. */
  readonly key?: string | undefined;
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
  readonly permissions?: readonly string[];
  readonly acceptDownloads?: boolean;
}

/** An open console. */
export interface OpenConsole {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of the page, including failed loads. */
  readonly consoleErrors: string[];
  /** URLs of all requests. */
  readonly requestUrls: string[];
  close(): Promise<void>;
}

/** Opens the console in a new browser context, by default signed in with a key of organization `a`. */
export async function openConsole(
  browser: Browser,
  baseUrl: string,
  options: ConsoleOptions = {},
): Promise<OpenConsole> {
  const key = 'key' in options ? options.key : SERVICE_KEY;
  const context = await browser.newContext({
    viewport: viewportOf(options),
    colorScheme: options.scheme ?? 'light',
    reducedMotion: 'reduce',
    acceptDownloads: options.acceptDownloads ?? true,
    permissions: [...(options.permissions ?? [])],
    ignoreHTTPSErrors: true,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const consoleErrors: string[] = [];
  const requestUrls: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) consoleErrors.push(message.text());
  });
  page.on('pageerror', (error) => consoleErrors.push(String(error)));
  page.on('request', (request) => requestUrls.push(request.url()));
  if (key === undefined) await page.goto(`${baseUrl}/#${options.path ?? '/'}`);
  else await signIn(page, baseUrl, key, options.path ?? '/');
  return { page, context, consoleErrors, requestUrls, close: () => context.close() };
}

/**
 * Loads another page of an open console with other options.
 * @param isOther whether the session ends, and the console is signed in with the key of the options.
 */
async function loadAgain(
  { page, consoleErrors, requestUrls }: OpenConsole,
  baseUrl: string,
  options: ConsoleOptions,
  isOther: boolean,
): Promise<void> {
  await page.mouse.move(0, 0);
  await page.setViewportSize(viewportOf(options));
  await page.emulateMedia({ colorScheme: options.scheme ?? 'light', forcedColors: null });
  if (isOther) {
    // Not in the console, which stores its key again if it is being checked.
    await page.goto(`${baseUrl}/healthz`);
    await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  }
  consoleErrors.length = 0;
  requestUrls.length = 0;
  const hash = `#${options.path ?? '/'}`;
  if (isOther || page.url() === BLANK) {
    await page.goto(`${baseUrl}/${hash}`);
  } else {
    await page.evaluate(`localStorage.clear(); history.replaceState(null, '', '${hash}')`);
    await page.reload();
  }
  if (!isOther) await shown(page);
  else if (options.key !== undefined) await fillSignIn(page, options.key);
}

const BLANK = 'about:blank';

/** Ends everything that a console does. */
async function leave({ page }: OpenConsole): Promise<void> {
  if (page.url() === BLANK) return;
  await page.evaluate('localStorage.clear()');
  await page.goto(BLANK);
}

function viewportOf({ width = 1280, height = 900 }: ConsoleOptions) {
  return { width, height };
}

/** Signs in through the form and opens a page. */
async function signIn(page: Page, baseUrl: string, key: string, path = '/'): Promise<void> {
  await page.goto(`${baseUrl}/#${path}`);
  await fillSignIn(page, key);
}

async function fillSignIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await shown(page);
}

/** Waits for a page of the console, not the form to sign in. */
async function shown(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Voice service' }).waitFor();
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/**
 * Resolves when all CSS transitions have ended or been cancelled, so that axe-core judges the final colors.
 */
const TRANSITIONS_ENDED = `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
  .then(() => Promise.allSettled(document.getAnimations()
    .filter((animation) => animation instanceof CSSTransition)
    .map(({ finished }) => finished)))
  .then(() => undefined)`;

/** The rules of axe-core whose result depends on colors. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Expects no serious or critical finding of axe-core on the current page.
 * @param rules `colors`: only the rules about colors, for another color scheme of a page that has passed all rules.
 * @param part selector of the only element that is checked, for long pages. Default: the page.
 */
export async function expectAccessible(
  page: Page,
  rules: 'all' | 'colors' = 'all',
  part = 'html',
): Promise<void> {
  const here = await page.evaluate('typeof axe');
  if (here === 'undefined') await page.evaluate(`${await Bun.file(AXE).text()}; undefined`);
  await page.evaluate(TRANSITIONS_ENDED);
  const options = {
    resultTypes: ['violations'],
    preload: false,
    ...(rules === 'colors' && { runOnly: COLOR_RULES }),
  };
  const findings =
    await page.evaluate(`axe.run(${JSON.stringify(part)}, ${JSON.stringify(options)}).then(({ violations }) =>
    violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target, failureSummary }) => target + ': ' + failureSummary) })))`);
  expect(findings).toEqual([]);
}

/**
 * {@link expectAccessible} for another state of a page that has passed: an open dialog, a result, another color scheme. Only in the
 * deep tier, because a run of axe-core costs as much as a page load.
 */
export async function expectStateAccessible(page: Page, rules: 'all' | 'colors' = 'all'): Promise<void> {
  if (IS_DEEP_TIER) await expectAccessible(page, rules);
}

/** Expects that the page does not scroll horizontally. Charts adapt to a new width after the page. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const excess = () =>
    page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  await expect.poll(excess).toBeLessThanOrEqual(0);
}

/** The content of a downloaded file. */
export const bytesOf = async (download: Download) => buffer(await download.createReadStream());

/** Stores a screenshot in the folder $SCREENSHOTS, if that variable is set. */
export async function screenshot(
  page: Page,
  name: string,
  options: { fullPage?: boolean } = {},
): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined || folder === '') return;
  mkdirSync(folder, { recursive: true });
  // To hide the caret, Playwright adds a style, which the content security policy forbids.
  await page.screenshot({
    path: join(folder, `${name}.png`),
    fullPage: options.fullPage ?? false,
    caret: 'initial',
  });
}
