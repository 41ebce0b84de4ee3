import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { unicodeHeader } from '../../native/unicode-tables.ts';

const committed = readFileSync(join(import.meta.dirname, '../../native/src/unicode_ranges.h'), 'utf8');
const version = `from Unicode ${process.versions.unicode};`;

// A newer engine has newer characters; the header is then regenerated on purpose, not because of a failing test.
test.skipIf(!committed.includes(version))('the Unicode tables are what their generator makes', () => {
  expect(unicodeHeader() === committed).toBe(true);
});
