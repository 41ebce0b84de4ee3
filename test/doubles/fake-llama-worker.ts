/** A language model process that executes the command in the last message of the conversation. */

import type {
  LlamaCommand,
  LlamaReply,
  LoadedLlama,
  LoadLlama,
} from '../../src/engines/llama/shared/protocol.ts';
import { serveProcess } from '../../src/engines/workers/worker-main.ts';

/** A command as JSON in a message. */
export interface FakeLlamaOrder {
  /** Pieces of the output; `who` is replaced by the pid and `lowPriority` of the process. */
  readonly say?: readonly string[];
  /** Action after the pieces; default: the response ends. After `stuck`, the process only measures. */
  readonly after?: 'hang' | 'stuck' | 'die' | 'fail' | 'refuse' | 'cut';
  /** Action when the conversation is measured. */
  readonly measure?: 'die' | 'refuse' | 'hang';
  readonly tokens?: number;
}

serveProcess<LoadLlama, LoadedLlama, LlamaCommand, LlamaReply>('Fake language model process', (send) => {
  const open = new Set<number>();
  let stuck = false;
  let load: LoadLlama | undefined;
  const orderOf = ({ conversation }: Extract<LlamaCommand, { conversation: unknown }>): FakeLlamaOrder =>
    JSON.parse(conversation.messages.at(-1)?.content ?? '{}');
  const start = (message: Extract<LlamaCommand, { kind: 'begin' }>) => {
    const { answer, sampling } = message;
    const { say = [], after } = orderOf(message);
    if (after === 'refuse') return send({ kind: 'unsupported', answer });
    for (const text of say) {
      send({ kind: 'said', answer, text: text === 'who' ? `${process.pid} ${load?.lowPriority}` : text });
    }
    open.add(answer);
    if (after === 'die') process.exit(7);
    if (after === 'stuck') stuck = true;
    if (after === 'hang' || stuck) return;
    open.delete(answer);
    if (after === 'fail') return send({ kind: 'failed', answer });
    const outputTokens = Math.min(say.length, sampling.maxTokens);
    send({ kind: 'ended', answer, complete: after !== 'cut', inputTokens: 0, cachedTokens: 0, outputTokens });
  };
  return {
    async load(it) {
      if (it.model.endsWith('broken.gguf')) throw new Error('it is broken.');
      if (it.model.endsWith('crashing.gguf')) process.exit(7);
      load = it;
      return { contextTokens: load.contextTokens, toolCallSyntax: undefined, tokenMs: 1 };
    },
    receive(message) {
      const { answer } = message;
      switch (message.kind) {
        case 'measure': {
          const { measure, tokens = 5 } = orderOf(message);
          if (measure === 'die') process.exit(7);
          if (measure === 'hang') return;
          send(measure === 'refuse' ? { kind: 'unsupported', answer } : { kind: 'measured', answer, tokens });
          return;
        }
        case 'begin':
          start(message);
          return;
        case 'enough':
          if (!open.delete(answer)) return;
          send({ kind: 'ended', answer, complete: true, inputTokens: 5, cachedTokens: 0, outputTokens: 1 });
          return;
        case 'forget':
          open.delete(answer);
          if (!stuck) send({ kind: 'forgotten', answer });
          return;
      }
    },
  };
});
