import { Button } from '@mantine/core';
import { Icon } from '../../parts/icon.tsx';
import type { Talk } from './talk.ts';

/** Push-to-talk button. Works with the pointer, and with the space bar or Enter while it is focused. */
export function HoldButton({ talk }: { readonly talk: Talk }) {
  const isKey = (key: string) => key === ' ' || key === 'Enter';
  return (
    <Button
      variant={talk.isHeld ? 'filled' : 'light'}
      aria-pressed={talk.isHeld}
      disabled={!talk.hasMicrophone}
      leftSection={<Icon name="microphone" />}
      // A long touch must not scroll or open a context menu.
      style={{ touchAction: 'none', userSelect: 'none' }}
      onContextMenu={(event) => event.preventDefault()}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        talk.press();
      }}
      onPointerUp={() => talk.release()}
      onPointerCancel={() => talk.release()}
      onBlur={() => talk.release()}
      onKeyDown={(event) => {
        if (!isKey(event.key)) return;
        event.preventDefault();
        if (!event.repeat) talk.press();
      }}
      onKeyUp={({ key }) => isKey(key) && talk.release()}
    >
      Hold to talk
    </Button>
  );
}
