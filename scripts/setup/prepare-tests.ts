import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import { loadConfig } from '../../server/config.ts';
import { sha256 } from '../../src/kit/storage/content-hash.ts';
import { buildSnapshot } from '../../src/sandbox/memory-snapshot.ts';
import { HAS_PIP, pythonPackages } from '../../tools/harness/clients/python.ts';
import { launchService } from '../../tools/harness/services/launcher.ts';
import { USER_CACHE } from '../../tools/harness/user-cache.ts';

/** The Python packages of the clients in the default tier. */
const REQUIREMENTS = [
  'test/clients/audio/openai/requirements.txt',
  'test/clients/containers/requirements.txt',
  'test/clients/guide/requirements.txt',
  'test/clients/text/requirements.txt',
  'tools/harness/clients/api-fuzz/requirements.txt',
];
/** Sources that determine the graphs that the first start converts, and the snapshot. */
const PREPARED_SOURCES =
  'src/{engines/{*/import/**,*/graphs/*},kit/storage/import-cache,sandbox/{memory-snapshot,program-runner}}.ts';

/**
 * Prepares what tests would otherwise prepare within their time limits: the Python packages of clients, the memory snapshot of Python,
 * and the graphs of the default models. To convert the graphs, it starts the service once. All results are in the user's cache.
 */
export async function prepareTests(root: string): Promise<string> {
  if (HAS_PIP) for (const path of REQUIREMENTS) await pythonPackages(join(root, path));
  const sources = [...new Glob(PREPARED_SOURCES).scanSync(root), 'src/models/catalog.json'].sort();
  const digest = sha256(sources.map((path) => readFileSync(join(root, path), 'utf8')).join('\0'));
  const stamp = join(USER_CACHE, 'converted-graphs', digest);
  if (existsSync(stamp)) return 'up to date';
  await buildSnapshot(loadConfig(process.env).modelsDir);
  const service = await launchService();
  await service.stop();
  mkdirSync(join(stamp, '..'), { recursive: true });
  writeFileSync(stamp, '');
  return 'prepared';
}
