import { fetchEntries } from '../models/fetch.ts';
import { fetchHubFiles } from '../models/hub.ts';
import { hubPiper } from '../models/hub-reference.ts';
import { type CatalogEntry, catalog, catalogEntry, resolveModelFiles } from '../models/model-files.ts';
import { createProgress } from '../models/progress.ts';
import { ModelFetchError } from '../models/source-error.ts';
import { verifyEntries } from '../models/verify.ts';
import { type Config, loadConfig } from '../server/config.ts';
import type { ConfiguredModels } from '../src/contract/core/settings.ts';
import {
  enginesOfPlugins,
  entriesForModels,
  hubFilesForModels,
  modelsAtStart,
  outsideCatalog,
  piperVoiceEntries,
} from '../src/engines/embedded-models.ts';
import { describeModels, type ListedFiles } from '../src/engines/model-list.ts';

const USAGE = `Usage: bun run models <command>
  list              the models that the service can use: size, licence, model ids, whether they are on disk, memory
  fetch [name …]    download models, by model id of CONFIG or id of the list; without names those needed at the start
  verify [id …]     read and check every file of the catalog that is on disk; without ids all entries
  path <id>         paths of the files of a catalog entry`;

const config = loadConfig();
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
  for (const listed of await describeModels(configuredModels(config), config.plugins, config.modelsDir)) {
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
  const models = configuredModels(config);
  const atStart = modelsAtStart(models, config.requiredModels);
  const selected = names.map((name) => selectedFiles(name, models));
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
function selectedFiles(name: string, models: ConfiguredModels): SelectedFiles {
  const conversation = config.conversationModels.get(name);
  if (conversation !== undefined) {
    const parts = [conversation.stt, conversation.llm, conversation.tts].map((id) =>
      selectedFiles(id, models),
    );
    return {
      entries: [
        ...parts.flatMap(({ entries }) => entries),
        ...catalog.filter(({ role }) => role === 'vad' || role === 'turn-end'),
      ],
      hubFiles: parts.flatMap(({ hubFiles }) => hubFiles),
    };
  }
  const isNamed = ([id, settings]: readonly [string, object]) =>
    id === name || ('weights' in settings && settings.weights === name);
  const matching: ConfiguredModels = {
    tts: new Map(
      [...models.tts].filter(([id, settings]) => id === name || outsideCatalog(settings)?.weights === name),
    ),
    stt: new Map([...models.stt].filter(isNamed)),
    text: new Map([...models.text].filter(isNamed)),
    embed: new Map([...models.embed].filter(isNamed)),
  };
  const isConfigured = Object.values(matching).some((table) => table.size > 0);
  const voice = hubPiper(name);
  if (!isConfigured && voice !== undefined) return { entries: piperVoiceEntries(), hubFiles: [voice] };
  if (!isConfigured) return { entries: [catalogEntry(name)], hubFiles: [] };
  const entries = entriesForModels(matching).filter(({ role }) => role !== 'vad' && role !== 'turn-end');
  return { entries, hubFiles: hubFilesForModels(matching) };
}

function configuredModels({ ttsModels, sttModels, textModels, embedModels }: Config): ConfiguredModels {
  return { tts: ttsModels, stt: sttModels, text: textModels, embed: embedModels };
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
