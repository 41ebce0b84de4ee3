import { expect, it } from 'vitest';
import { isAbandoned, workFolderPrefix } from './work-folder.ts';

it('detects only folders of exited processes of the same host', async () => {
  const own = workFolderPrefix('form');
  const [, host = ''] = own.split('-');
  const ended = Bun.spawn(['true']);
  await ended.exited;
  const names = {
    own,
    dead: workFolderPrefix('form', { hostId: host, pid: ended.pid, instance: 'aaaa' }),
    before: workFolderPrefix('form', { hostId: host, pid: process.pid, instance: 'bbbb' }),
    running: workFolderPrefix('form', { hostId: host, pid: process.ppid, instance: 'cccc' }),
    elsewhere: workFolderPrefix('form', { hostId: 'other', pid: ended.pid, instance: 'dddd' }),
    otherKind: workFolderPrefix('work', { hostId: host, pid: ended.pid, instance: 'aaaa' }),
    nobody: 'form-Xyz123',
    strange: `form-${host}-x-aaaa-`,
  };
  const abandoned = Object.entries(names).filter(([, name]) => isAbandoned('form', `${name}Xyz123`));
  expect(abandoned.map(([whose]) => whose)).toEqual(['dead', 'before']);
});
