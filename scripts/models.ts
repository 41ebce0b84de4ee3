import { loadConfigAndPlugins } from '../server/config.ts';
import { modelTables, type NeededFiles } from '../src/engines/family.ts';
import { describeModels, type ListedFiles } from '../src/engines/model-list.ts';
import {
  enginesOfPlugins,
  entriesForModels,
  filesNamed,
  filesOf,
  hubFilesForModels,
  modelsAtStart,
  modelsOf,
} from '../src/engines/needed-files.ts';
import { fetchEntries } from '../src/models/fetch.ts';
import { fetchHubFiles } from '../src/models/hub.ts';
import {
  type CatalogEntry,
  catalog,
  catalogEntry,
  entriesForEngines,
  resolveModelFiles,
} from '../src/models/model-files.ts';
import { createProgress } from '../src/models/progress.ts';
import { ModelFetchError } from '../src/models/source-error.ts';
import { verifyEntries } from '../src/models/verify.ts';

const USAGE = `Usage: bun run models <command>
  list              the models that the service can use: size, licence, model ids, whether they are on disk, memory
  fetch [name …]    download models, by model id of CONFIG or id of the list; without names those needed at the start
  verify [id …]     read and check every file of the catalog that is on disk; without ids all entries
  path <id>         paths of the files of a catalog entry`;

const { config } = await loadConfigAndPlugins();
const { models: tables } = config;
const stop = new AbortController();
const onSignal = () =>
  stop.abort(new Error('Stopped. Partial downloads are kept and resumed by the next fetch.'));
process.once('SIGINT', onSignal);
process.once('SIGTERM', onSignal);

/** @returns the exit code. */
async function main([command, ...names]: readonly string[]): Promise<number> {
  const { modelsDir } = config;
  switch (command) {
    case 'list':
      return await list();
    case 'fetch':
      return await fetchModels(names);
    case 'verify':
      return await verify(modelsDir, names.length > 0 ? names.map(catalogEntry) : catalog);
    case 'path': {
      const [id, ...more] = names;
      if (id === undefined || more.length > 0) return usage();
      for (const [name, path] of Object.entries(resolveModelFiles(modelsDir, id)))
        console.log(`${name}\t${path}`);
      return 0;
    }
    default:
      return usage();
  }
}

async function list(): Promise<number> {
  for (const listed of await describeModels(tables, config.plugins, config.modelsDir)) {
    console.log(lineOf(listed));
  }
  return 0;
}

function lineOf({ id, source, bytes, licence, usedBy, isOnDisk, memoryBytes }: ListedFiles): string {
  const size = bytes === undefined ? 'size unknown until downloaded' : megabytes(bytes);
  const memory =
    memoryBytes === undefined ? '' : `; memory ${memoryBytes.map(megabytes).join(' + KV cache ')}`;
  return [
    `${id}: ${size}; ${licence ?? 'licence of the repository'}; ${isOnDisk ? 'on disk' : 'not on disk'}`,
    `  used by ${usedBy.length > 0 ? usedBy.join(', ') : 'no configured model'}${memory}`,
    `  ${source}`,
  ].join('\n');
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

async function fetchModels(names: readonly string[]): Promise<number> {
  const { modelsDir, hub } = config;
  const atStart = modelsAtStart(tables, config.requiredModels);
  const selected = names.map(selectedFiles);
  const entries =
    names.length > 0
      ? [...new Set(selected.flatMap(({ entries }) => entries))]
      : entriesForModels(atStart, enginesOfPlugins(config.plugins));
  const hubFiles = names.length > 0 ? selected.flatMap((each) => each.hubFiles) : hubFilesForModels(atStart);
  const options = { signal: stop.signal, progress: createProgress(process.stderr), hub };
  let count = await fetchEntries(modelsDir, entries, options);
  for (const files of hubFiles) count += await fetchHubFiles(modelsDir, files, options);
  console.log(
    `${entries.length + hubFiles.length} models are in ${modelsDir}; ${count} files were downloaded.`,
  );
  return 0;
}

interface SelectedFiles {
  readonly entries: readonly CatalogEntry[];
  readonly hubFiles: ReturnType<typeof hubFilesForModels>;
}

/** The files of a model id of CONFIG, of weights of CONFIG, or of a catalog entry. @throws Error for an unknown name. */
function selectedFiles(name: string): SelectedFiles {
  const conversation = tables.conversation.get(name);
  if (conversation !== undefined) {
    const parts = [conversation.stt, conversation.llm, conversation.tts].map(selectedFiles);
    return {
      entries: [...parts.flatMap(({ entries }) => entries), ...entriesForModels(modelTables({}))],
      hubFiles: parts.flatMap(({ hubFiles }) => hubFiles),
    };
  }
  const all = modelsOf(tables);
  const models = all.filter(({ id, settings }) => id === name || settings.weights === name);
  if (models.length > 0) return selected(models.map(filesOf));
  const named = filesNamed(name) ?? all.map(filesOf).find(({ outside }) => outside?.weights === name);
  return named === undefined ? { entries: [catalogEntry(name)], hubFiles: [] } : selected([named]);
}

function selected(files: readonly NeededFiles[]): SelectedFiles {
  const hub = files.flatMap(({ outside }) => outside?.hub ?? []);
  return {
    entries: entriesForEngines(files.flatMap(({ catalog: engines }) => engines)),
    hubFiles: [...new Map(hub.map((each) => [`${each.repository} ${each.paths.join(' ')}`, each])).values()],
  };
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
