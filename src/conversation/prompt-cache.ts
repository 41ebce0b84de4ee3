/** Evaluates the start of the next prompt before the user has spoken, so that the turn does not wait for it. */

import type { Caller } from '../contract/accounts/caller.ts';
import type { ConversationModel } from '../contract/engines/conversation.ts';
import type { Slots } from '../contract/plugin.ts';
import { TaskGroup } from '../kit/async/task-group.ts';
import { logFailure } from '../kit/logging/log-failure.ts';
import type { NextPrompt } from './state/reply-request.ts';

export interface PromptCacheDeps extends Pick<Slots, 'text' | 'log'> {
  readonly caller: Caller;
  readonly model: Pick<ConversationModel, 'llm'>;
}

export class PromptCache {
  readonly #deps: PromptCacheDeps;
  readonly #tasks = new TaskGroup<symbol>();
  /** The evaluated prompt as JSON. */
  #current: string;
  /** The last evaluation. */
  #evaluation = Symbol('evaluation');

  /** @param initial is evaluated already. */
  constructor(deps: PromptCacheDeps, initial: NextPrompt) {
    this.#deps = deps;
    this.#current = JSON.stringify(initial);
  }

  /** Starts the evaluation, unless the prompt is unchanged. It replaces the one in progress. */
  evaluate(prompt: NextPrompt): void {
    const { text, model, caller, log } = this.#deps;
    const engine = text.get(model.llm);
    if (engine?.prepare === undefined) return;
    const key = JSON.stringify(prompt);
    if (key === this.#current) return;
    this.#current = key;
    this.#tasks.stop(this.#evaluation);
    this.#evaluation = Symbol('evaluation');
    this.#tasks.start(this.#evaluation, async (signal) => {
      try {
        await engine.prepare?.({ ...prompt, fairnessKey: caller.keyId }, signal);
      } catch (error) {
        if (signal.aborted) return;
        // The next turn evaluates the prompt, and fails if the error persists.
        logFailure(log, 'evaluation of the prompt failed', error, { request_id: caller.requestId });
      }
    });
  }

  /** Stops the evaluation. Resolves when the engine is released. */
  close(): Promise<void> {
    return this.#tasks.close();
  }
}
