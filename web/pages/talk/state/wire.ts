/** Events of a conversation as the page receives them. */

import type { ConversationEvent } from '../../../../src/conversation/events/server-events.ts';

/** Settings that the model has before the page changes them. */
export interface SessionDefaults {
  readonly instructions: string;
  /** As sent by the service. */
  readonly turnDetection: unknown;
}

interface SessionEvent {
  readonly type: 'session.created' | 'session.updated';
  readonly session: {
    readonly instructions: string;
    readonly audio: { readonly input: { readonly turn_detection: unknown } };
  };
}

interface AudioDelta {
  readonly type: 'response.output_audio.delta';
  readonly item_id: string;
  /** Base64 of 16-bit samples. */
  readonly delta: string;
}

export type ServerEvent = ConversationEvent | SessionEvent | AudioDelta;
export type ServerEventOf<Type extends ServerEvent['type']> = Extract<ServerEvent, { readonly type: Type }>;
