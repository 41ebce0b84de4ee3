import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../../shared/audio');

/** Path of a real recording beside the repository; skips the test in a checkout that has none. */
export function recording(context: TestContext, name: string): string {
  const path = join(FOLDER, name);
  if (!existsSync(path)) context.skip(`needs ${name} in ../shared/audio`);
  return path;
}
