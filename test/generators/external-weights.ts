/** Converts ONNX files to external weights, as in exports of models above 2 GB. */

import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import protobuf from 'protobufjs/light.js';
import { decodeModel, encodeModel, type Tensor } from '../../src/inference/onnx/onnx-proto.ts';

const MIN_BYTES = 1024;
/** TensorProto.DataLocation */
const EXTERNAL = 1;

/** The fields of onnx.proto3 for the location of tensor data. */
const modelType = protobuf.Root.fromJSON({
  nested: {
    Entry: { fields: { key: { type: 'string', id: 1 }, value: { type: 'string', id: 2 } } },
    Tensor: {
      fields: {
        dims: { rule: 'repeated', type: 'int64', id: 1 },
        dataType: { type: 'int32', id: 2 },
        name: { type: 'string', id: 8 },
        externalData: { rule: 'repeated', type: 'Entry', id: 13 },
        dataLocation: { type: 'int32', id: 14 },
      },
    },
    Graph: { fields: { initializer: { rule: 'repeated', type: 'Tensor', id: 5 } } },
    Model: { fields: { graph: { type: 'Graph', id: 7 } } },
  },
}).lookupType('Model');

/** Moves the larger weights of a graph to `<path>_data`. */
export async function moveWeightsOut(path: string): Promise<void> {
  const model = decodeModel(await readFile(path));
  const isLarge = ({ rawData }: Tensor) => (rawData?.length ?? 0) >= MIN_BYTES;
  const large = model.graph.initializer.filter(isLarge);
  model.graph.initializer = model.graph.initializer.filter((tensor) => !isLarge(tensor));
  const data = `${path}_data`;
  let offset = 0;
  const initializer = large.map(({ name, dims, dataType, rawData }) => {
    const length = rawData?.length ?? 0;
    const place = { location: basename(data), offset, length };
    offset += length;
    const externalData = Object.entries(place).map(([key, value]) => ({ key, value: `${value}` }));
    return { name, dims, dataType, externalData, dataLocation: EXTERNAL };
  });
  // Concatenated protobuf messages are merged: the second one extends the graph of the first.
  const added = modelType.encode(modelType.create({ graph: { initializer } })).finish();
  await writeFile(data, Buffer.concat(large.map(({ rawData }) => rawData ?? new Uint8Array(0))));
  await writeFile(path, Buffer.concat([encodeModel(model), added]));
}
