import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { buildConsole } from '../../scripts/build-console.ts';
import { withFileLock } from '../../src/kit/storage/file-lock.ts';
import { type LaunchedService, SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import { needs } from './needs.ts';

/** The console in a real browser. */

export const CHROMIUM = '/usr/bin/chromium';
export const HAS_CHROMIUM = existsSync(CHROMIUM);

/** How wide a phone is, in pixels. */
export const PHONE_WIDTH = 390;

const LOCK = join(import.meta.dirname, '../../.cache/setup.lock');

/** What the tests of a page run on. */
export interface ConsoleSetup {
  readonly service: Pick<LaunchedService, 'baseUrl' | 'stop'>;
  /** Of the browser. */
  readonly browserArgs?: readonly string[];
}

/**
 * The set-up of a file that tests a page: a service and a browser for all its tests, which are skipped where there is no
 * Chromium. What a test opens ends with it, and must have given the browser nothing to complain of ({@link ownFaults}).
 * @param path the page, such as `/speak`.
 * @param start starts the service; called once, before the first test.
 * @returns opens the console: at `path`, unless the options say otherwise.
 */
export function consoleTests(
  path: string,
  start: () => Promise<ConsoleSetup>,
): (options?: ConsoleOptions) => Promise<OpenConsole> {
  let setup: ConsoleSetup | undefined;
  let browser: Browser | undefined;
  let opened: OpenConsole[] = [];
  beforeAll(async () => {
    if (!HAS_CHROMIUM) return;
    setup = await start();
    browser = await launchBrowser(setup.browserArgs);
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await setup?.service.stop();
  });
  beforeEach((context) => needs(context, HAS_CHROMIUM, `Chromium at ${CHROMIUM}`));
  afterEach(async () => {
    const ended = opened;
    opened = [];
    for (const open of ended) await open.close();
    expect(ended.flatMap(({ faults }) => ownFaults(faults))).toEqual([]);
  });
  return async (options = {}) => {
    if (setup === undefined || browser === undefined) throw new Error('open the console in a test');
    const open = await openConsole(browser, options.baseUrl ?? setup.service.baseUrl, { path, ...options });
    opened.push(open);
    return open;
  };
}

/** What the browser complained of, but for refusals of the service, which are answers, and for how sound is measured (page-sound.ts). */
export function ownFaults(faults: readonly string[]): readonly string[] {
  return faults.filter(
    (fault) =>
      !/ScriptProcessorNode|(responded with a status of|Unexpected response code:) 4\d\d/.test(fault),
  );
}

/** Builds the console where it is not up to date, and starts a browser. The caller closes it. */
export async function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  await withFileLock(LOCK, { signal: AbortSignal.timeout(120_000) }, buildConsole);
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', ...args] });
}

export interface ConsoleOptions {
  /** Where the service is; that of the set-up when absent. */
  readonly baseUrl?: string;
  /** The page, such as `/speak`. */
  readonly path?: string;
  /** Undefined: not signed in. */
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
  /** What the browser complained of: errors and warnings of the page, and what it could not load. */
  readonly faults: string[];
  /** Every address that was asked for. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** Opens the console in a fresh context, signed in with a key of organization `a` unless the options say otherwise. */
export async function openConsole(
  browser: Browser,
  baseUrl: string,
  options: ConsoleOptions = {},
): Promise<OpenConsole> {
  const key = 'key' in options ? options.key : SERVICE_KEY;
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
    colorScheme: options.scheme ?? 'light',
    reducedMotion: 'reduce',
    acceptDownloads: options.acceptDownloads ?? true,
    permissions: [...(options.permissions ?? [])],
    ignoreHTTPSErrors: true,
  });
  const page = await context.newPage();
  const faults: string[] = [];
  const asked: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('request', (request) => asked.push(request.url()));
  if (key === undefined) await page.goto(`${baseUrl}/#${options.path ?? '/'}`);
  else await signIn(page, baseUrl, key, options.path ?? '/');
  return { page, context, faults, asked, close: () => context.close() };
}

/** Signs in as a person does, and goes to a page. */
export async function signIn(page: Page, baseUrl: string, key: string, path = '/'): Promise<void> {
  await page.goto(`${baseUrl}/#${path}`);
  await page.getByLabel('API key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Voice service' }).waitFor();
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/**
 * Ends when a scheme of colours that was just chosen is drawn and no colour is on its way to another, in which it
 * would be judged. A transition that is broken off counts as ended.
 */
const COLOURS_AT_REST = `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
  .then(() => Promise.allSettled(document.getAnimations()
    .filter((animation) => animation instanceof CSSTransition)
    .map(({ finished }) => finished)))
  .then(() => undefined)`;

/** Nothing that keeps people out, as axe-core sees the page now: no serious and no critical finding. */
export async function expectAccessible(page: Page): Promise<void> {
  const here = await page.evaluate('typeof axe');
  if (here === 'undefined') await page.evaluate(`${await Bun.file(AXE).text()}; undefined`);
  await page.evaluate(COLOURS_AT_REST);
  const findings =
    await page.evaluate(`axe.run(document, { resultTypes: ['violations'], preload: false }).then(({ violations }) =>
    violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target, failureSummary }) => target + ': ' + failureSummary) })))`);
  expect(findings).toEqual([]);
}

/** Nothing stands out to the right: the page does not scroll sideways. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const [inner, outer] = (await page.evaluate(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  )) as [number, number];
  expect(inner).toBeLessThanOrEqual(outer);
}

/** Keeps a picture of the page in the folder that $SCREENSHOTS names; without one it does nothing. */
export async function screenshot(
  page: Page,
  name: string,
  options: { fullPage?: boolean } = {},
): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined || folder === '') return;
  mkdirSync(folder, { recursive: true });
  // Hiding the caret would take a style of Playwright's own, which the page's policy forbids.
  await page.screenshot({
    path: join(folder, `${name}.png`),
    fullPage: options.fullPage ?? false,
    caret: 'initial',
  });
}
