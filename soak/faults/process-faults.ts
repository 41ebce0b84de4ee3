/** Faults of processes: kills processes that run models or read files, and whole nodes. */

import { childrenOf } from '../../tools/harness/services/launcher.ts';
import { WORKER_ENTRIES } from '../../tools/harness/services/worker-entries.ts';
import type { SoakNode } from '../site/soak-node.ts';
import type { FaultDeps, SoakFault } from './fault.ts';

/** Maximum wait for a short-lived process. */
const FIND_WITHIN_MS = 40_000;
const POLL_MS = 50;
/** Time until all calls in progress have ended. */
const AFTER_KILL_MS = 5000;
/** Downtime of a killed node. */
const DOWNTIME_MS = 3000;

/** Kills a random child process of a node whose command line contains `part`. */
function processKill(name: string, part: string, what: string): SoakFault {
  return {
    name,
    what,
    isPossible: () => true,
    async inject({ sites, ledger, random, signal }) {
      const deadlineMs = performance.now() + FIND_WITHIN_MS;
      for (;;) {
        const found = sites.main.nodes
          .filter(({ isUp }) => isUp)
          .flatMap((node) => childrenOf(node.service.pid, part).map((pid) => ({ node, pid })));
        const victim = found[Math.floor(random() * found.length)];
        if (victim !== undefined) {
          // A response that has started can only be cut off.
          const repaired = ledger.recordFault({ name, nodes: [victim.node.name], excuses: ['cut'] });
          process.kill(victim.pid, 'SIGKILL');
          await Bun.sleep(AFTER_KILL_MS);
          repaired();
          return undefined;
        }
        if (performance.now() > deadlineMs || signal.aborted) return 'no such process was found';
        await Bun.sleep(POLL_MS);
      }
    },
  };
}

/** Kills a node and restarts it. */
async function killNode(name: string, node: SoakNode, { ledger, signal }: FaultDeps): Promise<undefined> {
  const repaired = ledger.recordFault({ name, nodes: [node.name], excuses: ['cut', 'unreachable'] });
  await node.kill();
  await Bun.sleep(DOWNTIME_MS);
  await node.start(signal);
  repaired();
}

const machine: SoakFault = {
  name: 'machine',
  what: 'the second node is killed (SIGKILL) and started again after 3 s',
  isPossible: ({ main }) => main.nodes.length > 1,
  async inject(parts) {
    const node = parts.sites.main.nodes.at(-1);
    return node && (await killNode('machine', node, parts));
  },
};

const smallMachine: SoakFault = {
  name: 'small-machine',
  what: 'the node with the small disk is killed (SIGKILL) and started again after 3 s',
  isPossible: ({ small }) => small !== undefined,
  async inject(parts) {
    const node = parts.sites.small?.nodes[0];
    return node && (await killNode('small-machine', node, parts));
  },
};

export const PROCESS_FAULTS: readonly SoakFault[] = [
  processKill('inference', WORKER_ENTRIES.inference, 'an inference process is killed (SIGKILL)'),
  processKill('llama', WORKER_ENTRIES.languageModel, 'a language model process is killed (SIGKILL)'),
  processKill(
    'listener',
    WORKER_ENTRIES.voiceActivity,
    'the voice activity detection process is killed (SIGKILL)',
  ),
  processKill('video', WORKER_ENTRIES.video, 'a video process is killed (SIGKILL)'),
  processKill('media', WORKER_ENTRIES.media, 'a media process is killed (SIGKILL)'),
  machine,
  smallMachine,
];
