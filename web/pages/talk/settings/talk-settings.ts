/** User settings of a conversation, and their conversion to a session. */

import type { SessionDefaults } from '../state/wire.ts';
import type { FunctionDefinition } from '../tools/example-tools.ts';
import { sessionTools } from '../tools/tool-list.ts';

export interface TalkSettings {
  /** Id of the conversation model; undefined until the models are listed. */
  readonly model: string | undefined;
  /** Whether the service detects the turns of the user, or the user holds a button. */
  readonly mode: 'hands_free' | 'push_to_talk';
  /** Empty for those of the model. */
  readonly instructions: string;
  /** Id of a stored voice; undefined for the voice of the model. */
  readonly voice: string | undefined;
  /** ISO 639-1 code; empty for automatic detection. */
  readonly language: string;
  /** How the end of a turn is detected; `default` is the detection of the model. */
  readonly detection: 'default' | 'semantic_vad' | 'server_vad';
  /** How soon the assistant answers, for `semantic_vad`. */
  readonly eagerness: 'auto' | 'low' | 'medium' | 'high';
  /** Names of the example functions that are on. */
  readonly exampleTools: readonly string[];
  /** Functions of the user. */
  readonly customTools: readonly FunctionDefinition[];
}

export const DEFAULT_SETTINGS: TalkSettings = {
  model: undefined,
  mode: 'hands_free',
  instructions: '',
  voice: undefined,
  language: '',
  detection: 'default',
  eagerness: 'auto',
  exampleTools: [],
  customTools: [],
};

/**
 * Returns the `session` of a `session.update`.
 * @param defaults settings of the model, which apply where the user has none.
 * @param rateHz sample rate of the microphone.
 */
export function sessionOf(settings: TalkSettings, defaults: SessionDefaults | undefined, rateHz: number) {
  const { instructions, voice, language, exampleTools, customTools } = settings;
  return {
    type: 'realtime',
    output_modalities: ['audio'],
    instructions: instructions.trim() === '' ? (defaults?.instructions ?? '') : instructions,
    tools: sessionTools(exampleTools, customTools),
    audio: {
      input: {
        format: { type: 'audio/pcm', rate: rateHz },
        transcription: { language: language === '' ? null : language },
        turn_detection: detectionOf(settings, defaults),
      },
      output: { ...(voice !== undefined && { voice }) },
    },
  };
}

function detectionOf({ mode, detection, eagerness }: TalkSettings, defaults: SessionDefaults | undefined) {
  if (mode === 'push_to_talk') return null;
  switch (detection) {
    case 'default':
      return defaults?.turnDetection ?? { type: 'server_vad' };
    case 'semantic_vad':
      return { type: detection, eagerness };
    case 'server_vad':
      return { type: detection };
  }
}
