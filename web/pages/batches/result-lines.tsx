import { Button, Code, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { type ServiceError, toServiceError } from '../../client/service-error.ts';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { Empty } from '../../components/feedback/empty.tsx';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { Icon } from '../../components/icon.tsx';
import { Panel } from '../../components/panel.tsx';
import { saveFile } from '../../components/save-file.ts';
import { WideTable } from '../../components/wide-table.tsx';
import { RESULT_BYTES, resultsOf } from './result-preview.ts';

/** Preview of a result file with a download button. */
export function ResultLines(props: { readonly title: string; readonly file: string; readonly name: string }) {
  const { title, file, name } = props;
  const { client } = useSession();
  const path = `v1/files/${encodeURIComponent(file)}/content`;
  const {
    value: lines,
    error,
    reload,
  } = useLoad(
    async (signal) => {
      const headers = { range: `bytes=0-${RESULT_BYTES - 1}` };
      const response = await client.send('GET', path, undefined, { signal, headers });
      const text = await response.text();
      return resultsOf(text, !isCut(response));
    },
    [client, path],
  );
  return (
    <Panel
      title={title}
      actions={<Download path={path} name={name} label={`Download ${title.toLowerCase()}`} />}
    >
      <ErrorAlert error={error} onRetry={reload} />
      {lines?.length === 0 && (
        <Empty text="The first line is too long for the preview. Download the file to read it." />
      )}
      {lines !== undefined && lines.length > 0 && (
        <WideTable label={`${title}: first lines`} minWidth={420} maxHeight="22rem">
          <Table verticalSpacing={6} layout="fixed">
            <Table.Thead>
              <Table.Tr>
                <Table.Th w="30%">custom_id</Table.Th>
                <Table.Th>Result</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {lines.map(({ id, error, response }) => (
                <Table.Tr key={id}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{id}</Table.Td>
                  <Table.Td>
                    {error !== undefined && (
                      <Text size="sm">
                        <Code>{error.code}</Code> {error.message}
                      </Text>
                    )}
                    {response !== undefined && (
                      <Text size="xs" ff="monospace" truncate>
                        {response}
                      </Text>
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </WideTable>
      )}
    </Panel>
  );
}

/** Whether a `Content-Range` such as `bytes 0-65535/70000` covers only a part of the file. */
function isCut(response: Response): boolean {
  const [, last, total] = /-(\d+)\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? [];
  return last !== undefined && Number(last) + 1 < Number(total);
}

function Download(props: { readonly path: string; readonly name: string; readonly label: string }) {
  const { path, name, label } = props;
  const { client } = useSession();
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<ServiceError>();
  const load = async () => {
    setLoading(true);
    setError(undefined);
    try {
      saveFile(await client.blob(path), name);
    } catch (error) {
      setError(toServiceError(error));
    } finally {
      setLoading(false);
    }
  };
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<Icon name="download" size={16} />}
        loading={isLoading}
        onClick={load}
        aria-label={label}
      >
        Download
      </Button>
      <ErrorAlert error={error} />
    </>
  );
}
