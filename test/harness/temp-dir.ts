import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Path of an empty folder that is removed when the running test ends. */
export async function tempDir(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'voice-service-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}
