import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MIGRATIONS } from './migrations.ts';

const folder = new URL('./migrations/', import.meta.url);

test('the list has the migration of each file at its number', async () => {
  const files = readdirSync(folder).toSorted();
  expect(files.map((file) => Number(file.slice(0, 4)))).toEqual(files.map((_, at) => at + 1));
  for (const [at, file] of files.entries()) {
    const content: Readonly<Record<string, unknown>> = await import(new URL(file, folder).href);
    const name = file.slice(5, -3).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    expect(MIGRATIONS[at], file).toBe(content[name]);
  }
  expect(MIGRATIONS).toHaveLength(files.length);
});
