/** The voices of Piper: the one of the model catalog, those of the model hub, and files of the operator. */

import { StartError } from '../../contract/core/error.ts';
import type { HubFiles } from '../../models/hub-reference.ts';
import { DEFAULT_PIPER_VOICE } from './default-voice.ts';

/** Repository of the voices, in a folder for each language, speaker and quality. */
const REPOSITORY = 'rhasspy/piper-voices';
/** `de_DE-thorsten-medium`: language, region, speaker and quality. */
const VOICE = /^([a-z]{2,3})_([A-Z]{2}|\d{3})-([A-Za-z0-9_]{1,64})-(x_low|low|medium|high)$/;
/** How the name of a voice is written, for messages. */
const PIPER_VOICE_RULE =
  'the name of a voice of rhasspy/piper-voices, LANGUAGE_REGION-NAME-QUALITY, such as de_DE-thorsten-medium, or the absolute path of a file such as /srv/voice.onnx and its settings in /srv/voice.onnx.json';

/** The parts of the name of a voice. */
export interface PiperVoiceName {
  /** BCP 47 tag, such as `de-DE`. */
  readonly language: string;
  readonly speaker: string;
  readonly quality: string;
}

/** Parses a name such as `de_DE-thorsten-medium`; undefined for other texts. */
export function parsePiperVoice(voice: string): PiperVoiceName | undefined {
  const [, language, region, speaker, quality] = VOICE.exec(voice) ?? [];
  if (language === undefined || region === undefined || speaker === undefined || quality === undefined) {
    return undefined;
  }
  return { language: `${language}-${region}`, speaker, quality };
}

/** Whether a text is the absolute path of the graph of a voice. */
export function isPiperFile(voice: string): boolean {
  return voice.startsWith('/') && voice.endsWith('.onnx');
}

/** The files of a voice, with the card that names its licence; undefined for other texts. */
export function hubPiper(voice: string): HubFiles | undefined {
  const name = parsePiperVoice(voice);
  if (name === undefined) return undefined;
  const [language = ''] = name.language.split('-');
  const folder = `${language}/${name.language.replace('-', '_')}/${name.speaker}/${name.quality}`;
  return {
    repository: REPOSITORY,
    paths: [`${folder}/${voice}.onnx`, `${folder}/${voice}.onnx.json`],
    optionalPaths: [`${folder}/MODEL_CARD`],
  };
}

/** @throws StartError for an unknown voice. Whether a file exists is checked when it is loaded. */
export function requirePiperVoice(voice: string): void {
  if (voice === DEFAULT_PIPER_VOICE || isPiperFile(voice) || hubPiper(voice) !== undefined) return;
  throw new StartError(
    `CONFIG: unknown voice '${voice}' for piper. Allowed: ${DEFAULT_PIPER_VOICE}, ${PIPER_VOICE_RULE}.`,
  );
}
