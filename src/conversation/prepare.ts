/** Prepares the models of a conversation before its session starts. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../contract/accounts/caller.ts';
import { ServiceError } from '../contract/core/error.ts';
import type { ConversationModel } from '../contract/engines/conversation.ts';
import type { FunctionTool } from '../contract/engines/text.ts';
import { requireModel } from '../contract/model-table.ts';
import type { Slots } from '../contract/plugin.ts';
import { promptMessages } from './items/prompt.ts';

/**
 * Loads the language model and evaluates the start of the prompt, so that the first turn does not wait for either.
 * @throws ServiceError `overloaded` (`model_loading`) while a model is loading; `invalid_request` for unsupported tools.
 */
export async function prepareConversation(
  { llm, stt, tts, instructions }: Pick<ConversationModel, 'llm' | 'stt' | 'tts' | 'instructions'>,
  deps: Pick<Slots, 'text' | 'stt' | 'tts'>,
  caller: Pick<Caller, 'keyId'>,
  signal: AbortSignal,
  tools: readonly FunctionTool[] = [],
): Promise<void> {
  requireModel(deps.stt, stt);
  requireModel(deps.tts, tts);
  const engine = requireModel(deps.text, llm);
  const messages = promptMessages(instructions, []);
  await engine.prepare?.({ messages, tools, fairnessKey: caller.keyId }, signal);
}

/** Pause between two attempts if the error names none. */
const RETRY_S = 5;

/**
 * Repeats a preparation while a model is loading.
 * @throws the other errors of `prepare`; the signal's reason after an abort.
 */
export async function onceLoaded(prepare: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await prepare();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'model_loading') throw error;
      await sleep((error.retryAfterS ?? RETRY_S) * 1000, undefined, { signal });
    }
  }
}
