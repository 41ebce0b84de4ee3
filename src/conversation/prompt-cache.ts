/** Evaluates the start of the prompt when the instructions or functions of a session change, so that the next turn does not wait. */

import type { Caller } from '../contract/accounts/caller.ts';
import type { ConversationModel } from '../contract/engines/conversation.ts';
import type { Slots } from '../contract/plugin.ts';
import { TaskGroup } from '../kit/async/task-group.ts';
import type { ResponseSettings } from './settings.ts';

export interface PromptCacheDeps extends Pick<Slots, 'text'> {
  readonly caller: Caller;
  readonly model: Pick<ConversationModel, 'llm'>;
  readonly onError: (error: unknown) => void;
}

type PromptSettings = Pick<ResponseSettings, 'instructions' | 'tools'>;

export class PromptCache {
  readonly #deps: PromptCacheDeps;
  readonly #tasks = new TaskGroup<symbol>();
  #current: PromptSettings;
  /** The last evaluation. */
  #evaluation = Symbol('evaluation');

  /** @param initial settings whose prompt is evaluated already. */
  constructor(deps: PromptCacheDeps, initial: PromptSettings) {
    this.#deps = deps;
    this.#current = initial;
  }

  /** Starts the evaluation of a changed prompt. It replaces the one in progress. */
  update(settings: PromptSettings): void {
    const { instructions, tools } = settings;
    // A session keeps the list of functions that did not change.
    if (instructions === this.#current.instructions && tools === this.#current.tools) return;
    this.#current = settings;
    const { text, model, caller, onError } = this.#deps;
    this.#tasks.stop(this.#evaluation);
    this.#evaluation = Symbol('evaluation');
    this.#tasks.start(this.#evaluation, async (signal) => {
      try {
        await text.get(model.llm)?.prepare?.({ instructions, tools, fairnessKey: caller.keyId }, signal);
      } catch (error) {
        // The next turn evaluates the prompt, and reports the error if it persists.
        if (!signal.aborted) onError(error);
      }
    });
  }

  /** Stops the evaluation. Resolves when the engine is released. */
  close(): Promise<void> {
    return this.#tasks.close();
  }
}
