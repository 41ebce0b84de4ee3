import { Button, Code, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { type ServiceFault, toFault } from '../../client/service-fault.ts';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { Empty } from '../../parts/feedback/empty.tsx';
import { FaultNote } from '../../parts/feedback/fault-note.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/panel.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { WideTable } from '../../parts/wide-table.tsx';
import { RESULT_BYTES, resultsOf } from './result-preview.ts';

/** Preview of a result file with a download button. */
export function ResultLines(props: { readonly title: string; readonly file: string; readonly name: string }) {
  const { title, file, name } = props;
  const { client } = useSession();
  const path = `v1/files/${encodeURIComponent(file)}/content`;
  const {
    value: lines,
    fault,
    reload,
  } = useLoad(
    async (signal) => {
      const headers = { range: `bytes=0-${RESULT_BYTES - 1}` };
      const answer = await client.send('GET', path, undefined, { signal, headers });
      const text = await answer.text();
      return resultsOf(text, !isCut(answer));
    },
    [client, path],
  );
  return (
    <Panel
      title={title}
      actions={<Download path={path} name={name} label={`Download ${title.toLowerCase()}`} />}
    >
      <FaultNote fault={fault} onRetry={reload} />
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
              {lines.map(({ id, fault: refused, answer }) => (
                <Table.Tr key={id}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{id}</Table.Td>
                  <Table.Td>
                    {refused !== undefined && (
                      <Text size="sm">
                        <Code>{refused.code}</Code> {refused.message}
                      </Text>
                    )}
                    {answer !== undefined && (
                      <Text size="xs" ff="monospace" truncate>
                        {answer}
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
function isCut(answer: Response): boolean {
  const [, last, total] = /-(\d+)\/(\d+)$/.exec(answer.headers.get('content-range') ?? '') ?? [];
  return last !== undefined && Number(last) + 1 < Number(total);
}

function Download(props: { readonly path: string; readonly name: string; readonly label: string }) {
  const { path, name, label } = props;
  const { client } = useSession();
  const [isLoading, setLoading] = useState(false);
  const [fault, setFault] = useState<ServiceFault>();
  const load = async () => {
    setLoading(true);
    setFault(undefined);
    try {
      saveFile(await client.blob(path), name);
    } catch (error) {
      setFault(toFault(error));
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
      <FaultNote fault={fault} />
    </>
  );
}
