import type { ConversationModelSettings, ModelSettings } from '../core/settings.ts';
import type { ReadyReport } from './engine.ts';

/** A conversation model of CONFIG. Its parts are models of other tasks. */
export interface ConversationModel extends Omit<ConversationModelSettings, keyof ModelSettings> {
  /** Also for a model that follows this one. */
  readonly id: string;
  /** Whether it is prepared when the service starts, so that its first session does not wait. */
  readonly isRequired: boolean;
  ready(): ReadyReport;
}
