import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type LaunchedService,
  launchService,
  NO_MODELS,
  OTHER_KEY,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import {
  consoleTests,
  expectAccessible,
  expectNoSidewaysScroll,
  expectStateAccessible,
  PHONE_WIDTH,
  screenshot,
  unexpectedErrors,
} from '../harness/console-browser.ts';
import { inDeepTier, repetitions } from '../harness/tier.ts';

/** The shell of the console and its organization pages, in a real browser. */

const PAGES = [
  'Start',
  'Speech',
  'Voices',
  'Pronunciation',
  'Talk',
  'Realtime',
  'Responses',
  'Batches',
  'Video',
  'Usage',
  'API keys',
  'Models',
  'Plugins',
];
/** Titles of the pages that are tested in this file by their path, and what each shows when it is loaded. */
const TESTED_PAGES = {
  start: { title: 'Start', content: /^Talk with a language model/ },
  usage: { title: 'Usage', content: /^No usage in this period\.|svc-tts/ },
  keys: { title: 'API keys', content: /^No stored keys|^revoked |^active$/ },
  models: { title: 'Models', content: /^svc-tts$/ },
  plugins: { title: 'Plugins', content: /^speech$/ },
  'no-such-page': { title: 'Page not found', content: /^No page at/ },
};

let service: LaunchedService;
const open = consoleTests('/', async () => {
  service = await launchService({ config: `operators = ["a"]\n${NO_MODELS}` });
  return { service };
});

const heading = (page: Page) => page.getByRole('heading', { level: 1 });

describe('signing in', () => {
  test('rejects invalid and malformed keys, retries after a connection failure, and opens the console with a valid key', async () => {
    const { page, context, consoleErrors } = await open({ key: undefined, path: '/keys' });
    onTestFinished(() => context.setOffline(false));
    await expectAccessible(page);
    await screenshot(page, 'sign-in');
    const field = page.getByLabel('API key', { exact: true });
    await field.fill('sk-wrong');
    await page.keyboard.press('Enter');
    await page.getByText('Invalid API key.').waitFor();
    expect(unexpectedErrors(consoleErrors.splice(0))).toEqual([]);
    await field.fill('sk-abc…');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'letters, digits and ASCII punctuation' }).waitFor();
    await context.setOffline(true);
    await field.fill(SERVICE_KEY);
    await page.keyboard.press('Enter');
    await page.getByText('The service is unreachable.').waitFor();
    for (const error of consoleErrors.splice(0)) expect(error).toContain('ERR_INTERNET_DISCONNECTED');
    await context.setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await heading(page).filter({ hasText: 'API keys' }).waitFor();
  });

  test('lasts until the tab is closed and stores the key only in the session storage', async () => {
    const { page, context, requestUrls, consoleErrors } = await open({ path: '/usage', isolated: true });
    await page.reload();
    await heading(page).filter({ hasText: 'Usage' }).waitFor();
    const stored = (await page.evaluate(
      `JSON.stringify([location.href, document.cookie, { ...localStorage }, document.documentElement.outerHTML])`,
    )) as string;
    expect(stored).not.toContain(SERVICE_KEY);
    expect(requestUrls.filter((address) => address.includes(SERVICE_KEY))).toEqual([]);
    expect(requestUrls.filter((address) => !address.startsWith(service.baseUrl))).toEqual([]);
    expect(service.output()).not.toContain(SERVICE_KEY);
    const other = await context.newPage();
    await other.goto(`${service.baseUrl}/#/usage`);
    await other.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(consoleErrors).toEqual([]);
  });

  test('with a key of a member shows the keys and no buttons, and ends when the key is revoked', async () => {
    const created = await createKey('member');
    const { page } = await open({ key: created.key, path: '/keys' });
    await page.getByText('current key').waitFor();
    expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /^Revoke key/ }).count()).toBe(0);
    expect(
      (await service.fetch(`/v1/keys/${created.id}`, { method: 'DELETE', headers: bearer() })).status,
    ).toBe(200);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByText('This key is no longer valid.').waitFor();
  });
});

