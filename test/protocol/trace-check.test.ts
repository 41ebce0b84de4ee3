import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { TraceEntry } from '../../tools/trace-check/check.ts';
import { recorded } from '../generators/conversation-recordings.ts';
import { legalConversation } from '../generators/legal-conversation.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'trace-check-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const text = (entries: readonly unknown[]) => `${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`;
const named = (connection: string, entries: readonly TraceEntry[]) =>
  entries.map((entry) => ({ connection, ...entry }));

/** Runs the command with a file or standard input. */
async function traceCheck(trace: string, { byStdin = false } = {}) {
  const path = join(folder, 'trace.jsonl');
  writeFileSync(path, trace);
  const command = Bun.spawn([process.execPath, 'scripts/trace-check.ts', byStdin ? '-' : path], {
    cwd: ROOT,
    stdin: byStdin ? Bun.file(path) : 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err] = await Promise.all([
    new Response(command.stdout).text(),
    new Response(command.stderr).text(),
  ]);
  return { exitCode: await command.exited, out: out.replaceAll(path, 'FILE'), err };
}

test('a valid interleaved trace of several connections passes with one line of output', async () => {
  const a = named('a', legalConversation(1, 'spec'));
  const b = named('b', legalConversation(2, 'ga'));
  const mixed = Array.from({ length: Math.max(a.length, b.length) }, (_, at) => [a[at], b[at]]).flat();
  const entries = mixed.filter((entry) => entry !== undefined);
  const frames = entries.filter((entry) => !('end' in entry)).length;
  const line = `${frames} frames of 2 connections: no violations\n`;
  expect(await traceCheck(text(entries))).toEqual({ exitCode: 0, out: line, err: '' });
  expect(await traceCheck(text(entries), { byStdin: true })).toEqual({ exitCode: 0, out: line, err: '' });
});

test('a violation is reported with its line, its rule and the source of the rule', async () => {
  const trace = legalConversation(3, 'spec', 600);
  const place = trace.findIndex(
    (entry) => 'frame' in entry && Object(entry.frame).type === 'input_audio_buffer.committed',
  );
  const entry = trace[place];
  if (entry === undefined || 'end' in entry) throw new Error('a trace without a commit');
  const wrong = { ...entry, frame: { ...Object(entry.frame), previous_item_id: 'item_other' } };
  const { exitCode, out } = await traceCheck(text(trace.with(place, wrong)));
  expect(exitCode).toBe(1);
  const head = `FILE:${place + 1}: item-chain (wire 8.5): frame ${place}: previous_item_id must be `;
  expect(out.split('\n')[0]?.startsWith(head), out).toBe(true);
  expect(out).toMatch(/frames of 1 connections: 1 violation\n$/);
});

test('an event that violates its schema is reported', async () => {
  const trace = legalConversation(4, 'spec', 0);
  const more = { from: 'server', frame: { type: 'error', event_id: 'event_x', error: 'none' } };
  const { exitCode, out } = await traceCheck(text([...trace.slice(0, -1), more]));
  expect(exitCode).toBe(1);
  expect(out).toContain(`FILE:${trace.length}: schema (wire 8.5): error: 'error' must be an object.`);
});

test('a conversation is checked with its own rules and schemas', async () => {
  const trace = await recorded('a spoken turn');
  const frames = trace.length - 1;
  const line = `${frames} frames of 1 connections: no violations\n`;
  expect(await traceCheck(text(trace))).toEqual({ exitCode: 0, out: line, err: '' });
  const place = trace.findIndex((entry) => 'frame' in entry && Object(entry.frame).type === 'response.done');
  const wrong = { from: 'server', frame: { ...Object(Object(trace[place]).frame), response: {} } } as const;
  const { exitCode, out } = await traceCheck(text(trace.with(place, wrong)));
  expect(exitCode).toBe(1);
  expect(out).toContain(`FILE:${place + 1}: conversation/response-known (talk 2.4): frame ${place}: `);
  expect(out).toContain(`FILE:${place + 1}: schema (talk 2.2): response.done: `);
});

test('invalid lines are reported, and the others are checked', async () => {
  const trace = text(legalConversation(5, 'ga'));
  const { exitCode, out } = await traceCheck(`{"from":"client"\n{"from":"nobody","frame":1}\n[]\n${trace}`);
  expect(exitCode).toBe(1);
  expect(out).toContain('FILE:1: not a trace entry: ');
  expect(out).toContain('FILE:2: not a trace entry: `from` must be "client" or "server"\n');
  expect(out).toContain('FILE:3: not a trace entry: must be a JSON object\n');
  expect(out).toContain(': 3 violations\n');
});

test('a large file is checked', async () => {
  const append = {
    from: 'client',
    frame: { type: 'input_audio_buffer.append', audio: 'AAAA'.repeat(200_000) },
  };
  const trace = legalConversation(6, 'spec', 0);
  const { exitCode, out } = await traceCheck(
    text([...trace.slice(0, -1), ...new Array(40).fill(append), { end: 'quiet' }]),
  );
  expect(out).toBe(`${trace.length - 1 + 40} frames of 1 connections: no violations\n`);
  expect(exitCode).toBe(0);
});

test.each([[[]], [['--help']], [['a', 'b']]])('invalid arguments %j are reported', async (args) => {
  const command = Bun.spawn([process.execPath, 'scripts/trace-check.ts', ...args], {
    cwd: ROOT,
    stderr: 'pipe',
  });
  expect(await command.exited).toBe(2);
  expect(await new Response(command.stderr).text()).toContain('Usage: bun run trace-check');
});

test('a missing file is reported', async () => {
  const command = Bun.spawn([process.execPath, 'scripts/trace-check.ts', join(folder, 'gone.jsonl')], {
    cwd: ROOT,
    stderr: 'pipe',
  });
  expect(await command.exited).toBe(1);
  expect(await new Response(command.stderr).text()).toContain('gone.jsonl');
});
