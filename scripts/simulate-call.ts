/**
 * `bun run simulate-call`: simulates a call of a voice-agent platform and measures the latency of the
 * service.
 */

import { parseArgs } from 'node:util';
import { SimulatedCall, type SimulatedTurn } from '../tools/simulate-call/call-simulator.ts';

const USAGE = `Usage: bun run simulate-call --key KEY [--url http://127.0.0.1:8080] [--turns 5] [--rate 16000] [--chat-model ID]
  Plays a voice-agent platform: both channels to /v1/transcribers/partner in odd frames, replies of
  /v1/chat/completions, spoken by /v1/voices/partner. Customers are spoken by the same voice. Exit code 0 when every
  turn was transcribed and answered, 1 when one was not, 2 for wrong usage.`;

const LINES = [
  'Hello, do you have a table for four people on Friday evening?',
  'What time does the kitchen close?',
  'My sister does not eat any meat. Is there something for her?',
  'Could we sit outside if the weather is nice?',
  'Thank you very much, please book it for half past seven.',
];
const WORST = 30_000;

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
      console.log(`customer:  ${line}\n  heard:   ${turn.transcript}\n  reply:   ${turn.reply.trim()}`);
    }
  } finally {
    call.hangUp();
  }
  console.log(`\n${table(turns)}`);
  for (const error of call.errors) console.error(`error: ${error}`);
  const isAnswered = turns.every(({ transcript, answerMs }) => transcript !== '' && answerMs < WORST);
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
    ['first word → first text', (turn) => turn.firstTextMs],
    ['last word → final', (turn) => turn.finalMs],
    ['chat, first token', (turn) => turn.chatFirstMs],
    ['voice, first bytes', (turn) => turn.voiceFirstMs],
    ["last word → answer, with the platform's waits", (turn) => turn.answerMs],
  ];
  const lines = rows.map(([name, of]) => {
    const sorted = turns.map(of).sort((a, b) => a - b);
    const middle = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
    return `${name.padEnd(48)}${`${Math.round(middle)}`.padStart(7)} ms${`${Math.round(sorted.at(-1) ?? Number.NaN)}`.padStart(9)} ms`;
  });
  return [`${`${turns.length} turns`.padEnd(48)} median      most`, ...lines].join('\n');
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(`The call failed: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
