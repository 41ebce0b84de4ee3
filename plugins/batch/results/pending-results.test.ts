import { expect, it } from 'vitest';
import { type LineResult, PendingResults } from './pending-results.ts';

const bytesOf = async (results: PendingResults, kind: LineResult['kind']) => {
  const pieces: Uint8Array[] = [];
  for await (const piece of results.bytesOf(kind)) pieces.push(piece);
  return { text: Buffer.concat(pieces).toString(), pieces: pieces.length };
};

it('returns the results as bytes in order and by kind, several lines or one long line per chunk', async () => {
  const results = new PendingResults();
  const short = Array.from({ length: 3000 }, (_, at) => `{"line":${at},"of":"Grüße €🙂"}\n`);
  const long = `${'x€'.repeat(300_000)}\n`;
  const outputs = [...short, long, ...short, 'last\n'];
  for (const text of outputs) results.add({ kind: 'output', text, bills: [] });
  expect(await bytesOf(results, 'error')).toEqual({ text: '', pieces: 0 });
  results.add({ kind: 'error', text: 'e\n', bills: [] });
  const output = await bytesOf(results, 'output');
  expect(output.text).toBe(outputs.join(''));
  expect(output.pieces).toBeLessThan(10);
  expect(await bytesOf(results, 'error')).toEqual({ text: 'e\n', pieces: 1 });
  expect([results.lines, results.countOf('output'), results.countOf('error')]).toEqual([6003, 6002, 1]);
  expect(results.lengthBytes).toBe(Buffer.byteLength(outputs.join('')) + 2);
});
