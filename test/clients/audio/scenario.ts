/** What the clients of test/clients/audio do: speak a sentence, transcribe the recording, and use the chat and embedding models. */

import { join } from 'node:path';
import { expect } from 'vitest';
import { type PythonOptions, runPython } from '../../../tools/harness/clients/python.ts';
import { wordErrors } from '../../../tools/harness/media/transcript-normalizer.ts';
import type { ServiceAccess } from '../../../tools/harness/services/launcher.ts';

const FOLDER = import.meta.dirname;
export const TEXT = 'The quick brown fox jumps over the lazy dog.';
/** Two texts with the same meaning, and another one. */
const TEXTS = ['The cat sat on the mat.', 'A cat is sitting on a mat.', 'Shares fell on Monday.'];
/** Length of {@link TEXT} in seconds. */
const SPOKEN_S = { atLeast: 2, atMost: 4.5 };

/** Settings of a client: URL and key, and names that clients of OpenAI use, which the service has without configuration. */
export function settingsOf({ baseUrl, key }: Pick<ServiceAccess, 'baseUrl' | 'key'>) {
  return {
    baseURL: `${baseUrl}/v1`,
    key,
    speech: 'tts-1',
    voice: 'alloy',
    transcription: 'whisper-1',
    chat: 'smollm2-135m-instruct',
    embeddings: 'all-minilm-l6-v2',
    text: TEXT,
    texts: TEXTS,
    /** Whether the server is a proxy, see {@link PROXY_CHECKS}. */
    viaProxy: false,
  };
}

/** The results of the clients `openai` and `openai.mjs`. */
export const OPENAI_CHECKS = [
  ...['speech', 'streamed speech', 'json', 'verbose_json'],
  ...['text', 'srt', 'vtt', 'stream', 'translation'],
];
/** The results behind a proxy that converts other responses to JSON. */
export const PROXY_CHECKS = OPENAI_CHECKS.slice(0, 4);

export type ClientSettings = ReturnType<typeof settingsOf>;
/** A line that a client printed. */
export type ClientResult = { readonly check: string; readonly [name: string]: unknown };

/** Runs the Python client of a folder. */
export function runPythonClient(
  folder: string,
  settings: ClientSettings,
  options: PythonOptions = {},
): Promise<ClientResult[]> {
  return runPython(join(FOLDER, folder, 'client.py'), settings, options);
}

/** Runs a client script. */
export async function runScript(
  runtime: string,
  script: string,
  settings: ClientSettings,
): Promise<ClientResult[]> {
  const { PATH = '', HOME = '' } = process.env;
  const child = Bun.spawn([runtime, join(FOLDER, script), JSON.stringify(settings)], {
    env: { PATH, HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect(await child.exited, errors).toBe(0);
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ClientResult);
}

/** Checks the results: each text is the sentence that was spoken. */
export function expectResults(results: readonly ClientResult[], checks: readonly string[]): void {
  expect(results.map(({ check }) => check)).toEqual(checks);
  for (const result of results) {
    const check = CHECKS[result.check] ?? hasSentence;
    check(result);
  }
}

/** Checks of results that are not just the transcript. */
const CHECKS: Readonly<Record<string, (result: ClientResult) => void>> = {
  speech({ seconds, bytes, rate }) {
    if (seconds === undefined) expect(bytes).toBeGreaterThan(10_000);
    else expectLength(seconds);
    if (rate !== undefined) expect(rate).toBe(24_000);
  },
  'streamed speech': ({ seconds }) => expectLength(seconds),
  srt({ text }) {
    expect(text).toMatch(/^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n/);
    expectSentence(captionText(text));
  },
  vtt({ text }) {
    expect(text).toMatch(/^WEBVTT\n\n(00:)?00:0\d\.\d{3} --> (00:)?00:0\d\.\d{3}\n/);
    expectSentence(captionText(text));
  },
  verbose_json({ text, language, words, segments }) {
    expectSentence(text);
    expect(language).toBe('english');
    expectSentence((words as string[]).join(' '));
    expect(segments).toBeGreaterThan(0);
  },
  stream({ text, last }) {
    expectSentence(text);
    expect(last).toBe('transcript.text.done');
  },
  chat: ({ text }) => expect(text).toMatch(/\w/),
  'streamed chat': ({ text }) => expect(text).toMatch(/\w/),
  embeddings({ vectors }) {
    const [first = [], second = [], other = []] = vectors as number[][];
    expect(first).toHaveLength(384);
    expect(cosine(first, second)).toBeGreaterThan(0.8);
    expect(cosine(first, other)).toBeLessThan(0.3);
  },
};

function hasSentence({ text }: ClientResult): void {
  expectSentence(text);
}

/** Checks that a text is the sentence, as Whisper writes it. */
export function expectSentence(text: unknown): void {
  expect(wordErrors(TEXT, String(text)).errors, String(text)).toBe(0);
}

function expectLength(seconds: unknown): void {
  expect(seconds).toBeGreaterThan(SPOKEN_S.atLeast);
  expect(seconds).toBeLessThan(SPOKEN_S.atMost);
}

/** The text of captions, without numbers and times. */
function captionText(captions: unknown): string {
  const lines = String(captions).split('\n');
  return lines.filter((line) => !/^(\d+|WEBVTT|.*-->.*)$/.test(line)).join(' ');
}

/** Of unit vectors. */
function cosine(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
}
