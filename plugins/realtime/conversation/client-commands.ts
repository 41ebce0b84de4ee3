/** Converts client events of a conversation to changes of the session and commands of the state machine. Pure. */

import type { ConversationModel } from '../../../src/contract/engines/conversation.ts';
import { type ConversationError, invalidRequestError } from '../../../src/conversation/events/errors.ts';
import type { ResponseSettings } from '../../../src/conversation/settings.ts';
import type { Command } from '../../../src/conversation/state/conversation-machine.ts';
import type { ResponseParams } from '../../../src/conversation/state/response.ts';
import { membersOf } from '../session/fields.ts';
import { type ConversationClientEvent, responseInput, toItem } from './client-events.ts';
import { ConversationFieldErrors } from './field-errors.ts';
import { nonNull } from './merge-field.ts';
import { BETA_RESPONSE_FIELDS, mergeResponseSettings, RESPONSE_FIELDS } from './response-settings.ts';
import {
  audioMembers,
  type ConversationSession,
  type MergeContext,
  mergeConversationSession,
  mergeFormat,
  mergeReplyLanguage,
  mergeSessionVoice,
} from './session.ts';

/** Client events other than audio. */
export type ConversationRequest = Exclude<
  ConversationClientEvent,
  { readonly type: 'input_audio_buffer.append' }
>;
type RequestOf<Type extends ConversationRequest['type']> = Extract<
  ConversationRequest,
  { readonly type: Type }
>;

/** What a client event changes. */
export interface RequestEffects {
  readonly session: ConversationSession;
  /** Errors, which precede the command. */
  readonly errors: readonly ConversationError[];
  /** Undefined if the event is rejected. */
  readonly command: Command | undefined;
}

export function requestEffects(
  session: ConversationSession,
  event: ConversationRequest,
  context: MergeContext,
): RequestEffects {
  const command = (each: Command): RequestEffects => ({ session, errors: [], command: each });
  const rejected = (error: ConversationError): RequestEffects => ({
    session,
    errors: [error],
    command: undefined,
  });
  switch (event.type) {
    case 'session.update': {
      const merged = mergeConversationSession(session, event.session, context);
      return { ...merged, command: { kind: 'update_settings', settings: merged.session.settings } };
    }
    case 'input_audio_buffer.commit':
      return command({ kind: 'commit' });
    case 'input_audio_buffer.clear':
      return command({ kind: 'clear' });
    case 'conversation.item.create': {
      const item = toItem(event.item);
      const { maxToolOutputCharacters } = context.model;
      if (item.type === 'function_call_output' && item.output.length > maxToolOutputCharacters) {
        return rejected(outputTooLong(maxToolOutputCharacters));
      }
      return command({
        kind: 'create_item',
        item,
        previousItemId: event.previous_item_id ?? undefined,
      });
    }
    case 'conversation.item.delete':
      return command({ kind: 'delete_item', itemId: event.item_id });
    case 'conversation.item.retrieve':
      return command({ kind: 'retrieve_item', itemId: event.item_id });
    case 'conversation.item.truncate': {
      const { item_id: itemId, audio_end_ms: audioEndMs } = event;
      return command({ kind: 'truncate_item', itemId, audioEndMs });
    }
    case 'response.create': {
      const created = createResponse(session, event, context);
      return 'message' in created ? rejected(created) : command(created);
    }
    case 'response.cancel':
      return command({ kind: 'cancel_response', responseId: event.response_id ?? undefined });
    case 'output_audio_buffer.clear':
      return rejected(NO_OUTPUT_BUFFER);
  }
}

/**
 * A response is created completely as requested, or not at all: clients wait for one of the two. Unknown fields are ignored,
 * because newer clients send them.
 */
function createResponse(
  session: ConversationSession,
  event: RequestOf<'response.create'>,
  context: MergeContext,
): Command | ConversationError {
  const { conversation, input, metadata = null, ...overrides } = event.response ?? {};
  const errors = new ConversationFieldErrors('ignored');
  const params = overriddenParams(session, overrides, context, errors);
  const [error] = errors.all;
  if (error !== undefined) return error;
  return {
    kind: 'create_response',
    params: { ...params, isOutOfBand: conversation === 'none', metadata },
    input: input == null ? undefined : responseInput(input),
  };
}

/** Parameters of a response with the settings of the session. */
export function sessionParams(
  { voiceName }: Pick<ConversationSession, 'voiceName'>,
  settings: ResponseSettings,
): Omit<ResponseParams, 'input'> {
  return { settings, voiceName, isOutOfBand: false, metadata: null };
}

/** Omitted fields and null mean the settings of the session. */
function overriddenParams(
  session: ConversationSession,
  overrides: Readonly<Record<string, unknown>>,
  context: MergeContext,
  errors: ConversationFieldErrors,
): Omit<ResponseParams, 'input'> {
  const { settings } = session;
  const members = membersOf({ path: 'response', value: overrides }, FIELDS, errors);
  const { output } = audioMembers(members, errors);
  const sentVoice = nonNull(output.get('voice') ?? members.get('voice'));
  const voice = mergeSessionVoice(session, sentVoice, context, errors);
  const format = {
    nested: nonNull(output.get('format')),
    beta: nonNull(members.get('output_audio_format')),
  };
  return sessionParams(
    { voiceName: voice.name },
    {
      ...settings,
      ...mergeResponseSettings(session, settings, members, errors).settings,
      voice: voice.id,
      language: mergeReplyLanguage(
        settings,
        nonNull(output.get('language')),
        settings.transcription.language,
        context.spokenLanguages,
        errors,
      ),
      outputFormat: mergeFormat(format, settings.outputFormat, errors),
    },
  );
}

/** Fields that a response can override. */
const FIELDS = ['audio', 'voice', 'output_audio_format', ...RESPONSE_FIELDS, ...BETA_RESPONSE_FIELDS];

const NO_OUTPUT_BUFFER = invalidRequestError(
  'invalid_value',
  "'output_audio_buffer.clear' is not supported over WebSocket: the client plays the audio itself.",
  'type',
);

function outputTooLong(maxCharacters: ConversationModel['maxToolOutputCharacters']): ConversationError {
  return invalidRequestError(
    'string_above_max_length',
    `'item.output' may have at most ${maxCharacters} characters.`,
    'item.output',
  );
}
