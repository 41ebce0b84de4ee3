import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import catalogJson from './catalog.json' with { type: 'json' };

const strict = { additionalProperties: false } as const;
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const ByteCount = Type.Integer({ minimum: 1, maximum: 2 ** 40 });
/** Path inside an archive, or a URL. `{name}` is replaced by the file name. */
const Template = Type.String({ minLength: 1 });

const ModelFileSchema = Type.Object(
  { name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$' }), bytes: ByteCount, sha256: Sha256 },
  strict,
);

const PackagePartSchema = Type.Object(
  {
    ecosystem: Type.Union([Type.Literal('pypi'), Type.Literal('npm')]),
    name: Type.String({ pattern: '^(@[a-z0-9-]+/)?[A-Za-z0-9][A-Za-z0-9._-]*$' }),
    version: Type.String({ pattern: '^[0-9][0-9A-Za-z.+-]*$' }),
    bytes: ByteCount,
    sha256: Sha256,
    /** The package of PyPI is published as a source archive only. pip runs its setup script to read the metadata. */
    isSource: Type.Optional(Type.Literal(true)),
    /**
     * One path template for all files, or a path for each file that the archive contains. Absent: the file is the archive
     * itself.
     */
    member: Type.Optional(Type.Union([Template, Type.Record(Type.String(), Template)])),
  },
  strict,
);

const SourceSchema = Type.Union([
  Type.Object(
    { kind: Type.Literal('package'), parts: Type.Array(PackagePartSchema, { minItems: 1 }) },
    strict,
  ),
  Type.Object({ kind: Type.Literal('url'), url: Template }, strict),
]);

/** Schema of src/models/catalog.json. */
export const CatalogSchema = Type.Array(
  Type.Object(
    {
      id: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]*$' }),
      role: Type.String({ minLength: 1 }),
      engines: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
      licence: Type.String({ minLength: 1 }),
      upstream: Type.Object(
        { name: Type.String({ minLength: 1 }), home: Type.String({ pattern: '^https://' }) },
        strict,
      ),
      files: Type.Array(ModelFileSchema, { minItems: 1 }),
      sources: Type.Array(SourceSchema, { minItems: 1 }),
    },
    strict,
  ),
);

/** One file of a model, verified by its sha256 regardless of its source. */
export type ModelFile = Static<typeof ModelFileSchema>;
/** One archive of a package index, and the path of the file (or of a part of it) within the archive. */
export type PackagePart = Static<typeof PackagePartSchema>;
/** A source of the files of an entry. If several archives of a package contain parts of a file, they are joined in order. */
export type ModelSource = Static<typeof SourceSchema>;
/** A set of files that belong together: a model, a set of voices, a dictionary. */
export type CatalogEntry = Static<typeof CatalogSchema>[number];

/** The manifest of every model file (src/models/catalog.json). */
export const catalog: readonly CatalogEntry[] = Value.Parse(CatalogSchema, catalogJson);

/** The member of a file that is the archive itself. */
const WHOLE_ARCHIVE = '.';

/**
 * Path of a file (or of a part of it) inside an archive, or {@link WHOLE_ARCHIVE}; undefined if the archive does not
 * contain it.
 */
export function memberOf(part: PackagePart, file: ModelFile): string | undefined {
  if (part.member === undefined) return WHOLE_ARCHIVE;
  if (typeof part.member === 'string') return part.member.replace('{name}', file.name);
  return part.member[file.name];
}

/** The entry with an id. @throws Error that lists the known ids. */
export function catalogEntry(id: string): CatalogEntry {
  const entry = catalog.find((candidate) => candidate.id === id);
  if (entry !== undefined) return entry;
  const known = catalog.map((candidate) => candidate.id).join(', ');
  throw new Error(`Unknown model entry '${id}'. Known entries: ${known}.`);
}

/** The entries that engines of these kinds (`kokoro`, `piper`, …) need, in the order of the manifest. */
export function entriesForEngines(kinds: Iterable<string>): CatalogEntry[] {
  const wanted = new Set(kinds);
  return catalog.filter((entry) => entry.engines.some((engine) => wanted.has(engine)));
}

/**
 * The ends of the engine names in the manifest that start with a prefix, in its order: the weights of a family, such as `base` of
 * `whisper-base`.
 */
export function engineSuffixes(prefix: string): readonly string[] {
  const names = catalog.flatMap(({ engines }) => engines).filter((name) => name.startsWith(prefix));
  return names.map((name) => name.slice(prefix.length));
}

/** Path of a file in the content-addressed cache. */
export function cachedFilePath(modelsDir: string, sha256: string): string {
  return join(modelsDir, 'sha256', sha256);
}

/**
 * Absolute paths of an entry's files by name. Only sizes are checked here; the setup before the start of the service has
 * verified the sha256 of every file.
 * @throws Error that contains the missing or damaged file and the command that fetches it.
 */
export function resolveModelFiles(modelsDir: string, entryId: string): Readonly<Record<string, string>> {
  const paths: Record<string, string> = {};
  for (const file of catalogEntry(entryId).files) {
    const path = cachedFilePath(modelsDir, file.sha256);
    const bytes = statSync(path, { throwIfNoEntry: false })?.size;
    if (bytes !== file.bytes) {
      const found = bytes === undefined ? 'is missing' : `has ${bytes} bytes instead of ${file.bytes}`;
      throw new Error(
        `Model file ${file.name} of '${entryId}' ${found} (${path}). Run \`bun run models fetch ${entryId}\`.`,
      );
    }
    paths[file.name] = path;
  }
  return paths;
}
