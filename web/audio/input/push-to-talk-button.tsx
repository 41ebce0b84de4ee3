import { Button, type ButtonProps } from '@mantine/core';
import { Icon } from '../../components/icon.tsx';

export interface PushToTalkButtonProps extends Pick<ButtonProps, 'size' | 'radius'> {
  readonly isDown: boolean;
  readonly disabled: boolean;
  readonly onPress: () => void;
  readonly onRelease: () => void;
}

/** Push-to-talk button. Works with the pointer, and with the space bar or Enter while it is focused. */
export function PushToTalkButton({ isDown, onPress, onRelease, ...props }: PushToTalkButtonProps) {
  const isKey = (key: string) => key === ' ' || key === 'Enter';
  return (
    <Button
      {...props}
      variant={isDown ? 'filled' : 'light'}
      aria-pressed={isDown}
      leftSection={<Icon name="microphone" />}
      // A long touch must not scroll or open a context menu.
      style={{ touchAction: 'none', userSelect: 'none' }}
      onContextMenu={(event) => event.preventDefault()}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        onPress();
      }}
      onPointerUp={onRelease}
      onPointerCancel={onRelease}
      onBlur={onRelease}
      onKeyDown={(event) => {
        if (!isKey(event.key)) return;
        event.preventDefault();
        if (!event.repeat) onPress();
      }}
      onKeyUp={({ key }) => isKey(key) && onRelease()}
    >
      Hold to talk
    </Button>
  );
}
