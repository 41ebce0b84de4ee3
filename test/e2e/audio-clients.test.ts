import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { HAS_PIP, pythonPackages } from '../../tools/harness/clients/python.ts';
import type { ServiceAccess } from '../../tools/harness/services/launcher.ts';
import {
  expectResults,
  expectSentence,
  OPENAI_CHECKS,
  runPythonClient,
  runScript,
  settingsOf,
} from '../clients/audio/scenario.ts';
import { CHROMIUM, HAS_CHROMIUM } from '../harness/chromium.ts';
import { embeddedService, openChromium } from '../harness/group-servers.ts';
import { needs } from '../harness/needs.ts';
import { nodePath } from '../harness/node-client.ts';
import { inDeepTier } from '../harness/tier.ts';

/**
 * Unmodified clients of OpenAI's audio API, with the real models of the default configuration: only URL and key are set.
 * test/deep/audio-clients.test.ts has the frameworks for voice agents.
 */

const ROOT = join(import.meta.dirname, '../..');
const CLIENTS = join(import.meta.dirname, '../clients/audio');
let service: ServiceAccess;
beforeAll(async () => {
  service = await embeddedService();
});

test('the OpenAI SDK for Node', async () => {
  expectResults(await runScript(nodePath(), 'openai.mjs', settingsOf(service)), OPENAI_CHECKS);
});

test("Vercel's AI SDK", async () => {
  const results = await runScript(nodePath(), 'ai-sdk.mjs', settingsOf(service));
  expectResults(results, ['speech', 'json']);
  expect(results).toMatchObject([
    { type: 'audio/mpeg', format: 'mp3' },
    { language: 'en', segments: 1 },
  ]);
});

// Sends the same requests as that for Node.
inDeepTier(() => {
  test('the OpenAI SDK for Python', async (context) => {
    needs(context, HAS_PIP, 'Python with pip');
    expectResults(await runPythonClient('openai', settingsOf(service)), OPENAI_CHECKS);
  });
});

inDeepTier(() => {
  test('examples/compare_transcripts.py compares the transcripts of two servers', async (context) => {
    needs(context, HAS_PIP, 'Python with pip');
    const PYTHONPATH = await pythonPackages(join(CLIENTS, 'openai/requirements.txt'));
    const url = `${service.baseUrl}/v1`;
    const options = ['--url', url, '--reference-url', url, '--show', 'examples/call.mp3', 'README.md'];
    const child = Bun.spawn(['python3', 'examples/compare_transcripts.py', ...options], {
      cwd: ROOT,
      env: { PATH: process.env.PATH ?? '', PYTHONPATH, KEY: service.key, OPENAI_API_KEY: service.key },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, errors] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect(output).toMatch(/^ +(\d+) +\1 +0\.0% +[\d.]+\/[\d.]+ s +examples\/call\.mp3$/m);
    expect(output).toMatch(/^0 of \d\d words differ \(0\.0%\)$/m);
    // A file that is not a recording is an error, after which the other files are compared.
    expect(errors).toMatch(/^README\.md: .*'file'/m);
    expect(await child.exited).toBe(1);
  });
});

test('the OpenAI SDK in a web page of another origin', async (context) => {
  needs(context, HAS_CHROMIUM, `Chromium at ${CHROMIUM}`);
  const { outputs } = await Bun.build({ entrypoints: [join(CLIENTS, 'page.mjs')], target: 'browser' });
  const script = await outputs[0]?.text();
  const html = '<!doctype html><title>App</title><script src="/app.js"></script>';
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    routes: {
      '/': () => new Response(html, { headers: { 'content-type': 'text/html' } }),
      '/app.js': () => new Response(script, { headers: { 'content-type': 'text/javascript' } }),
    },
    fetch: () => new Response(null, { status: 404 }),
  });
  onTestFinished(() => server.stop(true));
  const browser = await openChromium();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(server.url.href);
  const settings = JSON.stringify(settingsOf(service));
  const result = (await page.evaluate(`roundTrip(${settings})`)) as Record<string, unknown>;
  expectSentence(result.text);
  // Readable for pages of other origins only if the service says so.
  expect(result.requestId).toMatch(/^req_/);
});