describe('the shell', () => {
  test('has links to all pages that are reached and opened by keyboard', async () => {
    const { page, consoleErrors } = await open({ path: '/plugins' });
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    const reached: unknown[] = [];
    while (reached.at(-1) !== PAGES.at(-1)) {
      expect(reached.length, 'tabs before the last page').toBeLessThan(60);
      await page.keyboard.press('Tab');
      reached.push(await page.evaluate('document.activeElement.textContent'));
    }
    expect(reached.filter((text) => PAGES.some((title) => title === text))).toEqual(PAGES);
    for (const title of PAGES.slice(0, repetitions(2, PAGES.length))) {
      const link = links.filter({ hasText: title });
      await link.focus();
      await page.keyboard.press('Enter');
      await heading(page).filter({ hasText: title }).waitFor();
      expect(await link.getAttribute('aria-current')).toBe('page');
    }
    expect(consoleErrors).toEqual([]);
  });

  test('opens the first page by default, has a skip link to the content and reports unknown pages', async () => {
    const { page } = await open();
    await heading(page).filter({ hasText: 'Start' }).waitFor();
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await page.goto(`${service.baseUrl}/#/nothing`);
    await page.getByText('No page at /nothing.').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Go to the page “Start”' }).click();
    await heading(page).filter({ hasText: 'Start' }).waitFor();
  });

  // In one page, because a page load costs more than the page.
  test('every page is accessible and fits a phone', async () => {
    const { page, consoleErrors } = await open({ path: '/keys' });
    for (const [name, { title, content }] of Object.entries(TESTED_PAGES)) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.goto(`${service.baseUrl}/#/${name}`);
      await heading(page).filter({ hasText: title }).waitFor();
      await page.getByText(content).first().waitFor();
      await expectAccessible(page);
      await screenshot(page, `${name}-light`);
      await page.setViewportSize({ width: PHONE_WIDTH, height: 800 });
      await expectNoSidewaysScroll(page);
      await screenshot(page, `${name}-phone`);
    }
    expect(consoleErrors).toEqual([]);
  });

  inDeepTier(() => {
    test.each(Object.entries(TESTED_PAGES))(
      'page %s is accessible in the dark color scheme',
      async (name, { title, content }) => {
        const { page } = await open({ path: `/${name}`, scheme: 'dark' });
        await heading(page).filter({ hasText: title }).waitFor();
        await page.getByText(content).first().waitFor();
        await expectAccessible(page);
        await screenshot(page, `${name}-dark`);
      },
    );

    test('follows the color scheme of the system until the user selects one', async () => {
      const { page } = await open({ scheme: 'dark', path: '/keys' });
      const scheme = () =>
        page.evaluate(`document.documentElement.getAttribute('data-mantine-color-scheme')`);
      expect(await scheme()).toBe('dark');
      await page.getByRole('button', { name: 'Appearance' }).click();
      await page.getByRole('menuitemradio', { name: 'Light' }).click();
      await expect.poll(scheme).toBe('light');
      await page.reload();
      await heading(page).filter({ hasText: 'API keys' }).waitFor();
      expect(await scheme()).toBe('light');
    });

    test('marks selected items in forced-colors mode', async () => {
      const { page } = await open({ path: '/usage' });
      await page.emulateMedia({ forcedColors: 'active' });
      const lines = (part: string) =>
        page.evaluate(`getComputedStyle(document.querySelector('.mantine-${part}')).borderInlineStartWidth`);
      await expect.poll(() => lines('SegmentedControl-indicator')).toBe('2px');
      expect(await lines('NavLink-root[data-active]')).toBe('4px');
      await page.goto(`${service.baseUrl}/#/plugins`);
      await page.getByRole('switch').first().waitFor();
      expect(await lines('Switch-track')).toBe('1px');
      await screenshot(page, 'plugins-forced-colours');
    });
  });

  test('the navigation of a phone opens by a button and closes after a choice', async () => {
    const { page } = await open({ width: PHONE_WIDTH, height: 800, path: '/keys' });
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    expect(await links.count()).toBe(0);
    await page.getByRole('button', { name: 'Open navigation' }).click();
    await expect.poll(() => links.count()).toBe(PAGES.length + 2);
    await expectStateAccessible(page);
    await screenshot(page, 'navigation-phone');
    await page.getByRole('link', { name: 'Usage' }).click();
    await heading(page).filter({ hasText: 'Usage' }).waitFor();
    await page.getByRole('button', { name: 'Open navigation' }).waitFor();
  });

  inDeepTier(() => {
    test('works under a path prefix of a proxy', async () => {
      const proxy = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        fetch(request) {
          const { pathname, search } = new URL(request.url);
          if (!pathname.startsWith('/voice/')) return new Response('not here', { status: 404 });
          return fetch(`${service.baseUrl}${pathname.slice('/voice'.length)}${search}`, {
            method: request.method,
            headers: request.headers,
            body: request.body,
            decompress: false,
          });
        },
      });
      onTestFinished(() => proxy.stop(true));
      const { page, requestUrls, consoleErrors } = await open({
        baseUrl: `${proxy.url.origin}/voice`,
        path: '/keys',
      });
      await heading(page).filter({ hasText: 'API keys' }).waitFor();
      expect(requestUrls.filter((address) => !address.startsWith(`${proxy.url.origin}/voice/`))).toEqual([]);
      expect(consoleErrors).toEqual([]);
    });
  });
});

