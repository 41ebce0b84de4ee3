import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig, SECTIONS as SETTINGS } from '../server/config.ts';
import { FAMILIES } from '../src/engines/families.ts';
import { SECTIONS } from '../src/guide/guide-pages.ts';
import { codeIn } from '../src/guide/markdown-page.ts';
import { testApp } from './harness/test-app.ts';

/** The served pages of the guide and the settings that they document. */

const ROOT = resolve(import.meta.dirname, '..');
const GUIDE = join(ROOT, 'docs/guide');

const app = testApp();
afterAll(() => app.close());

/** Requests a page without an API key. */
const read = (path: string) => app.send(path, { headers: {} });

describe('the served guide', () => {
  /** All pages that are reachable from the first one: HTML by path. */
  async function crawl(): Promise<ReadonlyMap<string, string>> {
    const pages = new Map<string, string>();
    const open = ['/docs'];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (pages.has(path)) continue;
      const response = await read(path);
      expect(response.status, path).toBe(200);
      const isPage = response.headers.get('content-type') === 'text/html; charset=utf-8';
      pages.set(path, isPage ? await response.text() : '');
      for (const [, href = ''] of (pages.get(path) ?? '').matchAll(/ (?:href|src)="([^"]+)"/g)) {
        const { origin, pathname } = new URL(href, `http://service.test${path}`);
        const isOurs = origin === 'http://service.test' && pathname.startsWith('/docs');
        if (isOurs) open.push(pathname);
      }
    }
    return pages;
  }

  test('every page is reachable and all links have a target', async () => {
    const pages = await crawl();
    for (const { address } of SECTIONS.flatMap((section) => section.pages))
      expect([...pages.keys()]).toContain(`/${address}`);
    for (const [path, html] of pages) {
      if (html === '') continue;
      expect(html, path).toMatch(/<h1 id="[^"]+">\S/);
      for (const [, href = ''] of html.matchAll(/<a [^>]*href="([^"]*#[^"]+)"/g)) {
        const { origin, pathname, hash } = new URL(href, `http://service.test${path}`);
        if (origin !== 'http://service.test') continue;
        const target = pages.get(pathname) ?? '';
        expect(target, `${path} links to ${href}`).toContain(`id="${decodeURIComponent(hash.slice(1))}"`);
      }
    }
  });

  test('pages run no scripts and load no external resources', async () => {
    for (const [path, html] of await crawl()) {
      expect(html, path).not.toMatch(
        /<script|javascript:|style="|<img src="http|rel="stylesheet" href="http/,
      );
    }
    const { headers } = await read('/docs');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('a trailing slash redirects to the page without it', async () => {
    const response = await read('/docs/speech/');
    expect([response.status, response.headers.get('location')]).toEqual([308, '../speech']);
  });

  test('the AsyncAPI documents can be downloaded', async () => {
    for (const name of ['realtime', 'conversations', 'partner']) {
      const response = await read(`/docs/sockets/${name}.asyncapi.json`);
      expect(await response.json()).toMatchObject({ asyncapi: '3.0.0' });
    }
  });

  test('the page of the sockets shows events and their fields', async () => {
    const html = await (await read('/docs/sockets')).text();
    for (const name of ['session.update', 'response.output_audio.delta', 'transcriber-response', 'start']) {
      expect(html).toContain(`<code>${name}</code>`);
    }
    expect(html).toContain('silence_duration_ms');
    expect(html).toContain('transcriptType');
  });
});

test('every page of the guide is in the navigation', () => {
  const listed = SECTIONS.flatMap(({ pages }) => pages.map(({ file }) => file));
  for (const name of readdirSync(GUIDE)) expect(listed).toContain(`docs/guide/${name}`);
});

describe('settings', () => {
  const blocks = readdirSync(GUIDE).flatMap((name) =>
    codeIn(readFileSync(join(GUIDE, name), 'utf8'))
      .filter(({ language }) => language === 'toml')
      .map(({ code }, index) => [`${name} ${index}`, code] as const),
  );

  test.each(blocks)('of %s are a valid CONFIG file', (_, toml) => {
    const folder = mkdtempSync(join(tmpdir(), 'guide-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'service.toml');
    writeFileSync(path, toml);
    const variables = [...toml.matchAll(/api_key_env = "(\w+)"/g)].map(([, name = '']) => [name, 'secret']);
    expect(() => loadConfig({ CONFIG: path, ...Object.fromEntries(variables) })).not.toThrow();
  });

  test('of examples/openai.toml are valid, and map further names', () => {
    const config = loadConfig({ CONFIG: 'examples/openai.toml', UPSTREAM_API_KEY: 'secret' });
    expect(config.models.chat.get('gpt-4o-mini')).toMatchObject({ kind: 'upstream' });
    expect(config.models.speech.get('gpt-4o-mini-tts')).toMatchObject({
      kind: 'piper',
      voices: 'presets',
      compatibility: 'openai',
    });
    expect(config.models.speech.get('tts-1')).toMatchObject({
      kind: 'kokoro',
      languages: new Map([['de', 'piper-de']]),
    });
    expect(config.models.speech.get('piper-de')).toMatchObject({ voice: 'de_DE-thorsten-medium' });
    expect(config.models.speech.get('announcements')).toMatchObject({ voice: 'bf_emma' });
    expect(config.models.transcription.has('whisper-1')).toBe(true);
  });

  test('are documented with every key', () => {
    const documented = blocks.map(([, toml]) => toml).join('\n');
    const tables = SETTINGS.flatMap(({ table, settings }) => [
      ...(table === '' ? [] : [table]),
      ...Object.values(settings).map(({ key }) => key),
    ]);
    const keys = [...tables, ...FAMILIES.flatMap(({ schema }) => Object.keys(schema.properties))];
    expect(keys.length).toBeGreaterThan(40);
    expect(keys.filter((key) => !new RegExp(`(^|[[. ])${key}\\b`, 'm').test(documented))).toEqual([]);
  });
});
