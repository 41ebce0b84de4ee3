import { Button } from '@mantine/core';
import type { Loaded } from '../../../client/use-load.ts';
import { ErrorAlert } from '../../../components/feedback/error-alert.tsx';
import { MessageAlert } from '../../../components/feedback/message-alert.tsx';
import type { TalkSession } from '../session/talk-session.ts';

interface ProblemsProps {
  readonly session: TalkSession | undefined;
  /** Why the session could not be opened. */
  readonly startError: string | undefined;
  readonly models: Loaded<readonly unknown[]>;
  readonly onStart: () => void;
}

/** What prevents the conversation, or a part of it, and what the user can do. */
export function Problems({ session, startError, models, onStart }: ProblemsProps) {
  const { phase, message, error } = session?.state ?? {};
  const endReason = phase === 'ended' ? message : undefined;
  const microphoneError = phase === 'ended' ? undefined : session?.microphoneError;
  return (
    <>
      <ErrorAlert error={models.error} onRetry={models.reload} />
      {models.value?.length === 0 && (
        <MessageAlert message="The service has no conversation model.">
          An operator can add one to the configuration of the service.
        </MessageAlert>
      )}
      <MessageAlert message={startError} />
      <MessageAlert
        message={endReason}
        action={
          <Button size="compact-sm" variant="default" onClick={onStart}>
            Start again
          </Button>
        }
      >
        A new conversation starts without memory of this one, which stays visible until then.
      </MessageAlert>
      <MessageAlert message={microphoneError}>You can type messages and listen to the answers.</MessageAlert>
      <MessageAlert message={error} />
    </>
  );
}