describe('keys', () => {
  test('a key created on the page works until it is revoked', async () => {
    const { page, consoleErrors } = await open({ path: '/keys' });
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('Reception');
    await expectStateAccessible(page);
    await screenshot(page, 'new-key');
    await page.getByRole('button', { name: 'Create key' }).click();
    const shown = page.getByRole('dialog').getByLabel('Reception');
    const key = await shown.inputValue();
    await expectStateAccessible(page);
    await screenshot(page, 'made-key');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectStateAccessible(page, 'colors');
    await page.emulateMedia({ colorScheme: 'light' });
    const models = () => fetch(`${service.baseUrl}/v1/models`, { headers: bearer(key) });
    expect((await models()).status).toBe(200);
    // Escape does not close the dialog, because the key is shown only once.
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Done' }).click();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('New key');
    expect(await page.content()).not.toContain(key);

    await page.getByRole('button', { name: 'Revoke key Reception' }).click();
    await expectStateAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectStateAccessible(page, 'colors');
    await screenshot(page, 'end-key-dark');
    await page.getByRole('button', { name: 'Go back' }).click();
    await expect
      .poll(() => page.evaluate(`document.activeElement.getAttribute('aria-label')`))
      .toBe('Revoke key Reception');
    expect((await models()).status).toBe(200);
    await page.getByRole('button', { name: 'Revoke key Reception' }).click();
    await page.getByRole('button', { name: 'Revoke key', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'Reception' }).getByText('revoked').waitFor();
    expect((await models()).status).toBe(401);
    expect(consoleErrors).toEqual([]);
  });

  inDeepTier(() => {
    test('are listed in pages', async () => {
      for (let count = 0; count < 21; count += 1) await createKey('member', OTHER_KEY);
      const { page } = await open({ key: OTHER_KEY, path: '/keys' });
      const rows = page.getByRole('row').filter({ hasText: 'member' });
      await expect.poll(() => rows.count()).toBe(20);
      await page.getByRole('button', { name: 'Older' }).click();
      await expect.poll(() => rows.count()).toBe(1);
      expect(await page.getByRole('button', { name: 'Older' }).isDisabled()).toBe(true);
      await page.getByRole('button', { name: 'Newer' }).click();
      await expect.poll(() => rows.count()).toBe(20);
    });
  });

  inDeepTier(() => {
    test('a new key is selected for manual copying without clipboard access', async () => {
      const { page } = await open({ path: '/keys', isolated: true });
      // Browsers have no clipboard API on plain HTTP.
      await page.addInitScript('delete Navigator.prototype.clipboard');
      await page.reload();
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByRole('button', { name: 'Create key' }).click();
      const shown = page.getByRole('dialog').getByLabel('Key', { exact: true });
      await shown.waitFor();
      await expect.poll(() => page.evaluate('getSelection().toString()')).toBe(await shown.inputValue());
      expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    });
  });
});

