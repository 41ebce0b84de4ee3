/**
 * Baseline: node-llama-cpp in its own process. Each line is a prompt; the process evaluates the tokens that its sequence does
 * not contain yet, and generates greedily. Usage: bun peer.ts FOLDER_OF_PACKAGES GGUF THREADS CONTEXT_TOKENS
 */

import { join } from 'node:path';
import { serveLines } from '../line-process.ts';

export interface PeerRequest {
  readonly prompt: string;
  readonly maxTokens: number;
}

/** Times in ms since the request. */
export interface PeerResponse {
  readonly text: string;
  readonly tokens: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The used subset of node-llama-cpp. */
interface Sequence {
  readonly nextTokenIndex: number;
  adaptStateToTokens(tokens: readonly number[], allowShift: false): Promise<void>;
  evaluate(tokens: readonly number[], options: { readonly temperature: 0 }): AsyncIterable<number>;
}

const [folder = '', file = '', threads, contextTokens] = process.argv.slice(2);
const { getLlama } = await import(join(folder, 'node_modules/node-llama-cpp/dist/index.js'));
const llama = await getLlama({ build: 'never', gpu: false, logLevel: 'error' });
const model = await llama.loadModel({ modelPath: file });
const context = await model.createContext({
  contextSize: Number(contextTokens),
  threads: Number(threads),
});
const sequence: Sequence = context.getSequence();

await serveLines<PeerRequest>(async ({ prompt, maxTokens }): Promise<PeerResponse> => {
  const startMs = performance.now();
  const tokens: number[] = model.tokenize(prompt, true);
  // The last token is evaluated in any case, because its output is needed.
  await sequence.adaptStateToTokens(tokens.slice(0, -1), false);
  const generated: number[] = [];
  let [firstMs, lastMs] = [0, 0];
  for await (const token of sequence.evaluate(tokens.slice(sequence.nextTokenIndex), { temperature: 0 })) {
    lastMs = performance.now() - startMs;
    if (generated.length === 0) firstMs = lastMs;
    generated.push(token);
    if (generated.length >= maxTokens) break;
  }
  return { text: model.detokenize(generated), tokens: generated.length, firstMs, lastMs };
});
process.exit(0);
