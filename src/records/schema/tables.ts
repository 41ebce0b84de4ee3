import type { Generated } from 'kysely';
import type { CreditAccount, MicroCredits, TransferKind } from '../../contract/accounts/accounts-store.ts';
import type { KeyRole } from '../../contract/accounts/api-key.ts';
import type { EndpointLabel, UsageStatus } from '../../contract/accounts/usage.ts';
import type { Id } from '../../contract/core/id.ts';
import type { Traceparent } from '../../contract/core/tracer.ts';
import type { OperationUrl } from '../../contract/engines/operation.ts';
import type { BatchPart, BatchStatus } from '../../contract/stores/batch-store.ts';
import type { FilePurpose } from '../../contract/stores/file-store.ts';
import type { ResponseStatus } from '../../contract/stores/response-store.ts';
import type { VideoStatus } from '../../contract/stores/video-store.ts';

/**
 * Kysely's types of the tables, which migrations.ts creates in both engines. Times are Unix seconds; `sequence` numbers rows
 * in insertion order.
 */
export interface Tables {
  usage: UsageTable;
  usage_days: UsageDayTable;
  api_keys: ApiKeyTable;
  organizations: OrganizationTable;
  responses: ResponseTable;
  response_items: ResponseItemTable;
  instances: InstanceTable;
  open_calls: OpenCallTable;
  credit_accounts: CreditAccountTable;
  credit_transfers: CreditTransferTable;
  credit_entries: CreditEntryTable;
  files: FileTable;
  idempotency_keys: IdempotencyKeyTable;
  batches: BatchTable;
  batch_parts: BatchPartTable;
  jobs: JobTable;
  videos: VideoTable;
  plugin_switches: PluginSwitchTable;
  lexicon_entries: LexiconEntryTable;
  lexicon_revisions: LexiconRevisionTable;
  voices: VoiceTable;
}

interface UsageTable {
  sequence: Generated<number>;
  id: Id<'usage_'>;
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
  request_id: Id<'req_'>;
}

/** Daily totals of usage. Each usage row is added in the transaction that stores it. */
interface UsageDayTable {
  organization: string;
  /** Days since 1970-01-01, in UTC. */
  day: number;
  endpoint: EndpointLabel;
  model: string;
  requests: number;
  failed: number;
  input_tokens: number;
  output_tokens: number;
  characters: number;
  audio_seconds: number;
  charged: MicroCredits;
}

interface ApiKeyTable {
  sequence: Generated<number>;
  id: Id<'key_'>;
  /** SHA-256 in hex. */
  key_hash: string;
  organization: string;
  name: string | null;
  hint: string;
  role: KeyRole;
  created_at: number;
  revoked_at: number | null;
}

/** A row is created with the first key or grant of an organization. */
interface OrganizationTable {
  /** Name of the organization. */
  id: string;
  created_at: number;
}

interface ResponseTable {
  id: Id<'resp_'>;
  organization: string;
  created_at: number;
  status: ResponseStatus;
  /** Remains when that response is deleted, so that the gap in the chain is detected. */
  previous_id: string | null;
  /** Length of the body's JSON. */
  body_characters: number;
  /** Length of the JSON of all input items. */
  input_characters: number;
  /** The response object as JSON. */
  body: string;
  /** Last heartbeat of the process that generates the response. */
  seen_at: number;
}

/** Input items; they are deleted with their response. */
interface ResponseItemTable {
  response_id: Id<'resp_'>;
  /** From 0, in the order of the input. */
  position: number;
  id: string;
  /** JSON. */
  item: string;
}

/** Processes of the service that can have open calls. */
interface InstanceTable {
  id: string;
  place: string;
  pid: number;
  seen_at: number;
}

interface OpenCallTable {
  sequence: Generated<number>;
  /** Id of the usage row that is stored when the call closes. */
  id: Id<'usage_'>;
  instance: string;
  opened_at: number;
  endpoint: EndpointLabel;
  organization: string;
  request_id: Id<'req_'>;
  model: string;
  reserved: MicroCredits;
  /** 1 if the work is repeated after a crash of the process. */
  repeated: Generated<number>;
}

/** The balance of an organization: the sums of its entries. `available` and `reserved` cannot become negative. */
interface CreditAccountTable extends Record<CreditAccount, MicroCredits> {
  organization: string;
}

