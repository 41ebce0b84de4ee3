/** An item of `GET /v1/usage`. */
export interface UsageRow {
  readonly id: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly endpoint: string;
  readonly model: string;
  readonly status: 'completed' | 'cancelled' | 'failed';
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly characters?: number;
  readonly audio_seconds?: number;
  readonly request_id: string;
}

/** Usage of one day, endpoint and model. */
export interface UsageDay {
  /** Such as `2026-11-22`, in UTC. */
  readonly day: string;
  readonly endpoint: string;
  readonly model: string;
  readonly requests: number;
  readonly failed: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly characters: number;
  readonly audio_seconds: number;
  readonly credits: number;
}

/** Response of `GET /v1/usage/summary`. */
export interface UsageSummary {
  readonly from: string;
  readonly to: string;
  readonly data: readonly UsageDay[];
}

/** Response of `GET /v1/credits`. */
export interface Credits {
  readonly balance: number;
  readonly reserved: number;
  /** Set if requests are free of charge. */
  readonly free?: true;
}