describe('models', () => {
  test('are shown with engine, size, memory, licence, state and the button that loads them', async () => {
    const { page, consoleErrors } = await open({ path: '/keys' });
    onTestFinished(() => page.unrouteAll());
    await page.route('**/v1/models', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { data: { id: string; ready: boolean }[] };
      for (const model of body.data) if (model.id === 'svc-stt') model.ready = false;
      await route.fulfill({ response, json: body });
    });
    await page.getByRole('link', { name: 'Models' }).click();
    const row = (id: string) => page.getByRole('row').filter({ hasText: id });
    const large = row('qwen2.5-0.5b-instruct');
    await large.waitFor();
    expect(await page.getByRole('columnheader').allTextContents()).toEqual([
      ...['Model', 'Task', 'Engine', 'Size', 'Memory', 'Licence', 'State'],
    ]);
    expect((await large.getByRole('cell').allTextContents()).slice(1, 6)).toEqual([
      ...['Chat and responses', 'llama, qwen2.5-0.5b-instruct', '491 MB'],
      ...[expect.stringMatching(/^\d+ MB$/), 'Apache-2.0'],
    ]);
    await large.getByRole('button', { name: 'Download and load now: qwen2.5-0.5b-instruct' }).waitFor();
    // On another server.
    expect((await row('svc-stt').getByRole('cell').allTextContents()).slice(1)).toEqual([
      ...['Speech to text', 'upstream', '–', '–', '–', 'Unavailable'],
    ]);
    await expectStateAccessible(page);
    await screenshot(page, 'models-columns');
    expect(consoleErrors).toEqual([]);
  });
});

describe('the start page', () => {
  test('suggests what to try, and each suggestion opens its page', async () => {
    const { page, consoleErrors } = await open();
    await heading(page).filter({ hasText: 'Start' }).waitFor();
    const suggestions = page.getByRole('main').getByRole('listitem').getByRole('link');
    const titles = await suggestions.allTextContents();
    expect(titles).toEqual(['Speech', 'Talk', 'Voices', 'Responses', 'Batches', 'Video']);
    const command = await page.getByRole('region', { name: 'Speech with curl' }).textContent();
    expect(command).toContain(`${service.baseUrl}/v1/audio/speech`);
    expect(command).not.toContain(SERVICE_KEY);
    // The test of each page opens it.
    const addresses = await page.evaluate(
      `Array.from(document.querySelectorAll('main li a'), (link) => link.getAttribute('href'))`,
    );
    expect(addresses).toEqual(['#/speak', '#/talk', '#/voices', '#/responses', '#/batches', '#/video']);
    await suggestions.filter({ hasText: 'Batches' }).click();
    await heading(page).filter({ hasText: 'Batches' }).waitFor();
    expect(consoleErrors).toEqual([]);
  });
});

