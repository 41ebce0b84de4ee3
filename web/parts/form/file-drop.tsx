import { Button, Group, Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { useRef } from 'react';
import { Icon } from '../icon.tsx';
import { bytesWords } from '../words.ts';

/** Takes one file: dropped here, or chosen by a button. */
export function FileDrop(props: {
  /** Names the field, for those who do not see it. */
  readonly label: string;
  /** What may be dropped, in a sentence. */
  readonly text: string;
  readonly file: File | undefined;
  readonly onFile: (file: File) => void;
  /** What the browser offers first; everything can be chosen. */
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
        // The button is what is clicked and focused: one control, not one within another.
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
            {file === undefined ? 'Choose a file' : 'Choose another'}
          </Button>
          <Text size="sm" {...(file === undefined && { c: 'dimmed' })} style={{ overflowWrap: 'anywhere' }}>
            {file === undefined ? props.text : `${file.name}, ${bytesWords(file.size)}`}
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
