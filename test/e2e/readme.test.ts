import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type LaunchedService, launchService, SERVICE_KEY } from '../support/launcher.ts';
import { encodedFiles } from '../support/media-files.ts';
import { needs } from '../support/needs.ts';
import { joined } from '../support/sample-runs.ts';
import { SPOKEN_RATE_HZ, speak } from '../support/spoken.ts';
import { tempDir } from '../support/temp-dir.ts';
import { smallClip } from '../support/video-service.ts';
import { wavFile } from '../support/wav-files.ts';

/** The commands of the README, as they stand there, against the real process with the models that come with it. */

const PROGRAMS = ['bash', 'curl'];

let service: LaunchedService;
beforeAll(async () => {
  service = await launchService();
});
afterAll(() => service?.stop());
beforeEach((context) => {
  const has = PROGRAMS.every((name) => Bun.which(name) !== null);
  needs(context, has, PROGRAMS.join(' and '));
});

/** Runs the first commands of a section in a folder; what they printed. */
async function commandsOf(section: string, folder: string): Promise<string> {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const commands = new RegExp(`^## ${section}\\n.*?\`\`\`sh\\n(.*?)\`\`\``, 'ms').exec(readme)?.[1] ?? '';
  expect(commands).toContain('localhost:8080');
  // A refusal is a failure, which curl says only when it is asked to.
  await Bun.write(join(folder, '.curlrc'), 'fail-with-body\n');
  const script = commands.replaceAll('localhost:8080', service.baseUrl);
  const child = Bun.spawn(['bash', '-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', CURL_HOME: folder, KEY: SERVICE_KEY },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = await new Response(child.stdout).text();
  const errors = await new Response(child.stderr).text();
  expect(await child.exited, output + errors).toBe(0);
  return output;
}

test('Speak', async () => {
  const folder = await tempDir();
  await commandsOf('Speak', folder);
  // More than a second of it.
  expect((await readFile(join(folder, 'hello.pcm'))).length).toBeGreaterThan(48_000);
  const wav = await readFile(join(folder, 'hello.wav'));
  expect([wav.toString('latin1', 0, 4), wav.length > 24_000]).toEqual(['RIFF', true]);
});

test('Hear', async () => {
  const folder = await tempDir();
  const tone = await encodedFiles(2);
  await copyFile(join(tone.folder, 'tone.mp3'), join(folder, 'call.mp3'));
  await copyFile(join(tone.folder, 'tone.m4a'), join(folder, 'anruf.m4a'));
  await tone.remove();
  const output = await commandsOf('Hear', folder);
  expect(output).toMatch(/^\{"text":".*","usage":\{/);
  expect(output).toMatch(/data: \{"type":"transcript\.text\.done"/);
});

test('Voices', async (context) => {
  needs(context, Bun.which('jq') !== null, 'jq');
  const folder = await tempDir();
  const said = await speak([
    'The harbour was quiet that morning, and only two of the boats had gone out.',
    'Nobody expected rain.',
  ]);
  const shape = { kind: 'int', bits: 16, rateHz: SPOKEN_RATE_HZ, channels: 1 } as const;
  await Bun.write(join(folder, 'anna.wav'), wavFile(shape, joined(said)));
  const output = await commandsOf('Voices', folder);
  expect(output).toMatch(/"object":"audio\.voice\.deleted","deleted":true/);
  const wav = await readFile(join(folder, 'anna-says-hello.wav'));
  expect([wav.toString('latin1', 0, 4), wav.length > 24_000]).toEqual(['RIFF', true]);
});

test('Call', async () => {
  const folder = await tempDir();
  await commandsOf('Call', folder);
  // About a second at 8 kHz.
  expect((await readFile(join(folder, 'evening.pcm'))).length).toBeGreaterThan(8000);
});

test('Video', { timeout: 120_000 }, async (context) => {
  needs(context, Bun.which('jq') !== null, 'jq');
  const folder = await tempDir();
  await Bun.write(join(folder, 'clip.mp4'), await smallClip(folder));
  await commandsOf('Video', folder);
  const made = async (name: string) => await readFile(join(folder, name), 'latin1');
  expect((await made('segment.mp4')).slice(4, 8)).toBe('ftyp');
  expect((await made('segment.webp')).slice(8, 12)).toBe('WEBP');
});

test('Write', async () => {
  const folder = await tempDir();
  await commandsOf('Write', folder);
  const read = (name: string) => readFile(join(folder, name), 'utf8');
  const chat = JSON.parse(await read('chat.json'));
  expect(chat.choices[0].message.content).toMatch(/\w/);
  expect(await read('events.txt')).toMatch(/^event: response\.completed$|^event: response\.incomplete$/m);
  const { data } = JSON.parse(await read('vectors.json'));
  expect(data).toMatchObject([{ embedding: { length: 384 } }, { embedding: { length: 384 } }]);
});
