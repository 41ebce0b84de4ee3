import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Secret } from '../contract/core/secret.ts';
import { isRecord } from '../kit/validation/is-record.ts';
import { cachedFilePath, type ModelFile } from './model-files.ts';

export const DEFAULT_HUB_ENDPOINT = 'https://huggingface.co';

/** The server of references `hf:…`. */
export interface HubSettings {
  /** Without a slash at the end. */
  readonly endpoint: string;
  readonly token: Secret | undefined;
}

/** Files of a repository of the model hub. */
export interface HubFiles {
  /** `owner/name`. */
  readonly repository: string;
  /** Paths inside the repository. */
  readonly paths: readonly string[];
  /** Paths of files that the model works without. Absent: none. */
  readonly optionalPaths?: readonly string[];
}

const PREFIX = 'hf:';
/** A part of a path: no `.` at the start, so that `..` is not possible. */
const PART = '[A-Za-z0-9_][A-Za-z0-9._-]{0,127}';
const REPOSITORY = new RegExp(`^hf:(${PART}/${PART})$`);
const FILE = new RegExp(`^hf:(${PART}/${PART})/(${PART}(?:/${PART}){0,4})$`);
/** Whether `weights` is a reference `hf:…`, valid or not. */
export function isHubReference(weights: string): boolean {
  return weights.startsWith(PREFIX);
}

/** The repository of `hf:owner/repository`; undefined for other texts. */
export function hubRepository(reference: string): string | undefined {
  return REPOSITORY.exec(reference)?.[1];
}

/** The repository and the path of `hf:owner/repository/path`; undefined for other texts. */
export function hubFile(
  reference: string,
): { readonly repository: string; readonly path: string } | undefined {
  const [, repository, path] = FILE.exec(reference) ?? [];
  return repository === undefined || path === undefined ? undefined : { repository, path };
}

/** Longer licences in a card are prose. */
const MAX_LICENCE_CHARACTERS = 120;

/** The licence that the downloaded card of a model names, its first optional file; undefined without a card. */
export function hubLicence(
  modelsDir: string,
  { repository, optionalPaths = [] }: HubFiles,
): string | undefined {
  const [card] = optionalPaths;
  const path = card && resolveHubFiles(modelsDir, { repository, paths: [card] })?.[card];
  const text = path && readFileSync(path, 'utf8');
  const licence = text && /^[\s*-]*licen[cs]e\s*:\s*(\S.*)$/im.exec(text)?.[1];
  return licence ? licence.trim().slice(0, MAX_LICENCE_CHARACTERS) : undefined;
}

/** Path of the record with size and checksum of a file that was downloaded from the hub. */
export function hubRecordPath(modelsDir: string, repository: string, path: string): string {
  return join(modelsDir, 'hub', repository, `${path}.json`);
}

/** Size and checksum of a file that was downloaded from the hub; undefined if there is no valid record. */
export function hubRecord(modelsDir: string, repository: string, path: string): ModelFile | undefined {
  try {
    const record: unknown = JSON.parse(readFileSync(hubRecordPath(modelsDir, repository, path), 'utf8'));
    if (!isRecord(record)) return undefined;
    const { bytes, sha256 } = record;
    if (typeof bytes !== 'number' || typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) {
      return undefined;
    }
    return { name: path, bytes, sha256 };
  } catch {
    return undefined;
  }
}

/**
 * Absolute paths of downloaded files by their path in the repository. Only sizes are checked.
 * @returns undefined if a file is missing.
 */
export function resolveHubFiles(
  modelsDir: string,
  { repository, paths }: HubFiles,
): Readonly<Record<string, string>> | undefined {
  const found: Record<string, string> = {};
  for (const path of paths) {
    const record = hubRecord(modelsDir, repository, path);
    if (record === undefined) return undefined;
    const cached = cachedFilePath(modelsDir, record.sha256);
    if (statSync(cached, { throwIfNoEntry: false })?.size !== record.bytes) return undefined;
    found[path] = cached;
  }
  return found;
}
