/** Turn detection of a conversation: its defaults, updates and wire format. */

import type { ConversationModel } from '../../../src/contract/engines/conversation.ts';
import { DEFAULT_VAD_SETTINGS, type VadSettings } from '../../../src/contract/engines/engine.ts';
import { type Eagerness, MAX_PAUSE_MS, type TurnDetection } from '../../../src/conversation/settings.ts';
import { IDLE_TIMEOUT_MS, THRESHOLD, VAD_MS } from '../limits.ts';
import {
  choiceOf,
  type FieldErrors,
  type Members,
  membersOf,
  numberOf,
  type SentField,
} from '../session/fields.ts';
import { mergeField } from './merge-field.ts';

const TYPES = ['server_vad', 'semantic_vad'] as const;
const EAGERNESS = ['low', 'medium', 'high', 'auto'] as const;
const FIELDS = [
  'type',
  'threshold',
  'prefix_padding_ms',
  'silence_duration_ms',
  'idle_timeout_ms',
  'eagerness',
  'create_response',
  'interrupt_response',
];
const REACTIONS = { createResponse: true, interruptResponse: true };

type DetectionOf<Type extends TurnDetection['type']> = Extract<TurnDetection, { readonly type: Type }>;

const SERVER_VAD: DetectionOf<'server_vad'> = {
  type: 'server_vad',
  vad: DEFAULT_VAD_SETTINGS,
  idleTimeoutMs: undefined,
  ...REACTIONS,
};
const SEMANTIC_VAD: DetectionOf<'semantic_vad'> = {
  type: 'semantic_vad',
  eagerness: 'auto',
  vad: semanticVad('auto'),
  ...REACTIONS,
};

/** Turn detection of a new session. */
export function initialDetection(type: ConversationModel['turnDetection']): TurnDetection | undefined {
  return type === 'none' ? undefined : defaultsOf(type);
}

function defaultsOf(type: TurnDetection['type']): TurnDetection {
  return type === 'server_vad' ? SERVER_VAD : SEMANTIC_VAD;
}

/** With an end-of-turn model, silence ends a turn only after the longest pause. */
function semanticVad(eagerness: Eagerness): VadSettings {
  return { ...DEFAULT_VAD_SETTINGS, silenceDurationMs: MAX_PAUSE_MS[eagerness] };
}

/**
 * Merges turn detection; null for manual commits. While the type stays, omitted fields keep their values; another type sets
 * its defaults. Fields of the other type have no effect.
 * @returns `prior` itself if nothing changes, so that the input is not reconfigured.
 */
export function mergeDetection(
  sent: SentField | undefined,
  prior: TurnDetection | undefined,
  errors: FieldErrors,
): TurnDetection | undefined {
  return mergeField(sent, prior, undefined, (field) => {
    const members = membersOf(field, FIELDS, errors);
    const type = detectionType(members, prior, errors);
    if (type === undefined) return prior;
    const base = prior?.type === type ? prior : defaultsOf(type);
    const merged = withFields(base, members, errors);
    return JSON.stringify(merged) === JSON.stringify(prior) ? prior : merged;
  });
}

/** @returns undefined if the object does not turn detection on: it is empty, or its type is rejected. */
function detectionType(
  members: Members,
  prior: TurnDetection | undefined,
  errors: FieldErrors,
): TurnDetection['type'] | undefined {
  const sent = members.get('type');
  if (sent === undefined) return prior?.type ?? (members.size === 0 ? undefined : 'server_vad');
  const type = TYPES.find((each) => each === sent.value);
  if (type === undefined) errors.invalid(sent.path, `must be one of: ${TYPES.join(', ')}`);
  return type;
}

function withFields(base: TurnDetection, members: Members, errors: FieldErrors): TurnDetection {
  const { createResponse, interruptResponse } = REACTIONS;
  const reactions = {
    createResponse: flagOf(members.get('create_response'), base.createResponse, createResponse, errors),
    interruptResponse: flagOf(
      members.get('interrupt_response'),
      base.interruptResponse,
      interruptResponse,
      errors,
    ),
  };
  if (base.type === 'semantic_vad') {
    const eagerness = mergeField<Eagerness>(members.get('eagerness'), base.eagerness, 'auto', (sent) =>
      choiceOf(sent, base.eagerness, EAGERNESS, errors),
    );
    return { type: base.type, eagerness, vad: semanticVad(eagerness), ...reactions };
  }
  const { vad } = SERVER_VAD;
  const msOf = (name: string, prior: number, initial: number) =>
    mergeField(members.get(name), prior, initial, (sent) => numberOf(sent, prior, VAD_MS, errors));
  return {
    type: base.type,
    vad: {
      ...base.vad,
      threshold: mergeField(members.get('threshold'), base.vad.threshold, vad.threshold, (sent) =>
        numberOf(sent, base.vad.threshold, THRESHOLD, errors),
      ),
      prefixPaddingMs: msOf('prefix_padding_ms', base.vad.prefixPaddingMs, vad.prefixPaddingMs),
      silenceDurationMs: msOf('silence_duration_ms', base.vad.silenceDurationMs, vad.silenceDurationMs),
    },
    idleTimeoutMs: mergeField(members.get('idle_timeout_ms'), base.idleTimeoutMs, undefined, (sent) =>
      numberOf(sent, base.idleTimeoutMs, IDLE_TIMEOUT_MS, errors),
    ),
    ...reactions,
  };
}

function flagOf(sent: SentField | undefined, prior: boolean, initial: boolean, errors: FieldErrors): boolean {
  return mergeField(sent, prior, initial, ({ path, value }) => {
    if (typeof value === 'boolean') return value;
    errors.invalid(path, 'must be true or false');
    return prior;
  });
}

/** All fields are present: clients act on them. */
export function toWireDetection(detection: TurnDetection | undefined) {
  if (detection === undefined) return null;
  const reactions = {
    create_response: detection.createResponse,
    interrupt_response: detection.interruptResponse,
  };
  if (detection.type === 'semantic_vad') {
    return { type: detection.type, eagerness: detection.eagerness, ...reactions };
  }
  const { threshold, prefixPaddingMs, silenceDurationMs } = detection.vad;
  return {
    type: detection.type,
    threshold,
    prefix_padding_ms: prefixPaddingMs,
    silence_duration_ms: silenceDurationMs,
    idle_timeout_ms: detection.idleTimeoutMs ?? null,
    ...reactions,
  };
}
