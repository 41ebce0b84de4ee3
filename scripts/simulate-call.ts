/**
 * `bun run simulate-call`: simulates a call of a voice-agent platform and measures the latency of the
 * service.
 */

import { parseArgs } from 'node:util';
import { SimulatedCall, type SimulatedTurn } from '../tools/simulate-call/call-simulator.ts';

const USAGE = `Usage: bun run simulate-call --key KEY [--url http://127.0.0.1:8080] [--turns 5] [--rate 16000] [--chat-model ID]
  Simulates a voice-agent platform: sends both channels to /v1/transcribers/partner in frames of various sizes, requests
  replies from /v1/chat/completions and their speech from /v1/voices/partner, which also speaks the customer's texts.
  Exit code 0 if every turn was transcribed and answered, 1 if not, 2 for invalid arguments.`;

const LINES = [
  'Hello, do you have a table for four people on Friday evening?',
  'What time does the kitchen close?',
  'My sister does not eat any meat. Is there something for her?',
  'Could we sit outside if the weather is nice?',
  'Thank you very much, please book it for half past seven.',
];
/** Maximum time until the answer, in ms. */
const MAX_ANSWER_MS = 30_000;

/** @returns the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const options = argumentsOf(args);
  if (options === undefined) {
    console.error(USAGE);
    return 2;
  }
  const { turns: count, ...platform } = options;
  const call = await SimulatedCall.dial({ ...platform, maxTokens: 60 });
  const turns: SimulatedTurn[] = [];
  try {
    for (let at = 0; at < count; at++) {
      const line = LINES[at % LINES.length] ?? '';
      const turn = await call.turn(await call.voiceOf(line));
      turns.push(turn);
      console.log(`customer:    ${line}\ntranscript:  ${turn.transcript}\nreply:       ${turn.reply.trim()}`);
    }
  } finally {
    call.hangUp();
  }
  console.log(`\n${table(turns)}`);
  for (const error of call.errors) console.error(`error: ${error}`);
  const isAnswered = turns.every(
    ({ transcript, responseMs }) => transcript !== '' && responseMs < MAX_ANSWER_MS,
  );
  return isAnswered && call.errors.length === 0 ? 0 : 1;
}

function argumentsOf(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        url: { type: 'string', default: 'http://127.0.0.1:8080' },
        key: { type: 'string' },
        turns: { type: 'string', default: '5' },
        rate: { type: 'string', default: '16000' },
        'chat-model': { type: 'string' },
      },
    });
    const { url, key, turns, rate, 'chat-model': chatModel } = values;
    const isNumber = (text: string) => /^[1-9]\d{0,5}$/.test(text);
    if (key === undefined || !URL.canParse(url) || !isNumber(turns) || !isNumber(rate)) return undefined;
    return {
      baseUrl: url.replace(/\/+$/, ''),
      key,
      turns: Number(turns),
      rateHz: Number(rate),
      ...(chatModel === undefined ? {} : { chatModel }),
    };
  } catch {
    return undefined;
  }
}

function table(turns: readonly SimulatedTurn[]): string {
  const rows: readonly (readonly [string, (turn: SimulatedTurn) => number])[] = [
    ['start of speech → first partial', (turn) => turn.firstTextMs],
    ['end of speech → final transcript', (turn) => turn.finalMs],
    ['chat request → first token', (turn) => turn.chatFirstMs],
    ['speech request → first bytes', (turn) => turn.voiceFirstMs],
    ['end of speech → answer, with platform delays', (turn) => turn.responseMs],
  ];
  const lines = rows.map(([name, of]) => {
    const sorted = turns.map(of).sort((a, b) => a - b);
    const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
    return `${name.padEnd(48)}${`${Math.round(median)}`.padStart(7)} ms${`${Math.round(sorted.at(-1) ?? Number.NaN)}`.padStart(9)} ms`;
  });
  return [`${`${turns.length} turns`.padEnd(48)} median   maximum`, ...lines].join('\n');
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(`The call failed: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
