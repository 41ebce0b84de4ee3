import { textEngineCases } from '../../../test/cases/text-engine.cases.ts';
import { openSmallLlama } from '../../../test/support/real-llama.ts';

textEngineCases('llama', async () => {
  const engine = await openSmallLlama();
  return {
    engine,
    refusedParts: [
      { kind: 'image', url: 'data:image/png;base64,AAAA' },
      { kind: 'audio', base64: 'AAAA', format: 'wav' },
      { kind: 'file', base64: 'AAAA', filename: 'a.pdf' },
    ],
    close: () => engine.close(),
  };
});
