import { createHash } from 'node:crypto';
import { hasExited, hostId, type ProcessIdentity } from './host-id.ts';

/** Identity of this process in folder names, so that later processes of the host can detect its exit. */
const SELF: ProcessIdentity = {
  hostId: createHash('sha256').update(hostId()).digest('hex').slice(0, 12),
  pid: process.pid,
  instance: crypto.randomUUID().slice(0, 8),
};

/**
 * Returns the name prefix of the work folders of a process.
 * @param kind purpose of the folders, in letters.
 */
export function workFolderPrefix(kind: string, { hostId, pid, instance }: ProcessIdentity = SELF): string {
  return `${kind}-${hostId}-${pid}-${instance}-`;
}

/** Whether a folder was left by a process of this host that has exited. */
export function isAbandoned(kind: string, name: string): boolean {
  const [, namedKind, host = '', pid, instance = ''] = /^([a-z]+)-(\w+)-(\d+)-(\w+)-/.exec(name) ?? [];
  return namedKind === kind && hasExited({ hostId: host, pid: Number(pid), instance }, SELF);
}
