/**
 * Builds the console in web/ to .cache/console if its sources have changed. File names contain a content
 * hash; the service serves the files (src/http/routes/console.ts).
 *
 * - bun scripts/build-console.ts            builds if necessary
 * - bun scripts/build-console.ts --watch    also rebuilds on every change
 */

import { existsSync, readdirSync, readFileSync, watch } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { BunPlugin } from 'bun';
import { CONSOLE_FOLDER } from '../src/http/routes/console.ts';
import { sha256 } from '../src/kit/storage/content-hash.ts';

const ROOT = join(import.meta.dirname, '..');
const WEB = join(ROOT, 'web');
const STAMP = 'stamp';

/** A file of the built console. */
interface BuiltFile {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Ensures that the built console is up to date.
 * @returns false if it already was.
 * @throws Error with the messages of the bundler.
 */
export async function buildConsole(): Promise<boolean> {
  const stamp = inputDigest();
  const stampPath = join(CONSOLE_FOLDER, STAMP);
  if (existsSync(stampPath) && readFileSync(stampPath, 'utf8') === stamp) return false;
  const files = await bundle();
  // Built next to its final place, so that a running service never finds an incomplete build.
  const fresh = `${CONSOLE_FOLDER}.new`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { recursive: true });
  for (const { name, bytes } of files) {
    await Bun.write(join(fresh, name), bytes);
    if (/\.(css|js)$/.test(name))
      await Bun.write(join(fresh, `${name}.gz`), Bun.gzipSync(bytes, { level: 9 }));
  }
  await Bun.write(join(fresh, STAMP), stamp);
  await rm(CONSOLE_FOLDER, { recursive: true, force: true });
  await rename(fresh, CONSOLE_FOLDER);
  return true;
}

/** Digest of the sources, the packages and the bundler. */
function inputDigest(): string {
  const sources = readdirSync(WEB, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const inputs = [join(ROOT, 'bun.lock'), import.meta.filename, ...sources];
  const digests = inputs.map((path) => `${relative(ROOT, path)} ${sha256(readFileSync(path))}`);
  return sha256([Bun.version, ...digests].join('\n'));
}

async function bundle(): Promise<BuiltFile[]> {
  const scripts = await separateScripts();
  const outputs = await build([join(WEB, 'index.html')], {
    splitting: true,
    plugins: [scriptAddresses(scripts)],
  });
  const files = await Promise.all(
    outputs.map(async (output) => ({
      name: basename(output.path),
      bytes: new Uint8Array(await output.arrayBuffer()),
    })),
  );
  return [...withOneStyle(files), ...scripts.values()];
}

async function build(
  entrypoints: string[],
  more: Partial<Bun.BuildConfig> = {},
): Promise<Bun.BuildArtifact[]> {
  const { outputs } = await Bun.build({
    entrypoints,
    target: 'browser',
    minify: true,
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
    ...more,
  });
  return outputs;
}

/**
 * Returns the page with one style sheet for all pages: the bundler creates one per lazily loaded script, but
 * no code that loads it. The page is served one level above its files.
 */
function withOneStyle(files: readonly BuiltFile[]): BuiltFile[] {
  const page = textOf(files.find(({ name }) => name === 'index.html'));
  const linked = /href="\.\/([^"]+\.css)"/.exec(page)?.[1] ?? '';
  const styles = files.filter(({ name }) => name.endsWith('.css'));
  const first = styles.find(({ name }) => name === linked);
  const others = styles.filter((style) => style !== first);
  const style = encoded([first, ...others].map(textOf).join('\n'));
  const styleName = `index-${sha256(style).slice(0, 8)}.css`;
  const html = page.replace(linked, styleName).replaceAll(/(src|href)="\.\//g, '$1="./console/');
  return [
    ...files.filter((file) => file.name !== 'index.html' && !styles.includes(file)),
    { name: styleName, bytes: style },
    { name: 'index.html', bytes: encoded(html) },
  ];
}

function textOf(file: BuiltFile | undefined): string {
  if (file === undefined) throw new Error('the bundler created no page or no style sheet');
  return new TextDecoder().decode(file.bytes);
}

function encoded(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Scripts that the browser loads in addition to the page, by path. Built before the page, because builds cannot be nested. */
async function separateScripts(): Promise<ReadonlyMap<string, BuiltFile>> {
  const paths = readdirSync(WEB, { recursive: true, encoding: 'utf8' })
    .filter((path) => /-(worklet|worker)\.ts$/.test(path))
    .map((path) => join(WEB, path));
  const scripts = paths.map(async (path) => {
    const [output] = await build([path]);
    if (output === undefined) throw new Error(`${path} resulted in no output`);
    const bytes = new Uint8Array(await output.arrayBuffer());
    const name = `${basename(path, '.ts')}-${sha256(bytes).slice(0, 8)}.js`;
    return [path, { name, bytes }] as const;
  });
  return new Map(await Promise.all(scripts));
}

/** `import address from './x-worklet.ts?url'` resolves to the URL of a separate script. */
function scriptAddresses(scripts: ReadonlyMap<string, BuiltFile>): BunPlugin {
  return {
    name: 'script-addresses',
    setup(builder) {
      builder.onResolve({ filter: /\?url$/ }, ({ path, importer }) => ({
        path: join(dirname(importer), path.slice(0, -'?url'.length)),
        namespace: 'script-address',
      }));
      builder.onLoad({ filter: /.*/, namespace: 'script-address' }, ({ path }) => {
        const script = scripts.get(path);
        if (script === undefined)
          throw new Error(`${path}: the name of a separate script must end with -worklet.ts or -worker.ts`);
        const contents = `export default new URL(${JSON.stringify(`./${script.name}`)}, import.meta.url).href;`;
        return { contents, loader: 'js' };
      });
    },
  };
}

async function buildOnce(): Promise<void> {
  const startMs = performance.now();
  try {
    const outcome = (await buildConsole()) ? 'built' : 'up to date';
    process.stderr.write(`console: ${outcome} (${((performance.now() - startMs) / 1000).toFixed(2)} s)\n`);
  } catch (error) {
    process.stderr.write(`console: ${messageOf(error)}\n`);
    process.exitCode = 1;
  }
}

/** The error messages of the bundler with their positions, otherwise the message of the error. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(String).join('\n');
  return error instanceof Error ? error.message : String(error);
}

if (import.meta.main) {
  await buildOnce();
  if (process.argv.includes('--watch')) {
    let building = Promise.resolve();
    let wanted = false;
    // Changes in quick succession cause one build.
    watch(WEB, { recursive: true }, () => {
      if (wanted) return;
      wanted = true;
      building = building.then(() => {
        wanted = false;
        return buildOnce();
      });
    });
  }
}
