/** Function calls of spoken requests with the embedded language model of 1.5 billion parameters. */

import { launchService } from '../../../tools/harness/services/launcher.ts';
import { Caller } from '../../conversations/caller.ts';
import { spokenLines } from '../../corpus/conversations/callers.ts';
import {
  FUNCTION_REQUESTS,
  FUNCTIONS,
  type FunctionRequest,
} from '../../corpus/conversations/function-requests.ts';
import { report } from '../../report.ts';

const CONFIG = `
[models."svc-voice"]
kind = "conversation"
temperature = 0
`;
const SESSION = {
  instructions:
    'You are a voice assistant. Call a function for every request that one of the functions can fulfil. Otherwise answer in one short sentence.',
  tools: FUNCTIONS,
  max_output_tokens: 100,
  audio: { input: { transcription: { language: 'en' } } },
};
const MAX_MISSED_PERCENT = 20;

interface Outcome {
  readonly request: FunctionRequest;
  readonly call: { readonly name: string; readonly arguments: string } | undefined;
  readonly isValid: boolean;
  readonly isCorrect: boolean;
}

export async function benchConversationFunctions(): Promise<void> {
  const lines = await spokenLines(FUNCTION_REQUESTS.map(({ text }, i) => ({ text, voice: i })));
  const service = await launchService({ config: CONFIG });
  const outcomes: Outcome[] = [];
  try {
    for (const [i, request] of FUNCTION_REQUESTS.entries()) {
      const caller = await Caller.open(service.baseUrl, SESSION);
      const { done } = await caller.takeTurn(lines[i]?.samples ?? new Float32Array());
      caller.close();
      const output = done.response?.output.find(({ type }) => type === 'function_call');
      const call = output && { name: output.name ?? '', arguments: output.arguments ?? '' };
      outcomes.push({ request, call, ...judged(request, call) });
    }
  } finally {
    await service.stop();
  }
  const wrong = outcomes.filter(({ isCorrect }) => !isCorrect);
  const invalid = outcomes.filter(({ call, isValid }) => call !== undefined && !isValid);
  await report(
    'conversation-functions',
    'Conversations: function calls',
    [
      {
        measure: `${outcomes.length} spoken requests, ${FUNCTIONS.length} functions: not the right call with the right arguments`,
        ours: (100 * wrong.length) / outcomes.length,
        unit: '%',
        target: MAX_MISSED_PERCENT,
      },
      { measure: 'calls that do not match their schema', ours: invalid.length, unit: '', target: 0 },
    ],
    [
      'qwen2.5-1.5b-instruct (Qwen2.5 Coder 1.5B Instruct, Q4_K_M), temperature 0, seven synthetic voices.',
      ...wrong.map(
        ({ request, call }) =>
          `Wrong: "${request.text}" → ${call ? `${call.name} ${call.arguments}` : 'not a call'}`,
      ),
    ],
  );
}

function judged({ name, args }: FunctionRequest, call: Outcome['call']) {
  if (call === undefined) return { isValid: false, isCorrect: false };
  const schema = FUNCTIONS.find((each) => each.name === call.name)?.parameters;
  let sent: Record<string, unknown>;
  try {
    sent = JSON.parse(call.arguments) as Record<string, unknown>;
  } catch {
    return { isValid: false, isCorrect: false };
  }
  const types = new Map(Object.entries(schema?.properties ?? {}).map(([key, { type }]) => [key, type]));
  if (schema === undefined) return { isValid: false, isCorrect: false };
  const isValid =
    schema.required.every((key) => key in sent) &&
    Object.entries(sent).every(([key, value]) => isOfType(value, types.get(key)));
  const matches = Object.entries(args).every(([key, pattern]) =>
    pattern.test(String(sent[key] ?? '').toLowerCase()),
  );
  return { isValid, isCorrect: isValid && call.name === name && matches };
}

function isOfType(value: unknown, type: string | undefined): boolean {
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}
