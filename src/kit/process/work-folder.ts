import { createHash } from 'node:crypto';
import { hasExited, type ProcessIdentity, hostId } from './host-id.ts';

/** This process, as its folders are named; whoever starts at the same place can tell that it has ended. */
const SELF: ProcessIdentity = {
  hostId: createHash('sha256').update(hostId()).digest('hex').slice(0, 12),
  pid: process.pid,
  instance: crypto.randomUUID().slice(0, 8),
};

/**
 * Begins the names of the folders in which a process works.
 * @param kind what they are for, in letters.
 */
export function workFolderPrefix(kind: string, { hostId: place, pid, instance }: ProcessIdentity = SELF): string {
  return `${kind}-${place}-${pid}-${instance}-`;
}

/** Whether a folder of this name was left by a process of this place that has ended. */
export function isAbandoned(kind: string, name: string): boolean {
  const [, begin, place = '', pid, instance = ''] = /^([a-z]+)-(\w+)-(\d+)-(\w+)-/.exec(name) ?? [];
  return begin === kind && hasExited({ hostId: place, pid: Number(pid), instance }, SELF);
}
