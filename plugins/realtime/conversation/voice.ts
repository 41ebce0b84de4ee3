/** The voice of a conversation: stored voices, and the names of OpenAI's voices. */

import { mayBeId } from '../../../src/contract/core/id.ts';
import { quotedName, similarNameHint } from '../../../src/contract/core/nearest-name.ts';
import { OPENAI_VOICES } from '../../../src/contract/engines/named-voice.ts';
import { isRecord } from '../../../src/kit/validation/is-record.ts';
import type { SentField } from '../session/fields.ts';
import type { VoiceLookupResult } from '../session/session.ts';
import type { ConversationFieldErrors } from './field-errors.ts';
import { mergeField } from './merge-field.ts';

/** Voices of OpenAI. If the speech model does not have them, they select the voice of the model, and are echoed. */
const OPENAI_NAMES: ReadonlySet<string> = new Set(OPENAI_VOICES);
const DEFAULT_NAME = 'alloy';

export interface ConversationVoice {
  /** As the client knows it. */
  readonly name: string;
  /** Id of a stored voice or name of a voice of the speech model; undefined: the voice of the model. */
  readonly id: string | undefined;
}

export interface VoiceContext {
  /** Voice of the model. */
  readonly modelVoice: string | undefined;
  /** Lookup result of the stored voice that the event names. */
  readonly lookup: VoiceLookupResult | undefined;
  /** Whether the speech model has a voice of this name. Absent: it has none. */
  readonly hasVoice?: (name: string) => boolean;
  /** Whether the assistant has spoken: its voice is then fixed. */
  readonly hasSpoken: boolean;
}

export function initialVoice(modelVoice: string | undefined): ConversationVoice {
  return { name: modelVoice ?? DEFAULT_NAME, id: modelVoice };
}

export function mergeVoice(
  prior: ConversationVoice,
  sent: SentField | undefined,
  { modelVoice, lookup, hasVoice, hasSpoken }: VoiceContext,
  errors: ConversationFieldErrors,
): ConversationVoice {
  const path = sent?.path ?? '';
  const voice = mergeField(sent, prior, initialVoice(modelVoice), ({ value }) => {
    const name = isRecord(value) ? value.id : value;
    if (typeof name === 'string' && name.trim() === '') return initialVoice(modelVoice);
    if (typeof name !== 'string') errors.invalid(path, 'must be the name of a voice');
    // The initial name may be that of a voice which the model has, but does not use by default.
    else if (hasVoice?.(name)) return { name, id: name };
    else if (name === prior.name) return prior;
    else if (OPENAI_NAMES.has(name)) return { name, id: modelVoice };
    else if (mayBeId('tts-vc-voice_', name) && lookup === 'found') return { name, id: name };
    else if (mayBeId('tts-vc-voice_', name) && lookup === 'failed')
      errors.failed(path, 'lookup failed; retry');
    else {
      const hint = similarNameHint(name, OPENAI_VOICES);
      const names = OPENAI_VOICES.join(', ');
      const rule = `must be the voice_id of a stored voice, as listed by GET /v1/audio/voices, or one of ${names}`;
      errors.invalid(path, `${rule}; unknown voice${quotedName(name)}.${hint}`);
    }
    return prior;
  });
  if (!hasSpoken) return voice;
  // Clients send their whole configuration again.
  if (voice.name === prior.name) return prior;
  errors.cannotUpdateVoice(path);
  return prior;
}
