import { TypeCompiler } from '@sinclair/typebox/compiler';
import type { Id } from '../../src/contract/core/id.ts';
import { DEFAULT_VAD_SETTINGS } from '../../src/contract/engines/engine.ts';
import type { ConversationError } from '../../src/conversation/events/errors.ts';
import {
  CONVERSATION_EVENT_SCHEMAS,
  type ConversationEvent,
  type ConversationEventOf,
} from '../../src/conversation/events/server-events.ts';
import type { Item, TimedWord } from '../../src/conversation/items/item.ts';
import type { ConversationSettings, TurnDetection } from '../../src/conversation/settings.ts';
import * as machine from '../../src/conversation/state/conversation-machine.ts';
import type { ReplyRequest } from '../../src/conversation/state/reply-request.ts';
import type { ResponseParams } from '../../src/conversation/state/response.ts';

/** Plays events on the state machine of a conversation. Every emitted event is validated. */

export const SERVER_VAD: Extract<TurnDetection, { readonly type: 'server_vad' }> = {
  type: 'server_vad',
  vad: DEFAULT_VAD_SETTINGS,
  idleTimeoutMs: undefined,
  createResponse: true,
  interruptResponse: true,
};
const PCM = { encoding: 'pcm16', rateHz: 24_000 } as const;
export const SETTINGS: ConversationSettings = {
  modality: 'audio',
  instructions: 'Be brief.',
  tools: [],
  toolChoice: 'auto',
  parallelToolCalls: true,
  maxOutputTokens: undefined,
  temperature: undefined,
  reasoningEffort: undefined,
  outputFormat: PCM,
  voice: undefined,
  speed: 1,
  language: undefined,
  inputFormat: PCM,
  turnDetection: SERVER_VAD,
  transcription: { language: undefined, languages: undefined, prompt: undefined, keywords: undefined },
  includesLogprobs: false,
  includesTiming: false,
  truncation: { kind: 'oldest_first', retentionRatio: 0.8, maxTokens: undefined },
};

const CONTEXT: Omit<machine.Context, 'freshResponseId'> = {
  maxPromptTokens: undefined,
  automaticParams: (settings) => params(settings),
};

export const params = (
  settings: ConversationSettings = SETTINGS,
  changes: Partial<ResponseParams> = {},
): Omit<ResponseParams, 'input'> => ({
  settings,
  voiceName: 'alloy',
  isOutOfBand: false,
  metadata: null,
  ...changes,
});

/** The effects of events, and the state after them. */
export interface Played {
  readonly state: machine.State;
  readonly effects: readonly machine.Effect[];
  /** Names of the effects: the type of an emitted event, with the code of an error; otherwise the kind. */
  readonly names: readonly string[];
}

const CHECKERS = new Map(
  [...CONVERSATION_EVENT_SCHEMAS].map(([type, schema]) => [type, TypeCompiler.Compile(schema)]),
);

function validated(event: ConversationEvent): void {
  const error = CHECKERS.get(event.type)?.Errors(event).First();
  if (!CHECKERS.has(event.type) || error !== undefined) {
    throw new Error(`${event.type}: ${error?.path} ${error?.message}`);
  }
}

function nameOf(effect: machine.Effect): string {
  if (effect.kind !== 'emit') return effect.kind;
  const { event } = effect;
  if (event.type === 'error') return `error ${event.error.code}`;
  return event.type === 'response.done' ? `response.done ${event.response.status}` : event.type;
}

/** Response ids are `resp_N`, where N is the number of responses before. */
export class ConversationScript {
  #state: machine.State;
  readonly effects: machine.Effect[] = [];
  #responses = 0;

  constructor(settings: Partial<ConversationSettings> = {}) {
    this.#state = machine.initial('conv_1', { ...SETTINGS, ...settings });
  }

  get state(): machine.State {
    return this.#state;
  }

  /** Plays events. Returns their effects. */
  play(...events: readonly machine.Event[]): Played {
    const effects = events.flatMap((event) => this.#apply(event));
    this.effects.push(...effects);
    return { state: this.#state, effects, names: effects.map(nameOf) };
  }

  /** All emitted events of a type, oldest first. */
  emitted<Type extends ConversationEvent['type']>(type: Type): ConversationEventOf<Type>[] {
    return this.effects.flatMap((effect) =>
      effect.kind === 'emit' && effect.event.type === type ? [effect.event as ConversationEventOf<Type>] : [],
    );
  }

  /** The request of the last reply. */
  get request(): ReplyRequest | undefined {
    return this.effects.findLast((effect) => effect.kind === 'start_reply')?.request;
  }

  #apply(event: machine.Event): readonly machine.Effect[] {
    const { state, effects } = machine.next(this.#state, event, {
      ...CONTEXT,
      freshResponseId: `resp_${this.#responses}`,
    });
    this.#state = state;
    for (const effect of effects) {
      if (effect.kind !== 'emit') continue;
      validated(effect.event);
      if (effect.event.type === 'response.created') this.#responses += 1;
    }
    return effects;
  }
}

/** A script in the state after events. */
export function afterEvents(events: readonly machine.Event[], settings: Partial<ConversationSettings> = {}) {
  const script = new ConversationScript(settings);
  script.play(...events);
  return script;
}

// Events of the client.

