import { expect, it } from 'vitest';
import { isAbandoned, workFolderPrefix } from './work-folder.ts';

it('tells what processes of the same place left that have ended, and nothing else', async () => {
  const own = workFolderPrefix('form');
  const [, place = ''] = own.split('-');
  const ended = Bun.spawn(['true']);
  await ended.exited;
  const names = {
    own,
    dead: workFolderPrefix('form', { hostId: place, pid: ended.pid, instance: 'aaaa' }),
    before: workFolderPrefix('form', { hostId: place, pid: process.pid, instance: 'bbbb' }),
    running: workFolderPrefix('form', { hostId: place, pid: process.ppid, instance: 'cccc' }),
    elsewhere: workFolderPrefix('form', { hostId: 'other', pid: ended.pid, instance: 'dddd' }),
    otherKind: workFolderPrefix('work', { hostId: place, pid: ended.pid, instance: 'aaaa' }),
    nobody: 'form-Xyz123',
    strange: `form-${place}-x-aaaa-`,
  };
  const abandoned = Object.entries(names).filter(([, name]) => isAbandoned('form', `${name}Xyz123`));
  expect(abandoned.map(([whose]) => whose)).toEqual(['dead', 'before']);
});
