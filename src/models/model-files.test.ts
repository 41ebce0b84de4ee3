import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Value } from '@sinclair/typebox/value';
import { describe, expect, test } from 'vitest';
import { tempDir } from '../../test/harness/temp-dir.ts';
import catalogJson from './catalog.json' with { type: 'json' };
import {
  CatalogSchema,
  cachedFilePath,
  catalog,
  catalogEntry,
  entriesForEngines,
  memberOf,
  resolveModelFiles,
} from './model-files.ts';

describe('the manifest', () => {
  test('matches its schema: a sha256 has 64 hex digits and a licence is present', () => {
    expect([...Value.Errors(CatalogSchema, catalogJson)]).toEqual([]);
    const broken = structuredClone(catalogJson);
    const file = broken[0]?.files[0];
    if (file === undefined) throw new Error('The manifest is empty.');
    file.sha256 = file.sha256.slice(1);
    expect(Value.Check(CatalogSchema, broken)).toBe(false);
  });

  test('has unique ids, and unique file names within an entry', () => {
    expect(new Set(catalog.map((entry) => entry.id)).size).toBe(catalog.length);
    for (const entry of catalog) {
      expect(new Set(entry.files.map((file) => file.name)).size, entry.id).toBe(entry.files.length);
    }
  });

  test.each(catalog.map((entry) => [entry.id, entry] as const))(
    '%s has a package and an upstream source',
    (id, entry) => {
      // These files are not published anywhere else.
      const kinds = ['all-minilm-l6-v2-int8', 'unidic-lite'].includes(id) ? ['package'] : ['package', 'url'];
      expect(entry.sources.map((source) => source.kind)).toEqual(kinds);
      for (const source of entry.sources) {
        if (source.kind === 'url') {
          expect(source.url).toMatch(/^https:\/\//);
          if (entry.files.length > 1) expect(source.url).toContain('{name}');
          continue;
        }
        const members = source.parts.flatMap((part) => entry.files.map((file) => memberOf(part, file) ?? []));
        expect(new Set(members.flat()).size).toBe(members.flat().length);
        for (const file of entry.files) expect(source.parts.some((part) => memberOf(part, file))).toBe(true);
      }
    },
  );

  test('contains the measured properties of the models', () => {
    const model = catalogEntry('kokoro-82m-int8').files[0];
    expect(model).toMatchObject({
      bytes: 92_361_271,
      sha256: '6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb',
    });
    const voices = catalogEntry('kokoro-voices').files;
    expect(voices).toHaveLength(54);
    // f32[510][256]
    expect(voices.every((voice) => voice.bytes === 510 * 256 * 4)).toBe(true);
  });

  test('lists the entries of each engine, of the tests and of the benchmarks', () => {
    expect(entriesForEngines(['kokoro']).map((entry) => entry.id)).toEqual([
      'kokoro-82m-int8',
      'kokoro-vocabulary',
      'kokoro-voices',
      'misaki-en-us',
      'misaki-en-gb',
      'unidic-lite',
      'misaki-ja',
    ]);
    expect(entriesForEngines(['upstream'])).toEqual([]);
    const benchmarks = ['kokoro', 'piper', 'whisper-base', 'whisper-tiny.en'];
    expect(entriesForEngines(['bench'])).toEqual(entriesForEngines(benchmarks));
    const tests = [...benchmarks, 'llama-smollm2-135m-instruct', 'minilm', 'resemblyzer'];
    expect(entriesForEngines(['test'])).toEqual(entriesForEngines(tests));
    expect(entriesForEngines(['whisper-base', 'silero']).map((entry) => entry.id)).toEqual([
      'whisper-base-ct2',
      'silero-vad',
    ]);
  });
});

describe('resolveModelFiles', () => {
  const id = 'kokoro-vocabulary';
  const [file] = catalogEntry(id).files;
  if (file === undefined) throw new Error('The entry has no file.');

  test('returns the path of each file by name', async () => {
    const dir = await tempDir();
    const path = cachedFilePath(dir, file.sha256);
    await mkdir(dirname(path));
    await writeFile(path, new Uint8Array(file.bytes));
    expect(resolveModelFiles(dir, id)).toEqual({ 'config.json': path });
    await truncate(path, 10);
    expect(() => resolveModelFiles(dir, id)).toThrow(
      /config\.json of 'kokoro-vocabulary' has 10 bytes instead of 2351/,
    );
  });

  test('the error for a missing file contains its name and the fetch command', async () => {
    const dir = await tempDir();
    expect(() => resolveModelFiles(dir, id)).toThrow(/is missing .*bun run models fetch kokoro-vocabulary/);
  });

  test('the error for an unknown id lists the known ids', () => {
    expect(() => resolveModelFiles('/', 'nope')).toThrow(/Unknown model entry 'nope'.*kokoro-82m-int8/);
  });
});
