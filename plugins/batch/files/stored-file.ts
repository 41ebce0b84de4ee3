import type { Id } from '../../../src/contract/core/id.ts';
import type { BlobFacts } from '../../../src/contract/stores/blob-store.ts';

/** The file of an upload form, stored as a blob that has no record yet. */
export class StoredFile {
  readonly id: Id<'file-'>;
  readonly filename: string;
  readonly facts: BlobFacts;

  constructor(id: Id<'file-'>, filename: string, facts: BlobFacts) {
    this.id = id;
    this.filename = filename;
    this.facts = facts;
  }
}
