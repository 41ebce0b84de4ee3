import { fetchEntries, ModelFetchError } from '../models/fetch.ts';
import { type CatalogEntry, catalog, catalogEntry, resolveModelFiles } from '../models/model-files.ts';
import { createProgress } from '../models/progress.ts';
import { verifyEntries } from '../models/verify.ts';
import { loadConfig } from '../src/config/config.ts';
import { enginesOfPlugins, entriesForModels } from '../src/engines/embedded-models.ts';

const USAGE = `Usage: bun run models <command>
  list            every entry of the manifest, with size, licence and whether its files are in the cache
  fetch [id …]    bring entries into the cache; without ids those that the configured models need
  verify [id …]   read and check every file that is there; without ids all entries
  path <id>       where an entry's files lie`;

const config = loadConfig();
const stop = new AbortController();
const onSignal = () =>
  stop.abort(new Error('Stopped. Partial downloads are kept and resumed by the next fetch.'));
process.once('SIGINT', onSignal);
process.once('SIGTERM', onSignal);

/** @returns the exit code. */
async function main([command, ...ids]: readonly string[]): Promise<number> {
  const { modelsDir } = config;
  switch (command) {
    case 'list':
      return await list(modelsDir);
    case 'fetch': {
      const { ttsModels: tts, sttModels: stt, textModels: text, embedModels: embed } = config;
      const configured = entriesForModels({ tts, stt, text, embed }, enginesOfPlugins(config.plugins));
      const entries = ids.length > 0 ? ids.map(catalogEntry) : configured;
      const progress = createProgress(process.stderr);
      const count = await fetchEntries(modelsDir, entries, { signal: stop.signal, progress });
      console.log(`${entries.length} entries are in ${modelsDir}; ${count} files were fetched.`);
      return 0;
    }
    case 'verify':
      return await verify(modelsDir, ids.length > 0 ? ids.map(catalogEntry) : catalog);
    case 'path': {
      const [id, ...more] = ids;
      if (id === undefined || more.length > 0) return usage();
      for (const [name, path] of Object.entries(resolveModelFiles(modelsDir, id)))
        console.log(`${name}\t${path}`);
      return 0;
    }
    default:
      return usage();
  }
}

async function list(modelsDir: string): Promise<number> {
  for (const entry of catalog) {
    const bytes = entry.files.reduce((sum, file) => sum + file.bytes, 0);
    const size = `${(bytes / 1e6).toFixed(1)} MB`;
    const files = entry.files.length === 1 ? '1 file' : `${entry.files.length} files`;
    console.log(
      `${entry.id}: ${entry.role} for ${entry.engines.join(', ')}; ${files}, ${size}; ${entry.licence}`,
    );
    console.log(`  ${entry.upstream.name} (${entry.upstream.home})`);
    console.log(`  ${isPresent(modelsDir, entry) ? 'in the cache' : 'not in the cache'}`);
  }
  return 0;
}

function isPresent(modelsDir: string, entry: CatalogEntry): boolean {
  try {
    resolveModelFiles(modelsDir, entry.id);
    return true;
  } catch {
    return false;
  }
}

async function verify(modelsDir: string, entries: readonly CatalogEntry[]): Promise<number> {
  const states = await verifyEntries(modelsDir, entries, stop.signal);
  const corrupt = states.filter((found) => found.state === 'corrupt');
  for (const { entry, file, path, detail } of corrupt) {
    console.log(`corrupt: ${file.name} of ${entry.id}: ${detail} (${path})`);
  }
  const missing = states.filter((found) => found.state === 'missing').length;
  console.log(
    `${states.length - corrupt.length - missing} good, ${corrupt.length} corrupt, ${missing} not in the cache.`,
  );
  if (corrupt.length > 0)
    console.log('`bun run models fetch` with the id of an entry fetches its corrupt files again.');
  return corrupt.length > 0 ? 1 : 0;
}

function usage(): number {
  console.error(USAGE);
  return 2;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Error)) throw error;
  console.error(
    error instanceof ModelFetchError || stop.signal.aborted
      ? error.message
      : `${error.name}: ${error.message}`,
  );
  process.exitCode = 1;
}
