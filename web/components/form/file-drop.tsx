import { Button, Group, Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { useRef } from 'react';
import { formatBytes } from '../format.ts';
import { Icon } from '../icon.tsx';

/** Selects one file by drag and drop or with a button. */
export function FileDrop(props: {
  /** Accessible name. */
  readonly label: string;
  /** Accepted files, as a sentence. */
  readonly text: string;
  readonly file: File | undefined;
  readonly onFile: (file: File) => void;
  /** File types preselected in the browser's file dialog; others can be selected too. */
  readonly accept?: string;
  readonly error?: string | undefined;
  readonly disabled?: boolean;
}) {
  const { file, onFile, error, disabled = false } = props;
  const choose = useRef<() => void>(null);
  return (
    <div>
      <Dropzone
        openRef={choose}
        onDrop={([dropped]) => dropped !== undefined && onFile(dropped)}
        multiple={false}
        disabled={disabled}
        // Only the button is interactive: nested controls are not accessible.
        activateOnClick={false}
        activateOnKeyboard={false}
        tabIndex={-1}
        inputProps={{ 'aria-label': props.label, accept: props.accept }}
        p="md"
        enablePointerEvents
      >
        <Group gap="sm">
          <Button
            variant="default"
            leftSection={<Icon name="upload" size={16} />}
            onClick={() => choose.current?.()}
            disabled={disabled}
          >
            {file === undefined ? 'Select a file' : 'Select another file'}
          </Button>
          <Text size="sm" {...(file === undefined && { c: 'dimmed' })} style={{ overflowWrap: 'anywhere' }}>
            {file === undefined ? props.text : `${file.name}, ${formatBytes(file.size)}`}
          </Text>
        </Group>
      </Dropzone>
      {error !== undefined && (
        <Text size="sm" c="error" mt={4} role="alert">
          {error}
        </Text>
      )}
    </div>
  );
}
