import { Anchor, Badge, Code, Group, Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatJson, isJsonObject, readJson } from '../../components/json-text.ts';
import { textOf } from './response-fold.ts';
import type { CodeItem, InputItem, MessageItem, OutputItem } from './response-wire.ts';
import classes from './responses.module.css';

/** An input item: a message as text, any other item as JSON. */
export function InputItemView({ item }: { readonly item: InputItem }) {
  if ('role' in item)
    return <TextBlock who={roleLabel(item.role)} text={contentText(item.content)} isInput />;
  if (item.type === 'function_call_output') {
    return <TextBlock who="Function result" text={formatJson(contentText(item.output))} isInput isCode />;
  }
  return <TextBlock who={String(item.type)} text={JSON.stringify(item, null, 2)} isInput isCode />;
}

/** An output item. */
export function OutputItemView({ item }: { readonly item: OutputItem }) {
  switch (item.type) {
    case 'message':
      return <Message item={item} />;
    case 'reasoning':
      return <TextBlock who="Reasoning" text={item.content.map(textOf).join('')} />;
    case 'function_call':
      return <TextBlock who={`Calls ${item.name}`} text={formatJson(item.arguments)} isCode />;
    case 'web_search_call':
      return (
        <Tool name="Web search" status={item.status}>
          <Text size="sm">{item.action.query}</Text>
          {item.action.sources?.map(({ url }) => (
            <Link key={url} url={url} />
          ))}
        </Tool>
      );
    case 'code_interpreter_call':
      return (
        <Tool name="Code interpreter" status={item.status}>
          <Program item={item} />
        </Tool>
      );
  }
}

function Message({ item }: { readonly item: MessageItem }) {
  const cited = item.content.flatMap((part) => (part.type === 'output_text' ? part.annotations : []));
  const text = item.content.map(textOf).join('');
  const isJson = /^\s*[{[]/.test(text) && 'value' in readJson(text);
  return (
    <TextBlock who="Response" text={isJson ? formatJson(text) : text} isCode={isJson}>
      {cited.map(({ url, title }) => (
        <Link key={`${url} ${title}`} url={url} title={title} />
      ))}
    </TextBlock>
  );
}

function TextBlock(props: {
  readonly who: string;
  readonly text: string;
  readonly isInput?: boolean;
  readonly isCode?: boolean;
  readonly children?: ReactNode;
}) {
  const { who, text, isInput = false, isCode = false, children } = props;
  return (
    <Stack gap={2} role="group" aria-label={who}>
      <Text size="xs" c="dimmed">
        {who}
      </Text>
      <Paper
        p="xs"
        {...(isInput ? { bg: 'var(--mantine-color-default-hover)' } : { withBorder: true })}
        style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
        fz="sm"
        {...(isCode && { ff: 'monospace' })}
      >
        {text}
      </Paper>
      {children}
    </Stack>
  );
}

function Tool(props: { readonly name: string; readonly status: string; readonly children: ReactNode }) {
  return (
    <Stack gap={4} role="group" aria-label={props.name}>
      <Group gap="xs">
        <Text size="xs" c="dimmed">
          {props.name}
        </Text>
        <Badge size="xs" variant="light" color={props.status === 'failed' ? 'red' : 'gray'}>
          {props.status.replace('_', ' ')}
        </Badge>
      </Group>
      {props.children}
    </Stack>
  );
}

function Program({ item }: { readonly item: CodeItem }) {
  return (
    <>
      <Code block>{item.code ?? ''}</Code>
      {item.outputs !== null && item.outputs.length > 0 && (
        <Text size="xs" c="dimmed">
          Output
        </Text>
      )}
      {item.outputs?.map((output, index) =>
        output.type === 'logs' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list of outputs is append-only
          <Code block key={index}>
            {output.logs}
          </Code>
        ) : (
          <img key={output.url} src={output.url} alt="Program output" className={classes.drawing} />
        ),
      )}
    </>
  );
}

/** A search result. Only http and https URLs become links. */
function Link({ url, title = url }: { readonly url: string; readonly title?: string }) {
  if (!/^https?:\/\//i.test(url)) return <Text size="sm">{title}</Text>;
  return (
    <Anchor href={url} target="_blank" rel="noreferrer" size="sm" style={{ overflowWrap: 'anywhere' }}>
      {title}
    </Anchor>
  );
}

function roleLabel(role: unknown): string {
  return role === 'user' ? 'You' : String(role);
}

/** Text of a message or a function result; other parts are shown by their type. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content
    .map((part) => {
      if (!isJsonObject(part)) return JSON.stringify(part);
      return typeof part.text === 'string' ? part.text : `[${part.type}]`;
    })
    .join('\n');
}