interface CreditTransferTable {
  sequence: Generated<number>;
  organization: string;
  kind: TransferKind;
  at: number;
  call_id: Id<'usage_'> | null;
}

/** The amounts of a transfer add up to 0. */
interface CreditEntryTable {
  transfer: number;
  account: CreditAccount;
  amount: MicroCredits;
}

interface FileTable {
  sequence: Generated<number>;
  id: Id<'file-'>;
  organization: string;
  purpose: FilePurpose;
  filename: string;
  length_bytes: number;
  /** Hexadecimal. */
  sha256: string;
  created_at: number;
  expires_at: number | null;
}

interface IdempotencyKeyTable {
  organization: string;
  made_kind: 'file' | 'batch' | 'video';
  idempotency_key: string;
  fingerprint: string;
  made_id: string;
  created_at: number;
}

interface BatchTable {
  sequence: Generated<number>;
  id: Id<'batch_'>;
  organization: string;
  key_id: string;
  endpoint: OperationUrl;
  input_file: Id<'file-'>;
  /** JSON. */
  metadata: string | null;
  output_expires_after_s: number | null;
  status: BatchStatus;
  /** Id of the runner that has claimed the batch. Only this runner may update it. */
  runner: string | null;
  created_at: number;
  expires_at: number;
  in_progress_at: number | null;
  finalizing_at: number | null;
  cancelling_at: number | null;
  completed_at: number | null;
  failed_at: number | null;
  expired_at: number | null;
  cancelled_at: number | null;
  total: number;
  completed: number;
  failed: number;
  input_tokens: number;
  output_tokens: number;
  model: string | null;
  /** JSON. */
  faults: string;
  output_file: Id<'file-'> | null;
  error_file: Id<'file-'> | null;
  offset_bytes: number;
  line: number;
  /** JSON. */
  lines_ahead: string;
}

interface BatchPartTable {
  sequence: Generated<number>;
  batch: Id<'batch_'>;
  kind: BatchPart['kind'];
  blob: string;
  length_bytes: number;
}

/** Jobs of the embedded queue. */
interface JobTable {
  kind: string;
  id: string;
  free_at_ms: number;
  lease: string | null;
  failures: number;
  cause: Traceparent | null;
}

interface VoiceTable {
  sequence: Generated<number>;
  id: Id<'tts-vc-voice_'>;
  organization: string;
  key_id: string;
  name: string;
  consent: string;
  ref_text: string;
  speaker_description: string | null;
  format: string;
  duration_s: number;
  sample_rate_hz: number;
  length_bytes: number;
  created_at: number;
  adaptation: string | null;
  /** Written as 0 and never read: version 0.1 improved voices in the background. */
  is_improving: number;
}

interface VideoTable {
  sequence: Generated<number>;
  id: Id<'video_'>;
  organization: string;
  /** Id of the usage row that is stored when the job finishes. */
  call_id: Id<'usage_'>;
  request_id: Id<'req_'>;
  model: string;
  /** JSON. */
  prompt: string;
  status: VideoStatus;
  /** Id of the runner that claimed the job last. Only this runner may update it. */
  runner: string | null;
  created_at: number;
  started_at: number | null;
  completed_at: number | null;
  seconds: number;
  width: number;
  height: number;
  audio: number;
  /** JSON. */
  clip: string;
  source: Id<'video_'> | null;
  /** JSON. */
  made: string | null;
  /** JSON. */
  error: string | null;
  remembered: string | null;
  /** Note about how the segment is generated. */
  note: string | null;
  /** Length of the input clip while the job is open, then of the segment. */
  length_bytes: number;
  /** Credits that were reserved for the job. */
  reserved: MicroCredits;
}

interface PluginSwitchTable {
  name: string;
  /** 0 or 1. */
  enabled: number;
  /** Incremented with each change of `enabled`. */
  revision: number;
  changed_at: number;
}

interface LexiconEntryTable {
  organization: string;
  /** What the word is compared by. */
  word_key: string;
  /** Empty: every language. */
  language: string;
  word: string;
  phonemes: string | null;
  respelling: string | null;
  updated_at: number;
}

interface LexiconRevisionTable {
  organization: string;
  /** Incremented with each change of the entries. */
  revision: number;
}