export const command = (each: machine.Command, eventId: string | null = null): machine.Event => ({
  kind: 'command',
  command: each,
  eventId,
});
export const userItem = (id: string, text = 'Hello.'): Item => ({
  id,
  object: 'realtime.item',
  type: 'message',
  status: 'completed',
  role: 'user',
  content: [{ type: 'input_text', text }],
});
export const createItem = (item: Item, previousItemId?: string): machine.Event =>
  command({ kind: 'create_item', item, previousItemId }, 'create');
export const createResponse = (
  changes: Partial<Omit<ResponseParams, 'input'>> = {},
  input?: Extract<machine.Command, { kind: 'create_response' }>['input'],
): machine.Event =>
  command({ kind: 'create_response', params: { ...params(), ...changes }, input }, 'respond');
export const cancel = (responseId?: string): machine.Event =>
  command({ kind: 'cancel_response', responseId }, 'cancel');
export const truncate = (itemId: string, audioEndMs: number): machine.Event =>
  command({ kind: 'truncate_item', itemId, audioEndMs }, 'truncate');
export const rejected = (error: ConversationError): machine.Event => ({
  kind: 'rejected',
  error,
  eventId: 'bad',
});

// Events of the input.

const itemIdOf = (turn: string): Id<'item_'> => `item_${turn}`;
export const speechStarted = (turn: string, unplayedMs = 0): machine.Event => ({
  kind: 'speech_started',
  itemId: itemIdOf(turn),
  audioStartMs: 0,
  unplayedMs,
});
export const speechStopped = (turn: string): machine.Event => ({
  kind: 'speech_stopped',
  itemId: itemIdOf(turn),
  audioEndMs: 900,
});
export const committed = (turn: string, isDetected = true): machine.Event => ({
  kind: 'turn_committed',
  itemId: itemIdOf(turn),
  isDetected,
});
export const dropped = (turn: string): machine.Event => ({ kind: 'turn_dropped', itemId: itemIdOf(turn) });
export const transcribed = (turn: string, transcript = 'Ask not.'): machine.Event => ({
  kind: 'transcript_completed',
  itemId: itemIdOf(turn),
  transcript,
  usage: {
    type: 'tokens',
    total_tokens: 12,
    input_tokens: 7,
    output_tokens: 5,
    input_token_details: { text_tokens: 0, audio_tokens: 7 },
  },
});
export const FAILURE = {
  type: 'server_error',
  code: 'upstream_error',
  message: 'The engine failed.',
} as const;
export const notTranscribed = (turn: string, isFatal = false): machine.Event => ({
  kind: 'transcript_failed',
  itemId: itemIdOf(turn),
  error: FAILURE,
  isFatal,
});
/** A detected turn that is transcribed. */
export const spokenTurn = (turn: string, transcript?: string): machine.Event[] => [
  ...[speechStarted(turn), speechStopped(turn), committed(turn), transcribed(turn, transcript)],
];
export const idle = (turn: string): machine.Event => ({
  kind: 'idle_elapsed',
  itemId: itemIdOf(turn),
  audioStartMs: 0,
  audioEndMs: 6000,
});

// Events of replies. `at` is the number of responses before.

const reply = (at: number, event: machine.ReplyEvent): machine.Event => ({
  kind: 'reply',
  responseId: `resp_${at}`,
  event,
});
export const messageStarted = (at: number): machine.Event =>
  reply(at, { kind: 'message_started', itemId: `item_reply_${at}` });
/** Words of 100 ms each. */
export const words = (startMs: number, ...texts: readonly string[]): TimedWord[] =>
  texts.map((text, index) => ({
    text,
    startMs: startMs + 100 * index,
    endMs: startMs + 100 * (index + 1),
  }));
export const clause = (at: number, ...timed: readonly TimedWord[]): machine.Event =>
  reply(at, { kind: 'clause', words: timed, startMs: timed[0]?.startMs ?? 0 });
export const retimed = (at: number, ...timed: readonly TimedWord[]): machine.Event =>
  reply(at, { kind: 'retimed', words: timed });
export const text = (at: number, delta: string): machine.Event => reply(at, { kind: 'text', delta });
export const audio = (at: number, lengthMs: number): machine.Event =>
  reply(at, { kind: 'audio', audio: new Uint8Array(Math.max(2, 48 * lengthMs)), lengthMs });
export const call = (at: number, callId = `call_${at}`): machine.Event =>
  reply(at, {
    kind: 'call',
    itemId: `item_${callId}`,
    callId,
    name: 'weather',
    arguments: '{"city":"Rome"}',
  });
export const ended = (
  at: number,
  end: 'completed' | 'max_output_tokens' | 'content_filter' = 'completed',
): machine.Event =>
  reply(at, {
    kind: 'ended',
    end,
    usage: { text: { input: 12, output: 5, cached: 4, reasoning: 0 }, audioTokens: 3 },
  });
export const failed = (at: number, isFatal = false): machine.Event =>
  reply(at, { kind: 'failed', error: FAILURE, isFatal });
/** A spoken reply of 200 ms: "One two". */
export const spokenReply = (at: number): machine.Event[] => [
  ...[messageStarted(at), clause(at, ...words(0, 'One ', 'two')), audio(at, 200), ended(at)],
];
