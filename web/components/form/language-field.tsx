import { TextInput } from '@mantine/core';
import { useState } from 'react';

/** An ISO 639 code, or empty. */
const CODE = /^([a-z]{2,3})?$/;

/** Input for a language code; empty for automatic detection. Reports only valid codes. */
export function LanguageField(props: {
  readonly value: string;
  readonly onChange: (language: string) => void;
  /** Error of the service for this field. */
  readonly error?: string | undefined;
  readonly disabled?: boolean;
}) {
  const [text, setText] = useState(props.value);
  const isCode = CODE.test(text);
  return (
    <TextInput
      label="Language"
      placeholder="Automatic"
      value={text}
      maxLength={3}
      spellCheck={false}
      autoCapitalize="none"
      disabled={props.disabled ?? false}
      error={isCode ? props.error : 'Enter a language code, such as en'}
      onChange={({ currentTarget }) => {
        const code = currentTarget.value.toLowerCase();
        setText(code);
        if (CODE.test(code)) props.onChange(code);
      }}
    />
  );
}
