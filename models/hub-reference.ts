import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Secret } from '../src/contract/core/secret.ts';
import { isRecord } from '../src/kit/validation/is-record.ts';
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
/** A part of a model that is split into several files. */
const SPLIT_FILE = /-\d{5}-of-\d{5}\.gguf$/;

/** Files of a CTranslate2 checkpoint of Whisper that the engine reads. */
const CHECKPOINT_PATHS = ['config.json', 'model.bin', 'tokenizer.json'];

/**
 * Repositories of CTranslate2 checkpoints of Whisper, by the names of faster-whisper. Without the larger `large` models, whose
 * conversion to ONNX needs too much memory.
 */
const WHISPER_REPOSITORIES: Readonly<Record<string, string>> = {
  tiny: 'Systran/faster-whisper-tiny',
  'base.en': 'Systran/faster-whisper-base.en',
  small: 'Systran/faster-whisper-small',
  'small.en': 'Systran/faster-whisper-small.en',
  medium: 'Systran/faster-whisper-medium',
  'medium.en': 'Systran/faster-whisper-medium.en',
  'large-v3-turbo': 'mobiuslabsgmbh/faster-whisper-large-v3-turbo',
  'distil-small.en': 'Systran/faster-distil-whisper-small.en',
  'distil-medium.en': 'Systran/faster-distil-whisper-medium.en',
  'distil-large-v2': 'Systran/faster-distil-whisper-large-v2',
  'distil-large-v3': 'Systran/faster-distil-whisper-large-v3',
};

/** Repository of the voices of Piper, in a folder for each language, speaker and quality. */
const PIPER_REPOSITORY = 'rhasspy/piper-voices';
/** `de_DE-thorsten-medium`: language, region, speaker and quality. */
const PIPER_VOICE = /^([a-z]{2,3})_([A-Z]{2}|\d{3})-([A-Za-z0-9_]{1,64})-(x_low|low|medium|high)$/;
/** How the name of a Piper voice is written, for messages. */
export const PIPER_VOICE_RULE =
  'the name of a voice of rhasspy/piper-voices, LANGUAGE_REGION-NAME-QUALITY, such as de_DE-thorsten-medium, or the absolute path of a file such as /srv/voice.onnx and its settings in /srv/voice.onnx.json';

/** Names of Whisper weights that are downloaded from the hub. */
export const HUB_WHISPER_WEIGHTS: readonly string[] = Object.keys(WHISPER_REPOSITORIES);

/** Whether `weights` is a reference `hf:…`, valid or not. */
export function isHubReference(weights: string): boolean {
  return weights.startsWith(PREFIX);
}

/**
 * The file of `hf:owner/repository/file.gguf`; undefined if `weights` is not a reference.
 * @throws Error for an invalid reference.
 */
export function hubGguf(weights: string): HubFiles | undefined {
  if (!isHubReference(weights)) return undefined;
  const [, repository, path] = FILE.exec(weights) ?? [];
  if (repository === undefined || path === undefined || !path.toLowerCase().endsWith('.gguf')) {
    throw new Error('must be hf:owner/repository/file.gguf');
  }
  if (SPLIT_FILE.test(path)) {
    throw new Error('must not be a part of a split model; use a model with one GGUF file');
  }
  return { repository, paths: [path] };
}

/**
 * The files of a Whisper checkpoint: a name of faster-whisper or `hf:owner/repository`. Undefined for other weights.
 * @throws Error for an invalid reference.
 */
export function hubWhisper(weights: string): HubFiles | undefined {
  const named = WHISPER_REPOSITORIES[weights];
  if (named !== undefined) return { repository: named, paths: CHECKPOINT_PATHS };
  if (!isHubReference(weights)) return undefined;
  const repository = REPOSITORY.exec(weights)?.[1];
  if (repository !== undefined) return { repository, paths: CHECKPOINT_PATHS };
  throw new Error(
    `CONFIG: '${weights}' must be hf:owner/repository with a CTranslate2 checkpoint of Whisper.`,
  );
}

/** The parts of the name of a Piper voice. */
export interface PiperVoiceName {
  /** BCP 47 tag, such as `de-DE`. */
  readonly language: string;
  readonly speaker: string;
  readonly quality: string;
}

/** Parses a name such as `de_DE-thorsten-medium`; undefined for other texts. */
export function parsePiperVoice(voice: string): PiperVoiceName | undefined {
  const [, language, region, speaker, quality] = PIPER_VOICE.exec(voice) ?? [];
  if (language === undefined || region === undefined || speaker === undefined || quality === undefined) {
    return undefined;
  }
  return { language: `${language}-${region}`, speaker, quality };
}

/** Whether a text is the absolute path of the graph of a Piper voice. */
export function isPiperFile(voice: string): boolean {
  return voice.startsWith('/') && voice.endsWith('.onnx');
}

/** The files of a Piper voice of the hub; undefined for other texts. */
export function hubPiper(voice: string): HubFiles | undefined {
  const name = parsePiperVoice(voice);
  if (name === undefined) return undefined;
  const [language = ''] = name.language.split('-');
  const folder = `${language}/${name.language.replace('-', '_')}/${name.speaker}/${name.quality}`;
  return {
    repository: PIPER_REPOSITORY,
    paths: [`${folder}/${voice}.onnx`, `${folder}/${voice}.onnx.json`],
    optionalPaths: [piperCard(folder)],
  };
}

/** The description of a Piper voice, with its licence. */
function piperCard(folder: string): string {
  return `${folder}/MODEL_CARD`;
}

/** Longer licences in a card are prose. */
const MAX_LICENCE_CHARACTERS = 120;

/** The licence that the downloaded card of a Piper voice names; undefined without a card. */
export function piperLicence(
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
