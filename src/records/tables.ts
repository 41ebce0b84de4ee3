import type { Generated } from 'kysely';
import type { CreditAccount, MicroCredits, TransferKind } from '../contract/accounts-store.ts';
import type { Id } from '../contract/id.ts';
import type { ResponseStatus } from '../contract/response-store.ts';
import type { EndpointLabel, UsageStatus } from '../contract/usage.ts';

/**
 * The tables of both engines as Kysely types them; migrations.ts makes them. Times are Unix seconds, `sequence`
 * counts rows in the order of their insertion.
 */
export interface Tables {
  usage: UsageTable;
  api_keys: ApiKeyTable;
  organizations: OrganizationTable;
  responses: ResponseTable;
  response_items: ResponseItemTable;
  instances: InstanceTable;
  open_calls: OpenCallTable;
  credit_accounts: CreditAccountTable;
  credit_transfers: CreditTransferTable;
  credit_entries: CreditEntryTable;
}

interface UsageTable {
  sequence: Generated<number>;
  id: Id<'usage'>;
  created_at: number;
  organization: string;
  endpoint: EndpointLabel;
  model: string;
  status: UsageStatus;
  input_tokens: number;
  output_tokens: number;
  characters: number | null;
  audio_bytes: number | null;
  audio_seconds: number | null;
  transcript: string | null;
  request_id: Id<'request'>;
}

interface ApiKeyTable {
  sequence: Generated<number>;
  id: Id<'key'>;
  /** SHA-256 in hex. */
  key_hash: string;
  organization: string;
  hint: string;
  created_at: number;
  revoked_at: number | null;
}

/** Made with the first key of an organization. */
interface OrganizationTable {
  /** Its name. */
  id: string;
  created_at: number;
}

interface ResponseTable {
  id: Id<'response'>;
  organization: string;
  created_at: number;
  status: ResponseStatus;
  /** Kept when that response is deleted: it tells that the chain has lost a link. */
  previous_id: string | null;
  /** Length of the body's JSON. */
  body_characters: number;
  /** Length of the JSON of all input items. */
  input_characters: number;
  /** The response object as JSON. */
  body: string;
}

/** Input items; they vanish with their response. */
interface ResponseItemTable {
  response_id: Id<'response'>;
  /** From 0, in the order of the input. */
  position: number;
  id: string;
  /** JSON. */
  item: string;
}

/** Processes of the service that may have open calls. */
interface InstanceTable {
  id: string;
  place: string;
  pid: number;
  seen_at: number;
}

interface OpenCallTable {
  sequence: Generated<number>;
  /** Of the usage row that it becomes. */
  id: Id<'usage'>;
  instance: string;
  opened_at: number;
  endpoint: EndpointLabel;
  organization: string;
  request_id: Id<'request'>;
  model: string;
  reserved: MicroCredits;
}

/** The sums of an organization's entries; `available` and `reserved` cannot become negative. */
interface CreditAccountTable extends Record<CreditAccount, MicroCredits> {
  organization: string;
}

interface CreditTransferTable {
  sequence: Generated<number>;
  organization: string;
  kind: TransferKind;
  at: number;
  call_id: Id<'usage'> | null;
}

/** Amounts of one transfer add up to 0. */
interface CreditEntryTable {
  transfer: number;
  account: CreditAccount;
  amount: MicroCredits;
}
