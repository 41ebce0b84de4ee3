import { kindKey, modelTable } from '../table-keys.ts';

export const ContinuationTable = modelTable({
  kind: kindKey('continuation', 'extrapolates motion and sound, without weights; ignores the prompt'),
});
