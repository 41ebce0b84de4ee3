import { expect, it } from 'vitest';
import { loadConfig } from '../../../config/config.ts';
import type { TextEvent } from '../../../contract/engines/text.ts';
import { llamaFile } from '../shared/model-file.ts';
import { DEFAULT_TOOL_CALL_SYNTAX } from '../shared/tool-call-syntax.ts';
import { openGenerator } from './open-generator.ts';

/** Loads the default language model into the test process. */
async function openSmall() {
  const { modelsDir } = loadConfig(process.env);
  const { model, generator } = await openGenerator({
    model: llamaFile('smollm2-135m-instruct', modelsDir),
    provider: 'cpu',
    slots: 2,
    contextTokens: 256,
    threads: 1,
    chatTemplate: undefined,
    lowPriority: false,
  });
  const prompt = model.tokenize('One, two, three, four,');
  /** Starts a response to the prompt. */
  const start = (id: number, onEvents: (events: readonly TextEvent[], finished: boolean) => void) => {
    generator.start(id, {
      prompt,
      rank: 0,
      scope: 'key',
      sampling: {
        maxTokens: 4,
        temperature: 0,
        topP: undefined,
        seed: undefined,
        presencePenalty: 0,
        frequencyPenalty: 0,
        grammar: undefined,
        ending: undefined,
      },
      format: { kind: 'text', syntax: DEFAULT_TOOL_CALL_SYNTAX, bareCalls: [], toolNames: [], stop: [] },
      onEvents,
      onFailure: () => expect.unreachable(),
    });
  };
  return { generator, prompt, start };
}

it('continues in the sequence of a response that was cancelled during the same step', async () => {
  const { generator, prompt, start } = await openSmall();
  const finished = Promise.withResolvers<readonly TextEvent[]>();
  let isCancelled: Promise<boolean> | undefined;
  start(1, () => {
    isCancelled = generator.cancel(1);
    start(2, (events, isLast) => isLast && finished.resolve(events));
  });
  const end = (await finished.promise).at(-1);
  expect(await isCancelled).toBe(true);
  // The output of the last token is needed for the first token of the response.
  expect(end).toMatchObject({ kind: 'end', tokens: { input: prompt.length, cached: prompt.length - 1 } });
});
