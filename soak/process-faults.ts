/** Faults of processes: kills processes that run models or read files, and whole nodes. */

import { childrenOf } from '../tools/harness/services/launcher.ts';
import type { FaultParts, SoakFault } from './fault.ts';
import type { SoakNode } from './soak-node.ts';

/** How long a process that comes and goes is waited for. */
const PATIENCE_MS = 40_000;
const POLL_MS = 50;
/** Until all calls in progress have ended. */
const AFTER_KILL_MS = 5000;
/** How long a machine is unavailable. */
const AWAY_MS = 3000;

/** Kills one of the processes that a machine has started and whose command line has this part. */
function processKill(name: string, part: string, what: string): SoakFault {
  return {
    ...{ name, what },
    isPossible: () => true,
    async strike({ sites, ledger, random, signal }) {
      const latest = performance.now() + PATIENCE_MS;
      for (;;) {
        const found = sites.main.nodes
          .filter(({ isUp }) => isUp)
          .flatMap((node) => childrenOf(node.service.pid, part).map((pid) => ({ node, pid })));
        const victim = found[Math.floor(random() * found.length)];
        if (victim !== undefined) {
          // A stream that had begun can only be broken off.
          const over = ledger.strike({ name, nodes: [victim.node.name], excuses: ['cut'] });
          process.kill(victim.pid, 'SIGKILL');
          await Bun.sleep(AFTER_KILL_MS);
          over();
          return undefined;
        }
        if (performance.now() > latest || signal.aborted) return 'there was no such process';
        await Bun.sleep(POLL_MS);
      }
    },
  };
}

/** Kills a node and restarts it. */
async function killNode(name: string, node: SoakNode, { ledger, signal }: FaultParts): Promise<undefined> {
  const over = ledger.strike({ name, nodes: [node.name], excuses: ['cut', 'unreachable'] });
  await node.kill();
  await Bun.sleep(AWAY_MS);
  await node.start(signal);
  over();
}

const machine: SoakFault = {
  name: 'machine',
  what: 'the second machine is killed (SIGKILL) with all that it does, and started again after 3 s',
  isPossible: ({ main }) => main.nodes.length > 1,
  async strike(parts) {
    const node = parts.sites.main.nodes.at(-1);
    return node && (await killNode('machine', node, parts));
  },
};

const smallMachine: SoakFault = {
  name: 'small-machine',
  what: 'the machine with the small disk is killed (SIGKILL), and started again after 3 s',
  isPossible: ({ small }) => small !== undefined,
  async strike(parts) {
    const node = parts.sites.small?.nodes[0];
    return node && (await killNode('small-machine', node, parts));
  },
};

export const PROCESS_FAULTS: readonly SoakFault[] = [
  processKill('inference', 'inference-worker', 'a process that runs models is killed (SIGKILL)'),
  processKill('llama', 'llama-worker', 'a process of a language model is killed (SIGKILL)'),
  processKill('listener', 'silero-worker', 'the voice activity process is killed (SIGKILL)'),
  processKill('video', 'continuation-worker', 'the process of a video is killed (SIGKILL)'),
  processKill('media', 'media-worker', 'a process that reads an audio file or a clip is killed (SIGKILL)'),
  machine,
  smallMachine,
];