describe('usage', () => {
  test('shows totals by category and recent requests', async () => {
    // The server of this model is unavailable, so each call fails.
    for (let call = 0; call < 3; call += 1) {
      const response = await service.fetch('/v1/audio/speech', {
        method: 'POST',
        headers: { ...bearer(), 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'svc-tts', input: 'Hello.' }),
      });
      expect(response.status).toBeGreaterThanOrEqual(500);
    }
    const { page, consoleErrors } = await open({ path: '/usage' });
    const totals = page.getByRole('region', { name: 'By endpoint and model' });
    await totals.getByRole('row').filter({ hasText: '/v1/audio/speech' }).getByText('svc-tts').waitFor();
    await page.getByRole('img', { name: 'Requests by day and endpoint' }).waitFor();
    const requests = page.getByRole('region', { name: 'Recent requests' });
    await requests.getByText('failed').first().waitFor();
    await page.getByText('not required').waitFor();
    const endpoint = requests.getByPlaceholder('All endpoints');
    await endpoint.click();
    expect(await page.getByRole('option').allTextContents()).toEqual(['/v1/audio/speech']);
    await page.getByRole('option', { name: '/v1/audio/speech' }).click();
    await expect.poll(() => endpoint.inputValue()).toBe('/v1/audio/speech');
    await requests.getByText('failed').first().waitFor();
    await page.getByText('90 days').click();
    await page.getByText('Model', { exact: true }).first().click();
    await page.getByRole('img', { name: 'Requests by day and model' }).waitFor();
    await expectStateAccessible(page);
    await screenshot(page, 'usage-model', { fullPage: true });
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page, 'colors');
    await screenshot(page, 'usage-model-dark', { fullPage: true });
    expect(consoleErrors).toEqual([]);
  });
});

describe('plugins', () => {
  test('an operator switches a plugin off and on; navigation and page show its state', async () => {
    const { page, consoleErrors } = await open({ path: '/plugins' });
    const card = page.getByRole('region', { name: 'video', exact: true });
    await card.getByRole('switch').click({ force: true });
    await expectStateAccessible(page);
    await page.getByRole('button', { name: 'Disable' }).click();
    await card.getByText('off', { exact: true }).waitFor();
    const link = page.getByRole('link', { name: /^Video/ });
    await link.getByText('off').waitFor();
    await screenshot(page, 'plugins-video-off');
    await link.click();
    await page.getByText("The plugin 'video' is disabled").waitFor();
    await page.goto(`${service.baseUrl}/#/plugins`);
    await card.getByRole('switch').click({ force: true });
    await card.getByText('on', { exact: true }).waitFor();
    expect(consoleErrors).toEqual([]);
  });

  test('shows neither internal details nor repeated paths', async () => {
    const { page } = await open({ path: '/plugins' });
    const paths = page.getByRole('list', { name: 'Paths of responses' }).getByRole('listitem');
    await paths.first().waitFor();
    expect(await paths.allTextContents()).toEqual([
      ...['/v1/chat/completions', '/v1/embeddings', '/v1/responses', '/v1/responses/{id}'],
      ...['/v1/responses/{id}/cancel', '/v1/responses/{id}/input_items'],
    ]);
    const { data } = (await (await service.fetch('/v1/plugins')).json()) as { data: { detail?: string }[] };
    const details = data.flatMap(({ detail }) => detail ?? []);
    expect(details).not.toEqual([]);
    const text = await page.getByRole('main').textContent();
    for (const detail of details) expect(text).not.toContain(detail);
  });

  test('users who are not operators see no switches, and no buttons that load models', async () => {
    const { page } = await open({ key: OTHER_KEY, path: '/plugins' });
    await page
      .getByRole('region', { name: 'speech', exact: true })
      .getByText('on', { exact: true })
      .waitFor();
    expect(await page.getByRole('switch').count()).toBe(0);
    await page.goto(`${service.baseUrl}/#/models`);
    const large = page.getByRole('row').filter({ hasText: 'qwen2.5-0.5b-instruct' });
    await large.getByText('Not loaded.').waitFor();
    expect(await large.getByRole('button').count()).toBe(0);
  });
});

function bearer(key = SERVICE_KEY): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

async function createKey(role: string, by = SERVICE_KEY): Promise<{ id: string; key: string }> {
  const response = await service.fetch('/v1/keys', {
    method: 'POST',
    headers: { ...bearer(by), 'content-type': 'application/json' },
    body: JSON.stringify({ role }),
  });
  return (await response.json()) as { id: string; key: string };
}
