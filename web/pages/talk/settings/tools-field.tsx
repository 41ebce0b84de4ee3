import { useState } from 'react';
import type { FunctionDefinition } from '../tools/example-tools.ts';
import { readTools, TOOLS_PLACEHOLDER } from '../tools/tool-list.ts';
import { CommittedTextarea } from './committed-textarea.tsx';

/** Field for functions as JSON. Reports only valid lists. */
export function ToolsField(props: { readonly onChange: (tools: readonly FunctionDefinition[]) => void }) {
  const [text, setText] = useState('');
  const read = readTools(text);
  return (
    <CommittedTextarea
      label="Your functions"
      description="A JSON list. When the assistant calls one, you enter its output."
      placeholder={TOOLS_PLACEHOLDER}
      value={text}
      error={'error' in read ? read.error : undefined}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } }}
      minRows={3}
      onChange={(changed) => {
        setText(changed);
        const parsed = readTools(changed);
        if ('tools' in parsed) props.onChange(parsed.tools);
      }}
    />
  );
}
