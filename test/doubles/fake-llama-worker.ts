/** A language model process that executes the command in the last message of the conversation. */

import { readFileSync, writeFileSync } from 'node:fs';
import type {
  LlamaCommand,
  LlamaReply,
  LoadedLlama,
  LoadLlama,
} from '../../src/engines/llama/shared/protocol.ts';
import { LlamaResponseReader } from '../../src/engines/llama/worker/response-reader.ts';
import { serveProcess } from '../../src/inference/workers/worker-main.ts';

/** A command as JSON in a message. */
export interface FakeLlamaOrder {
  /** Pieces of the output; `who` is replaced by the pid and `lowPriority` of the process, `received` by the loads of audio, and convert during a slow conversion. */
  readonly say?: readonly string[];
  /** Action after the pieces; default: the response ends. After `stuck`, the process only converts prompts. */
  readonly after?: 'hang' | 'stuck' | 'die' | 'fail' | 'refuse' | 'cut';
  /** Action when the conversation is converted to tokens; `slow`: the conversion ends at the next load of audio. */
  readonly tokenize?: 'die' | 'refuse' | 'hang' | 'slow';
  readonly tokens?: number;
}

/** No text of a test is too long. */
const BOUNDS = { bytes: 1000, spaceBytes: 1000, wordBytes: 1000 };

serveProcess<LoadLlama, LoadedLlama, LlamaCommand, LlamaReply>('Fake language model process', (send) => {
  const open = new Set<number>();
  let stuck = false;
  const received: string[] = [];
  let endSlow: (() => void) | undefined;
  let load: LoadLlama | undefined;
  /** The order of a converted prompt, next to the model, because another process may execute it. */
  const orderFile = ([token]: Uint32Array) => `${load?.model}.${token}`;
  const start = (message: Extract<LlamaCommand, { kind: 'generate' }>) => {
    const { id, prompt, sampling, format } = message;
    const {
      say = [],
      after,
      tokens = 5,
    } = JSON.parse(readFileSync(orderFile(prompt), 'utf8')) as FakeLlamaOrder;
    if (after === 'refuse') return send({ kind: 'failed', id });
    const reader = new LlamaResponseReader(format);
    let output = 0;
    for (const text of say) {
      if (reader.stopped) break;
      output += 1;
      const special = { who: `${process.pid} ${load?.lowPriority}`, received: received.join(' ') };
      const events = reader.push(text in special ? special[text as keyof typeof special] : text);
      if (events.length > 0) send({ kind: 'events', id, events });
    }
    open.add(id);
    if (after === 'die') process.exit(7);
    if (after === 'stuck') stuck = true;
    if (!reader.stopped && (after === 'hang' || stuck)) return;
    open.delete(id);
    if (after === 'fail') return send({ kind: 'failed', id });
    const usage = { input: tokens, output: Math.min(output, sampling.maxTokens), cached: 0, reasoning: 0 };
    send({ kind: 'finished', id, events: reader.end(after !== 'cut', usage) });
  };
  return {
    async load(it) {
      if (it.model.endsWith('broken.gguf')) throw new Error('it is broken.');
      if (it.model.endsWith('crashing.gguf')) process.exit(7);
      load = it;
      return {
        contextTokens: load.contextTokens,
        toolCallSyntax: undefined,
        tokenMs: 1,
        tokenBounds: BOUNDS,
        ...(load.model.endsWith('old-driver.gguf')
          ? { provider: 'cpu', providerProblem: 'The driver is too old.' }
          : { provider: load.provider, providerProblem: undefined }),
      };
    },
    receive(message) {
      switch (message.kind) {
        case 'audio_load':
          received.push(message.level);
          endSlow?.();
          endSlow = undefined;
          return;
        case 'tokenize': {
          const { id, conversation } = message;
          const text = conversation.messages.at(-1)?.content ?? '{}';
          const { tokenize, tokens = 5 }: FakeLlamaOrder = JSON.parse(text);
          if (tokenize === 'die') process.exit(7);
          if (tokenize === 'hang') return;
          if (endSlow !== undefined) received.push('convert');
          if (tokenize === 'slow') {
            endSlow = () => send({ kind: 'tokenized', id, prompt: new Uint32Array(tokens) });
            return;
          }
          if (tokenize === 'refuse') send({ kind: 'unsupported', id });
          else if (tokens >= (load?.contextTokens ?? 0)) {
            send({ kind: 'too_long', id, inputTokens: `${tokens}` });
          } else {
            const prompt = crypto.getRandomValues(new Uint32Array(tokens));
            writeFileSync(orderFile(prompt), text);
            send({ kind: 'tokenized', id, prompt });
          }
          return;
        }
        case 'generate':
          start(message);
          return;
        case 'cancel':
          open.delete(message.id);
          if (!stuck && endSlow === undefined) send({ kind: 'cancelled', id: message.id });
          return;
      }
    },
  };
});
