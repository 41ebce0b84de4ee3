import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { unicodeHeader } from '../../native/unicode-tables.ts';

const committed = readFileSync(join(import.meta.dirname, '../../native/src/unicode_ranges.h'), 'utf8');
const version = `from Unicode ${process.versions.unicode};`;

// Skipped for another Unicode version of the runtime: the header is updated separately.
test.skipIf(!committed.includes(version))('the Unicode tables match the output of their generator', () => {
  expect(unicodeHeader() === committed).toBe(true);
});
