import { Button } from '@mantine/core';
import { Icon } from '../../components/icon.tsx';
import type { RealtimeConnection } from './realtime-connection.ts';

/** Push-to-talk button. Works with the pointer, and with the space bar or Enter while it is focused. */
export function PushToTalkButton({ connection }: { readonly connection: RealtimeConnection }) {
  const isKey = (key: string) => key === ' ' || key === 'Enter';
  return (
    <Button
      variant={connection.isButtonDown ? 'filled' : 'light'}
      aria-pressed={connection.isButtonDown}
      disabled={!connection.hasMicrophone}
      leftSection={<Icon name="microphone" />}
      // A long touch must not scroll or open a context menu.
      style={{ touchAction: 'none', userSelect: 'none' }}
      onContextMenu={(event) => event.preventDefault()}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        connection.press();
      }}
      onPointerUp={() => connection.release()}
      onPointerCancel={() => connection.release()}
      onBlur={() => connection.release()}
      onKeyDown={(event) => {
        if (!isKey(event.key)) return;
        event.preventDefault();
        if (!event.repeat) connection.press();
      }}
      onKeyUp={({ key }) => isKey(key) && connection.release()}
    >
      Hold to talk
    </Button>
  );
}
