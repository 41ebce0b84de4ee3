/** The two sets of event names that a connection can use (openai-wire 8.2). */

import { choiceIn, parameterOf } from '../../../src/http/request/query.ts';
import { offeredProtocols } from '../../../src/http/transport/socket.ts';
import type { GaAssistantItem, GaItem, WireAssistantItem, WireItem } from './event-schemas.ts';
import type { ServerEvent, WireEvent } from './server-events.ts';

/**
 * `spec`: the names of the specification, which are those of the OpenAI beta protocol. `ga`: the names of the
 * OpenAI GA protocol.
 */
export type Dialect = (typeof DIALECTS)[number];

/** Values of the query parameter `events`. */
export const DIALECTS = ['spec', 'ga'] as const;

export interface UpgradeDialect {
  readonly dialect: Dialect;
  /** True if the client selected the dialect. Otherwise its first `session.update` may select one. */
  readonly fixed: boolean;
}

/**
 * Determines the dialect of an upgrade request. The first match applies: `?events=`, the markers of beta
 * clients, the markers of the agents SDK. Otherwise it is `spec` until a session of type `realtime` selects
 * `ga`.
 * @throws ServiceError 400 for any other value of `events`, and for repeated values.
 */
export function upgradeDialect(query: URLSearchParams, headers: Headers): UpgradeDialect {
  const protocols = offeredProtocols(headers);
  const requested = choiceIn('events', parameterOf(query, 'events'), DIALECTS);
  if (requested !== undefined) return { dialect: requested, fixed: true };
  const betas = (headers.get('openai-beta') ?? '').split(',').map((beta) => beta.trim());
  if (betas.includes('realtime=v1') || protocols.includes('openai-beta.realtime-v1')) {
    return { dialect: 'spec', fixed: true };
  }
  const ofAgents = protocols.some((protocol) => protocol.startsWith('openai-agents-sdk.'));
  if (ofAgents || headers.has('x-openai-agents-sdk')) return { dialect: 'ga', fixed: true };
  return { dialect: 'spec', fixed: false };
}

/**
 * Converts an event to a dialect. The result is empty if the dialect has no such event, and several events if
 * the dialect splits it.
 */
export function toDialect(event: ServerEvent, dialect: Dialect): readonly WireEvent[] {
  return dialect === 'spec' ? toSpec(event) : toGa(event);
}

function toSpec(event: ServerEvent): readonly WireEvent[] {
  switch (event.type) {
    case 'conversation.item.added':
    case 'conversation.item.done':
    case 'conversation.item.retrieved':
    case 'conversation.item.truncated':
      return [];
    default:
      return [event];
  }
}

function toGa(event: ServerEvent): readonly WireEvent[] {
  switch (event.type) {
    case 'response.audio.delta':
      return [{ ...event, type: 'response.output_audio.delta' }];
    case 'response.audio.done':
      return [{ ...event, type: 'response.output_audio.done' }];
    case 'response.audio_transcript.delta':
      return [{ ...event, type: 'response.output_audio_transcript.delta' }];
    case 'response.audio_transcript.done':
      return [{ ...event, type: 'response.output_audio_transcript.done' }];
    case 'conversation.item.created': {
      const { item: created, previous_item_id } = event;
      const item = gaItem(created);
      return [
        { type: 'conversation.item.created', previous_item_id, item },
        { type: 'conversation.item.added', previous_item_id, item },
        { type: 'conversation.item.done', previous_item_id, item },
      ];
    }
    case 'conversation.item.added':
    case 'conversation.item.done':
    case 'conversation.item.retrieved':
      return [{ ...event, item: gaItem(event.item) }];
    case 'response.output_item.added':
    case 'response.output_item.done':
      return [{ ...event, item: gaAssistantItem(event.item) }];
    case 'response.done': {
      const { response } = event;
      return [{ ...event, response: { ...response, output: response.output.map(gaAssistantItem) } }];
    }
    default:
      return [event];
  }
}

function gaItem(item: WireItem): GaItem {
  return item.type === 'message' && item.role === 'assistant' ? gaAssistantItem(item) : item;
}

function gaAssistantItem(item: WireAssistantItem): GaAssistantItem {
  return { ...item, content: item.content.map(gaPart) };
}

function gaPart(part: WireAssistantItem['content'][number]): GaAssistantItem['content'][number] {
  return part.type === 'audio' ? { ...part, type: 'output_audio' } : { ...part, type: 'output_text' };
}
