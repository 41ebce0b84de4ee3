/** Items of a conversation, in the shapes of OpenAI's realtime events. */

import { type Static, Type } from '@sinclair/typebox';
import { closed, type Frozen, nullable } from '../../kit/validation/schemas.ts';
import { oneOf } from '../../kit/validation/type-errors.ts';

const ITEM = {
  id: Type.String({ minLength: 1 }),
  object: Type.Literal('realtime.item'),
  status: oneOf(['completed', 'incomplete', 'in_progress']),
};
const InputText = closed({ type: Type.Literal('input_text'), text: Type.String() });
/** The transcript is null until the audio is transcribed; clients require the key. */
const InputAudio = closed({ type: Type.Literal('input_audio'), transcript: nullable(Type.String()) });
const InputImage = closed({
  type: Type.Literal('input_image'),
  image_url: Type.String(),
  detail: Type.Optional(Type.String()),
});
const OutputText = closed({ type: Type.Literal('output_text'), text: Type.String() });
const OutputAudio = closed({ type: Type.Literal('output_audio'), transcript: Type.String() });

const UserItemSchema = closed({
  ...ITEM,
  type: Type.Literal('message'),
  role: Type.Literal('user'),
  content: Type.Array(Type.Union([InputText, InputAudio, InputImage])),
});
const SystemItemSchema = closed({
  ...ITEM,
  type: Type.Literal('message'),
  role: Type.Literal('system'),
  content: Type.Array(InputText),
});
const AssistantItemSchema = closed({
  ...ITEM,
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  content: Type.Array(Type.Union([OutputText, OutputAudio])),
});
const FunctionCallSchema = closed({
  ...ITEM,
  type: Type.Literal('function_call'),
  name: Type.String({ minLength: 1 }),
  call_id: Type.String({ minLength: 1 }),
  /** JSON; empty while the call is in progress. */
  arguments: Type.String(),
});
const FunctionCallOutputSchema = closed({
  ...ITEM,
  type: Type.Literal('function_call_output'),
  call_id: Type.String(),
  output: Type.String(),
});
export const ItemSchema = Type.Union([
  UserItemSchema,
  SystemItemSchema,
  AssistantItemSchema,
  FunctionCallSchema,
  FunctionCallOutputSchema,
]);
/** Items that a response produces. */
export const OutputItemSchema = Type.Union([AssistantItemSchema, FunctionCallSchema]);

export type UserItem = Frozen<Static<typeof UserItemSchema>>;
export type AssistantItem = Frozen<Static<typeof AssistantItemSchema>>;
export type FunctionCallItem = Frozen<Static<typeof FunctionCallSchema>>;
export type Item = Frozen<Static<typeof ItemSchema>>;
export type OutputItem = Frozen<Static<typeof OutputItemSchema>>;
export type ItemStatus = Item['status'];

/** A word of spoken audio with its time. The texts of the words of an item are its transcript. */
export interface TimedWord {
  readonly text: string;
  /** In ms from the start of the audio of the item. */
  readonly startMs: number;
  readonly endMs: number;
}

/** The item of a committed turn. */
export function audioItem(id: string): UserItem {
  const content = [{ type: 'input_audio', transcript: null }] as const;
  return { id, object: 'realtime.item', type: 'message', status: 'completed', role: 'user', content };
}

/** Sets the transcript of the audio in a user item. */
export function withTranscript(item: UserItem, transcript: string): UserItem {
  const content = item.content.map((part) => (part.type === 'input_audio' ? { ...part, transcript } : part));
  return { ...item, content };
}
